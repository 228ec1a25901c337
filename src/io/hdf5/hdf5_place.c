/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../base/memory.h"
#include "../../base/text.h"
#include "../common/panel_spec.h"
#include "hdf5_put.h"

#define DETECTOR NB_HDF5_DETECTOR
#define MOVES DETECTOR "/transformations"
#define DEG (3.14159265358979323846 / 180)

void nb_hdf5_make_axis(nb_h5 *h, const char *path, const char *kind, const double v[3],
                       const char *depends_on)
{
    const double zero[3] = {0, 0, 0};
    nb_h5_attr_text(h, path, "transformation_type", kind);
    nb_h5_attr_array(h, path, "vector", H5T_NATIVE_DOUBLE, v, 3);
    nb_h5_attr_array(h, path, "offset", H5T_NATIVE_DOUBLE, zero, 3);
    nb_h5_attr_text(h, path, "offset_units", "mm");
    nb_h5_attr_text(h, path, "depends_on", depends_on);
}

enum { PATH = 120 };

/** A module of the detector, in the frame of NeXus. */
typedef struct module {
    char path[64];
    const char *name, *stands_on; /* panel, or NULL; axis that moves the module */
    int first[2], size[2];        /* pixels in the data: fast, slow */
    double mm;                    /* unit of the lengths, mm */
    /* corner of the first pixel before the axis moves the module */
    double corner[3], pixel[2];
    double fast[3], slow[3];
} module;

static void put_direction(nb_h5 *h, const module *m, const char *name, double length,
                          const double v[3], const char *stands_on)
{
    char path[PATH];
    snprintf(path, sizeof path, "%s/%s", m->path, name);
    nb_h5_number(h, path, length * m->mm, "mm");
    nb_hdf5_make_axis(h, path, "translation", v, stands_on);
}

static void put_module(nb_h5 *h, const module *m)
{
    const int64_t origin[2] = {m->first[1], m->first[0]},
                  size[2] = {m->size[1], m->size[0]};
    const hsize_t two = 2;
    double v[3] = {0, 0, 1}, length = nb_length3(m->corner);
    char path[PATH];
    nb_h5_group(h, m->path, "NXdetector_module");
    if (m->name)
        nb_h5_attr_text(h, m->path, "panel_name", m->name);
    snprintf(path, sizeof path, "%s/data_origin", m->path);
    nb_h5_array(h, path, H5T_NATIVE_INT64, origin, 1, &two);
    snprintf(path, sizeof path, "%s/data_size", m->path);
    nb_h5_array(h, path, H5T_NATIVE_INT64, size, 1, &two);
    for (int i = 0; length > 0 && i < 3; i++)
        v[i] = m->corner[i] / length;
    put_direction(h, m, "module_offset", length, v, m->stands_on);
    snprintf(path, sizeof path, "%s/module_offset", m->path);
    put_direction(h, m, "fast_pixel_direction", m->pixel[0], m->fast, path);
    put_direction(h, m, "slow_pixel_direction", m->pixel[1], m->slow, path);
}

/* --- a detector position for each frame --- */

/** Input for the rows of one axis. */
typedef struct axis_maker {
    const nb_hdf5_master *master;
    const nb_axes *frame;
    int number; /* 0 to 2: rotation about x, y, z, deg; 3 to 5: shift along x, y, z, mm */
} axis_maker;

/** Make a matrix of the columns fast, slow without its part along fast, and normal. */
static void basis(const double fast[3], const double slow[3], double out[3][3])
{
    double s[3], n[3], length;
    nb_cross3(fast, slow, n);
    length = sqrt(nb_dot3(n, n));
    for (int i = 0; i < 3; i++)
        n[i] /= length;
    nb_cross3(n, fast, s);
    for (int i = 0; i < 3; i++) {
        out[i][0] = fast[i];
        out[i][1] = s[i];
        out[i][2] = n[i];
    }
}

/** Find the six axis values of an image. R = Rz Ry Rx rotates the detector of the series
 * to the detector of the image; the shifts are the position of the first corner. If the
 * image has another beam, the axes of NeXus are calculated from that beam. */
static void find_moves(const axis_maker *m, const nb_hdf5_frame *t, double out[6])
{
    const nb_image_meta *base = m->master->meta;
    nb_axes own = *m->frame;
    double v[2][3], from[3][3], to[3][3], R[3][3] = {{0}};
    if (memcmp(t->beam, base->beam, sizeof t->beam) != 0)
        own = nb_nexus_axes(t->fast_axis, t->slow_axis, t->beam);
    nb_nexus_turn(m->frame, base->fast_axis, v[0]);
    nb_nexus_turn(m->frame, base->slow_axis, v[1]);
    basis(v[0], v[1], from);
    nb_nexus_turn(&own, t->fast_axis, v[0]);
    nb_nexus_turn(&own, t->slow_axis, v[1]);
    basis(v[0], v[1], to);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            R[i][j] = nb_dot3(to[i], from[j]);
    out[1] = atan2(-R[2][0], hypot(R[0][0], R[1][0])) / DEG;
    if (hypot(R[0][0], R[1][0]) > 1e-9) {
        out[0] = atan2(R[2][1], R[2][2]) / DEG;
        out[2] = atan2(R[1][0], R[0][0]) / DEG;
    } else { /* gimbal lock: x and z turn about the same axis */
        out[0] = 0;
        out[2] = atan2(-R[0][1], R[1][1]) / DEG;
    }
    nb_nexus_turn(&own, t->pix0_mm, out + 3);
}

static void one_move(const nb_hdf5_frame *frame, const nb_hdf5_rows *rows, void *out)
{
    const axis_maker *m = rows->user;
    double moves[6];
    find_moves(m, frame, moves);
    *(double *)out = fabs(moves[m->number]) < 1e-13 ? 0 : moves[m->number];
}

/** Write three rotations and three translations with a value for each frame. */
static void put_moves(nb_h5 *h, const nb_hdf5_master *master, const nb_axes *f)
{
    static const char *const paths[] = {MOVES "/rotation_x",
                                        MOVES "/rotation_y",
                                        MOVES "/rotation_z",
                                        MOVES "/translation_x",
                                        MOVES "/translation_y",
                                        MOVES "/translation_z",
                                        "."};
    nb_h5_group(h, MOVES, "NXtransformations");
    for (int i = 0; i < 6; i++) {
        axis_maker maker = {master, f, i};
        const nb_hdf5_rows rows = {
            paths[i], i < 3 ? "deg" : "mm", H5T_NATIVE_DOUBLE, 1, 0, one_move, &maker};
        const double v[3] = {i % 3 == 0, i % 3 == 1, i % 3 == 2};
        nb_hdf5_put_rows(h, master, &rows);
        nb_hdf5_make_axis(h, paths[i], i < 3 ? "rotation" : "translation", v,
                          paths[i + 1]);
    }
}

void nb_hdf5_put_place(nb_h5 *h, const nb_hdf5_master *master, const nb_axes *f)
{
    const nb_image_meta *m = master->meta;
    module one = {.path = DETECTOR "/module",
                  .stands_on = ".",
                  .size = {m->fast, m->slow},
                  .mm = 1,
                  .pixel = {m->pixel_mm, m->pixel_mm}};
    nb_nexus_turn(f, m->fast_axis, one.fast);
    nb_nexus_turn(f, m->slow_axis, one.slow);
    if (master->moving && !master->panels) {
        nb_hdf5_put_column(h, master, DETECTOR "/distance",
                           offsetof(nb_hdf5_frame, distance_mm), "mm");
        nb_hdf5_put_column(h, master, DETECTOR "/beam_center_x",
                           offsetof(nb_hdf5_frame, beam_fast), "pixel");
        nb_hdf5_put_column(h, master, DETECTOR "/beam_center_y",
                           offsetof(nb_hdf5_frame, beam_slow), "pixel");
        put_moves(h, master, f);
        one.stands_on = MOVES "/rotation_x";
    } else {
        nb_h5_number(h, DETECTOR "/distance", m->distance_mm, "mm");
        nb_h5_number(h, DETECTOR "/beam_center_x", m->Fbeam_mm / m->pixel_mm, "pixel");
        nb_h5_number(h, DETECTOR "/beam_center_y", m->Sbeam_mm / m->pixel_mm, "pixel");
        nb_nexus_turn(f, m->pix0_mm, one.corner);
    }
    if (!master->panels) /* panels have separate modules */
        put_module(h, &one);
}

#define SIMULATION "/entry/simulation"

#define PANELS SIMULATION "/panels"

void nb_hdf5_put_modules(nb_h5 *h, const nb_hdf5_master *master)
{
    const nb_detector_spec *d = master->panels->detector;
    for (int k = 0; k < d->n_panels; k++) {
        const nb_panel_spec *p = &d->panels[k];
        const int *place = master->panels->place[k];
        module m = {.path = DETECTOR "/module",
                    .name = p->name,
                    .stands_on = ".",
                    .first = {place[0], place[1]},
                    .size = {p->size[0], p->size[1]},
                    .mm = 1e3,
                    .pixel = {p->pixel[0], p->pixel[1]}};
        memcpy(m.corner, p->origin, sizeof m.corner);
        memcpy(m.fast, p->fast, sizeof m.fast);
        memcpy(m.slow, p->slow, sizeof m.slow);
        if (d->n_panels > 1)
            snprintf(m.path, sizeof m.path, DETECTOR "/module_%04d", k);
        put_module(h, &m);
    }
}

/** Write the origins in millimetres, as in files of older versions. */
static void put_millimetres(nb_h5 *h, const nb_hdf5_panels *all, const hsize_t dims[2])
{
    size_t n = (size_t)all->detector->n_panels;
    double(*mm)[3] = nb_alloc(n, sizeof *mm, "panels", NULL);
    h->ok &= mm != NULL;
    for (size_t k = 0; mm && k < n; k++)
        for (int i = 0; i < 3; i++)
            mm[k][i] = all->origin[k][i] * 1e3;
    if (mm)
        nb_h5_array(h, SIMULATION "/pix0_vector", H5T_NATIVE_DOUBLE, mm, 2, dims);
    nb_h5_attr_text(h, SIMULATION "/pix0_vector", "units", "mm");
    nb_free(mm);
}

/* Write /entry/simulation/panels and the vectors of all panels. */
static void put_panels(nb_h5 *h, const nb_hdf5_master *master)
{
    const nb_h5_member columns[] = {
        {PANELS "/pixel", H5T_NATIVE_DOUBLE, 2, offsetof(nb_panel_spec, pixel), "m"},
        {PANELS "/size", H5T_NATIVE_INT32, 2, offsetof(nb_panel_spec, size), NULL},
        {PANELS "/thickness", H5T_NATIVE_DOUBLE, 1, offsetof(nb_panel_spec, thickness),
         "m"},
        {PANELS "/attenuation", H5T_NATIVE_DOUBLE, 1,
         offsetof(nb_panel_spec, attenuation), "1/m"},
        {PANELS "/gain", H5T_NATIVE_DOUBLE, 1, offsetof(nb_panel_spec, gain), NULL},
        {PANELS "/saturation", H5T_NATIVE_DOUBLE, 1, offsetof(nb_panel_spec, saturation),
         NULL},
    };
    const nb_hdf5_panels *all = master->panels;
    const nb_panel_spec *panels = all->detector->panels;
    const size_t n = (size_t)all->detector->n_panels;
    const hsize_t dims[2] = {n, 3}, pairs[2] = {n, 2};
    put_millimetres(h, all, dims);
    nb_h5_array(h, SIMULATION "/fdet_vector", H5T_NATIVE_DOUBLE, all->fast, 2, dims);
    nb_h5_array(h, SIMULATION "/sdet_vector", H5T_NATIVE_DOUBLE, all->slow, 2, dims);
    nb_h5_group(h, PANELS, "NXcollection");
    nb_h5_attr_text(h, PANELS, "convention", all->convention);
    nb_h5_array(h, PANELS "/origin", H5T_NATIVE_DOUBLE, all->origin, 2, dims);
    nb_h5_attr_text(h, PANELS "/origin", "units", "m");
    nb_h5_array(h, PANELS "/fast", H5T_NATIVE_DOUBLE, all->fast, 2, dims);
    nb_h5_array(h, PANELS "/slow", H5T_NATIVE_DOUBLE, all->slow, 2, dims);
    nb_h5_members(h, columns, 2, panels, sizeof *panels, n);
    nb_h5_array(h, PANELS "/place", H5T_NATIVE_INT32, all->place, 2, pairs);
    nb_h5_members(h, columns + 2, 4, panels, sizeof *panels, n);
    nb_h5_member_texts(h, PANELS "/name", panels->name, sizeof *panels, n);
}

/** Copy the typed misset, or calculate the misset that turns -cell into A. */
static void put_misset(const double A[9], const double typed[3], double out[3])
{
    if (isnan(typed[0]))
        nb_axes_misset(A, out);
    else
        memcpy(out, typed, 3 * sizeof *out);
}

/** Write the units of cells and missets, and texts that explain both. */
static void say_cell(nb_h5 *h, const char *of_cell, const char *of_misset)
{
    static const char *const units[] = {"angstrom", "angstrom", "angstrom",
                                        "deg",      "deg",      "deg"};
    nb_h5_attr_texts(h, of_cell, "units", units, 6);
    nb_h5_attr_text(h, of_cell, "about", "a, b, c, alpha, beta, gamma of A");
    nb_h5_attr_text(h, of_misset, "units", "deg");
    nb_h5_attr_text(
        h, of_misset, "about",
        "-misset of -cell: rotations about x, then y, then z of the program's "
        "lab frame, of a crystal with a* along x and b* in the plane of x "
        "and y; U is their product");
}

/** Arrays that `derive` makes from A. `truths` has these numbers as `offset`. */
enum { CELL, MISSET, U_MATRIX, B_MATRIX };

static void derive(const nb_hdf5_frame *frame, const nb_hdf5_rows *rows, void *out)
{
    double other[9];
    if (rows->offset == CELL)
        nb_axes_cell(frame->A, out);
    else if (rows->offset == MISSET)
        put_misset(frame->A, frame->misset, out);
    else if (rows->offset == U_MATRIX)
        nb_axes_split(frame->A, out, other);
    else
        nb_axes_split(frame->A, other, out);
}

/** Convert a count that is stored as a double to an integer. */
static void whole(const nb_hdf5_frame *frame, const nb_hdf5_rows *rows, void *out)
{
    double value;
    memcpy(&value, (const char *)frame + rows->offset, sizeof value);
    *(int64_t *)out = (int64_t)value;
}

/** Parts of the truth that are written together. */
enum {
    LAB = 1,
    PANEL = 2, /* written for a detector without a file */
    MATRICES = 4,
    NUMBERS = 8,
    DAMAGE = 16,
    NOISE = 32,
    SPECTRUM = 64,
    IMAGE = 128
};

#define OF(member) offsetof(nb_hdf5_frame, member)
/* clang-format off */
/** Arrays of the master with the true values of the frames, one per line. */
static const struct {
    int part;
    const char *name, *units;
    int values;
    size_t offset;
    void (*row)(const nb_hdf5_frame *frame, const nb_hdf5_rows *rows, void *out);
    int is_int64;
} truths[] = {
    {LAB, "beam_vector", NULL, 3, OF(beam), NULL, 0},
    {PANEL, "fdet_vector", NULL, 3, OF(fast_axis), NULL, 0},
    {PANEL, "sdet_vector", NULL, 3, OF(slow_axis), NULL, 0},
    {LAB, "spindle_axis", NULL, 3, OF(spindle), NULL, 0},
    {LAB, "polar_vector", NULL, 3, OF(polar_axis), NULL, 0},
    {LAB, "N", NULL, 3, OF(N), NULL, 0},
    {PANEL, "pix0_vector", "mm", 3, OF(pix0_mm), NULL, 0},
    {MATRICES, "A", "1/angstrom", 9, OF(A), NULL, 0},
    {MATRICES, "U", NULL, 9, U_MATRIX, derive, 0},
    {MATRICES, "B", "1/angstrom", 9, B_MATRIX, derive, 0},
    {MATRICES, "A_drawn", "1/angstrom", 9, OF(A_drawn), NULL, 0},
    {MATRICES, "cell", NULL, 6, CELL, derive, 0},
    {MATRICES, "misset", NULL, 3, MISSET, derive, 0},
    {NUMBERS, "seed", NULL, 1, OF(seed), NULL, 1},
#define NUMBER(part, member, name, unit, value) {part, name, unit, 1, OF(member), NULL, 0},
#include "truth_rows.h"
    {IMAGE, "clipped_pixels", "pixel", 1, OF(facts.clipped), whole, 1},
    {IMAGE, "brightest", "photon", 1, OF(facts.max), NULL, 0},
    {IMAGE, "brightest_fast", "pixel", 1, OF(facts.max_fast), whole, 1},
    {IMAGE, "brightest_slow", "pixel", 1, OF(facts.max_slow), whole, 1},
    {IMAGE, "photons", "photon", 1, OF(facts.sum), NULL, 0},
};
/* clang-format on */

static void put_truths(nb_h5 *h, const nb_hdf5_master *master, int parts)
{
    char path[PATH];
    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++) {
        const nb_hdf5_rows rows = {path,
                                   truths[i].units,
                                   truths[i].is_int64 ? H5T_NATIVE_INT64
                                                      : H5T_NATIVE_DOUBLE,
                                   truths[i].values,
                                   truths[i].offset,
                                   truths[i].row,
                                   NULL};
        snprintf(path, sizeof path, SIMULATION "/%s", truths[i].name);
        if (truths[i].part & parts)
            nb_hdf5_put_rows(h, master, &rows);
    }
}

/** Copy n numbers of each frame from the set at path to `offset` of the rows. */
static void read_column(const nb_h5_input *in, const char *path, size_t n, size_t offset,
                        int first, int frames, nb_hdf5_frame *rows)
{
    hsize_t dims[NB_H5_RANK];
    int rank;
    double *all = nb_h5_get_numbers(in, path, &rank, dims);
    if (all && dims[0] * dims[1] * dims[2] >= (hsize_t)(first + frames) * n)
        for (int i = 0; i < frames; i++)
            memcpy((char *)&rows[i] + offset, all + (size_t)(first + i) * n,
                   n * sizeof *all);
    nb_free(all);
}

nb_status nb_hdf5_read_rows(const char *path, int first, int frames, nb_hdf5_frame **rows,
                            nb_error *err)
{
    char name[PATH];
    nb_h5_input in;
    nb_status st = nb_h5_start(&in, path, NULL, err);
    *rows = NULL;
    if (st || !nb_h5_there(&in, SIMULATION "/A"))
        return st ? st : nb_h5_stop(&in, NB_OK, err);
    if (!(*rows = nb_alloc_raw((size_t)frames, sizeof **rows, "truth", err)))
        return nb_h5_stop(&in, NB_ERR_NOMEM, err);
    for (int i = 0; i < frames; i++)
        nb_hdf5_forget(&(*rows)[i]);
    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++) {
        const int is_misset = truths[i].row && truths[i].offset == MISSET;
        snprintf(name, sizeof name, SIMULATION "/%s", truths[i].name);
        if (is_misset || (!truths[i].row && !truths[i].is_int64))
            read_column(&in, name, (size_t)truths[i].values,
                        is_misset ? OF(misset) : truths[i].offset, first, frames, *rows);
    }
    return nb_h5_stop(&in, NB_OK, err);
}

/** Copy the members of a group that the master of the stored images has but this master
 * lacks. */
static void copy_rest(nb_h5 *h, const nb_h5_input *in, const char *group)
{
    enum { MEMBERS = 1000 };
    char(*paths)[NB_H5_NAME];
    int n;
    h->ok &= !nb_h5_children(in, group, NULL, MEMBERS, &paths, &n, NULL);
    for (int i = 0; i < n; i++)
        if (H5(Lexists)(h->file, paths[i], H5P_DEFAULT) == 0)
            h->ok = h->ok && H5(Ocopy)(in->file, paths[i], h->file, paths[i], H5P_DEFAULT,
                                       H5P_DEFAULT) >= 0;
    nb_free(paths);
}

/** Copy the lists, spectra and texts of the true values of stored images. */
static void put_stored(nb_h5 *h, const char *path)
{
    nb_h5_input in;
    h->ok &= !nb_h5_start(&in, path, NULL, NULL);
    if (!h->ok)
        return;
    nb_hdf5_copy_table(h, &in);
    copy_rest(h, &in, SIMULATION);
    copy_rest(h, &in, SIMULATION "/reflections");
    copy_rest(h, &in, "/entry/instrument/beam");
    h->ok &= !nb_h5_stop(&in, NB_OK, NULL);
    nb_h5_note_why(&h->why);
}

/** Write the values that -vary draws for each frame. */
static void put_varied(nb_h5 *h, const nb_hdf5_master *master)
{
    const hsize_t n = (hsize_t)master->frames;
    double *values = nb_alloc((size_t)n, sizeof *values, "truth", NULL);
    const char *name;
    char path[120];
    h->ok &= values != NULL;
    nb_h5_group(h, SIMULATION "/vary", "NXcollection");
    for (int i = 0; values && (name = master->varied_name(master->user, i)); i++) {
        for (int k = 0; k < master->frames; k++)
            h->ok &= !master->varied(master->user, i, k, &values[k], NULL);
        snprintf(path, sizeof path, SIMULATION "/vary/%s", name);
        nb_h5_array(h, path, H5T_NATIVE_DOUBLE, values, 1, &n);
    }
    nb_free(values);
}

#define CRYSTALS SIMULATION "/crystals"

/** Write the orientation of each crystal. */
static void put_crystal_U(nb_h5 *h, const nb_hdf5_crystals *all)
{
    const hsize_t dims[3] = {all->n, 3, 3};
    const size_t n = all->n ? all->n : 1;
    double(*U)[9] = nb_alloc(n, sizeof *U, "truth", NULL), B[9];
    double(*angles)[3] = nb_alloc(n, sizeof *angles, "truth", NULL);
    h->ok &= U && angles;
    for (size_t i = 0; U && angles && i < all->n; i++) {
        nb_axes_split(all->rows[i].A, U[i], B);
        put_misset(all->rows[i].A, all->rows[i].misset, angles[i]);
    }
    if (U && angles) {
        nb_h5_array(h, CRYSTALS "/U", H5T_NATIVE_DOUBLE, U, 3, dims);
        nb_h5_array(h, CRYSTALS "/misset", H5T_NATIVE_DOUBLE, angles, 2, dims);
        say_cell(h, CRYSTALS "/cell", CRYSTALS "/misset");
    }
    nb_free(U);
    nb_free(angles);
}

/** Write -crystals: a row for each crystal, and the range of rows of each frame. */
static void put_crystals(nb_h5 *h, const nb_hdf5_crystals *all, int frames)
{
#define MEMBER(name, type, values, member, units)                                        \
    {                                                                                    \
        CRYSTALS "/" name, type, values, offsetof(nb_hdf5_crystal, member), units        \
    }
    const nb_h5_member columns[] = {
        MEMBER("frame", H5T_NATIVE_INT32, 1, frame, NULL),
        MEMBER("crystal", H5T_NATIVE_INT32, 1, crystal, NULL),
        MEMBER("twin", H5T_NATIVE_INT32, 1, twin, NULL),
        MEMBER("A", H5T_NATIVE_DOUBLE, 9, A, "1/angstrom"),
        MEMBER("N", H5T_NATIVE_DOUBLE, 3, N, NULL),
        MEMBER("cell", H5T_NATIVE_DOUBLE, 6, cell, NULL),
        MEMBER("blocks", H5T_NATIVE_DOUBLE, 1, blocks, NULL),
        MEMBER("part", H5T_NATIVE_DOUBLE, 1, part, NULL),
        MEMBER("mosaic", H5T_NATIVE_DOUBLE, 1, mosaic_deg, "deg"),
        MEMBER("B_added", H5T_NATIVE_DOUBLE, 1, B_added, "angstrom^2"),
        MEMBER("F_scale", H5T_NATIVE_DOUBLE, 1, F_scale, NULL),
    };
#undef MEMBER
    const hsize_t n = (hsize_t)frames;
    nb_h5_group(h, CRYSTALS, "NXcollection");
    nb_h5_array(h, CRYSTALS "/first", H5T_NATIVE_INT64, all->first, 1, &n);
    nb_h5_array(h, CRYSTALS "/count", H5T_NATIVE_INT64, all->count, 1, &n);
    nb_h5_members(h, columns, sizeof columns / sizeof *columns, all->rows,
                  sizeof *all->rows, all->n);
    put_crystal_U(h, all);
    nb_h5_member_texts(h, CRYSTALS "/hkl_file", all->n ? all->rows->file : NULL,
                       sizeof *all->rows, all->n);
}

/** Write the line number of each shot in -spectra, from 0. */
static void put_spectrum_numbers(nb_h5 *h, int frames, int first)
{
    hsize_t n = (hsize_t)frames;
    int64_t *numbers = nb_alloc((size_t)n, sizeof *numbers, "truth", NULL);
    h->ok &= numbers != NULL;
    for (hsize_t i = 0; numbers && i < n; i++)
        numbers[i] = first + (int64_t)i;
    if (numbers)
        nb_h5_array(h, SIMULATION "/spectrum", H5T_NATIVE_INT64, numbers, 1, &n);
    nb_free(numbers);
}

/** Write the text of -jobs, and the line of each frame (without blank lines). If one long
 * line makes the table of lines much larger than the text, write only the text. */
static void put_jobs(nb_h5 *h, const nb_hdf5_master *master)
{
    size_t first = (size_t)master->first, n = first + (size_t)master->frames;
    size_t size = strlen(master->jobs) + 1;
    size_t found = 0, longest = 0, limit = 8 * size + (1 << 20);
    char *copy = nb_alloc_raw(size, 1, "jobs", NULL), *rest = copy, *line;
    const char **lines = nb_alloc(n, sizeof *lines, "jobs", NULL);
    h->ok &= copy && lines;
    if (h->ok) {
        memcpy(copy, master->jobs, size);
        while (found < n && (line = strsep(&rest, "\n")))
            if (line[strspn(line, " \t\r")]) {
                lines[found++] = line;
                longest = strlen(line) > longest ? strlen(line) : longest;
            }
        nb_h5_text(h, SIMULATION "/jobs_file", master->jobs);
    }
    if (h->ok && found == n && longest <= limit / n)
        nb_h5_texts(h, SIMULATION "/job", lines + first, n - first);
    nb_free(lines);
    nb_free(copy);
}

/** Write the noise of source and detector, and the flicker of each frame. */
static void put_noise(nb_h5 *h, const nb_hdf5_master *master)
{
    const nb_hdf5_noise *n = &master->noise;
    if (!n->wanted)
        return;
    nb_h5_number(h, SIMULATION "/gain", n->gain, "ADU/photon");
    nb_h5_number(h, SIMULATION "/adc", n->adc_offset, "ADU");
    nb_h5_number(h, SIMULATION "/readout_noise", n->readout, "ADU");
    nb_h5_number(h, SIMULATION "/calibration", n->calibration, "1");
    nb_h5_integer(h, SIMULATION "/calib_seed", n->calib_seed);
    nb_h5_text(h, SIMULATION "/psf", n->psf);
    nb_h5_number(h, SIMULATION "/psf_fwhm", n->psf_fwhm_um, "um");
    put_truths(h, master, NOISE);
}

void nb_hdf5_put_truth(nb_h5 *h, const nb_hdf5_master *master)
{
    const nb_image_meta *m = master->meta;
    nb_h5_group(h, SIMULATION, "NXcollection");
    nb_h5_text(h, SIMULATION "/program", "nanobragg");
    nb_h5_text(h, SIMULATION "/version", NB_VERSION);
    nb_h5_text(h, SIMULATION "/command_line", m->command_line ? m->command_line : "");
    if (master->config)
        nb_h5_text(h, SIMULATION "/config", master->config);
    if (master->jobs)
        put_jobs(h, master);
    put_truths(h, master, LAB | (master->panels ? 0 : PANEL));
    if (master->panels)
        put_panels(h, master);
    put_truths(h, master, MATRICES);
    nb_h5_attr_text(h, SIMULATION "/A", "about",
                    "columns a* b* c* at phi 0 in the program's lab frame; A = U B");
    nb_h5_attr_text(h, SIMULATION "/A_drawn", "about",
                    "as A, of the mean of the mosaic domains that were drawn");
    say_cell(h, SIMULATION "/cell", SIMULATION "/misset");
    put_truths(h, master, NUMBERS | (master->damaged ? DAMAGE : 0));
    put_noise(h, master);
    if (master->spectrum)
        put_truths(h, master, SPECTRUM);
    if (master->background && master->background[0])
        nb_h5_text(h, SIMULATION "/background", master->background);
    if (master->transmission)
        nb_h5_packed_array(
            h, SIMULATION "/transmission", H5T_NATIVE_FLOAT, master->transmission,
            (const hsize_t[]){(hsize_t)master->layout.slow, (hsize_t)master->layout.fast});
    put_truths(h, master, IMAGE);
    if (master->varied_name(master->user, 0))
        put_varied(h, master);
    if (master->images)
        nb_h5_member_texts(h, SIMULATION "/image", master->images[0],
                           sizeof *master->images, (size_t)master->frames);
    if (master->crystals)
        put_crystals(h, master->crystals, master->frames);
    if (master->spectra)
        put_spectrum_numbers(h, master->frames, master->first);
    if (master->layout.reflections)
        nb_hdf5_link_lists(h, master);
    if (master->stored)
        put_stored(h, master->stored);
}
