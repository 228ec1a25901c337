/* SPDX-License-Identifier: MIT */
/* The NXmx master: geometry, beam, goniometer and truth, and the frames of the data files under
 * one name (NeXus NXmx; Bernstein et al., IUCrJ 7, 784 (2020)). */
#include "hdf5_file.h"
#include "hdf5_put.h"

#ifdef NB_HAVE_HDF5
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "hdf5_beam.h"
#include "hdf5_frames.h"
#include "hdf5_open.h"
#include "hdf5_truth.h"

#define DETECTOR "/entry/instrument/detector"
#define MODULE DETECTOR "/module"
#define TRANSFORM "/entry/sample/transformations"

/** Rows of the rotation from our lab frame to NeXus': z along the beam, x against the fast axis. */
typedef struct lab_frame {
    double x[3], y[3], z[3];
} lab_frame;

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static lab_frame find_frame(const nb_image_meta *m)
{
    lab_frame f;
    double along = dot(m->fast_axis, m->beam), length;
    const double *axis = m->fast_axis;
    if (fabs(along) > 0.999) { /* a detector seen from its edge */
        axis = m->slow_axis;
        along = dot(axis, m->beam);
    }
    memcpy(f.z, m->beam, sizeof f.z);
    for (int i = 0; i < 3; i++)
        f.x[i] = along * m->beam[i] - axis[i];
    length = sqrt(dot(f.x, f.x));
    for (int i = 0; i < 3; i++)
        f.x[i] /= length;
    for (int i = 0; i < 3; i++)
        f.y[i] = f.z[(i + 1) % 3] * f.x[(i + 2) % 3] - f.z[(i + 2) % 3] * f.x[(i + 1) % 3];
    return f;
}

static void turn(const lab_frame *f, const double v[3], double out[3])
{
    out[0] = dot(f->x, v);
    out[1] = dot(f->y, v);
    out[2] = dot(f->z, v);
    for (int i = 0; i < 3; i++)
        out[i] = fabs(out[i]) < 1e-15 ? 0 : out[i];
}

/** What makes a value an axis of a dependency chain. */
static void make_axis(nb_h5 *h, const char *path, const char *kind, const double v[3],
                      const char *depends_on)
{
    const double zero[3] = {0, 0, 0};
    nb_h5_attr_text(h, path, "transformation_type", kind);
    nb_h5_attr_array(h, path, "vector", H5T_NATIVE_DOUBLE, v, 3);
    nb_h5_attr_array(h, path, "offset", H5T_NATIVE_DOUBLE, zero, 3);
    nb_h5_attr_text(h, path, "offset_units", "mm");
    nb_h5_attr_text(h, path, "depends_on", depends_on);
}

static void put_module(nb_h5 *h, const nb_image_meta *m, const lab_frame *f)
{
    const int64_t origin[2] = {0, 0}, size[2] = {m->slow, m->fast};
    const hsize_t two = 2;
    double v[3], length;
    nb_h5_group(h, MODULE, "NXdetector_module");
    nb_h5_array(h, MODULE "/data_origin", H5T_NATIVE_INT64, origin, 1, &two);
    nb_h5_array(h, MODULE "/data_size", H5T_NATIVE_INT64, size, 1, &two);
    turn(f, m->pix0_mm, v);
    length = sqrt(dot(v, v));
    for (int i = 0; i < 3; i++)
        v[i] /= length;
    nb_h5_number(h, MODULE "/module_offset", length, "mm");
    make_axis(h, MODULE "/module_offset", "translation", v, ".");
    nb_h5_number(h, MODULE "/fast_pixel_direction", m->pixel_mm, "mm");
    turn(f, m->fast_axis, v);
    make_axis(h, MODULE "/fast_pixel_direction", "translation", v,
              MODULE "/module_offset");
    nb_h5_number(h, MODULE "/slow_pixel_direction", m->pixel_mm, "mm");
    turn(f, m->slow_axis, v);
    make_axis(h, MODULE "/slow_pixel_direction", "translation", v,
              MODULE "/module_offset");
}

static void put_pixel_mask(nb_h5 *h, const nb_hdf5_master *master)
{
    const nb_hdf5_layout *l = &master->layout;
    hsize_t dims[2] = {(hsize_t)l->slow, (hsize_t)l->fast};
    size_t n = (size_t)l->slow * (size_t)l->fast;
    uint32_t *mask = nb_alloc(n, sizeof *mask, "pixel mask", NULL);
    h->ok &= mask != NULL;
    for (size_t i = 0; mask && i < n; i++)
        mask[i] = master->bad[i];
    if (mask)
        nb_h5_array(h, DETECTOR "/pixel_mask", H5T_NATIVE_UINT32, mask, 2, dims);
    nb_free(mask);
}

static void put_detector(nb_h5 *h, const nb_hdf5_master *master, const lab_frame *f)
{
    const nb_image_meta *m = master->meta;
    nb_h5_group(h, DETECTOR, "NXdetector");
    nb_h5_text(h, DETECTOR "/description", "simulated by nanobragg");
    nb_h5_text(h, DETECTOR "/sensor_material", "Si");
    nb_h5_number(h, DETECTOR "/sensor_thickness", m->thick_mm > 0 ? m->thick_mm : 1e-6,
                 "mm");
    nb_h5_number(h, DETECTOR "/distance", m->distance_mm, "mm");
    nb_h5_number(h, DETECTOR "/beam_center_x", m->Fbeam_mm / m->pixel_mm, "pixel");
    nb_h5_number(h, DETECTOR "/beam_center_y", m->Sbeam_mm / m->pixel_mm, "pixel");
    nb_h5_number(h, DETECTOR "/x_pixel_size", m->pixel_mm, "mm");
    nb_h5_number(h, DETECTOR "/y_pixel_size", m->pixel_mm, "mm");
    nb_h5_number(h, DETECTOR "/frame_time", m->exposure_s, "s");
    nb_h5_number(h, DETECTOR "/count_time", m->exposure_s, "s");
    if (master->layout.type != NB_HDF5_F32) {
        nb_h5_integer(h, DETECTOR "/saturation_value",
                      master->layout.type == NB_HDF5_U16 ? 65534 : 2147483646);
        nb_h5_integer(h, DETECTOR "/underload_value", 0);
    }
    if (master->bad)
        put_pixel_mask(h, master);
    put_module(h, m, f);
}

/** The scan angle at the end of a frame. */
static void end_angle(const nb_hdf5_frame *frame, size_t offset, void *row)
{
    double end = frame->phi_deg + frame->osc_deg;
    (void)offset;
    memcpy(row, &end, sizeof end);
}

/** The goniometer of a rotation; a still has none. */
static void put_sample(nb_h5 *h, const nb_hdf5_master *master, const lab_frame *f)
{
    nb_hdf5_frame first;
    double axis[3];
    nb_h5_group(h, "/entry/sample", "NXsample");
    nb_h5_text(h, "/entry/sample/name", "simulated crystal");
    h->ok &= !master->truth(master->truth_user, 0, 1, &first, NULL);
    if (!master->rotation)
        nb_h5_text(h, "/entry/sample/depends_on", "."); /* no goniometer */
    if (!h->ok || !master->rotation)
        return;
    nb_h5_group(h, TRANSFORM, "NXtransformations");
    turn(f, master->meta->spindle, axis);
    nb_hdf5_put_rows(h, master, TRANSFORM "/omega", H5T_NATIVE_DOUBLE, 1, nb_hdf5_member,
                     offsetof(nb_hdf5_frame, phi_deg));
    nb_h5_attr_text(h, TRANSFORM "/omega", "units", "deg");
    make_axis(h, TRANSFORM "/omega", "rotation", axis, ".");
    nb_hdf5_put_rows(h, master, TRANSFORM "/omega_end", H5T_NATIVE_DOUBLE, 1, end_angle,
                     0);
    nb_h5_attr_text(h, TRANSFORM "/omega_end", "units", "deg");
    nb_h5_number(h, TRANSFORM "/omega_range_average", first.osc_deg, "deg");
    nb_h5_text(h, "/entry/sample/depends_on", TRANSFORM "/omega");
}

/** A time of day as NeXus wants it; left out when the calendar ends before it. */
static void put_time(nb_h5 *h, const char *path, time_t t)
{
    char text[40];
    struct tm parts;
    if (gmtime_r(&t, &parts) &&
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts) > 0)
        nb_h5_text(h, path, text);
}

/** When the frames began and ended, if one followed the other from the header's date on. */
static void put_times(nb_h5 *h, const nb_hdf5_master *master)
{
    const double most = 1e11; /* a calendar of four digits ends at 2.5e11 s */
    double seconds = ceil(master->frames * master->meta->exposure_s);
    time_t start = master->meta->date;
    time_t end = start + (time_t)(seconds > 0 && seconds < most ? seconds : 0);
    put_time(h, "/entry/start_time", start);
    put_time(h, "/entry/end_time", end);
    put_time(h, "/entry/end_time_estimated", end);
}

static void fill(nb_h5 *h, const nb_hdf5_master *master)
{
    lab_frame f = find_frame(master->meta);
    nb_h5_attr_text(h, "/", "default", "entry");
    nb_h5_group(h, "/entry", "NXentry");
    nb_h5_attr_text(h, "/entry", "default", "data");
    nb_h5_text(h, "/entry/definition", "NXmx");
    nb_h5_text(h, "/entry/title", "simulated diffraction images");
    put_times(h, master);
    nb_h5_text(h, "/entry/program_name", "nanobragg " NB_VERSION);
    nb_hdf5_put_frames(h, master);
    nb_h5_group(h, "/entry/instrument", "NXinstrument");
    nb_h5_text(h, "/entry/instrument/name", "nanobragg");
    nb_hdf5_put_beam(h, master, f.x, f.y);
    nb_h5_group(h, "/entry/source", "NXsource");
    nb_h5_text(h, "/entry/source/name", "nanobragg simulation");
    nb_h5_attr_text(h, "/entry/source/name", "short_name", "nanobragg");
    nb_h5_text(h, "/entry/source/probe", "x-ray");
    put_detector(h, master, &f);
    put_sample(h, master, &f);
    nb_hdf5_put_truth(h, master);
}

nb_status nb_hdf5_write_master(const char *path, const nb_hdf5_master *master,
                               nb_error *err)
{
    double pixels = (double)master->layout.fast * master->layout.slow;
    nb_h5 h;
    nb_h5_quiet quiet;
    nb_status st = nb_h5_begin(&quiet, err);
    if (st)
        return st;
    nb_h5_tidy(); /* what the frames' threads left */
    st = nb_h5_create(&h, path, 900.0 * master->frames + (master->bad ? 4 * pixels : 0),
                      err);
    if (!st) {
        fill(&h, master);
        st = nb_h5_finish(&h, NB_OK, err);
    }
    nb_h5_end(&quiet);
    return st;
}

#else
typedef int nb_hdf5_nexus_is_not_in_this_build;
#endif
