/* SPDX-License-Identifier: MIT */
/** From reflections to pixels: which terms of a picture are above a threshold.  For crystals whose
 * spots end soon (GAUSS) or at once (TOPHAT).  Mathematics and bounds: docs/physics.md, section 21.3.
 *
 *   d       ray, unit           i, kappa  source: direction, 1/wavelength    q = kappa (d - i)
 *   hkl, g  reflection          u         L (h - hkl), with R^2 = |u|^2
 *   reach   R beyond which a term is below the threshold */
#ifndef NB_PLAN_SPOTS_H
#define NB_PLAN_SPOTS_H

#include "plan.h"

enum {
    NB_SPOT_PAD = 16
}; /* entries behind each run's last source; as many as a vector has */

/** Sources of one direction and one table of F, by rising kappa. */
typedef struct nb_spot_run {
    nb_vec3 incident;
    int table, n;
    size_t first;             /* in the arrays of nb_spots */
    double middle;            /* kappa, 1/m */
    double shortest, longest; /* wavelengths, m */
} nb_spot_run;

/** What the rays need of an orientation. */
typedef struct nb_spot_cell {
    double A[3][3]; /* rows: u = kappa A (d - i) - L hkl; m */
    double b[3][3]; /* reciprocal cell, 1/m */
    double E[3][3]; /* columns: semi-axes of R <= 1, 1/m */
} nb_spot_cell;

/** Orientations that are looked at together: within an angle of the first of them. */
typedef struct nb_spot_group {
    int first, end;
    double chord; /* |turned v - v| <= chord |v| */
} nb_spot_group;

typedef struct nb_spots {
    const nb_scene *scene;
    double L[3][3];           /* upper triangle */
    double widest;            /* |h - hkl| along any index at R <= 1, the largest */
    double axis;              /* no less than the longest semi-axis of R <= 1, 1/m */
    double cells2;            /* (Na Nb Nc)^2 */
    nb_vec3 incident;         /* of the beam's middle */
    double stray;             /* |i - incident|, the largest */
    double shortest, longest; /* wavelengths, m */
    int n_runs, n_groups;
    nb_spot_run *runs;
    nb_spot_group *groups;
    nb_spot_cell *cells;
    double *along; /* [3][stride] incident . reciprocal axis of each orientation */
    size_t stride;
    int *source;       /* of each entry of a run: index in the scene */
    double *offset;    /* kappa - middle; padding: out of any reach */
    double *weight;    /* padding: 0 */
    double *below;     /* weights of the run's entries before this one, summed */
    nb_index_box box;  /* of reflections, not negated */
    double most;       /* largest F^2 */
    double brightness; /* photons of a pixel per term that all its steps have, at most */
} nb_spots;

/** Terms that a pass takes: reflections with F^2 > weakest up to a reach. */
typedef struct nb_spot_limits {
    double threshold; /* of a term, electrons^2; 0: none */
    double near2;     /* > 0: R^2 up to which, whatever the threshold */
    double weakest;   /* electrons^2 */
} nb_spot_limits;

/** A reflection of a group of orientations. */
typedef struct nb_spot {
    int32_t h[3], group;
    double reach2; /* R^2 */
    double g2;     /* 1/m^2 */
} nb_spot;

/** Why a scene cannot be rendered so, in a few words; NULL: it can. */
const char *nb_spots_refuse(const nb_plan *plan);

/** Likewise of one panel. */
const char *nb_spots_refuse_panel(const nb_panel *panel, const nb_sensor *sensor);

/** Likewise of the beam alone: terms must not be negative. */
const char *nb_spots_refuse_beam(const nb_beam *beam);

/** Seconds of one core for the whole detector, about. */
double nb_spots_seconds(const nb_plan *plan);

/** The scene of the plan must outlive *spots and have no mask or region that matters.
 * Errors: NB_ERR_NOMEM; then spots is freed. */
nb_status nb_spots_build(const nb_plan *plan, nb_spots *spots, nb_error *err);
void nb_spots_free(nb_spots *spots);

/** R^2 up to which terms of F^2 are taken; 0: none is. */
double nb_spot_reach2(const nb_spots *spots, const nb_spot_limits *limits, double F2);

/** Largest F^2 of a reflection in any table. */
double nb_spot_F2(const nb_spots *spots, const int32_t h[3]);

#endif
