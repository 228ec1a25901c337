/* SPDX-License-Identifier: MIT */
#include "hdf5_place.h"

#ifdef NB_HAVE_HDF5
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hdf5_rows.h"

#define DETECTOR NB_HDF5_DETECTOR
#define MODULE DETECTOR "/module"
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

/** offset: of the first pixel's corner from the last axis of the module's chain, mm. */
static void put_module(nb_h5 *h, const nb_image_meta *m, const nb_axes *f,
                       const double offset[3], const char *stands_on)
{
    const int64_t origin[2] = {0, 0}, size[2] = {m->slow, m->fast};
    const hsize_t two = 2;
    double v[3] = {0, 0, 1}, length = sqrt(nb_dot3(offset, offset));
    nb_h5_group(h, MODULE, "NXdetector_module");
    nb_h5_array(h, MODULE "/data_origin", H5T_NATIVE_INT64, origin, 1, &two);
    nb_h5_array(h, MODULE "/data_size", H5T_NATIVE_INT64, size, 1, &two);
    for (int i = 0; length > 0 && i < 3; i++)
        v[i] = offset[i] / length;
    nb_h5_number(h, MODULE "/module_offset", length, "mm");
    nb_hdf5_make_axis(h, MODULE "/module_offset", "translation", v, stands_on);
    nb_h5_number(h, MODULE "/fast_pixel_direction", m->pixel_mm, "mm");
    nb_nexus_turn(f, m->fast_axis, v);
    nb_hdf5_make_axis(h, MODULE "/fast_pixel_direction", "translation", v,
                      MODULE "/module_offset");
    nb_h5_number(h, MODULE "/slow_pixel_direction", m->pixel_mm, "mm");
    nb_nexus_turn(f, m->slow_axis, v);
    nb_hdf5_make_axis(h, MODULE "/slow_pixel_direction", "translation", v,
                      MODULE "/module_offset");
}

/* --- a place for each frame --- */

/** The input for the rows of one axis. */
typedef struct axis_maker {
    const nb_hdf5_master *master;
    const nb_axes *frame;
    int number; /* 0..2: turns about x, y, z, deg; 3..5: shifts along them, mm */
} axis_maker;

/** Columns: fast, slow as far as it is across, and the normal. */
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

/** The six values for a frame. R = Rz Ry Rx rotates the detector of the series into that of
 * the frame. The first corner is then at the shifts. A frame with another beam has its own
 * NeXus frame. */
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
    } else { /* x and z are one axis */
        out[0] = 0;
        out[2] = atan2(-R[0][1], R[1][1]) / DEG;
    }
    nb_nexus_turn(&own, t->pix0_mm, out + 3);
}

static nb_status axis_rows(void *user, int first, int count, void *rows, nb_error *err)
{
    const axis_maker *m = user;
    double *out = rows, moves[6];
    nb_status st = NB_OK;
    for (int i = 0; !st && i < count; i++) {
        nb_hdf5_frame t;
        st = m->master->truth(m->master->truth_user, first + i, 1, &t, err);
        if (st)
            return st;
        find_moves(m, &t, moves);
        out[i] = fabs(moves[m->number]) < 1e-13 ? 0 : moves[m->number];
    }
    return st;
}

/** Three rotations and three translations with a value for each frame. */
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
        nb_h5_stream s = {paths[i],       H5T_NATIVE_DOUBLE, 1,     {0, 0, 0},
                          sizeof(double), axis_rows,         &maker};
        const double v[3] = {i % 3 == 0, i % 3 == 1, i % 3 == 2};
        s.dims[0] = (hsize_t)master->frames;
        nb_h5_put_stream(h, &s);
        nb_h5_attr_text(h, paths[i], "units", i < 3 ? "deg" : "mm");
        nb_hdf5_make_axis(h, paths[i], i < 3 ? "rotation" : "translation", v,
                          paths[i + 1]);
    }
}

static void put_column(nb_h5 *h, const nb_hdf5_master *master, const char *path,
                       size_t offset, const char *units)
{
    nb_hdf5_put_rows(h, master, path, H5T_NATIVE_DOUBLE, 1, nb_hdf5_member, offset);
    nb_h5_attr_text(h, path, "units", units);
}

void nb_hdf5_put_place(nb_h5 *h, const nb_hdf5_master *master, const nb_axes *f)
{
    const nb_image_meta *m = master->meta;
    const double zero[3] = {0, 0, 0};
    double corner[3];
    if (master->moving && !master->panels) {
        put_column(h, master, DETECTOR "/distance", offsetof(nb_hdf5_frame, distance_mm),
                   "mm");
        put_column(h, master, DETECTOR "/beam_center_x",
                   offsetof(nb_hdf5_frame, beam_px[0]), "pixel");
        put_column(h, master, DETECTOR "/beam_center_y",
                   offsetof(nb_hdf5_frame, beam_px[1]), "pixel");
        put_moves(h, master, f);
        put_module(h, m, f, zero, MOVES "/rotation_x");
        return;
    }
    nb_h5_number(h, DETECTOR "/distance", m->distance_mm, "mm");
    nb_h5_number(h, DETECTOR "/beam_center_x", m->Fbeam_mm / m->pixel_mm, "pixel");
    nb_h5_number(h, DETECTOR "/beam_center_y", m->Sbeam_mm / m->pixel_mm, "pixel");
    if (master->panels) /* they have modules of their own */
        return;
    nb_nexus_turn(f, m->pix0_mm, corner);
    put_module(h, m, f, corner, ".");
}

#else
typedef int nb_hdf5_place_is_not_in_this_build;
#endif
