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
    /** One line for the user (a default, a flag without effect). No newline. */
    void (*notice)(void *user, const char *line);
    /** Called from the rendering thread from time to time; fraction in 0..1. Non-zero
     * return: stop. */
    int (*progress)(void *user, double fraction);
} nb_hooks;

/** Statistics of a float image over its region of interest. */
typedef struct nb_stats {
    double max;             /* first strict maximum */
    int max_fast, max_slow; /* its pixel, of its panel */
    int max_panel;          /* its panel, from 0 */
    double sum, mean, rms;  /* over rendered (unmasked) ROI pixels */
    double rmsd;            /* about the mean, over all ROI pixels */
    int64_t rendered;       /* pixels rendered */
    int64_t roi_pixels;
    double solid_angle; /* sum over rendered pixels, sr */
} nb_stats;

/** The time of the stages, seconds; filled as they run. nb_sim_write makes the noise while
 * it writes: `noise` and `write` divide its wall time in proportion to the time of the
 * threads. truth: the list of reflections. The last three are parts of the others: a device's kernels for the image, its
 * kernels for statistics and integers, and waiting for its pixels, summed over threads. */
typedef struct nb_times {
    double load, factors, scene, start, render, statistics, noise, write, truth;
    double device_render, device_effects, device_download;
} nb_times;

/** One number of a struct, with its names in JSON, tables and Python. */
typedef struct nb_fact {
    const char *name; /* NULL: end of the list */
    const char *key;  /* in JSON, with the unit */
    const char *unit; /* "": none */
    enum { NB_FACT_DOUBLE = 0, NB_FACT_INT, NB_FACT_INT64 } kind;
    size_t offset; /* in the struct */
    int of_panels; /* only for a detector of several panels */
} nb_fact;

/** The facts of nb_stats, and the stages of nb_times without those of a device, in the order of all outputs. */
const nb_fact *nb_stats_facts(void);
const nb_fact *nb_times_facts(void);

/** The value of a fact in a struct of this kind. */
double nb_fact_number(const nb_fact *fact, const void *of);

typedef struct nb_sim nb_sim; /* a simulation: configuration, loaded files and scene */

/** Load the files that cfg names, check everything, build the scene and choose the backend.
 * Free *sim with nb_sim_free. It does not use the memory of cfg or hooks later, except
 * hooks->user. hooks may be NULL. No file is written. Errors: NB_ERR_INPUT, _IO, _NOMEM,
 * _UNSUPPORTED, _DEVICE; *sim is NULL then. */
nb_status nb_sim_create(const nb_config *cfg, const nb_hooks *hooks, nb_sim **sim,
                        nb_error *err);
void nb_sim_free(nb_sim *sim); /* NULL is fine */

/** Make a copy of a simulation: the same record, and the same values of nb_sim_set_parameters and
 * nb_sim_set_factors.  No file is read again.  Either may be freed first.  Errors as nb_sim_create. */
nb_status nb_sim_copy(const nb_sim *from, const nb_hooks *hooks, nb_sim **copy,
                      nb_error *err);

/** The configuration in use: as given, completed from headers of files, with the values of nb_sim_set_parameters.  Valid
 * until sim changes.  NULL without sim. */
const nb_config *nb_sim_config(const nb_sim *sim);
/** The record: what was typed, with a seed that was drawn.  Valid until sim changes.  NULL without sim. */
const nb_config *nb_sim_record(const nb_sim *sim);

/** Type parameters: those in which cfg, a changed copy of nb_sim_config, differs from it.  sim is then the simulation that
 * nb_sim_create makes of all that was typed. No file is read twice, and tables that do not change are kept.
 * cfg->arrays: see nanobragg/arrays.h. The kept image is dropped, unless only names of files to write change. On an
 * error sim is as before. Errors as nb_sim_create. */
nb_status nb_sim_change(nb_sim *sim, const nb_config *cfg, nb_error *err);

/** Replace the record by cfg, a changed copy of nb_sim_record.  names[n] are the parameters that were typed now: their
 * files are read again, and their values of nb_sim_set_parameters are dropped.  Otherwise as nb_sim_change. */
nb_status nb_sim_retype(nb_sim *sim, const nb_config *cfg, const char *const *names,
                        int n, nb_error *err);

/** Set one parameter by its name or a synonym: nb_config_set on the record, then nb_sim_retype. */
nb_status nb_sim_set(nb_sim *sim, const char *name, const char *text, nb_error *err);

/** A wavelength of -spectrum. */
typedef struct nb_spectrum_line {
    double energy_eV, wavelength_A;
    double weight; /* its photons; the mean of all is 1 */
    int part;      /* of the spectrum, from 0: a colour, or 1 for the seeded line */
} nb_spectrum_line;

/** The spectrum that the image of this seed has: nb_sim_seed for sim's own, nb_series_seed for a frame.  Into
 * lines[*n], the caller's, where they are not NULL; *n (0 without -spectrum) is set.  *factor (may be NULL): photons of
 * this shot by those of the mean shot, which multiplies the fluence.  Errors: NB_ERR_NOMEM. */
nb_status nb_sim_spectrum(const nb_sim *sim, int64_t seed, nb_spectrum_line *lines,
                          int *n, double *factor, nb_error *err);

/** Image size in pixels; fast and slow may be NULL. With sim NULL they are 0. An image of several
 * panels is a stack: the pixels of the first panel row by row, then those of the next. Where panels
 * are not equally wide, fast is any width with fast*slow pixels in all. */
void nb_sim_size(const nb_sim *sim, int *fast, int *slow);

/** Render into image[slow][fast] (caller's, fast*slow floats, photons per pixel); pixels
 * outside the region of interest or masked are 0. image NULL: into memory of the simulation
 * or of a device, for nb_sim_write and nb_sim_image until the next call. stats may be NULL.
 * Errors: NB_ERR_INPUT if a pixel is too large for a float (the message names the factor
 * that is too large), NB_ERR_NOMEM, NB_ERR_CANCELLED, NB_ERR_DEVICE. */
nb_status nb_sim_render(nb_sim *sim, float *image, nb_stats *stats, nb_error *err);

/** The kept image. The simulation owns it; it is valid until the next nb_sim_render or
 * nb_sim_free. Errors: NB_ERR_INTERNAL if there is none, NB_ERR_NOMEM, NB_ERR_DEVICE. */
nb_status nb_sim_image(nb_sim *sim, const float **image, nb_error *err);

/** Diffuse scattering D at n fractional indices hkl[n][3], electrons^2 of a block beside |F|^2 |F_latt|^2 (docs/physics.md):
 * the sum over all reflections and orders, without a table.  Errors: NB_ERR_INPUT without -diffuse_sigma. */
nb_status nb_sim_diffuse_at(const nb_sim *sim, const double *hkl, size_t n, double *D,
                            nb_error *err);

/** The photons of diffuse scattering in each pixel of an image, behind absorption and the factors of -transmission and
 * -beamstop: plane[slow][fast], the caller's, 0 where nothing is rendered.  Nothing else is rendered.
 * Errors: NB_ERR_INPUT without -diffuse_sigma, NB_ERR_NOMEM, NB_ERR_UNSUPPORTED without FFTW. */
nb_status nb_sim_diffuse(nb_sim *sim, float *plane, nb_error *err);

/** Statistics of an image of this simulation, image[slow][fast], as nb_sim_render gives them.
 * Errors: NB_ERR_NOMEM. */
nb_status nb_sim_statistics(const nb_sim *sim, const float *image, nb_stats *stats,
                            nb_error *err);

/** Integer image: floor(scale*v + adc + 0.5) clamped to 0..65535; 0 outside the ROI. The
 * caller owns out[slow][fast]. stats may be NULL; an automatic scale is then 1. */
nb_status nb_sim_digitize(const nb_sim *sim, const float *image, const nb_stats *stats,
                          uint16_t *out, nb_error *err);

/** The noise image: Poisson noise plus the offset, or the whole noise of source and detector that the
 * configuration asks for; *overloads (may be NULL) counts clipped pixels. The same image and
 * seed give the same pixels on any machine, device and number of threads. */
nb_status nb_sim_noise(const nb_sim *sim, const float *image, uint16_t *out,
                       int64_t *overloads, nb_error *err);

/** The noise of an int32 frame of a series: with the offset only if -adc is typed, and not limited
 * to 65535. */
nb_status nb_sim_noise_counts(const nb_sim *sim, const float *image, int32_t *out,
                              int64_t *overloads, nb_error *err);

/** Write the table of cfg.stolout_file: the F against sin(theta)/lambda of a material that would give
 * the image cfg.stolimage_file (else cfg.img_file) on this detector, in columns sin(theta)/lambda (1/A),
 * F (electrons), its standard error, pixels.  Nothing is rendered.  docs/physics.md, section 17.
 * Errors: NB_ERR_INPUT (the image has another size, no pixel can be used), those of nb_image_read,
 * NB_ERR_IO. */
nb_status nb_sim_write_stol(const nb_sim *sim, nb_error *err);

/** The pixels of a noise image, by kind of file. */
typedef enum nb_noise_file {
    NB_NOISE_U16 = 0, /* SMV, TIFF */
    NB_NOISE_HDF5_U16,
    NB_NOISE_HDF5_I16,
    NB_NOISE_I32 /* CBF, HDF5 */
} nb_noise_file;

/** The value of its overloaded pixels, ADU; it is the largest value of the type. */
double nb_noise_largest(const nb_config *cfg, nb_noise_file file);
/** The same for a loaded simulation, with the largest trusted values of the detector's file; the
 * least one if panels differ. */
double nb_sim_noise_largest(const nb_sim *sim, nb_noise_file file);

/** One reflection of an image. */
typedef struct nb_reflection {
    int32_t frame; /* of a series, from 0 */
    int32_t h, k, l;
    int32_t panel; /* of the detector, from 0; photons on another panel are another entry */
    int16_t crystal, twin; /* of the image, from 0; part of that crystal's twin, from 0 */
    double fast,
        slow; /* in the panel; centre of its photons, pixels from the image's outer corner */
    double intensity; /* photons, without background and noise, without masked pixels */
    double peak;      /* photons in its brightest pixel */
    double phi_deg;   /* mean over its photons of the spindle angle */
    double wavelength_A; /* mean over its photons of the wavelength */
    double excitation;   /* distance of the lattice point from the Ewald sphere (positive:
                        * outside) of the mean wavelength and beam, at the middle of the
                        * rotation; 1/A */
    double F;            /* of the nearest table entry, electrons */
    double d;            /* spacing of its planes, A; 0 0 0: 0 */
    double background; /* photons of water and materials a pixel, mean over its photons */
    double pixels; /* number of pixels that it covers: (sum s)^2/sum s^2, s photons of it in a pixel */
    double sigma; /* photons: standard deviation of the intensity from a fit of its true profile to the counts, 1/sqrt(sum p^2/m), p = s/sum s, m all photons of a pixel */
} nb_reflection;

typedef struct nb_reflections {
    nb_reflection *list; /* owned; by crystal, twin, h, k, l, panel */
    size_t count;
    int panels;        /* of the detector */
    int crystals;      /* 1: rows are of several crystals or parts of a twin; 0: of one */
    double background; /* photons of water, materials and -add in the image */
    double unassigned; /* sum of the image and off_panels minus background, diffuse and listed intensities */
    double diffuse; /* photons of -diffuse_sigma in the image */
    double off_panels; /* photons that -footprint moves off the panels: in the intensities, not in the image */
} nb_reflections;

/** The configurations of all crystals of an image: nb_series_crystals. */
typedef struct nb_crystals {
    nb_config *configs; /* [n], of no crystal 1: the first is that of the image */
    int n;
    struct nb_arrays *arrays; /* arrays of the first crystal, with its A matrix, or NULL */
} nb_crystals;

/** Give the image's further crystals other records (what is typed).  Without this call they have the record of the simulation,
 * random orientations and the flags of their lines.  It holds until the simulation changes.  Errors: NB_ERR_INPUT (the image
 * has another number of crystals; those of nb_sim_create), NB_ERR_NOMEM. */
nb_status nb_sim_set_crystals(nb_sim *sim, const nb_crystals *all, nb_error *err);

/** The reflections of a rendered image. Each sample of a pixel belongs to its nearest
 * Miller index. The pixel's photons are divided in proportion to its samples, to 1e-6.
 * Reflections below cfg.truth_min photons and pixels below a thousandth of that go to
 * `unassigned`. It makes a double-precision pass over the pixels that are not dark, on the
 * CPU. Free *out with nb_reflections_free; it is zero on error. Errors: NB_ERR_NOMEM,
 * NB_ERR_CANCELLED. */
nb_status nb_sim_reflections(const nb_sim *sim, const float *image, nb_reflections *out,
                             nb_error *err);
void nb_reflections_free(nb_reflections *list); /* frees what it owns; NULL is allowed */

/** Write every output file of the configuration; each is complete or absent. image NULL:
 * the image of nb_sim_render(sim, NULL, ...); a device then makes the integers. One file
 * may be "-", standard output. Errors: NB_ERR_INPUT (nb_check_files, before anything is
 * written), NB_ERR_IO, NB_ERR_NOMEM, NB_ERR_DEVICE. */
nb_status nb_sim_write(nb_sim *sim, const float *image, const nb_stats *stats,
                       nb_error *err);

/** Number of pixels of the last nb_sim_write that are limited to 65535: in the integer
 * image (SMV, 16-bit TIFF) and in the noise image. Either pointer may be NULL. */
void nb_sim_clipped(const nb_sim *sim, int64_t *integer, int64_t *noise);

/** The fully resolved configuration as JSON (SI and users' units). *json: free with nb_free. */
nb_status nb_sim_config_json(const nb_sim *sim, char **json, nb_error *err);

/** Human-readable report of the resolved simulation (many lines). Free with nb_free. */
nb_status nb_sim_report(const nb_sim *sim, char **text, nb_error *err);

/** Every intermediate quantity of pixel (fast, slow), 15 digits, line by line to emit(). */
nb_status nb_sim_trace(const nb_sim *sim, int fast, int slow,
                       void (*emit)(void *user, const char *line), void *user,
                       nb_error *err);

/** nanoBragg's -printout text of one pixel (its last sample), line by line to emit(). */
nb_status nb_sim_printout(const nb_sim *sim, const float *image, int fast, int slow,
                          void (*emit)(void *user, const char *line), void *user,
                          nb_error *err);

/** The seed of the noise (reported, so that the image can be made again). */
int64_t nb_sim_seed(const nb_sim *sim);
/** Name and reason of the backend in use; valid as long as sim. */
const char *nb_sim_backend(const nb_sim *sim);
/** Time of the stages run so far. */
void nb_sim_times(const nb_sim *sim, nb_times *out);

#ifdef __cplusplus
}
#endif
#endif
