/* SPDX-License-Identifier: MIT */
#include "hdf5_read.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../../base/text.h"
#include "../../model/units.h"
#include "../image/image_read.h"
#include "../table/sources.h"
#include "hdf5_file.h"
#include "hdf5_get.h"

enum { PATH = NB_H5_PATH };

/** Read the vectors of a frame; only masters of nanobragg have vectors. */
static void read_vectors(const nb_h5_input *in, int frame, nb_hdf5_geometry *g)
{
    static const char *const names[] = {
        "/entry/simulation/pix0_vector",  "/entry/simulation/fdet_vector",
        "/entry/simulation/sdet_vector",  "/entry/simulation/beam_vector",
        "/entry/simulation/spindle_axis", "/entry/simulation/polar_vector"};
    double *const to[] = {g->pix0_mm, g->fast_axis, g->slow_axis,
                          g->beam,    g->spindle,   g->polar_axis};
    const double mm = nb_nx_scale(in, names[0], "units", NB_NX_MILLIMETRES);
    for (int k = 0; k < 6; k++)
        for (int i = 0; i < 3; i++)
            to[k][i] =
                nb_h5_get_number(in, names[k], 3LL * frame + i, 3) * (k        ? 1
                                                                      : mm > 0 ? mm
                                                                               : NAN);
}

/** Coordinate of the beam centre (axis 0: fast, 1: slow), pixels; NaN if missing. */
static double beam_px(const nb_h5_input *in, const char *detector, int axis,
                      double pixel_mm, long long at)
{
    const char *names = axis ? "beam_center_y beam_centre_y beam_y"
                             : "beam_center_x beam_centre_x beam_x";
    char path[PATH], name[NB_TEXT_WORD];
    while (nb_text_word(&names, name)) {
        double scale;
        if (!nb_h5_at(in, detector, name, path))
            continue;
        scale = nb_nx_scale(in, path, "units", NB_NX_MILLIMETRES);
        return nb_h5_get_number(in, path, at, 1) * (scale > 0 ? scale / pixel_mm : 1);
    }
    return NAN;
}

/** Read pixel, distance, beam centre, swing and sensor of the detector. */
static void read_detector(const nb_h5_input *in, const char *detector, int frame,
                          nb_said_geometry *g)
{
    char path[PATH];
    g->pixel_mm = nb_nx_first(in, detector, "x_pixel_size module/fast_pixel_direction",
                              NB_NX_MILLIMETRES, 0);
    g->distance_mm =
        nb_nx_first(in, detector, "distance detector_distance", NB_NX_MILLIMETRES, frame);
    for (int i = 0; i < 2; i++)
        g->beam_px[i] = beam_px(in, detector, i, g->pixel_mm, frame);
    g->twotheta_deg = nb_nx_first(
        in, detector,
        "goniometer/two_theta goniometer/two_theta_start transformations/two_theta "
        "transformations/twotheta two_theta",
        NB_NX_DEGREES, frame);
    g->thick_mm = nb_nx_first(in, detector, "sensor_thickness", NB_NX_MILLIMETRES, 0);
    if (g->thick_mm < NB_NX_THINNEST_M * 1e3)
        g->thick_mm = 0;
    if (!nb_h5_at(in, detector, "sensor_material", path) ||
        !nb_h5_get_string(in, path, NULL, g->material, sizeof g->material))
        g->material[0] = '\0';
}

/** Groups of an entry. */
typedef struct places {
    char entry[NB_H5_NAME], instrument[NB_H5_NAME], detector[NB_H5_NAME];
} places;

/** *several (or NULL) is set to 1 if values other than the scan may differ between
 * frames. */
static nb_status read_geometry(const nb_h5_input *in, const places *p, int frame,
                               int *several, nb_hdf5_geometry *g, nb_error *err)
{
    nb_h5_input heard = *in;
    nb_nx_chain *chain = nb_alloc(1, sizeof *chain, "transformations", err);
    nb_nx_scan scan;
    nb_opt3 axis;
    nb_status st;
    NB_FORWARD(chain ? NB_OK : NB_ERR_NOMEM);
    g->remarks = (nb_h5_remarks){"", ""};
    heard.remarks = &g->remarks;
    heard.several = several;
    g->said.own = nb_h5_there(in, "/entry/simulation");
    st = nb_nx_check_probe(in, p->entry, p->instrument, err);
    g->said.pivot = NB_PIVOT_SAMPLE;
    read_detector(&heard, p->detector, frame, &g->said);
    g->said.wavelength_A = nb_nx_wavelength(&heard, p->entry, p->instrument, frame, NULL);
    if (!nb_nx_polarization(in, p->entry, p->instrument, frame, &g->said.polarization,
                            &axis))
        g->said.polarization = NAN;
    else if (g->said.own) /* K with the sign that it has for the polarization vector */
        g->said.polarization = nb_h5_get_number(
            in, "/entry/instrument/beam/incident_polarization_factor", 0, 1);
    heard.several = NULL;
    (void)nb_nx_scan_read(&heard, p->entry, frame, chain, &scan, NULL);
    g->said.phi_deg = scan.phi_deg;
    g->said.osc_deg = scan.osc_deg;
    g->axis = scan.spindle;
    read_vectors(in, frame, g);
    nb_free(chain);
    return st;
}

/** Open a set of frames, [frame][slow][fast] or a single [slow][fast]. */
static int open_frames(const nb_h5_input *in, const char *path, nb_h5_set *set)
{
    int ok = nb_h5_set_open(in, path, -1, set);
    if (ok && set->rank < 2) {
        nb_h5_set_close(set);
        ok = 0;
    }
    return ok;
}

/** Find the group of an entry with links to the data files; 0 without links. Up to
 * version 0.1.0, and in files of detectors, the links are in the group of the frames. */
static int find_links(const nb_h5_input *in, const char *entry, char group[PATH])
{
    static const char *const groups[] = {"files", "data"};
    char path[PATH];
    for (int i = 0; i < 2; i++)
        if (nb_h5_at(in, entry, groups[i], group) &&
            nb_h5_at(in, group, "data_000001", path))
            return 1;
    return 0;
}

/** Open the set that has a frame. *before: number of frames in earlier sets. set->id is
 * -1 if no set has the frame. An error names the missing file of a link. *set points to
 * path. */
static nb_status find_frames(const nb_h5_input *in, const char *entry, long long frame,
                             char path[PATH], nb_h5_set *set, long long *before,
                             nb_error *err)
{
    char group[PATH];
    int links = find_links(in, entry, group);
    *before = 0;
    snprintf(path, PATH, "%.*s/data%s", NB_H5_NAME + 8, group, links ? "_000001" : "");
    for (int i = 1; i == 1 || (links && H5(Lexists)(in->file, path, H5P_DEFAULT) > 0);) {
        if (!open_frames(in, path, set))
            return nb_h5_wrong(in, path,
                               "missing, or not a set of images that can be read", err);
        if (frame - *before < (long long)set->dims[0])
            return NB_OK;
        *before += (long long)set->dims[0];
        nb_h5_set_close(set);
        snprintf(path, PATH, "%.*s/data_%06d", NB_H5_NAME + 8, group, ++i);
    }
    return NB_OK;
}

/** The task of reading a frame into an image. */
typedef struct image_task {
    const nb_hdf5_wanted *wanted;
    const char *set; /* named data set; NULL: the usual places */
    nb_image *image;
    void *chunk; /* owned; the compressed frame, or NULL if image->pixels are complete */
    size_t bytes;
    nb_counts_of counts; /* meaning of the numbers of the file */
    char path[PATH];     /* path of the set */
} image_task;

static nb_status read_pixels(image_task *t, const nb_h5_set *set, int frame, nb_error *err)
{
    const hsize_t at[3] = {(hsize_t)frame, 0, 0};
    nb_h5_box one = nb_h5_whole(set);
    nb_image *out = t->image;
    nb_status st;
    one.first[0] = (hsize_t)frame;
    one.count[0] = 1;
    out->slow = (int)set->dims[1];
    out->fast = (int)set->dims[2];
    t->counts = (nb_counts_of){.bits = set->is_integer ? 8 * (int)set->value_bytes : 0,
                               .is_signed = set->is_signed,
                               .least = NAN,
                               .max = NAN};
    NB_FORWARD(nb_image_allocate(set->in->name, out, err));
    /* the frame is decompressed later, outside the library */
    if (nb_h5_has_packed_frames(set))
        t->chunk = nb_h5_get_chunk(set, at + (set->rank < 3 ? 1 : 0), &t->bytes);
    return t->chunk ? NB_OK
                    : nb_h5_set_read(set, &one, H5T_NATIVE_FLOAT, out->pixels, err);
}

static void to_floats(const nb_counts_of *type, const void *values, size_t n, float *to)
{
    const uint16_t *u16 = values;
    const int16_t *i16 = values;
    const uint32_t *u32 = values;
    const int32_t *i32 = values;
    for (size_t i = 0; i < n && type->bits == 16; i++)
        to[i] = type->is_signed ? (float)i16[i] : (float)u16[i];
    for (size_t i = 0; i < n && type->bits == 32; i++)
        to[i] = type->is_signed ? (float)i32[i] : (float)u32[i];
}

/** Decompress the chunk of the task. */
static nb_status unpack(const image_task *t, nb_error *err)
{
    const nb_image *out = t->image;
    const size_t n = (size_t)out->fast * (size_t)out->slow,
                 size = t->counts.bits == 16 ? 2 : 4;
    void *values = t->counts.bits ? nb_alloc_raw(n, size, "frame", err) : out->pixels;
    nb_status st = values ? NB_OK : NB_ERR_NOMEM;
    if (!st && (nb_bslz4_bytes(t->chunk, t->bytes, size) != n * size ||
                !nb_bslz4_decode(t->chunk, t->bytes, size, values)))
        st = nb_fail_at(err, NB_ERR_INPUT, t->wanted->path, 0,
                        "%s cannot be read: damaged", t->path);
    if (!st)
        to_floats(&t->counts, values, n, out->pixels);
    if (t->counts.bits)
        nb_free(values);
    return st;
}

/** Leave out the pixels of the mask; every bit counts, as for DIALS. */
static nb_status use_mask(const nb_h5_set *set, nb_image *out, nb_error *err)
{
    const size_t n = (size_t)out->fast * (size_t)out->slow;
    nb_status st;
    int32_t *mask = nb_h5_set_all(set, H5T_NATIVE_INT32, sizeof *mask, &st, err);
    if (!st && !nb_left_out_of(out, err))
        st = NB_ERR_NOMEM;
    for (size_t i = 0; !st && i < n; i++)
        out->left_out[i] = mask[i] ? NB_LEFT_MASK : NB_LEFT_NONE;
    nb_free(mask);
    return st;
}

/** Find a mask of the image's size (or with a dimension of modules); use the mask if
 * wanted. */
static nb_status read_mask(const nb_h5_input *in, const char *detector, int wanted,
                           nb_image *out, int *found, nb_error *err)
{
    const char *names = "pixel_mask detectorSpecific/pixel_mask";
    char name[NB_TEXT_WORD];
    nb_status st = NB_OK;
    *found = 0;
    while (!*found && nb_text_word(&names, name)) {
        char path[PATH];
        nb_h5_set set;
        if (!nb_h5_at(in, detector, name, path))
            continue;
        if (!nb_h5_set_open(in, path, -1, &set))
            return wanted ? nb_h5_wrong(in, path, "cannot be read", err) : NB_OK;
        *found = set.dims[0] * set.dims[1] == (hsize_t)out->slow &&
                 set.dims[2] == (hsize_t)out->fast;
        if (*found && wanted)
            st = use_mask(&set, out, err);
        nb_h5_set_close(&set);
    }
    return st;
}

/** Read a limit of the counts; NaN if missing. */
static double limit_of(const nb_h5_input *in, const char *detector, const char *name)
{
    char path[PATH];
    return nb_h5_at(in, detector, name, path) ? nb_h5_get_number(in, path, 0, 1) : NAN;
}

/** Read mask (if wanted) and limits of the detector, which show pixels without counts. */
static nb_status read_limits(const nb_h5_input *in, const char *detector, image_task *t,
                             nb_error *err)
{
    nb_status st;
    NB_FORWARD(read_mask(in, detector, t->wanted->mask, t->image,
                         &t->counts.highest_counts, err));
    /* files of nanobragg have a mask if a pixel needs a mark */
    t->counts.highest_counts |= nb_h5_there(in, "/entry/simulation");
    t->counts.least = limit_of(in, detector, "underload_value");
    t->counts.max = limit_of(in, detector, "saturation_value");
    return NB_OK;
}

/** Open a named data set of frames that has frame number `frame`. */
static nb_status open_named(const nb_h5_input *in, const char *path, int frame,
                            nb_h5_set *set, nb_error *err)
{
    if (!open_frames(in, path, set))
        return nb_fail_at(err, NB_ERR_INPUT, in->name, 0,
                          "%.200s is missing, or it is not a set of images [frame][slow]"
                          "[fast] or [slow][fast] of numbers",
                          path);
    if (frame < (long long)set->dims[0])
        return NB_OK;
    nb_fail_at(err, NB_ERR_INPUT, in->name, 0,
               "there is no frame %d: %.200s has %lld, counted from 0", frame, path,
               (long long)set->dims[0]);
    nb_h5_set_close(set);
    return NB_ERR_INPUT;
}

/** Open the set with the frame; *there is the number of the frame in the set. A named set
 * may be in any HDF5 file. */
static nb_status open_frame(const nb_h5_input *in, const char *entry, image_task *t,
                            nb_h5_set *set, int *there, nb_error *err)
{
    long long before = 0;
    nb_status st;
    *there = t->wanted->frame;
    if (t->set) {
        snprintf(t->path, sizeof t->path, "%s", t->set);
        return open_named(in, t->set, *there, set, err);
    }
    st = find_frames(in, entry, *there, t->path, set, &before, err);
    if (!st && set->id < 0)
        st = nb_fail_at(err, NB_ERR_INPUT, in->name, 0,
                        "there is no frame %d: the file has %lld, counted from 0", *there,
                        before);
    *there -= (int)before;
    return st;
}

/** Find the groups of the entry. */
static void find_groups(const nb_h5_input *in, places *p)
{
    nb_nx_find_group(in, p->entry, "NXinstrument", "instrument", p->instrument);
    nb_nx_find_group(in, p->instrument, "NXdetector", "detector", p->detector);
}

/** Do the part of the task that needs the library. */
static nb_status read_image(image_task *t, const nb_h5_input *in, nb_error *err)
{
    const nb_hdf5_wanted *w = t->wanted;
    places p;
    nb_h5_set set;
    int there;
    nb_status st = nb_nx_entry(in, p.entry, t->set ? NULL : err);
    const int nexus = !st;
    if (!nexus)
        snprintf(p.entry, sizeof p.entry, "/entry"); /* a path that does not exist */
    if ((st && !t->set) || (st = open_frame(in, p.entry, t, &set, &there, err)))
        return st;
    find_groups(in, &p);
    if (!(st = read_pixels(t, &set, there, err)) && w->said)
        st = read_geometry(in, &p, w->frame, NULL, w->said, err);
    if (!st && nexus)
        st = read_limits(in, p.detector, t, err);
    nb_h5_set_close(&set);
    return st;
}

nb_status nb_hdf5_read_image(const nb_hdf5_wanted *wanted, nb_image *out, nb_error *err)
{
    char file[NB_PATH_MAX];
    image_task t = {
        .wanted = wanted, .set = nb_hdf5_set_of(wanted->path, file), .image = out};
    nb_h5_input in;
    nb_status st;
    memset(out, 0, sizeof *out);
    out->centre[0] = out->centre[1] = NAN;
    snprintf(out->format, sizeof out->format, "HDF5");
    if (!(st = nb_h5_start(&in, file, wanted->reader, err)))
        st = nb_h5_stop(&in, read_image(&t, &in, err), err);
    if (!st && t.chunk)
        st = unpack(&t, err);
    NB_TRY(nb_leave_out_marks(out, &t.counts, err));
    nb_free(t.chunk);
    if (st) {
        nb_free(out->pixels);
        nb_free(out->left_out);
        out->pixels = NULL;
        out->left_out = NULL;
    }
    return st;
}

/** True if the frames from the first to the last one are one scan. */
static int is_scan(const nb_said_geometry *first, const nb_said_geometry *last, int frames)
{
    const double moved = nb_said_or(last->phi_deg - first->phi_deg, 0),
                 osc = nb_said_or(first->osc_deg, 0);
    return fabs(moved - (frames - 1) * osc) < 1e-6 * frames;
}

/** Geometry of a frame of a master of nanobragg, from the frame's true values and the
 * first frame. */
static nb_hdf5_geometry geometry_of(const nb_hdf5_geometry *first, const nb_hdf5_frame *t)
{
    nb_hdf5_geometry g = *first;
    if (!isnan(g.said.osc_deg)) { /* the frames are a scan */
        g.said.phi_deg = t->phi_deg;
        g.said.osc_deg = t->osc_deg;
    }
    g.said.wavelength_A = t->wavelength_A;
    g.said.distance_mm = t->distance_mm;
    g.said.beam_px[0] = t->beam_fast;
    g.said.beam_px[1] = t->beam_slow;
    memcpy(g.pix0_mm, t->pix0_mm, sizeof g.pix0_mm);
    memcpy(g.fast_axis, t->fast_axis, sizeof g.fast_axis);
    memcpy(g.slow_axis, t->slow_axis, sizeof g.slow_axis);
    memcpy(g.beam, t->beam, sizeof g.beam);
    memcpy(g.spindle, t->spindle, sizeof g.spindle);
    memcpy(g.polar_axis, t->polar_axis, sizeof g.polar_axis);
    return g;
}

nb_status nb_hdf5_read_geometry(const char *path, int frames, const nb_hdf5_frame *truth,
                                nb_hdf5_geometry *said, int *differ, nb_error *err)
{
    const int end = frames - 1;
    char file[NB_PATH_MAX];
    nb_h5_input in;
    places p;
    nb_status st;
    *differ = 0;
    (void)nb_hdf5_set_of(path, file);
    NB_FORWARD(nb_h5_start(&in, file, NULL, err));
    if (nb_nx_entry(&in, p.entry, NULL))
        snprintf(p.entry, sizeof p.entry, "/entry"); /* a path that does not exist */
    find_groups(&in, &p);
    st = read_geometry(&in, &p, 0, differ, &said[0], err);
    NB_TRY(read_geometry(&in, &p, end, NULL, &said[end], err));
    *differ |= !is_scan(&said[0].said, &said[end].said, frames);
    for (int k = 1; !st && *differ && (truth ? k <= end : k < end); k++)
        if (truth)
            said[k] = geometry_of(&said[0], &truth[k]);
        else
            st = read_geometry(&in, &p, k, NULL, &said[k], err);
    return nb_h5_stop(&in, st, err);
}

/* --- number of frames --- */

/** Count the frames of the set `named`, or if it is NULL of the data files, with which
 * data/data must agree. */
static nb_status count_frames(const nb_h5_input *in, const char *named, int *frames,
                              nb_error *err)
{
    char entry[NB_H5_NAME], path[PATH];
    nb_h5_set set;
    long long sum, said;
    nb_status st;
    if (named) {
        NB_FORWARD(open_named(in, named, 0, &set, err));
        *frames = (int)set.dims[0];
        nb_h5_set_close(&set);
        return NB_OK;
    }
    NB_FORWARD(nb_nx_entry(in, entry, err));
    NB_FORWARD(find_frames(in, entry, LLONG_MAX, path, &set, &sum, err));
    said = sum;
    if (nb_h5_at(in, entry, "data/data", path) && open_frames(in, path, &set)) {
        said = (long long)set.dims[0];
        nb_h5_set_close(&set);
    }
    if (said != sum || sum < 1 || sum > 0x7fffffff)
        return nb_fail_at(err, NB_ERR_INPUT, in->name, 0,
                          "%s has %lld frames, but the data files have %lld", path, said,
                          sum);
    *frames = (int)sum;
    return NB_OK;
}

nb_status nb_hdf5_count_frames(const char *path, int *frames, nb_error *err)
{
    char file[NB_PATH_MAX];
    const char *named = nb_hdf5_set_of(path, file);
    nb_h5_input in;
    nb_status st = nb_h5_start(&in, file, NULL, err);
    *frames = 0;
    return st ? st : nb_h5_stop(&in, count_frames(&in, named, frames, err), err);
}

/* --- spectra --- */

#define SPECTRUM "/entry/instrument/beam/incident_wavelength_1Dspectrum"

/** A data set as doubles. */
typedef struct block {
    nb_h5_set set;
    double *values; /* owned; may be NULL */
} block;

/** Read the set at path; b->values is NULL if it is missing. */
static nb_status read_block(const nb_h5_input *in, const char *path, block *b,
                            nb_error *err)
{
    nb_status st;
    b->values = NULL;
    if (!nb_h5_set_open(in, path, -1, &b->set))
        return NB_OK;
    b->values = nb_h5_set_all(&b->set, H5T_NATIVE_DOUBLE, sizeof *b->values, &st, err);
    nb_h5_set_close(&b->set); /* rank and dims stay valid */
    return st;
}

/** Read the wavelengths at path, A; b->values is NULL if they are missing. */
static nb_status read_wavelengths(const nb_h5_input *in, const char *path, block *b,
                                  nb_error *err)
{
    const hsize_t *dims = b->set.dims;
    nb_status st = read_block(in, path, b, err);
    if (st || !b->values)
        return st;
    return nb_nx_angstroms(in, path, b->values, (size_t)(dims[0] * dims[1] * dims[2]),
                           err);
}

static nb_status from_blocks(const block *A, const block *weight, nb_vec3 position,
                             int needed, nb_spectra *out, nb_error *err)
{
    const hsize_t *a = A->set.dims, *w = weight->set.dims;
    const char *path = A->set.in->name;
    nb_spectra_table t = {A->values, weight->values, (size_t)w[1], (size_t)w[2],
                          A->set.rank == 1};
    if (!A->values || !weight->values || weight->set.rank != 2 || A->set.rank < 1 ||
        A->set.rank > 2 || a[2] != w[2] || (A->set.rank == 2 && a[1] != w[1]))
        return nb_fail_at(err, NB_ERR_INPUT, path, 0,
                          "no spectra: the file needs " SPECTRUM " and its _weights, or "
                          "/wavelength [n] or [shots][n] and /weight [shots][n]");
    return nb_spectra_from_table(&t, path, position, needed, out, err);
}

static nb_status read_spectra(const nb_h5_input *in, nb_vec3 position, int needed,
                              nb_spectra *out, nb_error *err)
{
    block A = {.values = NULL}, weight = {.values = NULL};
    nb_status st = read_wavelengths(in, SPECTRUM, &A, err);
    int own = A.values != NULL;
    if (!st && !own)
        st = read_wavelengths(in, "/wavelength", &A, err);
    NB_TRY(read_block(in, own ? SPECTRUM "_weights" : "/weight", &weight, err));
    NB_TRY(from_blocks(&A, &weight, position, needed, out, err));
    nb_free(A.values);
    nb_free(weight.values);
    return st;
}

nb_status nb_hdf5_read_spectra(const char *path, nb_vec3 position, int needed,
                               nb_spectra *out, nb_error *err)
{
    nb_h5_input in;
    nb_status st = nb_h5_start(&in, path, NULL, err);
    memset(out, 0, sizeof *out);
    NB_TRY(nb_h5_stop(&in, read_spectra(&in, position, needed, out, err), err));
    if (st)
        nb_spectra_free(out);
    return st;
}
