/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../common/panel_spec.h"
#include "hdf5_put.h"

#define DATA "/entry/data/data"

static void link_file(nb_h5 *h, const nb_hdf5_master *master, int number, const char *path)
{
    char name[NB_PATH_MAX];
    master->data_name(master->user, number, name);
    h->ok &=
        H5(Lcreate_external)(name, DATA, h->file, path, H5P_DEFAULT, H5P_DEFAULT) >= 0;
}

/** Write a link to each data file, outside /entry/data: some readers count the frames of
 * every set in that group whose name begins with "data". */
static void link_files(nb_h5 *h, const nb_hdf5_master *master)
{
    char path[64];
    nb_h5_group(h, NB_HDF5_LINKS, "NXcollection");
    for (int i = 0; h->ok && i < master->files; i++) {
        snprintf(path, sizeof path, NB_HDF5_LINKS "/data_%06d", i + 1);
        link_file(h, master, i, path);
    }
}

/** Frames of a missing data file get a value that no pixel has, instead of zeros. */
static int set_fill(hid_t list, nb_hdf5_type type)
{
    const uint16_t u16 = UINT16_MAX;
    const int16_t i16 = INT16_MIN;
    const int32_t i32 = INT32_MIN;
    const float f32 = NAN;
    const void *value = type == NB_HDF5_U16   ? (const void *)&u16
                        : type == NB_HDF5_I16 ? (const void *)&i16
                        : type == NB_HDF5_I32 ? (const void *)&i32
                                              : (const void *)&f32;
    return H5(Pset_fill_value)(list, nb_h5_pixel_type(type), value) >= 0;
}

/** Write all frames under one name: a virtual data set over the files. */
static void put_frames_virtual(nb_h5 *h, const nb_hdf5_master *master)
{
    const nb_hdf5_layout *l = &master->layout;
    const nb_hdf5_virtual frames = {
        .path = DATA,
        .type = nb_h5_pixel_type(l->type),
        .list = nb_h5_creation(),
        .rank = 3,
        .dims = {(hsize_t)master->frames, (hsize_t)l->slow, (hsize_t)l->fast}};
    h->ok &= set_fill(frames.list, l->type);
    nb_hdf5_put_virtual(h, master, &frames);
}

/* Write /entry/data/data, and the links to the data files in NB_HDF5_LINKS. */
static void put_frames(nb_h5 *h, const nb_hdf5_master *master)
{
    nb_h5_group(h, "/entry/data", "NXdata");
    nb_h5_attr_text(h, "/entry/data", "signal", "data");
    link_files(h, master);
    if (master->files == 1)
        link_file(h, master, 0, DATA);
    else
        put_frames_virtual(h, master);
}

#define BEAM "/entry/instrument/beam"
#define WAVELENGTH BEAM "/incident_wavelength"
#define SPECTRUM_NAME "incident_wavelength_1Dspectrum"
#define SPECTRUM BEAM "/" SPECTRUM_NAME

/** Number of wavelengths of the longest of the first n spectra. */
static size_t longest(const nb_spectra *s, int n)
{
    size_t max = 0;
    for (int i = 0; i < n; i++)
        if (s->first[i + 1] - s->first[i] > max)
            max = s->first[i + 1] - s->first[i];
    return max;
}

/** Make row i of -spectra; a shorter spectrum repeats the last wavelength with weight
 * 0. */
static void spectra_row(const nb_spectra *s, size_t i, size_t m, double *A, double *weight)
{
    const size_t have = s->first[i + 1] - s->first[i];
    for (size_t j = 0; j < m; j++) {
        const nb_source_line *line = &s->lines[s->first[i] + (j < have ? j : have - 1)];
        A[j] = line->lambda * 1e10;
        weight[j] = j < have ? line->intensity : 0;
    }
}

/** Make the spectra that are drawn for the frames; returns 0 if a spectrum cannot be
 * made. */
static int drawn_rows(const nb_hdf5_master *master, int n, size_t m, double *A,
                      double *weight)
{
    int ok = 1;
#pragma omp parallel for schedule(dynamic, 8) num_threads(master->threads) reduction(& : ok)
    for (int i = 0; i < n; i++)
        ok &= !master->spectrum(master->user, i, A + (size_t)i * m,
                                weight + (size_t)i * m, NULL);
    return ok;
}

/** Write the spectra of all frames, in rows of equal length. */
static void put_spectra(nb_h5 *h, const nb_hdf5_master *master)
{
    const nb_spectra *s = master->spectra;
    const size_t n = (size_t)master->frames,
                 m = s ? longest(s, master->frames) : (size_t)master->wavelengths;
    const hsize_t dims[2] = {n, m};
    double *A = nb_alloc(n * m, 2 * sizeof *A, "spectra", NULL), *weight = A + n * m;
    h->ok &= A != NULL;
    for (size_t i = 0; A && s && i < n; i++)
        spectra_row(s, i, m, A + i * m, weight + i * m);
    if (A && !s)
        h->ok &= drawn_rows(master, (int)n, m, A, weight);
    if (!A)
        return;
    nb_h5_attr_text(h, WAVELENGTH, "variant", SPECTRUM_NAME);
    nb_h5_array(h, SPECTRUM, H5T_NATIVE_DOUBLE, A, 2, dims);
    nb_h5_attr_text(h, SPECTRUM, "units", "angstrom");
    nb_h5_array(h, SPECTRUM "_weights", H5T_NATIVE_DOUBLE, weight, 2, dims);
    nb_free(A);
}

/** Photons per second through a square metre. total_flux: photons per second through the
 * beam, which has the default size if the fluence is typed. */
static void flux(const nb_hdf5_frame *frame, const nb_hdf5_rows *rows, void *out)
{
    (void)rows;
    *(double *)out = frame->fluence / frame->exposure_s;
}

static void total_flux(const nb_hdf5_frame *frame, const nb_hdf5_rows *rows, void *out)
{
    const double side = frame->beamsize_mm * 1e-3;
    (void)rows;
    *(double *)out = frame->fluence / frame->exposure_s * side * side;
}

/** Write one number, or a number for each frame if the numbers differ. */
static void put_maybe_rows(nb_h5 *h, const nb_hdf5_master *master,
                           const nb_hdf5_rows *rows)
{
    nb_hdf5_frame first;
    double value;
    h->ok &= !master->truth(master->user, 0, 1, &first, NULL);
    if (!h->ok || !(first.exposure_s > 0))
        return;
    rows->row(&first, rows, &value);
    if (nb_hdf5_differ(master, rows))
        nb_hdf5_put_rows(h, master, rows);
    else
        nb_h5_number(h, rows->path, value, rows->units);
}

static void put_flux(nb_h5 *h, const nb_hdf5_master *master)
{
    const nb_hdf5_rows area = {BEAM "/flux", "1/m^2/s", H5T_NATIVE_DOUBLE, 1, 0,
                               flux,         NULL},
                       beam = {BEAM "/total_flux", "Hz", H5T_NATIVE_DOUBLE, 1, 0,
                               total_flux,         NULL};
    const hsize_t two = 2;
    nb_hdf5_frame first;
    put_maybe_rows(h, master, &area);
    put_maybe_rows(h, master, &beam);
    h->ok &= !master->truth(master->user, 0, 1, &first, NULL);
    if (h->ok) {
        const double size[2] = {first.beamsize_mm, first.beamsize_mm};
        nb_h5_array(h, BEAM "/incident_beam_size", H5T_NATIVE_DOUBLE, size, 1, &two);
        nb_h5_attr_text(h, BEAM "/incident_beam_size", "units", "mm");
        nb_h5_text(h, BEAM "/profile", "rectangular");
    }
}

/** Make I, Q, U, V of a frame: Kahn's factor is the degree of linear polarization along
 * the polarization vector. */
static void stokes(const nb_hdf5_frame *frame, const nb_hdf5_rows *rows, void *row)
{
    const double *const *axes = rows->user; /* two axes at right angles to the beam */
    const double ex = nb_dot3(axes[0], frame->polar_axis),
                 ey = nb_dot3(axes[1], frame->polar_axis), square = ex * ex + ey * ey,
                 K = frame->polarization;
    double *out = row;
    out[0] = 1; /* "+ 0.0" in the next lines changes -0 to 0 */
    out[1] = square > 0 ? K * (ex * ex - ey * ey) / square + 0.0 : 0;
    out[2] = square > 0 ? K * 2 * ex * ey / square + 0.0 : 0;
    out[3] = 0;
}

/** Write the polarization; Stokes parameters only with a polarization factor. */
static void put_polarization(nb_h5 *h, const nb_hdf5_master *master, const double x[3],
                             const double y[3])
{
    const double *const axes[] = {x, y};
    const nb_hdf5_rows rows = {.path = BEAM "/incident_polarization_stokes",
                               .type = H5T_NATIVE_DOUBLE,
                               .values = 4,
                               .row = stokes,
                               .user = axes};
    nb_h5_number(h, BEAM "/incident_polarization_factor", master->meta->polarization,
                 NULL);
    if (!master->meta->nopolar)
        nb_hdf5_put_rows(h, master, &rows);
}

/* Write the beam; x and y: axes of the frame of NeXus, in the lab. */
static void put_beam(nb_h5 *h, const nb_hdf5_master *master, const double x[3],
                     const double y[3])
{
    const nb_image_meta *m = master->meta;
    const nb_hdf5_rows wavelengths = {.path = WAVELENGTH,
                                      .units = "angstrom",
                                      .type = H5T_NATIVE_DOUBLE,
                                      .values = 1,
                                      .offset = offsetof(nb_hdf5_frame, wavelength_A)};
    nb_h5_group(h, BEAM, "NXbeam");
    if (!master->rotation &&
        (master->spectra || master->spectrum || nb_hdf5_differ(master, &wavelengths)))
        nb_hdf5_put_rows(h, master, &wavelengths);
    else
        nb_h5_number(h, WAVELENGTH, m->wavelength_A, "angstrom");
    put_polarization(h, master, x, y);
    put_flux(h, master);
    if (master->spectra || master->spectrum)
        put_spectra(h, master);
}

/* --- The NXmx master: geometry, beam, goniometer and truth, and the frames of the data
 * files under one name (NeXus NXmx; Bernstein et al., IUCrJ 7, 784 (2020)) --- */

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
        /* in NXmx, 256 means masked by the user */
        mask[i] = master->bad[i] == 2 ? 256 : master->bad[i];
    if (mask)
        nb_h5_packed_array(h, DETECTOR "/pixel_mask", H5T_NATIVE_UINT32, mask, dims);
    nb_free(mask);
}

/** Write the range of good values. */
static void put_limits(nb_h5 *h, const nb_hdf5_master *master)
{
    const nb_hdf5_noise *noise = &master->noise;
    nb_hdf5_type type = master->layout.type;
    double max = type == NB_HDF5_U16 ? 65534 : type == NB_HDF5_I16 ? 32766 : 2147483646;
    double least = fmin(0, floor(noise->adc_offset - 6 * noise->readout));
    if (type == NB_HDF5_F32)
        return;
    if (noise->trusted > 0)
        max = noise->trusted;
    for (int k = 0; master->panels && k < master->panels->detector->n_panels; k++)
        max = fmin(max, master->panels->detector->panels[k]
                            .saturation); /* NaN: the largest value of the type */
    nb_h5_integer(h, DETECTOR "/saturation_value", (int64_t)max);
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

/** Scan angle at the end of a frame, deg. */
static void end_angle(const nb_hdf5_frame *frame, const nb_hdf5_rows *rows, void *out)
{
    (void)rows;
    *(double *)out = frame->phi_deg + frame->osc_deg;
}

/** Write the sample, and for a rotation the goniometer. */
static void put_sample(nb_h5 *h, const nb_hdf5_master *master, const nb_axes *f)
{
    const nb_hdf5_rows end = {
        TRANSFORM "/omega_end", "deg", H5T_NATIVE_DOUBLE, 1, 0, end_angle, NULL};
    nb_hdf5_frame first;
    double axis[3];
    nb_h5_group(h, "/entry/sample", "NXsample");
    nb_h5_text(h, "/entry/sample/name", "simulated crystal");
    h->ok &= !master->truth(master->user, 0, 1, &first, NULL);
    if (!master->rotation)
        /* "." means that there is no goniometer */
        nb_h5_text(h, "/entry/sample/depends_on", ".");
    if (!h->ok || !master->rotation)
        return;
    nb_h5_group(h, TRANSFORM, "NXtransformations");
    nb_nexus_turn(f, master->meta->spindle, axis);
    nb_hdf5_put_column(h, master, TRANSFORM "/omega", offsetof(nb_hdf5_frame, phi_deg),
                       "deg");
    nb_hdf5_make_axis(h, TRANSFORM "/omega", "rotation", axis, ".");
    nb_hdf5_put_rows(h, master, &end);
    nb_h5_number(h, TRANSFORM "/omega_range_average", first.osc_deg, "deg");
    nb_h5_text(h, "/entry/sample/depends_on", TRANSFORM "/omega");
}

/** Write a date and time in the form of NeXus, unless the date is out of range. */
static void put_time(nb_h5 *h, const char *path, time_t t)
{
    char text[40];
    struct tm parts;
    if (gmtime_r(&t, &parts) &&
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts) > 0)
        nb_h5_text(h, path, text);
}

/** Write start and end of consecutive frames that begin at the date of the header. */
static void put_times(nb_h5 *h, const nb_hdf5_master *master)
{
    const double max = 1e11; /* years with four digits end at 2.5e11 s */
    double seconds = ceil(master->frames * master->meta->exposure_s);
    time_t start = master->meta->date;
    time_t end = start + (time_t)(seconds > 0 && seconds < max ? seconds : 0);
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
    put_frames(h, master);
    nb_h5_group(h, "/entry/instrument", "NXinstrument");
    nb_h5_text(h, "/entry/instrument/name", "nanobragg");
    put_beam(h, master, f.x, f.y);
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
    nb_status st;
    NB_FORWARD(nb_h5_begin(&quiet, err));
    nb_h5_tidy(); /* return memory that the threads have freed */
    st = nb_h5_create(&h, path, 1000.0 * master->frames + (master->bad ? 4 * pixels : 0),
                      err);
    if (!st) {
        fill(&h, master);
        st = nb_h5_finish(&h, NB_OK, err);
    }
    nb_h5_end(&quiet);
    return st;
}
