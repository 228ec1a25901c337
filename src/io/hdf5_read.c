/* SPDX-License-Identifier: MIT */
#include "hdf5_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/outfile.h"
#include "hdf5_file.h"
#include "hdf5_open.h"
#include "image_read.h"

/** By its first bytes.  A pipe is none: what was read from it would be lost for others. */
static int is_hdf5(const char *path)
{
    char first[8];
    nb_image_file file = {first, sizeof first, path, 0, 0};
    nb_input in;
    int yes;
    if (!nb_is_regular_file(path) || nb_input_open(&in, path, "image", NULL))
        return 0;
    yes = !nb_input_read(&in, 0, first, sizeof first, NULL) &&
          nb_image_format_of(&file) == NB_FORMAT_HDF5;
    nb_input_close(&in);
    return yes;
}

int nb_hdf5_frame_of(const char *path, char *name, int *frame)
{
    const char *colon = strrchr(path, ':');
    char *end;
    long number;
    *frame = 0;
    snprintf(name, NB_PATH_MAX, "%s", path);
    if (is_hdf5(path))
        return 1;
    *frame = -1;
    if (!colon || colon[1] < '0' || colon[1] > '9' || colon - path >= NB_PATH_MAX)
        return 0;
    number = strtol(colon + 1, &end, 10);
    name[colon - path] = '\0';
    if (*end || number > 0x7ffffffe || !is_hdf5(name))
        return 0;
    *frame = (int)number;
    return 1;
}

#ifdef NB_HAVE_HDF5

/** Number `at` of a small data set with a row of `width` for each frame, or with one row for all;
 * NaN: it is not there. */
static double read_number(hid_t file, const char *path, long long at, int width)
{
    hid_t set = H5Dopen2(file, path, H5P_DEFAULT);
    hid_t space = set >= 0 ? H5Dget_space(set) : -1;
    long long n = space >= 0 ? H5Sget_simple_extent_npoints(space) : 0;
    double *all =
        n > 0 && n < 100000000 ? nb_alloc((size_t)n, sizeof *all, "numbers", NULL) : NULL;
    double value = NAN;
    if (all && H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, all) >= 0)
        value = all[at < n ? at : n >= width ? at % width : 0];
    nb_free(all);
    if (space >= 0)
        H5Sclose(space);
    if (set >= 0)
        H5Dclose(set);
    return value;
}

/** Millimetres in the unit that the data set names; NaN: none that we know. */
static double unit_mm(hid_t file, const char *path)
{
    char text[16] = "";
    hid_t type = H5Tcopy(H5T_C_S1);
    hid_t attr = H5Aopen_by_name(file, path, "units", H5P_DEFAULT, H5P_DEFAULT);
    int ok = attr >= 0 && H5Tset_size(type, sizeof text - 1) >= 0 &&
             H5Tset_cset(type, H5T_CSET_UTF8) >= 0 && H5Aread(attr, type, text) >= 0;
    if (attr >= 0)
        H5Aclose(attr);
    H5Tclose(type);
    return ok && !strcmp(text, "mm") ? 1 : ok && !strcmp(text, "m") ? 1e3 : NAN;
}

static double read_length(hid_t file, const char *path, int frame)
{
    return read_number(file, path, frame, 1) * unit_mm(file, path);
}

/** The frame's vectors, which only our own masters have. */
static void read_vectors(hid_t file, int frame, nb_hdf5_geometry *g)
{
#define SIMULATION "/entry/simulation/"
    double mm = unit_mm(file, SIMULATION "pix0_vector");
    for (int i = 0; i < 3; i++) {
        long long at = 3LL * frame + i;
        g->pix0_mm[i] = read_number(file, SIMULATION "pix0_vector", at, 3) * mm;
        g->fast_axis[i] = read_number(file, SIMULATION "fdet_vector", at, 3);
        g->slow_axis[i] = read_number(file, SIMULATION "sdet_vector", at, 3);
        g->beam[i] = read_number(file, SIMULATION "beam_vector", at, 3);
        g->spindle[i] = read_number(file, SIMULATION "spindle_axis", at, 3);
        g->polar_axis[i] = read_number(file, SIMULATION "polar_vector", at, 3);
    }
#undef SIMULATION
}

static void read_geometry(hid_t file, int frame, nb_hdf5_geometry *g)
{
#define DETECTOR "/entry/instrument/detector/"
    g->pixel_mm = read_length(file, DETECTOR "x_pixel_size", 0);
    g->distance_mm = read_length(file, DETECTOR "distance", frame);
    g->beam_px[0] = read_number(file, DETECTOR "beam_center_x", frame, 1);
    g->beam_px[1] = read_number(file, DETECTOR "beam_center_y", frame, 1);
    g->wavelength_A =
        read_number(file, "/entry/instrument/beam/incident_wavelength", frame, 1);
    read_vectors(file, frame, g);
#undef DETECTOR
}

/** A set of frames, [frame][slow][fast] or one [slow][fast]. */
typedef struct frames {
    hid_t set;
    int rank;
    hsize_t dims[3]; /* frame, slow, fast */
} frames;

static void close_frames(frames *f)
{
    if (f->set >= 0)
        H5Dclose(f->set);
    f->set = -1;
}

static int open_frames(hid_t file, const char *path, frames *f)
{
    hid_t space = -1, type = -1;
    int ok;
    f->set = H5Dopen2(file, path, H5P_DEFAULT);
    if (f->set < 0)
        return 0;
    space = H5Dget_space(f->set);
    type = H5Dget_type(f->set);
    f->dims[0] = 1;
    f->rank = H5Sget_simple_extent_ndims(space);
    ok = (f->rank == 2 || f->rank == 3) &&
         H5Sget_simple_extent_dims(space, f->dims + 3 - f->rank, NULL) == f->rank &&
         (H5Tget_class(type) == H5T_INTEGER || H5Tget_class(type) == H5T_FLOAT);
    H5Tclose(type);
    H5Sclose(space);
    if (!ok)
        close_frames(f);
    return ok;
}

/** Where the links to the data files stand: here, and until version 0.1.0 beside the frames (as
 * detectors write them).  NULL: there are none. */
static const char *links_of(hid_t file)
{
    static const char *const groups[] = {NB_HDF5_LINKS, "/entry/data"};
    char path[40];
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        snprintf(path, sizeof path, "%s/data_000001", groups[i]);
        if (H5Lexists(file, "/entry", H5P_DEFAULT) > 0 &&
            H5Lexists(file, groups[i], H5P_DEFAULT) > 0 &&
            H5Lexists(file, path, H5P_DEFAULT) > 0)
            return groups[i];
    }
    return NULL;
}

/** The set that holds the frame; *frame becomes its number there.  The links to data files are
 * followed one by one: a virtual data set does not tell which file is missing. */
static nb_status find_frames(hid_t file, const char *name, int *frame, frames *f,
                             nb_error *err)
{
    const char *links = links_of(file);
    char path[40];
    long long before = 0;
    snprintf(path, sizeof path, "%s/data%s", links ? links : "/entry/data",
             links ? "_000001" : "");
    for (int i = 1; i == 1 || (links && H5Lexists(file, path, H5P_DEFAULT) > 0);) {
        if (!open_frames(file, path, f))
            return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                              links ? "%s, a link to a data file, cannot be opened"
                                    : "%s is not there, or no set of images",
                              path);
        if (*frame - before < (long long)f->dims[0]) {
            *frame -= (int)before;
            return NB_OK;
        }
        before += (long long)f->dims[0];
        close_frames(f);
        snprintf(path, sizeof path, "%s/data_%06d", links ? links : "", ++i);
    }
    return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                      "frame %d: there are %lld, counted from 0", *frame, before);
}

static nb_status read_pixels(const frames *f, const char *name, int frame, nb_image *out,
                             nb_error *err)
{
    nb_image_file file = {NULL, 0, name, 0, 0};
    hsize_t at[3] = {(hsize_t)frame, 0, 0}, count[3] = {1, f->dims[1], f->dims[2]};
    int first = 3 - f->rank;
    hid_t from, to;
    nb_status st;
    out->fast = f->dims[2] < 0x7fffffff ? (int)f->dims[2] : 0;
    out->slow = f->dims[1] < 0x7fffffff ? (int)f->dims[1] : 0;
    if ((st = nb_image_allocate(&file, out, err)))
        return st;
    from = H5Dget_space(f->set);
    to = H5Screate_simple(2, count + 1, NULL);
    if (H5Sselect_hyperslab(from, H5S_SELECT_SET, at + first, NULL, count + first, NULL) <
            0 ||
        H5Dread(f->set, H5T_NATIVE_FLOAT, to, from, H5P_DEFAULT, out->pixels) < 0)
        st = nb_fail_at(err, NB_ERR_INPUT, name, 0,
                        "the pixels cannot be read: damaged, or compressed by a filter "
                        "that is not here");
    H5Sclose(to);
    H5Sclose(from);
    return st;
}

static nb_status read_file(hid_t file, const char *path, int frame, nb_image *out,
                           nb_hdf5_geometry *said, nb_error *err)
{
    frames f = {-1, 0, {0}};
    int there = frame;
    nb_status st = find_frames(file, path, &there, &f, err);
    if (!st)
        st = read_pixels(&f, path, there, out, err);
    if (!st)
        read_geometry(file, frame, said);
    close_frames(&f);
    return st;
}

nb_status nb_hdf5_read_image(const char *path, int frame, nb_image *out,
                             nb_hdf5_geometry *said, nb_error *err)
{
    nb_h5_input in;
    nb_status st = nb_h5_open(&in, path, err);
    memset(out, 0, sizeof *out);
    out->centre[0] = out->centre[1] = NAN;
    snprintf(out->format, sizeof out->format, "HDF5");
    if (st)
        return st;
    st = read_file(in.file, path, frame, out, said, err);
    nb_h5_close(&in);
    return st;
}

#else

nb_status nb_hdf5_read_image(const char *path, int frame, nb_image *out,
                             nb_hdf5_geometry *said, nb_error *err)
{
    (void)frame;
    (void)said;
    memset(out, 0, sizeof *out);
    return nb_fail_at(err, NB_ERR_UNSUPPORTED, path, 0,
                      "HDF5 needs libhdf5-dev, which this build lacks");
}
#endif
