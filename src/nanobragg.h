/* SPDX-License-Identifier: MIT */
/** nanobragg: absolute-scale X-ray diffraction from nanocrystals.
 *
 * The only public header.  The library keeps no global state, prints nothing and never exits:
 * every fallible function returns an nb_status and fills an nb_error (which may be NULL).  Other
 * pointers may be NULL where that is said; elsewhere NULL is NB_ERR_INPUT.  Units here are the
 * users' units (mm, A, deg, um, mrad); they are converted to SI once, in src/model.
 *
 * The usual path, as in docs/library.md: nb_config_defaults, fields, nb_sim_create, nb_sim_render,
 * nb_sim_write, nb_sim_free.
 */
#ifndef NANOBRAGG_H
#define NANOBRAGG_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NB_VERSION "0.2.0"
#define NB_PATH_MAX 1024

typedef enum nb_status {
    NB_OK = 0,
    NB_ERR_INPUT = 1, /* bad flag, value, file content or combination: exit status 2 */
    NB_ERR_IO = 2,    /* a file could not be read or written: exit status 1 */
    NB_ERR_NOMEM = 3, /* out of memory: exit status 1 */
    NB_ERR_UNSUPPORTED = 4, /* not in this build or on this machine: exit status 2 */
    NB_ERR_DEVICE = 5,      /* accelerator failed: exit status 1 */
    NB_ERR_CANCELLED = 6,   /* the progress hook asked to stop: exit status 130 */
    NB_ERR_INTERNAL = 7     /* a bug of ours: exit status 1 */
} nb_status;

/** What went wrong.  `message` is one line without newline that names the flag or file, the
 * value and the mend.  `file`/`line` are set for errors in an input file (line 0: whole file). */
typedef struct nb_error {
    nb_status code;
    long line;
    char file[256];
    char message[512];
} nb_error;

/** Three numbers that may be unset (`set` = 0): a lab vector or three angles. */
typedef struct nb_opt3 {
    int set;
    double v[3];
} nb_opt3;

typedef enum nb_convention {
    NB_CONV_UNSET = 0, /* MOSFLM */
    NB_CONV_MOSFLM,
    NB_CONV_XDS,
    NB_CONV_ADXV,
    NB_CONV_DENZO,
    NB_CONV_DIALS,
    NB_CONV_CUSTOM
} nb_convention;
typedef enum nb_pivot { NB_PIVOT_UNSET = 0, NB_PIVOT_BEAM, NB_PIVOT_SAMPLE } nb_pivot;
typedef enum nb_shape {
    NB_SHAPE_SQUARE = 0,
    NB_SHAPE_ROUND,
    NB_SHAPE_GAUSS,
    NB_SHAPE_TOPHAT
} nb_shape;
typedef enum nb_misset_mode {
    NB_MISSET_NONE = 0,
    NB_MISSET_FIXED,
    NB_MISSET_RANDOM
} nb_misset_mode;
/** How the rotations of mosaic domains are distributed (docs/physics.md, section 9). */
typedef enum nb_mosaic_model {
    NB_MOSAIC_NANOBRAGG = 0, /* nanoBragg's own draw, up to the spread */
    NB_MOSAIC_UNIFORM,       /* uniform among all rotations up to the spread */
    NB_MOSAIC_GAUSS          /* normal, the spread is the standard deviation */
} nb_mosaic_model;
typedef enum nb_precision {
    NB_PRECISION_MIXED = 0,
    NB_PRECISION_SINGLE,
    NB_PRECISION_DOUBLE
} nb_precision;
typedef enum nb_isa {
    NB_ISA_AUTO = 0,
    NB_ISA_SCALAR,
    NB_ISA_SSE2,
    NB_ISA_AVX2,
    NB_ISA_AVX512,
    NB_ISA_NEON
} nb_isa;
/** Where in its thickness a layer of the sensor stands. */
typedef enum nb_layer_depth {
    NB_LAYER_UNSET = 0, /* NB_LAYER_MEAN; with compat NB_LAYER_FRONT */
    NB_LAYER_MEAN,      /* mean depth of the photons that stop in it */
    NB_LAYER_FRONT      /* front face */
} nb_layer_depth;
/** Solid angle of the pixels of a curved detector. */
typedef enum nb_curved_omega {
    NB_OMEGA_UNSET = 0, /* NB_OMEGA_SQUARE */
    NB_OMEGA_SQUARE, /* pixel^2/R^2: every pixel as if it were a square on the sphere */
    NB_OMEGA_EXACT   /* of the pixel's area on the sphere */
} nb_curved_omega;
/** What is written beside an image. */
typedef enum nb_truth { NB_TRUTH_NONE = 0, NB_TRUTH_SPOTS } nb_truth;
typedef enum nb_tristate { NB_AUTO = -1, NB_OFF = 0, NB_ON = 1 } nb_tristate;

/** How a picture for the eye is made of a float image; all zero: the default. */
typedef enum nb_colormap {
    NB_MAP_GREY = 0, /* dark spots on white paper */
    NB_MAP_INVERSE,  /* bright spots on black */
    NB_MAP_VIRIDIS,  /* dark blue, green, yellow */
    NB_MAP_HEAT      /* black, red, yellow, white */
} nb_colormap;
typedef enum nb_png_scale {
    NB_PNG_AUTO = 0,   /* 1 % to 99.5 % of the positive pixels, or three medians */
    NB_PNG_PERCENTILE, /* 0 to a percentile of the positive pixels */
    NB_PNG_RANGE       /* two values of the image */
} nb_png_scale;
typedef enum nb_png_show {
    NB_PNG_EXPECTED = 0, /* the expected photons */
    NB_PNG_NOISE         /* the counts of the noise image */
} nb_png_show;
#define NB_RINGS_MAX 16
typedef struct nb_png_options {
    nb_png_show show; /* of a simulation; the picture of a file shows what it holds */
    nb_colormap colormap;
    nb_png_scale scale;
    double percentile, low, high;
    double gamma;                /* colour = value^gamma; 0 unset (0.5) */
    int log;                     /* colour = log(value), instead of gamma */
    int rings;                   /* circles of equal resolution, and the beam centre */
    double ring_A[NB_RINGS_MAX]; /* d of each, A */
} nb_png_options;

/** A seed that may be unset. */
typedef struct nb_seed {
    int set;
    int64_t value;
} nb_seed;

/** Everything that a user can ask for, in users' units.
 * Unset: NaN for doubles, 0 for counts marked "0 unset", "" for files.  nb_config_defaults fills
 * it; nb_sim_create resolves what is unset and checks everything.  Plain data: copy it freely. */
typedef struct nb_config {
    /* --- crystal --- */
    int cell_count;              /* how many of cell[] were typed, 0 = none */
    double cell[6];              /* a b c [A] alpha beta gamma [deg] */
    char mat_file[NB_PATH_MAX];  /* MOSFLM A matrix */
    char hkl_file[NB_PATH_MAX];  /* structure factors, text */
    char dump_file[NB_PATH_MAX]; /* structure-factor cache; "" = Fdump.bin, see docs */
    double default_F;            /* electrons; NaN unset (0) */
    int N[3];                    /* unit cells along a, b, c; 0 unset (1) */
    double xtal_size_mm[3];      /* crystal edge along a, b, c; NaN unset */
    double blocks;             /* of N cells that scatter independently; NaN unset (1) */
    double crystal_volume_um3; /* that the beam lights: says the blocks instead; NaN unset */
    nb_shape shape;
    double fudge; /* shape factor scale, 1 */
    nb_misset_mode misset_mode;
    double misset_deg[3];
    nb_seed misset_seed;
    double mosaic_spread_deg; /* NaN unset */
    nb_mosaic_model mosaic_model;
    nb_opt3 mosaic_aniso_deg; /* GAUSS: standard deviations about a*, c x a* and c, instead of the
                                 spread */
    int mosaic_domains;  /* 0 unset */
    nb_seed mosaic_seed; /* unset: 12345678 */
    nb_tristate interpolate;

    /* --- beam --- */
    double lambda_A;    /* NaN unset (1); -lambda and -energy: last one wins */
    double energy_eV;   /* NaN unset */
    double fluence;     /* photons/m^2; NaN unset (1/r_e^2) */
    double flux;        /* photons/s; 0 off */
    double exposure_s;  /* 1 */
    double beamsize_mm; /* NaN unset (0.1); also clips the crystal along b and c */
    int polar_set;
    double polarization; /* Kahn factor, 0 */
    int nopolar;
    char source_file[NB_PATH_MAX];
    double hdiv_range_mrad, vdiv_range_mrad; /* NaN unset */
    double hdiv_step_mrad, vdiv_step_mrad;   /* NaN unset */
    int hdiv_steps, vdiv_steps;              /* 0 unset */
    int square_div;                          /* 0 = round cut */
    double dispersion_pct;                   /* NaN unset (0) */
    double dispersion_step_pct;              /* NaN unset */
    int dispersion_steps;                    /* 0 unset */

    /* --- spindle --- */
    double phi_deg;              /* NaN unset (0) */
    double osc_deg, phistep_deg; /* NaN unset */
    int phi_steps;               /* 0 unset */

    /* --- detector --- */
    int detpixels[2];                      /* fast, slow; 0 unset */
    double detsize_mm[2];                  /* fast, slow; NaN unset (102.4) */
    double pixel_mm;                       /* NaN unset (0.1) */
    double distance_mm, close_distance_mm; /* before the two-theta swing; NaN unset
                                              (distance 100) */
    double close_twotheta_deg; /* two-theta at which close_distance_mm was measured, as a header
                                  gives it; NaN unset (0: before the swing) */
    double Xbeam_mm, Ybeam_mm;   /* NaN unset; meaning by convention */
    double Xclose_mm, Yclose_mm; /* NaN unset */
    double orgx, orgy;           /* pixels, XDS; NaN unset */
    double rot_deg[3];           /* detector_rotx, roty, rotz; NaN unset (0) */
    double twotheta_deg;         /* NaN unset (0) */
    nb_convention convention;    /* last of -mosflm.. or CUSTOM from a vector flag */
    nb_pivot pivot;              /* explicit -pivot: wins in every convention */
    nb_pivot pivot_implied;      /* by the last flag that implies one; CUSTOM only */
    nb_opt3 fdet_vector, sdet_vector, odet_vector, beam_vector, polar_vector,
        spindle_axis, twotheta_axis; /* lab vectors, any length > 0; used in CUSTOM */
    nb_opt3 pix0_m; /* corner of the first pixel, metres: fixes the origin */
    int curved;
    nb_curved_omega curved_omega;
    int point_pixel;
    double thick_um; /* sensor; NaN unset (0) */
    double abs_um;   /* attenuation depth; NaN unset; 0 or inf: no absorption */
    int thick_steps; /* 0 unset */
    nb_layer_depth layer_depth;
    int oversample; /* 0 auto */
    int oversample_thick, oversample_polar, oversample_omega;
    int roi_set;
    int roi[4];                  /* fast min, fast max, slow min, slow max; inclusive */
    char mask_file[NB_PATH_MAX]; /* any image; not above 0 = do not render */
    char img_file[NB_PATH_MAX];  /* any image; header gives defaults */

    /* --- other physics --- */
    double water_um; /* 0 */
    double dmin_A;   /* 0 off */
    int compat;      /* legacy definitions, docs/differences.md */

    /* --- outputs --- */
    char float_file[NB_PATH_MAX], int_file[NB_PATH_MAX], pgm_file[NB_PATH_MAX],
        noise_file[NB_PATH_MAX], png_file[NB_PATH_MAX], tiff_file[NB_PATH_MAX];
    int write_float, write_int, write_pgm, write_noise; /* 1; png and tiff when named */
    int tiff_bits;                                      /* 32 (float) or 16 (unsigned) */
    nb_png_options png;                                 /* of png_file */
    double adc_offset;                                  /* ADU, 40 */
    double scale;                                       /* int image; 0 auto */
    double pgm_scale;                                   /* 0 auto */
    nb_truth truth;                /* SPOTS: the reflections of the image */
    char truth_file[NB_PATH_MAX];  /* of a single image; a series has them in -hdf5 */
    double truth_min;              /* photons of the weakest one listed, 1 */
    char report_file[NB_PATH_MAX]; /* the run as JSON: docs/formats.md */
    nb_seed seed; /* noise (and misset); unset: from the clock, reported */

    /* --- running --- */
    int threads; /* 0 auto */
    nb_isa isa;
    nb_precision precision;
    char device[32]; /* auto | cpu | cuda | cuda:N | cuda:all (series: frames on every GPU; one
                        image: the first); "" = auto */
    double max_read_MB; /* memory for what a small input file declares; 0: 500.  Ten times the
                           file's own size is always allowed */
    int device_alone;        /* of this process: nb_sim_write may shut it down */
    char command_line[2048]; /* for file headers; may be empty */
} nb_config;

/** Callbacks of the caller; every member may be NULL.  They run with the C locale in their thread,
 * because every function here reads and writes numbers in it, whatever locale is set. */
typedef struct nb_hooks {
    void *user;
    /** One line for the user (a default taken, a flag without effect). No newline. */
    void (*notice)(void *user, const char *line);
    /** Called from the rendering thread now and then; fraction in 0..1. Non-zero return: stop. */
    int (*progress)(void *user, double fraction);
} nb_hooks;

/** Statistics of a float image over its region of interest. */
typedef struct nb_stats {
    double max;             /* first strict maximum */
    int max_fast, max_slow; /* its pixel */
    double sum, mean, rms;  /* over rendered (unmasked) ROI pixels */
    double rmsd;            /* about the mean, over all ROI pixels */
    int64_t rendered;       /* pixels rendered */
    int64_t roi_pixels;
    double solid_angle; /* sum over rendered pixels, sr */
} nb_stats;

/** Where the time went, seconds.  Filled as the stages run.  nb_sim_write makes the noise while it
 * writes: `noise` and `write` divide its wall time as their threads' time was divided.  The last
 * three are within the others: a device's kernels for the image, for statistics and integers, and
 * waiting for its pixels, summed over threads. */
typedef struct nb_times {
    double load, scene, start, render, statistics, noise, write;
    double device_render, device_effects, device_download;
} nb_times;

typedef struct nb_sim nb_sim; /* a configuration resolved, its files loaded, its scene built */

/** Every field unset or at its default.  cfg is written whole. */
void nb_config_defaults(nb_config *cfg);

/** Load the files that cfg names, check everything, build the scene and choose the backend.
 * *sim is owned by the caller (nb_sim_free) and does not refer to cfg or hooks' memory, save
 * hooks->user.  hooks may be NULL.  Nothing is written.  Errors: NB_ERR_INPUT, _IO, _NOMEM,
 * _UNSUPPORTED, _DEVICE; *sim is NULL then. */
nb_status nb_sim_create(const nb_config *cfg, const nb_hooks *hooks, nb_sim **sim,
                        nb_error *err);
void nb_sim_free(nb_sim *sim); /* NULL is fine */

/** Image size in pixels; fast and slow may be NULL, and sim NULL gives 0. */
void nb_sim_size(const nb_sim *sim, int *fast, int *slow);

/** Render into image[slow][fast] (caller's, fast*slow floats, photons per pixel); pixels outside
 * the region of interest or masked are 0.  image NULL: into memory of the simulation's own, or a
 * device's, for nb_sim_write and nb_sim_image until the next call.  stats may be NULL.
 * Errors: NB_ERR_INPUT when a pixel would be more than a float holds (the message names the factor
 * that is too large), NB_ERR_NOMEM, NB_ERR_CANCELLED, NB_ERR_DEVICE. */
nb_status nb_sim_render(nb_sim *sim, float *image, nb_stats *stats, nb_error *err);

/** That image: the simulation's, until the next nb_sim_render or nb_sim_free.  Errors:
 * NB_ERR_INTERNAL without one, NB_ERR_NOMEM, NB_ERR_DEVICE. */
nb_status nb_sim_image(nb_sim *sim, const float **image, nb_error *err);

/** Integer image: floor(scale*v + adc + 0.5) clamped to 0..65535; 0 outside the ROI.
 * out[slow][fast] is the caller's.  stats may be NULL; an automatic scale is 1 then. */
nb_status nb_sim_digitize(const nb_sim *sim, const float *image, const nb_stats *stats,
                          uint16_t *out, nb_error *err);

/** Poisson noise of the image plus the offset; *overloads (may be NULL) counts clipped pixels.
 * The same seed gives the same pixels on any machine, device and thread count; with precision MIXED,
 * because pixels of this simulation's image are drawn from their values in double where it matters
 * (docs/physics.md, section 20).  What the caller changed by more than 1e-5 is taken as it is. */
nb_status nb_sim_noise(const nb_sim *sim, const float *image, uint16_t *out,
                       int64_t *overloads, nb_error *err);

/** One reflection of an image. */
typedef struct nb_reflection {
    int32_t frame; /* of a series, from 0 */
    int32_t h, k, l;
    double fast, slow; /* centre of its photons, pixels from the image's outer corner */
    double intensity; /* photons, without background and noise, outside of masks excluded */
    double peak;      /* photons in its brightest pixel */
    double phi_deg;   /* mean over its photons of the spindle angle */
    double wavelength_A; /* likewise */
    double excitation; /* how far the lattice point is outside of the Ewald sphere of the mean
                          wavelength and beam, at the middle of the rotation; 1/A */
    double F;          /* of the nearest table entry, electrons */
} nb_reflection;

typedef struct nb_reflections {
    nb_reflection *list; /* owned; by h, k, l */
    size_t count;
    double background; /* photons of the water in the image */
    double unassigned; /* the image's sum without background and the listed intensities */
} nb_reflections;

/** The reflections that a rendered image holds.  Each sample of a pixel belongs to its nearest
 * Miller index; the pixel's photons are divided as its samples divide, to 1e-6.  Reflections below
 * cfg.truth_min photons and pixels below a thousandth of that go to `unassigned`.  Takes a
 * double-precision pass over the pixels that are not dark, on the CPU.  *out is the caller's
 * (nb_reflections_free), zero on error.  Errors: NB_ERR_NOMEM, NB_ERR_CANCELLED. */
nb_status nb_sim_reflections(const nb_sim *sim, const float *image, nb_reflections *out,
                             nb_error *err);
void nb_reflections_free(nb_reflections *list); /* what it owns; NULL is fine */

/** A file of a run and the flag that names it. */
typedef struct nb_file_use {
    const char *flag, *path;
    int written; /* 0: read */
} nb_file_use;
#define NB_FILES_MOST 16

/** The files of a single image of this configuration, defaults included: those that are written
 * come first.  Fills list[NB_FILES_MOST], whose paths point into cfg or are static, and returns
 * how many. */
int nb_config_files(const nb_config *cfg, nb_file_use *list);

/** Refuse to write a file that is also read, or one file twice: the files of a single image of cfg
 * (NULL: none) and n more (may be NULL).  Links are followed; "-" is standard output.
 * nb_sim_write and nb_series_run ask it themselves.  Errors: NB_ERR_INPUT, NB_ERR_NOMEM. */
nb_status nb_check_files(const nb_config *cfg, const nb_file_use *more, int n,
                         nb_error *err);

/** Remove the temporary files of outputs that are being written, in all threads.  For handlers of
 * signals that end the process: async-signal-safe. */
void nb_remove_temporary_files(void);

/** Write every output file that the configuration asks for, each whole or not at all.  image NULL:
 * that of nb_sim_render(sim, NULL, ...), whose integers a device makes if it is there.  One file
 * may be "-", standard output.  Errors: NB_ERR_INPUT (nb_check_files, before anything is
 * written), NB_ERR_IO, NB_ERR_NOMEM, NB_ERR_DEVICE. */
nb_status nb_sim_write(nb_sim *sim, const float *image, const nb_stats *stats,
                       nb_error *err);

/** How many pixels the files of the last nb_sim_write cut at 65535: those of the integer image
 * (SMV, 16-bit TIFF) and of the noise image.  Either pointer may be NULL. */
void nb_sim_clipped(const nb_sim *sim, int64_t *integer, int64_t *noise);

/** The fully resolved configuration as JSON (SI and users' units). *json: free with nb_free. */
nb_status nb_sim_config_json(const nb_sim *sim, char **json, nb_error *err);

/** Human-readable report of the resolved simulation (many lines). Free with nb_free. */
nb_status nb_sim_report(const nb_sim *sim, char **text, nb_error *err);

/** Every intermediate quantity of pixel (fast, slow), 15 digits, line by line to emit(). */
nb_status nb_sim_trace(const nb_sim *sim, int fast, int slow,
                       void (*emit)(void *user, const char *line), void *user,
                       nb_error *err);

/** The legacy -printout text of one pixel (its last sample), line by line to emit(). */
nb_status nb_sim_printout(const nb_sim *sim, const float *image, int fast, int slow,
                          void (*emit)(void *user, const char *line), void *user,
                          nb_error *err);

/* --- series of images ----------------------------------------------------------------------- */

typedef enum nb_hdf5_type { NB_HDF5_U16 = 0, NB_HDF5_I32, NB_HDF5_F32 } nb_hdf5_type;
typedef enum nb_compression {
    NB_COMPRESS_GZIP = 0, /* shuffle and deflate */
    NB_COMPRESS_NONE,
    NB_COMPRESS_BSLZ4 /* bitshuffle and LZ4, HDF5 filter 32008 */
} nb_compression;

/** Pixels of a series that were cut to fit an output's type. */
typedef struct nb_clipped {
    int64_t pixels;
    int frames;   /* that have some */
    int worst;    /* the frame with most of them, from 0 */
    int64_t most; /* and how many */
} nb_clipped;

/** How far a running series is. */
typedef struct nb_series_progress {
    int frames;    /* in all */
    int done;      /* finished, those of an earlier run included */
    int kept;      /* of an earlier run */
    int64_t bytes; /* written by this run */
    double seconds;
    int64_t seed; /* of the series */
    char backend[256];
    /* over the frames that are done */
    double max;                        /* photons in the brightest pixel, before noise */
    int max_frame, max_fast, max_slow; /* its frame from 0, and place */
    nb_clipped clipped_output, clipped_hdf5;
} nb_series_progress;

/** Processes that mpirun started to share a series (MPI). */
typedef struct nb_ranks nb_ranks;

/** Join them, before nb_series_run; *ranks is the caller's (nb_ranks_leave), and NULL for a process
 * alone.  Calls MPI_Init unless that was done; everything with `ranks` from this thread.
 * Errors: NB_ERR_UNSUPPORTED when mpirun started several and this build or this machine has no
 * MPI that sees them: each would write the same files. */
nb_status nb_ranks_join(nb_ranks **ranks, nb_error *err);
void nb_ranks_leave(nb_ranks *ranks); /* NULL is fine */
/** NB_OK if all processes call it with that, else the status of the first that has another: rank
 * 0 gets its message, the others an empty one. */
nb_status nb_ranks_agree(nb_ranks *ranks, nb_status status, nb_error *err);
/** How many processes mpirun started, by the environment alone, and the number of this one (from
 * 0; rank may be NULL); 1 and 0 without mpirun. */
int nb_ranks_launched(int *rank);

/** Many images from one configuration; docs/series.md.  Zero-initialised: nothing asked for.
 * Plain data but for the callbacks. */
typedef struct nb_series {
    int frames;               /* a rotation: frame k (0..) at phi + k*osc */
    int stills;               /* or so many shots */
    char output[NB_PATH_MAX]; /* file names with one %d; the extension chooses the format */
    char hdf5_file[NB_PATH_MAX]; /* NXmx master */
    nb_hdf5_type hdf5_type;
    nb_compression compress;
    int frames_per_file; /* of the HDF5 data files; 0: 100, fewer for many processes */
    char orientations[NB_PATH_MAX]; /* stills: "random" or a file; "" the configuration's own */
    char spectra[NB_PATH_MAX]; /* stills: a file with a spectrum for each shot */
    double jitter_fluence_pct, jitter_lambda_pct, jitter_cell_pct, jitter_mosaic_pct;
    double jitter_beam_mm; /* standard deviations from shot to shot; 0 none */
    int resume;            /* keep the frames that an earlier, interrupted run finished */
    nb_ranks *ranks; /* share the frames with other processes; NULL: all are made here */
    const nb_file_use *also; /* n_also files of the caller's, for nb_check_files */
    int n_also;
    void *user;
    /** Once, before the first frame, in the process that speaks for all: the simulation of the
     * configuration that all frames begin with.  May be NULL. */
    void (*begin)(void *user, const nb_sim *base);
    /** Last word on the configuration of a frame; may be NULL.  Called from several threads. */
    nb_status (*override)(void *user, int frame, nb_config *cfg, nb_error *err);
    uint64_t override_tag; /* another one for another override: `resume` compares it */
    const char *override_text; /* what it does, a line a frame, for the master; may be NULL */
    /** After every frame, one call at a time; non-zero return: stop.  May be NULL. */
    int (*progress)(void *user, const nb_series_progress *progress);
} nb_series;

/** Render and write a series; the single-image outputs of cfg are not written.  hooks->notice is
 * called from this thread, hooks->progress (with a fraction of the series) from any, one call at
 * a time.  With several processes all call this and end together; on an error of the series those
 * but rank 0 have the status and an empty message.
 * Frame k has the pixels of a single image of the same configuration with its own phi
 * (orientation, ...) and seed.  *result (may be NULL) is filled on errors too: frames finished
 * until then are kept on disk for `resume`. */
nb_status nb_series_run(const nb_config *cfg, const nb_series *series,
                        const nb_hooks *hooks, nb_series_progress *result, nb_error *err);

/** Seed of frame k of a series of this seed; that of frame 0 is the seed itself. */
int64_t nb_series_seed(int64_t seed, int frame);

/** The noise seed in use (reported so that an image can be made again). */
int64_t nb_sim_seed(const nb_sim *sim);
/** Name and reason of the backend in use; valid as long as sim. */
const char *nb_sim_backend(const nb_sim *sim);
/** Time of the stages run so far. */
void nb_sim_times(const nb_sim *sim, nb_times *out);

/** An image read from a file. */
typedef struct nb_image {
    int fast, slow;
    float *pixels;       /* [slow][fast]; owned.  Integers above 2^24 are rounded */
    char format[8];      /* float, SMV, TIFF, PGM, CBF or HDF5 */
    nb_config *geometry; /* owned; what is known of detector and beam, NULL: nothing */
    double centre[2]; /* where the beam meets the detector, pixels from the outer corner of
                            the first pixel along fast and slow; NaN unknown */
    double pedestal;  /* value of a pixel without light, as the header says; 0 unknown */
} nb_image;

/** Read SMV, TIFF (one channel, float or integer), PGM (P5), mini-CBF (byte-offset compression),
 * HDF5 (NXmx master or data file; "file.h5:k" is its frame k from 0), all known by their first
 * bytes, or a headerless file of float32 in this machine's byte order.  fast, slow: the size of a
 * headerless file; 0, 0: square.  What a file's header says of the geometry completes `typed`
 * (may be NULL), as -img does.  *out is the caller's (nb_image_free), zero on error.
 * An image that is much larger than its file is refused: typed->max_read_MB says from where on.
 * Errors: NB_ERR_INPUT, _IO, _NOMEM, _UNSUPPORTED (this build has no libtiff, no HDF5). */
nb_status nb_image_read(const char *path, int fast, int slow, const nb_config *typed,
                        nb_image *out, nb_error *err);
void nb_image_free(nb_image *image); /* what it owns; NULL is fine */

/** Write a PNG of an image.  options may be NULL.  Rings need image->geometry with distance
 * and wavelength.  Errors: NB_ERR_INPUT, _IO, _NOMEM, _UNSUPPORTED (no libpng). */
nb_status nb_image_picture(const nb_image *image, const nb_png_options *options,
                           const char *path, nb_error *err);

#define NB_RELATIVE_COUNT 5
#define NB_RELATIVE_PERCENTS                                                             \
    {                                                                                    \
        50, 90, 99, 99.9, 100                                                            \
    }

/** What nb_image_compare looks at; nb_compare_defaults fills it. */
typedef struct nb_compare_options {
    int roi_set;
    int roi[4];             /* fast min, fast max, slow min, slow max; inclusive */
    double floor;           /* relative errors: where B > floor * max(B); 1e-6 */
    double peak_percentile; /* peaks are brighter than this percentile; 99 */
    int peak_exclusion;     /* and than all within so many pixels along both axes; 3 */
    int peak_count;         /* the brightest so many; 100, 0 all */
    double gate_px;         /* peaks further apart are not paired; 2 */
    double centre[2]; /* of the radial profile, pixels as nb_image.centre; NaN: B's, or
                               A's, or the middle of the image */
} nb_compare_options;

/** How an image A differs from a reference B of its size, over a region of interest.  When a
 * pixel is not finite, every figure but the counts is NaN. */
typedef struct nb_difference {
    int fast, slow, roi[4];
    int64_t pixels;                     /* of the ROI */
    int64_t nonfinite_a, nonfinite_b;   /* NaN or infinite */
    int nonfinite_fast, nonfinite_slow; /* the first of them */
    double sum_a, sum_b, max_a, max_b;
    double correlation;      /* Pearson's; 1 if equal, else NaN if one is flat */
    double rmse;             /* sqrt(mean((A - B)^2)) */
    double max_difference;   /* the largest in size of A - B, with its sign */
    int max_fast, max_slow;  /* its pixel */
    double maxrel;           /* max |A - B| / max(B) */
    double sum_ratio;        /* sum(A)/sum(B) */
    int64_t relative_pixels; /* pixels with B > floor * max(B) */
    double relative[NB_RELATIVE_COUNT]; /* percentiles of |A - B|/B over them */
    double scale, scaled_rmse; /* least squares A = scale B, and what it leaves */
    int peaks_a, peaks_b, peaks_matched;
    double peaks_fraction;      /* matched / the larger count; 1 if there are none */
    double peaks_rms_shift;     /* pixels, over matched pairs */
    double peaks_mean_shift[2]; /* A - B along fast and slow, pixels */
    int radial_rings;           /* one pixel wide */
    double radial_centre[2];
    double radial_difference; /* sqrt(sum n (<A> - <B>)^2 / sum n <B>^2), <>: ring means */
    double radial_worst;      /* the largest <A> - <B>, over the largest <B> */
    double radial_worst_radius;    /* pixels */
    double transposed_correlation; /* with B's axes swapped; NaN: not looked at */
    char verdict[160];             /* what the difference looks like, in words; or "" */
} nb_difference;

void nb_compare_defaults(nb_compare_options *options);

/** Compare a with the reference b.  options may be NULL.  *out is written whole.
 * Errors: NB_ERR_INPUT (sizes differ, ROI off the image), NB_ERR_NOMEM. */
nb_status nb_image_compare(const nb_image *a, const nb_image *b,
                           const nb_compare_options *options, nb_difference *out,
                           nb_error *err);

/** Write a PNG of three panels: a and b in the same colours, and a - b, red above and blue
 * below zero, with scales.  Both options may be NULL; rings are not drawn.  Errors as for
 * nb_image_picture, and NB_ERR_INPUT when sizes differ. */
nb_status nb_difference_picture(const nb_image *a, const nb_image *b,
                                const nb_compare_options *options,
                                const nb_png_options *colours, const char *path,
                                nb_error *err);

/** One optional part of this build. */
typedef struct nb_feature {
    const char *name; /* libtiff, libpng, OpenMP, CUDA, ... */
    int present;
    const char *detail; /* version, or what is off without it */
} nb_feature;
/** Optional parts, `*count` of them; static memory. */
const nb_feature *nb_features(size_t *count);
const char *nb_version(void);
const char *nb_status_name(nb_status code);
void nb_free(void *memory); /* NULL is fine */

#ifdef __cplusplus
}
#endif
#endif
