/* SPDX-License-Identifier: MIT */
/** A fit that is going on, for the files of this room. */
#ifndef NB_REFINE_FIT_H
#define NB_REFINE_FIT_H

#include "../nanobragg.h"
#include "../render/backend.h"
#include "variables.h"

/** A background that is piecewise linear in sin theta/lambda. */
typedef struct nb_radial {
    int n;
    double knot[NB_FIT_KNOTS_MAX], level[NB_FIT_KNOTS_MAX]; /* 1/A, photons a pixel */
} nb_radial;

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
    float *background; /* owned; [pixels] that are added and stay, or NULL */
    double *expected;  /* owned; [pixels], work */
    double sigma;      /* read-out, photons */
    double start_edges[3], start_mosaic;
    nb_fit_background kind;
    nb_radial radial; /* of RADIAL; n 0 with another kind */
    double low, high; /* sin theta/lambda of the pixels that may be used, 1/A */
    int64_t used;     /* pixels in `chosen` */
    nb_refinement *out;
    int history_room;
} nb_fit;

/** Photons of the picture and the geometry of the pixels into an empty fit.  Errors: NB_ERR_INPUT (size),
 * NB_ERR_NOMEM. */
nb_status nb_fit_observe(nb_fit *fit, const nb_image *picture, nb_error *err);
void nb_fit_free(nb_fit *fit);

/** The parameters of a fit, from options and simulation.  Errors: NB_ERR_INPUT. */
nb_status nb_fit_name(nb_fit *fit, nb_error *err);
/** Number of a parameter in the list, -1: it is not there. */
int nb_fit_find(const nb_fit_list *list, const char *name);

/** Background: knots over the pixels with sin theta/lambda up to `high`, and levels by the medians of counts. */
nb_status nb_radial_estimate(const nb_fit *fit, double high, int n, nb_radial *out,
                             nb_error *err);
double nb_radial_at(const nb_radial *radial, double x);
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
/** The runs of pixels that are not NaN.  *spans: nb_free. */
nb_status nb_fit_spans(const nb_fit *fit, const float *photons, nb_span **spans,
                       size_t *n, nb_error *err);
/** Their image[pixels] by the backend, 0 elsewhere. */
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
/** Refuse parameters that the chosen pixels cannot tell apart.  Errors: NB_ERR_INPUT with their names. */
nb_status nb_fit_check_apart(nb_fit *fit, const int marked[NB_FIT_MOST], nb_error *err);
#define NB_TOLD_APART                                                                    \
    1e-10 /* smallest eigenvalue over the largest, columns scaled to 1 */

/** Cells along the axes and the mosaic spread by images alone. */
nb_status nb_fit_search(nb_fit *fit, nb_error *err);
/** The same from a finished fit, if it leaves more than noise. */
nb_status nb_fit_search_again(nb_fit *fit, nb_error *err);

/** All stages. */
nb_status nb_fit_run(nb_fit *fit, nb_error *err);

/** Errors, correlations, the verdict and the model of the finished fit. */
nb_status nb_fit_conclude(nb_fit *fit, nb_error *err);

/** Spots of the finished model into out->spots.  Errors: NB_ERR_NOMEM. */
nb_status nb_fit_list_spots(const nb_fit *fit, nb_error *err);

/** The stage is over: note and tell it. */
void nb_fit_note_stage(nb_fit *fit, const char *name, int evaluations, double loss,
                       int converged, double seconds);

#endif
