/* SPDX-License-Identifier: MIT */
/** Parameters in users' units, and the variables that a fit moves: logarithms, bounds, ties. */
#ifndef NB_REFINE_FIT_H
#define NB_REFINE_FIT_H

#include "../nanobragg.h"
#include "../nanobragg/derivatives.h"
#include "../render/backend.h"

typedef enum nb_fit_map {
    NB_MAP_LINEAR = 0,
    NB_MAP_LOG,       /* p = exp(t) */
    NB_MAP_LOG_CELLS, /* p = 1 + exp(t) */
    NB_MAP_BOUNDED    /* p = low + (high - low)(1 + sin t)/2 */
} nb_fit_map;

typedef struct nb_fit_parameter {
    char name[NB_VARIABLE_NAME];
    const char *unit; /* static */
    double start, value;
    nb_fit_map map;
    double low, high; /* BOUNDED */
    int tied;         /* to the parameter before it of this number; its own: free */
    int fixed;        /* moves in no stage */
    double restraint,
        width;    /* adds ((p - restraint)/width)^2/2 to the loss; width 0: none */
    double sigma; /* NaN: none */
} nb_fit_parameter;

#define NB_FIT_MOST 64 /* parameters of one fit */

typedef struct nb_fit_list {
    int count;
    nb_fit_parameter p[NB_FIT_MOST];
} nb_fit_list;

/** The variables of one stage: those of the parameters that are active, then logarithms of `extra` more. */
typedef struct nb_fit_space {
    const nb_fit_list *list;
    int n_active, active[NB_FIT_MOST]; /* parameters, tied ones too */
    int variable[NB_FIT_MOST];         /* of active parameter i */
    int n_free;                        /* variables of parameters */
    int lead[NB_FIT_MOST];             /* the parameter whose map variable v has */
    int extra;                         /* values behind them */
} nb_fit_space;

/** The space of the parameters that are marked. */
void nb_fit_space_make(const nb_fit_list *list, const int marked[NB_FIT_MOST], int extra,
                       nb_fit_space *space);

/** Numbers of variables (x) and of values (active parameters and extras). */
int nb_fit_space_variables(const nb_fit_space *space);
int nb_fit_space_values(const nb_fit_space *space);

/** dp/dt at t. */
double nb_fit_slope(const nb_fit_parameter *p, double t);

/** x of the values of the list and of extras[extra]. */
void nb_fit_space_start(const nb_fit_space *space, const double *extras, double *x);
/** values[n_active + extra] of x. */
void nb_fit_space_values_of(const nb_fit_space *space, const double *x, double *values);

/** The loss with restraints, and gradient and Fisher matrix by x, from those by the values (g, F). */
void nb_fit_space_chain(const nb_fit_space *space, const double *x, const double *values,
                        double *loss, double *g, double *F, double *G, double *M);

/** Refuse a value that its map cannot have.  Errors: NB_ERR_INPUT. */
nb_status nb_fit_check_start(nb_fit_parameter *p, nb_error *err);

/** Is a bounded value at its bound? */
int nb_fit_at_bound(const nb_fit_parameter *p);

/** A fit that is going on, for the files of this room. */

/** A background that is piecewise linear in sin theta/lambda. */
typedef struct nb_radial {
    int n;
    double knot[NB_FIT_KNOTS_MAX], level[NB_FIT_KNOTS_MAX]; /* 1/A, photons a pixel */
} nb_radial;

/** A local maximum of the picture. */
typedef struct nb_fit_peak {
    nb_vec3 q;    /* of its centre of light, 1/m */
    size_t at;    /* its brightest pixel */
    double light; /* photons above the background */
} nb_fit_peak;

/** Pixels by the reflection that is next to each, and scales of the reflections (scales.h). */
typedef struct nb_fit_groups {
    size_t pixels;
    int n;           /* reflections */
    int *group;      /* owned; [pixels] */
    size_t *at;      /* owned; [pixels], places in the stack */
    uint32_t *order; /* owned; [pixels]: those of a group side by side, in their order */
    size_t *begin;   /* owned; [n + 1]: of a group there */
    double *u;       /* owned; [n], logarithms of the scales */
    double width;    /* of their prior; 0: all scales are 1 */
} nb_fit_groups;

typedef struct nb_fit {
    nb_sim *sim;
    const nb_refine_options *o;
    nb_fit_list list;
    size_t pixels;  /* of the stack */
    float *stol;    /* owned; [pixels], sin theta/lambda at the pixels' centres, 1/A */
    float *photons; /* owned; [pixels], NaN: not observed */
    float *chosen;  /* owned; the same of the stage */
    uint8_t *spots; /* owned; [pixels], 1: near a spot, when they were chosen last */
    float *full; /* owned; [pixels], photons that a saturated pixel has at least; NaN: it is not */
    uint8_t *masked;   /* owned; [pixels], nb_masked */
    float *background; /* owned; [pixels] that are added and stay, or NULL */
    double *expected;  /* owned; [pixels], work */
    double *scaled; /* owned; [pixels], the model with scales of the reflections, where pixels are chosen; or NULL */
    double sigma;   /* read-out, photons */
    double start_edges[3], start_mosaic;
    nb_fit_background kind;
    nb_radial radial; /* of RADIAL; n 0 with another kind */
    double low, high; /* sin theta/lambda of the pixels that may be used, 1/A */
    int64_t used;     /* pixels in `chosen` */
    int squares; /* the sample outside of spots is of squares (choose.c), without a footprint, too */
    double F_width; /* of the logarithms of the reflections' scales; 0: structure factors are exact */
    double *kept; /* owned; [2][n_kept][n_kept], covariances of the values when the lattice was held: all errors, then those of counting; or NULL */
    int n_kept;
    nb_fit_peak *peaks; /* owned; the strongest first */
    int n_peaks;
    nb_refinement *out;
    int history_room;
} nb_fit;

/** Refuse options that the simulation cannot have.  Errors: NB_ERR_INPUT. */
nb_status nb_fit_check_options(const nb_sim *sim, const nb_refine_options *options,
                               nb_error *err);
/** Parameters and picture into an empty fit that has sim, o and out.  nb_fit_free, after an error too.  Errors: as
 * nb_fit_name and nb_fit_observe. */
nb_status nb_fit_open(nb_fit *fit, const nb_image *picture, nb_error *err);

/** Photons of the picture and the geometry of the pixels into an empty fit.  Errors: NB_ERR_INPUT (size),
 * NB_ERR_NOMEM. */
nb_status nb_fit_observe(nb_fit *fit, const nb_image *picture, nb_error *err);
void nb_fit_free(nb_fit *fit);

/** Leave out hot pixels, shadows and rings of ice, and note in fit->out what is masked and where.  Errors: NB_ERR_NOMEM. */
nb_status nb_fit_mask(nb_fit *fit, nb_error *err);
/** The same of strong spots that the lattice does not place and the model does not explain.  For an orientation that was found.
 * Errors: NB_ERR_NOMEM, those of a render. */
nb_status nb_fit_mask_foreign(nb_fit *fit, nb_error *err);

/** The background that the options, or the simulation, ask for. */
nb_fit_background nb_fit_background_of(const nb_sim *sim, const nb_refine_options *o);

/** A list in the words of a fit (scale, misset) into those of derivatives.  Errors: NB_ERR_INPUT. */
nb_status nb_fit_translate(const char *list, char *out, size_t size, nb_error *err);

/** The parameters of a fit, from options and simulation.  Errors: NB_ERR_INPUT. */
nb_status nb_fit_name(nb_fit *fit, nb_error *err);
/** One more parameter at the end of the list; one that is there stays.  Errors: NB_ERR_INPUT. */
nb_status nb_fit_add(nb_fit *fit, const char *name, nb_error *err);
/** Number of a parameter in the list, -1: it is not there. */
int nb_fit_find(const nb_fit_list *list, const char *name);
/** Does the fit move it?  Any number of cells? */
int nb_fit_refines(const nb_fit *fit, const char *name);
int nb_fit_refines_cells(const nb_fit *fit);
/** Does a parameter move the shape and the light of spots, and not their places? */
int nb_fit_is_shape(const char *name);

/** Background: knots over the pixels with sin theta/lambda up to `high`, and levels by the medians of counts. */
nb_status nb_radial_estimate(const nb_fit *fit, double high, int n, nb_radial *out,
                             nb_error *err);
double nb_radial_at(const nb_radial *radial, double x);
/** Its slopes by the levels, added to hats[n]. */
void nb_radial_hats(const nb_radial *radial, double x, double *hats);
/** Planes for each group of spots' pixels (spots[pixels] is not 0 there) into fit->background. */
nb_status nb_fit_planes(nb_fit *fit, const uint8_t *spots, nb_error *err);

/** All observed pixels with sin theta/lambda up to `high` are chosen. */
void nb_fit_choose_range(nb_fit *fit, double high);
/** Boxes about the spots of picture and model, and a sample of the others. */
nb_status nb_fit_choose_spots(nb_fit *fit, nb_error *err);
/** How many pixels up to `high` stand 6 sigma above the background. */
int64_t nb_fit_bright(const nb_fit *fit, const nb_radial *background, double high);

/** The model without backgrounds into fit->expected, 0 where photons[pixels] is NaN. */
nb_status nb_fit_image(nb_fit *fit, const float *photons, nb_error *err);

/** The runs of pixels of row s of panel k that are not NaN (and not 0 in `of`, unless that is NULL), into spans unless that
 * is NULL; how many. */
size_t nb_fit_row_spans(const nb_fit *fit, const float *photons, const uint8_t *of, int k,
                        int s, nb_span *spans);
/** Do a point spread or a footprint bring light from other pixels? */
int nb_fit_spreads(const nb_fit *fit);
/** Their image[pixels] by the backend, 0 elsewhere; before spreads. */
nb_status nb_fit_render(nb_fit *fit, const nb_span *spans, size_t n, float *image,
                        nb_error *err);

/** What is observed in the chosen pixels. */
nb_observation nb_fit_observation(const nb_fit *fit);

/** Set the simulation to the list's values. */
nb_status nb_fit_apply(nb_fit *fit, nb_error *err);
/** Minimise over the marked parameters and the radial background.  The simulation has the result, and
 * rotations are folded into its orientation. */
nb_status nb_fit_stage(nb_fit *fit, const char *name, const int marked[NB_FIT_MOST],
                       int most, nb_error *err);
/** How far the logarithms of the reflections' scales are spread at the chosen pixels, beyond counting, and how much of
 * the misfit they explain (nb_fit_scale_spread). */
nb_status nb_fit_spread(nb_fit *fit, double *spread, double *explained, nb_error *err);
/** Refuse parameters that the chosen pixels cannot tell apart.  Errors: NB_ERR_INPUT with their names. */
nb_status nb_fit_check_apart(nb_fit *fit, const int marked[NB_FIT_MOST], nb_error *err);
#define NB_TOLD_APART                                                                    \
    1e-10 /* smallest eigenvalue over the largest, columns scaled to 1 */

/** Where a fit stands: values and orientation. */
typedef struct nb_fit_stand {
    nb_fit_list list;
    double misset[3]; /* deg */
} nb_fit_stand;
nb_status nb_fit_remember(nb_fit *fit, nb_fit_stand *stand, nb_error *err);
/** Back there, and turned by a rotation vector, deg. */
nb_status nb_fit_stand_at(nb_fit *fit, const nb_fit_stand *stand, const double turn[3],
                          nb_error *err);

/** How well the model as it is fits the chosen pixels. */
typedef struct nb_fit_quality {
    double loss;   /* with the best scales of reflections, and their priors */
    double square; /* mean square of residuals over their sigma */
    double gain; /* how much lower the loss would be at the best values of the marked parameters, by its slopes; 0: none are marked */
} nb_fit_quality;
nb_status nb_fit_rate(nb_fit *fit, const int marked[NB_FIT_MOST], nb_fit_quality *out,
                      nb_error *err);

/** From a finished fit, whose parameters are marked, and whose orientation was found at `start`: a footprint where it explains more
 * than it costs (widen.c).  *exact: it was found with the structure factors as they are given, and fit->F_width is 0 now. */
nb_status nb_fit_widen(nb_fit *fit, const nb_fit_stand *start, int marked[NB_FIT_MOST],
                       int *exact, nb_error *err);

/** A stage as a Gaussian crystal, whose loss has no fringes; choose: its own pixels. */
nb_status nb_fit_as_gaussian(nb_fit *fit, const int marked[NB_FIT_MOST], int choose,
                             nb_error *err);
/** Cells along the axes and the mosaic spread by images alone. */
nb_status nb_fit_search(nb_fit *fit, nb_error *err);
/** The same from a finished fit, if it leaves more than noise. */
nb_status nb_fit_search_again(nb_fit *fit, nb_error *err);

/** Background, values and pixels of the start. */
nb_status nb_fit_begin(nb_fit *fit, nb_error *err);
/** All stages. */
nb_status nb_fit_run(nb_fit *fit, nb_error *err);

/** The model of the simulation as it is into fit->out->before.  Errors: NB_ERR_NOMEM, those of a render. */
nb_status nb_fit_keep_start(nb_fit *fit, nb_error *err);

/** The model, the residuals, the deviance and the correlation of the chosen pixels into fit->out, which gets the fit's
 * photons. */
nb_status nb_fit_measure(nb_fit *fit, nb_error *err);
/** Spots of the measured model into fit->out->spots.  Errors: NB_ERR_NOMEM. */
nb_status nb_fit_list_spots(nb_fit *fit, nb_error *err);
/** Keep the errors of parameters that move the places of spots (fit->kept): later stages hold them.  Once. */
nb_status nb_fit_keep_errors(nb_fit *fit, nb_error *err);
/** Errors, correlations, the verdict and the model of the finished fit. */
nb_status nb_fit_conclude(nb_fit *fit, nb_error *err);

/** The stage is over: note and tell it. */
void nb_fit_note_stage(nb_fit *fit, const char *name, int evaluations, double loss,
                       int converged, double seconds);

/** How the lattice agrees with the places of the picture's spots (agree.c). */

#define NB_PEAKS_ENOUGH 12   /* for a verdict on an orientation */
#define NB_AGREES 0.5        /* agreement of a start that is near */
#define NB_AGREES_AT_END 0.3 /* and of a fit that found the orientation */

/** The scattering vector of a place of a panel, pixels, at the mean wavelength, 1/m. */
nb_vec3 nb_fit_q(const nb_sim *sim, const nb_panel *panel, double f, double s);
/** The reflection that one of the crystal's orientations brings nearest to q. */
void nb_fit_nearest(const nb_lattice *lattice, nb_vec3 q, int hkl[3]);
/** fit->peaks of the observed pixels.  Errors: NB_ERR_NOMEM. */
nb_status nb_fit_find_peaks(nb_fit *fit, nb_error *err);
/** How far a peak is from the nearest reflection, along the worst axis, indices. */
double nb_fit_index_error(const nb_fit *fit, const nb_fit_peak *peak);
/** The order of doubles, for qsort. */
int nb_fit_by_value(const void *a, const void *b);
/** The part of the peaks that the simulation's lattice indexes within 0.2 of each whole index, beyond chance: 1 all, 0 no more
 * than wrong orientations do. */
double nb_fit_agreement(const nb_fit *fit);
/** A turn, deg, of at most 7.5 from the present orientation, that makes the agreement good.  Returns 0 where it cannot be
 * looked for: few peaks, several spindle steps, or an axis that may not turn. */
int nb_fit_index(const nb_fit *fit, double by[3]);

/** Orientations about the present one whose pictures are like the observed one. */

/** A turn by a rotation vector about the lab axes, deg, and how well it fits. */
typedef struct nb_turn_tried {
    double by[3], correlation;
} nb_turn_tried;

/** The `wanted` best turns of the simulation's crystal, the best one first; *found of them, well apart.  It is for blurred
 * crystals (NB_ORIENT_STEP).  Only axes whose rotation is refined are turned about, within their bounds.  The simulation is
 * as before.  Errors: NB_ERR_NOMEM, those of a render. */
nb_status nb_fit_orient(nb_fit *fit, int wanted, nb_turn_tried *best, int *found,
                        nb_error *err);

/** Pearson's of the chosen pixels and the simulation's picture. */
nb_status nb_fit_correlation(nb_fit *fit, double *correlation, nb_error *err);

/** The pixels that the search along cells and mosaic spread compares. */

/** The pixels of some rows.  Their places are those of the stack, because a device knows no others. */
typedef struct nb_search_pixels {
    size_t n, n_spans;
    size_t *pixel;  /* owned; [n] */
    nb_span *spans; /* owned; [n_spans] */
} nb_search_pixels;

/** The chosen pixels, or with `spots` those of them near spots; if they are more than `most`, of every second row, every
 * third and so on.  Errors: NB_ERR_NOMEM; nb_search_pixels_free after one, too. */
nb_status nb_search_pixels_list(const nb_fit *fit, int spots, size_t most,
                                nb_search_pixels *out, nb_error *err);
void nb_search_pixels_free(nb_search_pixels *p);

/** Solve A x = b, A symmetric and positive; both are used up.  0: a pivot is not above `least`. */
int nb_fit_solve3(double A[3][3], double b[3], double least, double x[3]);

#endif
