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

#include "../../base/error.h"
#include "../../base/memory.h"
#include "hdf5_beam.h"
#include "hdf5_frames.h"
#include "hdf5_panels.h"
#include "hdf5_place.h"
#include "hdf5_open.h"
#include "hdf5_rows.h"
#include "hdf5_truth.h"

#define DETECTOR NB_HDF5_DETECTOR
#define TRANSFORM "/entry/sample/transformations"

static void put_pixel_mask(nb_h5 *h, const nb_hdf5_master *master)
{
    const nb_hdf5_layout *l = &master->layout;
    hsize_t dims[2] = {(hsize_t)l->slow, (hsize_t)l->fast};
    size_t n = (size_t)l->slow * (size_t)l->fast;
    uint32_t *mask = nb_alloc(n, sizeof *mask, "pixel mask", NULL);
    h->ok &= mask != NULL;
    for (size_t i = 0; mask && i < n; i++)
        mask[i] =
            master->bad[i] == 2 ? 256 : master->bad[i]; /* NXmx: 256 is masked by users */
    if (mask)
        nb_h5_packed_array(h, DETECTOR "/pixel_mask", H5T_NATIVE_UINT32, mask, dims);
    nb_free(mask);
}

/** The range of good values. */
static void put_limits(nb_h5 *h, const nb_hdf5_master *master)
{
    const nb_hdf5_noise *noise = &master->noise;
    nb_hdf5_type type = master->layout.type;
    double most = type == NB_HDF5_U16 ? 65534 : type == NB_HDF5_I16 ? 32766 : 2147483646;
    double least = fmin(0, floor(noise->adc_offset - 6 * noise->readout));
    if (type == NB_HDF5_F32)
        return;
    if (noise->trusted > 0)
        most = noise->trusted;
    for (int k = 0; master->panels && k < master->panels->detector->n_panels; k++)
        most = fmin(most, master->panels->detector->panels[k].saturation); /* NaN: most */
    nb_h5_integer(h, DETECTOR "/saturation_value", (int64_t)most);
    nb_h5_integer(h, DETECTOR "/underload_value", (int64_t)least);
}

static void put_detector(nb_h5 *h, const nb_hdf5_master *master, const nb_axes *f)
{
    const nb_image_meta *m = master->meta;
    nb_h5_group(h, DETECTOR, "NXdetector");
    nb_h5_text(h, DETECTOR "/description", "simulated by nanobragg");
    nb_h5_text(h, DETECTOR "/sensor_material", m->material[0] ? m->material : "Si");
    nb_h5_number(h, DETECTOR "/sensor_thickness", m->thick_mm > 0 ? m->thick_mm : 1e-6,
                 "mm");
    nb_h5_number(h, DETECTOR "/x_pixel_size", m->pixel_mm, "mm");
    nb_h5_number(h, DETECTOR "/y_pixel_size", m->pixel_mm, "mm");
    nb_h5_number(h, DETECTOR "/frame_time", m->exposure_s, "s");
    nb_h5_number(h, DETECTOR "/count_time", m->exposure_s, "s");
    put_limits(h, master);
    if (master->bad)
        put_pixel_mask(h, master);
    nb_hdf5_put_place(h, master, f);
    if (master->panels)
        nb_hdf5_put_modules(h, master);
}

/** The scan angle at the end of a frame. */
static void end_angle(const nb_hdf5_frame *frame, size_t offset, void *row)
{
    double end = frame->phi_deg + frame->osc_deg;
    (void)offset;
    memcpy(row, &end, sizeof end);
}

/** The goniometer of a rotation; a still has none. */
static void put_sample(nb_h5 *h, const nb_hdf5_master *master, const nb_axes *f)
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
    nb_nexus_turn(f, master->meta->spindle, axis);
    nb_hdf5_put_rows(h, master, TRANSFORM "/omega", H5T_NATIVE_DOUBLE, 1, nb_hdf5_member,
                     offsetof(nb_hdf5_frame, phi_deg));
    nb_h5_attr_text(h, TRANSFORM "/omega", "units", "deg");
    nb_hdf5_make_axis(h, TRANSFORM "/omega", "rotation", axis, ".");
    nb_hdf5_put_rows(h, master, TRANSFORM "/omega_end", H5T_NATIVE_DOUBLE, 1, end_angle,
                     0);
    nb_h5_attr_text(h, TRANSFORM "/omega_end", "units", "deg");
    nb_h5_number(h, TRANSFORM "/omega_range_average", first.osc_deg, "deg");
    nb_h5_text(h, "/entry/sample/depends_on", TRANSFORM "/omega");
}

/** A date and time in the form of NeXus; left out if it is beyond the calendar. */
static void put_time(nb_h5 *h, const char *path, time_t t)
{
    char text[40];
    struct tm parts;
    if (gmtime_r(&t, &parts) &&
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts) > 0)
        nb_h5_text(h, path, text);
}

/** Start and end of the frames, if they follow each other from the header's date on. */
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
    nb_axes f = nb_nexus_axes(master->meta->fast_axis, master->meta->slow_axis,
                              master->meta->beam);
    if (master->panels) {
        memcpy(f.x, master->panels->axes[0], sizeof f.x);
        memcpy(f.y, master->panels->axes[1], sizeof f.y);
        memcpy(f.z, master->panels->axes[2], sizeof f.z);
    }
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
