/* SPDX-License-Identifier: MIT */
/** Fit a simulation to an observed image, pixel by pixel (docs/refine.md). */
#ifndef NANOBRAGG_REFINE_H
#define NANOBRAGG_REFINE_H

#include "derivatives.h"
#include "image.h"
#include "series.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Crystal systems: they tie and fix parameters of the cell. */
typedef enum nb_crystal_system {
    NB_SYSTEM_TRICLINIC = 0,
    NB_SYSTEM_MONOCLINIC, /* b is unique */
    NB_SYSTEM_ORTHORHOMBIC,
    NB_SYSTEM_TETRAGONAL,
    NB_SYSTEM_TRIGONAL, /* a = b = c, al = be = ga */
    NB_SYSTEM_HEXAGONAL,
    NB_SYSTEM_CUBIC
} nb_crystal_system;

typedef enum nb_fit_background {
    NB_BACKGROUND_AUTO = 0, /* WATER if the start has it, else RADIAL */
    NB_BACKGROUND_WATER,    /* the scene's own */
    NB_BACKGROUND_RADIAL,   /* refined, piecewise linear in sin theta/lambda */
    NB_BACKGROUND_PLANES,   /* a plane for each spot, from its rim; then held */
    NB_BACKGROUND_NONE
} nb_fit_background;

typedef enum nb_fit_schedule {
    NB_SCHEDULE_AUTO = 0, /* all stages */
    NB_SCHEDULE_NONE,     /* the true shape at once */
    NB_SCHEDULE_PLAIN     /* all, but no divergence and no footprint are tried */
} nb_fit_schedule;

#define NB_FIT_KNOTS_MAX 64

/** Two numbers for a parameter: limits, or a value and its standard deviation. */
typedef struct nb_refine_pair {
    const char *name;
    double a, b;
} nb_refine_pair;

/** One stage of a fit. */
typedef struct nb_refine_stage {
    char name[24];
    int64_t pixels;
    int evaluations; /* of the loss; in a search: images */
    double loss;
    int converged;
    double seconds;
    int dropped; /* the values went back to those before it */
} nb_refine_stage;

#define NB_REFINE_STAGES_MAX 40

/** Numbers that the schedule tries by itself after the fit without them. */
typedef struct nb_refine_trial {
    int tried, kept;
    double gain, cost; /* of deviance; kept: the gain is larger */
    char value[NB_VARIABLE_NAME]; /* kept: as -footprint has it, or "h:v", the widths of -hdivrange and -vdivrange, mrad */
} nb_refine_trial;

/** Why a pixel within the resolution limits is not used. */
typedef enum nb_masked {
    NB_MASKED_NOT = 0,
    NB_MASKED_FILE, /* by -mask, a mask in the file, or a value that stands for none */
    NB_MASKED_SATURATED, /* at or above -saturation, or the limit in a header */
    NB_MASKED_HOT, /* far brighter than its neighbours, unlike the picture's spots; saturated alone */
    NB_MASKED_SHADOW, /* far darker than its ring */
    NB_MASKED_RING,   /* on a narrow ring, as of ice */
    NB_MASKED_FOREIGN, /* of a strong spot that the lattice does not place: ice, another crystal */
    NB_MASKED_KINDS
} nb_masked;

#define NB_MASKED_HOT_MAX 32
#define NB_MASKED_RINGS_MAX 12
#define NB_MASKED_FOREIGN_MAX 32

/** What is masked in a picture, and where. */
typedef struct nb_refine_masked {
    int64_t count[NB_MASKED_KINDS];       /* pixels, by reason */
    int n_hot, hot[NB_MASKED_HOT_MAX][2]; /* the first ones: fast, slow of the stack */
    int shadow[4]; /* box about all of it: first fast, slow, last fast, slow */
    int n_rings;
    double ring_d[NB_MASKED_RINGS_MAX][2]; /* A, smaller first */
    int n_foreign,
        foreign[NB_MASKED_FOREIGN_MAX][2]; /* the brightest pixels of the strongest spots */
} nb_refine_masked;

typedef struct nb_refine_options {
    const char *list; /* names and groups, commas between; "scale" is fluence, "misset" is rot */
    nb_crystal_system system;
    const nb_refine_pair *bounds; /* low, high */
    int n_bounds;
    const nb_refine_pair *restraints; /* value, standard deviation; 0: held there */
    int n_restraints;
    nb_likelihood likelihood;
    nb_fit_background background;
    int knots;             /* of RADIAL */
    int select_all;        /* 0: spots and a sample of the other pixels */
    int spot_half;         /* pixels */
    double spot_sigma;     /* above the background */
    double dmin_A, dmax_A; /* resolution of the pixels; 0 off */
    nb_fit_schedule schedule;
    double F_sigma; /* relative, of the structure factors; 0: exact, below 0: as the picture shows */
    int no_masks;    /* use hot pixels, shadows and rings */
    int evaluations; /* at most, in the last stages */
    void *user;
    void (*stage)(void *user, const nb_refine_stage *stage); /* after each; may be NULL */
    const char *joint; /* nb_refine_series: names and groups of `list` that all images have in common; NULL: none */
    int keep_start;    /* make nb_refinement.before, too */
} nb_refine_options;

/** All defaults; the list is empty. */
void nb_refine_defaults(nb_refine_options *options);

typedef struct nb_refined {
    char name[NB_VARIABLE_NAME];
    const char *unit; /* static */
    double start, value;
    double sigma; /* with what the model does not explain; NaN: at a bound, or not determined */
    double sigma_counting; /* if model and structure factors were exact */
    int at_bound;
} nb_refined;

/** A spot of the refined model: the brightest pixel of a box of 7 x 7. */
typedef struct nb_refined_spot {
    int pixel[2];           /* fast, slow, of the stack */
    int hkl[3];             /* the reflection nearest to it */
    double model, observed; /* photons in this pixel, with the background */
    double chi2;            /* sum of (observed - model)^2/sigma^2 over the box */
} nb_refined_spot;

/** Result of a fit. */
typedef struct nb_refinement {
    int converged;
    char status[200]; /* "converged", or the reason why not */
    double loss, deviance_per_pixel;
    int64_t pixels; /* of the last stage */
    int evaluations, images;
    double seconds;
    int n_parameters;       /* without the orientation */
    nb_refined *parameters; /* owned */
    int rotated;            /* the orientation was refined */
    double misset_deg[3];
    double rotation_sigma_deg[3]; /* about the lab axes */
    double rotation_sigma_counting_deg[3];
    double rotation_covariance[3][3];     /* deg^2 */
    int n_correlated;                     /* parameters, then rot_x, rot_y, rot_z */
    double *correlation;                  /* owned; [n_correlated][n_correlated] */
    char (*correlated)[NB_VARIABLE_NAME]; /* owned */
    double picture_correlation;
    double F_sigma; /* relative, of the structure factors, that the fit used; 0: exact */
    double given_F_correlation,
        given_F_deviance; /* correlation and deviance a pixel with the structure factors as they were given */
    int peaks; /* local maxima of the picture */
    double start_agreement,
        agreement; /* the part of them that the lattice indexes beyond chance, at start and end */
    nb_refine_trial footprint, divergence;
    int n_stages;
    nb_refine_stage stages[NB_REFINE_STAGES_MAX];
    /* for pictures: all pixels of the stack; photons, NaN where nothing is observed */
    int fast, slow;
    float *observed, *model, *residual; /* owned; residual: (observed - model)/sigma */
    float *stol;                        /* owned; sin theta/lambda, 1/A */
    uint8_t *used;                      /* owned; pixels of the last stage */
    uint8_t *masked;                    /* owned; nb_masked of each */
    nb_refine_masked masks;
    int n_spots;            /* at most 1000, the brightest first */
    nb_refined_spot *spots; /* owned */
    int n_history;
    double *history;     /* owned; the loss a pixel at each evaluation */
    const char *picture; /* its name in JSON, the caller's; NULL: none */
    int pictures,
        left_out; /* of the common parameters of a joint refinement: how many pictures it has, and has not; else 0 */
    float *before; /* owned; as `model`, of the start, with the background as it was estimated there; NULL without keep_start */
} nb_refinement;

/** Fit sim to the picture, which has the pixels of its stack. Photons are (ADU - adc)/gain with
 * the configuration's -adc (not typed: the value of the file, 40 for SMV), -gain, -readout_noise
 * and -saturation; saturated, masked and unknown pixels are left out. sim has the result
 * afterwards. Free *out with nb_refinement_free; a fit that did not converge is no error. Errors:
 * NB_ERR_INPUT (names, sets that cannot be distinguished, starts, sizes), NB_ERR_UNSUPPORTED
 * without cminpack, NB_ERR_NOMEM, NB_ERR_DEVICE, NB_ERR_CANCELLED. */
nb_status nb_refine(nb_sim *sim, const nb_image *picture,
                    const nb_refine_options *options, nb_refinement *out, nb_error *err);
void nb_refinement_free(nb_refinement *refinement); /* frees what it owns; NULL is allowed */

/** Many images, each refined by itself from the same start. */
typedef struct nb_refine_frames {
    const char *const *images; /* [count], names for nb_image_read */
    int count;
    const char *orientations; /* file with the misset angles of each start, as of a series; NULL: none */
    void *user;
    /** Called once an image, in any order, one call at a time. result NULL: it failed, with the
     * reason `why`. Non-zero return: stop. */
    int (*done)(void *user, int frame, const nb_refinement *result, const char *why);
    const char *report; /* file of a JSON line for each refined image, in the order of `images`; it gets its
                         * name at the end, after a stop too; "-": standard output; NULL: none.  A name in .html: a page
                         * with up to 16 images, evenly (nb_refinement_page); it is there after success alone */
    nb_ranks *ranks; /* divide the images among processes, each of which calls `done` for its own; NULL: this process
                        refines all */
    int *lost; /* how many failed or did not converge: of all processes at the first one, of its own at another; NULL: not
                  wanted */
    /** Called once at the first process, with the common parameters of a joint refinement; may be NULL. */
    void (*joint)(void *user, const nb_refinement *common);
    const char *exptout; /* of a joint refinement: file of DIALS experiments, a crystal for each image; NULL: none */
    int page_first, page_count; /* images of the page, from 0; count 0: evenly */
    const char *command;        /* for the page, to copy; NULL: none */
} nb_refine_frames;

/** Share the images out among the processes, and in each among the threads of cfg and the devices of -device; each thread
 * refines whole images.  options->stage is not called.  All processes call it and end together.  Errors: those of the
 * simulation, of `orientations` and of `report`; those of an image go to `done`. */
nb_status nb_refine_series(const nb_config *cfg, const nb_refine_frames *frames,
                           const nb_refine_options *options, const nb_hooks *hooks,
                           nb_error *err);

/** With options->joint: `done` is called with the own parameters of each image, and their sigmas know those of the common ones;
 * images that cannot be used are left out.  The report has a last line with the common parameters.  Errors too:
 * NB_ERR_INPUT for names that are not refined, or that the images cannot tell apart. */

/** As JSON in one line (docs/refine.md).  *json: free with nb_free.  Errors: NB_ERR_NOMEM, NB_ERR_UNSUPPORTED
 * (no cJSON). */
nb_status nb_refinement_json(const nb_refinement *refinement, char **json, nb_error *err);

/** Write pictures of a fit into a new folder: spots.png, residuals.png, resolution.png, loss.png.
 * Errors: NB_ERR_IO, NB_ERR_NOMEM, NB_ERR_UNSUPPORTED (no libpng). */
nb_status nb_refinement_plots(const nb_refinement *refinement, const char *folder,
                              nb_error *err);
/** The name of picture k (0, 1, ...) in that folder; NULL: there are no more.  Static. */
const char *nb_refinement_plot_name(int k);

/** Write a page for a browser (nb_image_page): the picture, the model before and after the fit (keep_start), the parameters, the
 * stages, the spots, plots, and the flags of the result.  sim: after the fit.  command: to copy; NULL or "": none.  Errors: those
 * of nb_image_page. */
nb_status nb_refinement_page(const nb_sim *sim, const nb_refinement *refinement,
                             const char *command, const char *path, nb_error *err);

/** Write the residuals as raw float32 [slow][fast]; NaN: not observed. Errors: NB_ERR_IO. */
nb_status nb_refinement_residual(const nb_refinement *refinement, const char *path,
                                 nb_error *err);

#ifdef __cplusplus
}
#endif
#endif
