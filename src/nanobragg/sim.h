/* SPDX-License-Identifier: MIT */
/** One simulated image: create, render, write, report. */
#ifndef NANOBRAGG_SIM_H
#define NANOBRAGG_SIM_H

#include "config.h"
#include "error.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Callbacks of the caller; every member may be NULL. They run with the C locale in their
 * thread, because every function here uses it for numbers. */
typedef struct nb_hooks {
    void *user;
    /** Gives the user one line without a newline, such as a default or a flag without
     * effect. */
    void (*notice)(void *user, const char *line);
    /** Called from the rendering thread from time to time; fraction in 0..1. Non-zero
     * return: stop. */
    int (*progress)(void *user, double fraction);
} nb_hooks;

/** Statistics of a float image over its region of interest. */
typedef struct nb_stats {
    double max;             /* largest value */
    int max_fast, max_slow; /* first pixel with this value, in its panel */
    int max_panel;          /* panel of this pixel, from 0 */
    double sum, mean, rms;  /* over rendered (unmasked) ROI pixels */
    double rmsd;            /* r.m.s. deviation from the mean, over all ROI pixels */
    int64_t rendered;       /* pixels rendered */
    int64_t roi_pixels;
    double solid_angle; /* sum over rendered pixels, sr */
} nb_stats;

/** Wall time of each stage, seconds. nb_sim_write makes the noise while it writes; its
 * time is split between `noise` and `write` in the ratio of their threads' times. truth:
 * the list of reflections. device_ times are parts of the stages: kernels for the image,
 * kernels for statistics and integers, and the wait for pixels, summed over threads. */
typedef struct nb_times {
    double load, factors, scene, start, render, statistics, noise, write, truth;
    double device_render, device_effects, device_download;
} nb_times;

/** One number of a struct, with its names in JSON, tables and Python. */
typedef struct nb_fact {
    const char *name; /* name; NULL ends the list */
    const char *key;  /* name in JSON, which includes the unit */
    const char *unit; /* unit, or "" */
    enum { NB_FACT_DOUBLE = 0, NB_FACT_INT, NB_FACT_INT64 } kind;
    size_t offset; /* offset in the struct */
    int of_panels; /* 1: only for a detector of several panels */
} nb_fact;

/** Facts of nb_stats, and of nb_times without device_*, in the order of the outputs. */
const nb_fact *nb_stats_facts(void);
const nb_fact *nb_times_facts(void);

/** Value of a fact. *of is the struct that has the fact (nb_stats or nb_times). */
double nb_fact_number(const nb_fact *fact, const void *of);

typedef struct nb_sim nb_sim; /* a simulation: configuration, loaded files and scene */

/** Load the files that cfg names, check everything, build the scene and choose the
 * backend. Free *sim with nb_sim_free. The simulation uses no memory of cfg and hooks
 * later, except hooks->user. hooks may be NULL. No file is written. Errors: NB_ERR_INPUT,
 * _IO, _NOMEM, _UNSUPPORTED, _DEVICE; *sim is NULL then. */
nb_status nb_sim_create(const nb_config *cfg, const nb_hooks *hooks, nb_sim **sim,
                        nb_error *err);
void nb_sim_free(nb_sim *sim); /* NULL is allowed */

/** Copy a simulation, with its record and the values that nb_sim_set_parameters and
 * nb_sim_set_factors have set. No file is read. Free both in any order. Errors: as
 * nb_sim_create. */
nb_status nb_sim_copy(const nb_sim *from, const nb_hooks *hooks, nb_sim **copy,
                      nb_error *err);

/** The configuration in use: values that the user set ("typed"), completed from headers
 * of files and by nb_sim_set_parameters. Valid until sim changes. NULL without sim. */
const nb_config *nb_sim_config(const nb_sim *sim);
/** The record: typed values and the drawn seed. Valid until sim changes; or NULL. */
const nb_config *nb_sim_record(const nb_sim *sim);

/** Set the parameters that differ between cfg, a changed copy of nb_sim_config, and sim.
 * sim is then as nb_sim_create makes it from all typed values. No file is read twice.
 * Unchanged tables are kept; the image too, if only names of output files change. Arrays:
 * see nanobragg/arrays.h. After an error sim is unchanged. Errors as nb_sim_create. */
nb_status nb_sim_change(nb_sim *sim, const nb_config *cfg, nb_error *err);

/** Like nb_sim_change, but cfg is the new record: a changed copy of nb_sim_record. The
 * files of the parameters names[n] are read again, and their values of
 * nb_sim_set_parameters are dropped. */
nb_status nb_sim_retype(nb_sim *sim, const nb_config *cfg, const char *const *names,
                        int n, nb_error *err);

/** Set a parameter by name or synonym: nb_config_set on the record, and nb_sim_retype. */
nb_status nb_sim_set(nb_sim *sim, const char *name, const char *text, nb_error *err);

/** A wavelength of -spectrum. */
typedef struct nb_spectrum_line {
    double energy_eV, wavelength_A;
    double weight; /* relative photons; the mean of all lines is 1 */
    int part;      /* part of the spectrum, from 0: a colour, or 1 for the seeded line */
} nb_spectrum_line;

/** Calculate the spectrum of the image with this seed (nb_sim_seed; nb_series_seed for a
 * frame). Sets *n (0 without -spectrum) and, unless lines is NULL, lines[*n]. *factor
 * (may be NULL): photons of this shot / photons of the mean shot. Errors:
 * NB_ERR_NOMEM. */
nb_status nb_sim_spectrum(const nb_sim *sim, int64_t seed, nb_spectrum_line *lines,
                          int *n, double *factor, nb_error *err);

/** Image size in pixels; fast and slow may be NULL. With sim NULL they are 0. Several
 * panels form a stack: the pixels of the first panel row by row, then those of the next.
 * If panels differ in width, fast is any width with fast*slow pixels in all. */
void nb_sim_size(const nb_sim *sim, int *fast, int *slow);

/** Render into image[slow][fast], fast*slow floats of the caller, in photons per pixel.
 * Pixels that are masked or outside the region of interest are 0. If image is NULL, the
 * image is kept in memory of the simulation or of a device, for nb_sim_write and
 * nb_sim_image, until the next call. stats may be NULL. Errors: NB_ERR_INPUT if a pixel
 * is too large for a float (the message names the factor that is too large),
 * NB_ERR_NOMEM, NB_ERR_CANCELLED, NB_ERR_DEVICE. */
nb_status nb_sim_render(nb_sim *sim, float *image, nb_stats *stats, nb_error *err);

/** Get the image that nb_sim_render kept. The simulation owns it. It is valid until the
 * next nb_sim_render or nb_sim_free. Errors: NB_ERR_INTERNAL without an image,
 * NB_ERR_NOMEM, NB_ERR_DEVICE. */
nb_status nb_sim_image(nb_sim *sim, const float **image, nb_error *err);

/** Calculate the diffuse scattering D[n] at fractional indices hkl[n][3], in electrons^2
 * per block, in addition to |F|^2 |F_latt|^2 (docs/physics.md). It is the sum over all
 * reflections and orders, without a table. Errors: NB_ERR_INPUT without
 * -diffuse_sigma. */
nb_status nb_sim_diffuse_at(const nb_sim *sim, const double *hkl, size_t n, double *D,
                            nb_error *err);

/** Render only the photons of diffuse scattering, after absorption and the factors of
 * -transmission and -beamstop, into plane[slow][fast], memory of the caller; pixels that
 * are not rendered get 0. Errors: NB_ERR_INPUT without -diffuse_sigma, NB_ERR_NOMEM,
 * NB_ERR_UNSUPPORTED without FFTW. */
nb_status nb_sim_diffuse(nb_sim *sim, float *plane, nb_error *err);

/** Calculate the statistics of image[slow][fast], like those of nb_sim_render. Errors:
 * NB_ERR_NOMEM. */
nb_status nb_sim_statistics(const nb_sim *sim, const float *image, nb_stats *stats,
                            nb_error *err);

/** Make the integer image: floor(scale*v + adc + 0.5) clamped to 0..65535, and 0 outside
 * the ROI. The caller owns out[slow][fast]. stats may be NULL; then an automatic scale is
 * 1. */
nb_status nb_sim_digitize(const nb_sim *sim, const float *image, const nb_stats *stats,
                          uint16_t *out, nb_error *err);

/** Make the noise image: Poisson noise plus the offset, or all noise of source and
 * detector in the configuration. *overloads (may be NULL) counts clipped pixels. The same
 * image and seed give the same pixels on any machine, device and number of threads. */
nb_status nb_sim_noise(const nb_sim *sim, const float *image, uint16_t *out,
                       int64_t *overloads, nb_error *err);

/** Make the noise image of an int32 frame, with the offset only if -adc is typed, and
 * without the limit of 65535. */
nb_status nb_sim_noise_counts(const nb_sim *sim, const float *image, int32_t *out,
                              int64_t *overloads, nb_error *err);

/** Write the table of cfg.stolout_file: the F against sin(theta)/lambda of a material
 * that would give the image cfg.stolimage_file (else cfg.img_file) on this detector, in
 * the columns sin(theta)/lambda (1/A), F (electrons), standard error of F, number of
 * pixels. Nothing is rendered. docs/physics.md, section 17. Errors: NB_ERR_INPUT (the
 * image has another size, no pixel can be used), those of nb_image_read, NB_ERR_IO. */
nb_status nb_sim_write_stol(const nb_sim *sim, nb_error *err);

/** Type of the pixels of a noise image in each kind of file. */
typedef enum nb_noise_file {
    NB_NOISE_U16 = 0, /* SMV, TIFF */
    NB_NOISE_HDF5_U16,
    NB_NOISE_HDF5_I16,
    NB_NOISE_I32 /* CBF, HDF5 */
} nb_noise_file;

/** Value of overloaded pixels in such a file, ADU: the largest value of the type. */
double nb_noise_largest(const nb_config *cfg, nb_noise_file file);
/** Like nb_noise_largest, for a loaded simulation, with the largest trusted values of the
 * detector's file (the smallest if panels differ). */
double nb_sim_noise_largest(const nb_sim *sim, nb_noise_file file);

/** One reflection of an image. */
typedef struct nb_reflection {
    int32_t frame; /* number of the frame in a series, from 0 */
    int32_t h, k, l;
    /* number of the panel, from 0; photons on another panel have another entry */
    int32_t panel;
    /* numbers from 0 of the crystal in the image and of the part of its twin */
    int16_t crystal, twin;
    /* centre of the reflection's photons, pixels from the panel's corner */
    double fast, slow;
    /* photons in pixels that are not masked, without background and noise */
    double intensity;
    double peak;         /* photons in the brightest pixel */
    double phi_deg;      /* mean spindle angle over the photons */
    double wavelength_A; /* mean wavelength over the photons */
    /* distance of the lattice point from the Ewald sphere, 1/A, positive outside, for the
     * mean wavelength and beam in mid-rotation */
    double excitation;
    double F; /* F of the nearest entry of the table, electrons */
    double d; /* spacing of the lattice planes, A; 0 for 0 0 0 */
    /* background of water and materials, photons/pixel, mean over the reflection's
     * photons */
    double background;
    /* effective number of pixels: (sum s)^2/sum s^2, with s the reflection's photons in a
     * pixel */
    double pixels;
    /* standard deviation, photons, of a fit with the true profile p = s/sum s: 1/sqrt(sum
     * p^2/m), with m all photons of a pixel */
    double sigma;
} nb_reflection;

typedef struct nb_reflections {
    nb_reflection *list; /* owned; sorted by crystal, twin, h, k, l, panel */
    size_t count;
    int panels;        /* number of panels of the detector */
    int crystals;      /* 1: several crystals or parts of a twin; 0: one crystal */
    double background; /* photons of water, materials and -add in the image */
    double unassigned; /* image + off_panels - background - diffuse - all intensities */
    double diffuse;    /* photons of -diffuse_sigma in the image */
    double off_panels; /* photons of -footprint off the panels, part of the intensities */
} nb_reflections;

/** Configurations of all crystals of an image; nb_series_crystals makes them. */
typedef struct nb_crystals {
    nb_config *configs; /* [n], at least 1; the first has the record of the image */
    int n;
    /* arrays of the first crystal, with its A matrix; or NULL */
    struct nb_arrays *arrays;
} nb_crystals;

/** Give the second and further crystals other records (typed values) until sim changes.
 * Without this call, each of these crystals has the record of sim, a random orientation
 * and the flags of its line of -crystals. Errors: NB_ERR_INPUT (wrong number), as
 * nb_sim_create. */
nb_status nb_sim_set_crystals(nb_sim *sim, const nb_crystals *all, nb_error *err);

/** List the reflections of a rendered image. Each sample of a pixel belongs to its
 * nearest Miller index, and gets a part of the pixel's photons in proportion to its light
 * (to 1e-6). Reflections below cfg.truth_min photons and pixels below truth_min/1000 go
 * to `unassigned`. The calculation is in double precision on the CPU, and skips the dark
 * pixels. Free *out with nb_reflections_free; it is zero after an error. Errors:
 * NB_ERR_NOMEM, NB_ERR_CANCELLED. */
nb_status nb_sim_reflections(const nb_sim *sim, const float *image, nb_reflections *out,
                             nb_error *err);
void nb_reflections_free(nb_reflections *list); /* Free the list; NULL is allowed. */

/** Write every output file of the configuration; each is complete or absent. If image is
 * NULL, the image that nb_sim_render(sim, NULL, ...) kept is written, and a device makes
 * the integers. One file may be "-", standard output. Errors: NB_ERR_INPUT
 * (nb_check_files, before anything is written), NB_ERR_IO, NB_ERR_NOMEM,
 * NB_ERR_DEVICE. */
nb_status nb_sim_write(nb_sim *sim, const float *image, const nb_stats *stats,
                       nb_error *err);

/** Number of pixels of the last nb_sim_write that are limited to 65535: in the integer
 * image (SMV, 16-bit TIFF) and in the noise image. Either pointer may be NULL. */
void nb_sim_clipped(const nb_sim *sim, int64_t *integer, int64_t *noise);

/** Print the fully resolved configuration as JSON (SI and users' units). Free *json with
 * nb_free. */
nb_status nb_sim_config_json(const nb_sim *sim, char **json, nb_error *err);

/** Human-readable report of the resolved simulation (many lines). Free with nb_free. */
nb_status nb_sim_report(const nb_sim *sim, char **text, nb_error *err);

/** Call emit() with each line of the trace: all steps of a pixel's sum, in 15 digits. */
nb_status nb_sim_trace(const nb_sim *sim, int fast, int slow,
                       void (*emit)(void *user, const char *line), void *user,
                       nb_error *err);

/** Call emit() with each line of nanoBragg's -printout of a pixel (its last sample). */
nb_status nb_sim_printout(const nb_sim *sim, const float *image, int fast, int slow,
                          void (*emit)(void *user, const char *line), void *user,
                          nb_error *err);

/** The seed of the noise, with which the image can be made again. */
int64_t nb_sim_seed(const nb_sim *sim);
/** Name and reason of the backend in use; valid while sim exists. */
const char *nb_sim_backend(const nb_sim *sim);
/** Time of the stages run so far. */
void nb_sim_times(const nb_sim *sim, nb_times *out);

#ifdef __cplusplus
}
#endif
#endif
