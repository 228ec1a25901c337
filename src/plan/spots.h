/* SPDX-License-Identifier: MIT */
/** From reflections to pixels: which terms of a picture are above a threshold.  For crystals whose
 * spots end soon (law of decay) or at once (edge).  Mathematics and bounds: plans/fast_paths.md, section 3.
 *
 *   d       ray, unit           i, kappa  source: direction, 1/wavelength    q = kappa (d - i)
 *   hkl, g  reflection          u         L (h - hkl), with R^2 = |u|^2
 *   reach   R beyond which a term is below the threshold */
#ifndef NB_PLAN_SPOTS_H
#define NB_PLAN_SPOTS_H

#include "../base/coefficients.h"
#include "plan.h"

enum {
    NB_SPOT_PAD = 16
}; /* entries behind each run's last source; as many as a vector has */

/** exp(-2 R^2/width) is 2 to the power of this times R^2. */
NB_HD double nb_spot_fall(double width)
{
    return -2.0 / width * NB_LOG2_E;
}

/** Sources of one direction and one table of F, by rising kappa. */
typedef struct nb_spot_run {
    nb_vec3 incident;
    int table, n;
    size_t first;             /* in the arrays of nb_spots */
    double middle;            /* kappa, 1/m */
    double shortest, longest; /* wavelengths, m */
    double per;               /* entries per 1/m, about */
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
    nb_law law;               /* of decay or edge */
    double width, fall;       /* of the law; nb_spot_fall */
    double fall_root;         /* sqrt(-fall) */
    double L[3][3];           /* upper triangle */
    double widest;            /* |h - hkl| along any index at R <= 1, the largest */
    double axis;              /* no less than the longest semi-axis of R <= 1, 1/m */
    double cells2;            /* F_latt^2 at a reflection */
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
    double even;       /* the weight of all sources; 0: they differ */
    double *wave;      /* weight times wavelength, m */
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

/** A flat panel for directions: the ray d meets the depth O at  F = z d.axis[0]/d.n - start[0],
 * S = z d.axis[1]/d.n - start[1]  with z = height + O rise and start[k] + O lean[k]; m. */
typedef struct nb_spot_plane {
    double axis[2][3], n[3];
    double height, rise, start[2], lean[2];
    double pixel[2];          /* edges */
    double depth;             /* of the sensor */
    double middle[3], cosine; /* every ray is within this angle of the middle */
} nb_spot_plane;

nb_spot_plane nb_spot_plane_of(const nb_panel *panel, const nb_sensor *sensor);

/** What was left out of an image. */
typedef struct nb_spots_result {
    const char *refused; /* why nothing was rendered, in a few words; NULL */
    double bound;        /* photons that a pixel may lack */
    double brightest;    /* no more than the brightest pixel, photons; 0: not known */
    double reach;        /* largest R of a term */
} nb_spots_result;

/** Do the spots of the crystal end, or soon are below every tolerance? */
int nb_spots_suit(const nb_scene *scene);

/** Why a scene cannot be rendered so, in a few words; NULL: it can. */
const char *nb_spots_refuse(const nb_plan *plan);

/** Likewise of one panel. */
const char *nb_spots_refuse_panel(const nb_panel *panel, const nb_sensor *sensor);

/** Likewise of the beam alone: terms must not be negative. */
const char *nb_spots_refuse_beam(const nb_beam *beam);

/** What a picture of the whole detector takes, about. */
typedef struct nb_spots_work {
    double columns; /* of reflections and groups of orientations */
    double pairs;   /* reflections in orientations */
    double rays;    /* of their boxes */
    double terms, pixels;
} nb_spots_work;
/** `dim`: a Gaussian term counts from this part of a peak times the tolerance on, about; costs are fitted with it. */
nb_spots_work nb_spots_work_of(const nb_plan *plan, double dim);

/** Seconds of one core for the whole detector, about. */
double nb_spots_seconds(const nb_plan *plan);

/** Seconds of one core for a first look for the brightest pixel, about. */
double nb_spots_look_seconds(const nb_plan *plan);

/** Seconds of the whole detector, one thread: what is compared with spots must not depend on the
 * region or the threads, or the bytes would. */
double nb_spots_whole(const nb_plan *plan, double (*seconds)(const nb_plan *plan));

/** Photons of a pixel whose every term is 1 electron^2, at most. */
double nb_spots_brightness(const nb_scene *scene);

/** The scene of the plan must outlive *spots and have no mask or region that matters.
 * Errors: NB_ERR_NOMEM; then spots is freed. */
nb_status nb_spots_build(const nb_plan *plan, nb_spots *spots, nb_error *err);
void nb_spots_free(nb_spots *spots);

enum {
    NB_SPOTS_TRIES = 8,
    NB_SPOTS_MIDDLES = 3 /* the first ones, with R < 0.6: they differ in F alone */
};

/** The terms of try i, by which a pixel is found that is no brighter than the brightest of the whole
 * detector: the strongest reflections alone, near their middles, and then more of them; the first NB_SPOTS_MIDDLES
 * have R < 0.6.  0: there is no such try. */
int nb_spots_try(const nb_spots *spots, int i, nb_spot_limits *limits);

/** Would try i find what the one before it found?  Where all reflections are as strong, no weaker ones are added. */
int nb_spots_repeats(const nb_spots *spots, int i);

/** The photons that a pixel may lack, and the threshold of a term that keeps to them; result->brightest
 * is known, or 0 where the tolerance does not need it.  May refuse. */
void nb_spots_limit(const nb_spots *spots, const nb_tolerance *may,
                    nb_spot_limits *limits, nb_spots_result *result);

/** What an image may lack, as nb_spots_limit left it. */
double nb_spots_part(const nb_spots_result *result);

/** "from its reflections" and what that may lack, in a line. */
void nb_spots_describe(const nb_spots_result *result, char *line, size_t size);

/** The largest |g| of the box of reflections, 1/m. */
double nb_spots_farthest(const nb_spots *spots);

#endif
