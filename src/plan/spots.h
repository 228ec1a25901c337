/* SPDX-License-Identifier: MIT */
/** From reflections to pixels: which terms of a picture are above a threshold. For crystals whose
 * spots have no tails (laws of decay and of edge). Mathematics and bounds: plans/fast_paths.md,
 * section 3.
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
}; /* padding behind the last source of each run; the lanes of a vector */

/** Factor of R^2 in exp(-2 R^2/width) = 2^(factor R^2). */
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
    double per;               /* approximate entries per 1/m */
} nb_spot_run;

/** An orientation, as the rays need it. */
typedef struct nb_spot_cell {
    double A[3][3]; /* rows: u = kappa A (d - i) - L hkl; m */
    double b[3][3]; /* reciprocal cell, 1/m */
    double E[3][3]; /* columns: semi-axes of R <= 1, 1/m */
} nb_spot_cell;

/** A group of orientations: those of one cell within an angle of the first. */
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
    double widest;            /* largest |h - hkl| along any index at R <= 1 */
    double axis;              /* upper bound of the longest semi-axis of R <= 1, 1/m */
    double cells2;            /* F_latt^2 at a reflection */
    nb_vec3 incident;         /* middle direction of the beam */
    double stray;             /* largest |i - incident| */
    double shortest, longest; /* wavelengths, m */
    int cells_differ; /* orientations have different cells: a crystal that changes along its scan */
    int n_runs, n_groups;
    nb_spot_run *runs;
    nb_spot_group *groups;
    nb_spot_cell *cells;
    double *along; /* [3][stride] incident . reciprocal axis of each orientation */
    size_t stride;
    int *source;       /* index in the scene of each entry of a run */
    double *offset;    /* kappa - middle; padding is out of reach */
    double *weight;    /* padding: 0 */
    double even;       /* weight of all sources, if equal; else 0 */
    double *wave;      /* weight times wavelength, m */
    double *below;     /* sum of the weights of the run's entries before this one */
    nb_index_box box;  /* of reflections, not negated */
    double most;       /* largest F^2 */
    double brightness; /* largest photons of a pixel for a term of 1 in all of its steps */
} nb_spots;

/** The terms of a pass: reflections with F^2 > weakest, up to a reach. */
typedef struct nb_spot_limits {
    double threshold; /* of a term, electrons^2; 0: none */
    double near2;     /* > 0: largest R^2, for any threshold */
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
    double middle[3], cosine; /* largest angle of a ray to the middle */
} nb_spot_plane;

nb_spot_plane nb_spot_plane_of(const nb_panel *panel, const nb_sensor *sensor);

/** Limits and bounds of what an image lacks. */
typedef struct nb_spots_result {
    const char *refused; /* reason why nothing was rendered, in a few words; or NULL */
    double bound;        /* photons that a pixel may lack */
    double brightest;    /* lower bound of the brightest pixel, photons; 0: not known */
    double reach;        /* largest R of an added term */
} nb_spots_result;

/** Do the spots of the crystal end, or fall below every tolerance? */
int nb_spots_suit(const nb_scene *scene);

/** The reason why a scene cannot be rendered from its reflections, in a few words; NULL: it
 * can. */
const char *nb_spots_refuse(const nb_plan *plan);

/** The same for a panel. */
const char *nb_spots_refuse_panel(const nb_panel *panel, const nb_sensor *sensor);

/** The same for the beam: terms must not be negative. */
const char *nb_spots_refuse_beam(const nb_beam *beam);

/** Estimated work for a picture of the whole detector. */
typedef struct nb_spots_work {
    double columns; /* pairs of reflections and groups of orientations */
    double pairs;   /* pairs of reflections and orientations */
    double rays;    /* of their boxes */
    double terms, pixels;
} nb_spots_work;
/** `dim`: the part of a peak, times the tolerance, from which on a Gaussian term counts; costs are
 * fitted with it. */
nb_spots_work nb_spots_work_of(const nb_plan *plan, double dim);

/** Estimated seconds of one core for the whole detector. */
double nb_spots_seconds(const nb_plan *plan);

/** Estimated seconds of one core for the first search of the brightest pixel. */
double nb_spots_look_seconds(const nb_plan *plan);

/** Estimated seconds of all steps for the whole detector with one thread, to be compared with that
 * of spots. The choice must not depend on the region or the threads, as bytes depend on the
 * choice. */
double nb_spots_whole(const nb_plan *plan, double (*seconds)(const nb_plan *plan));

/** Largest photons of a pixel whose terms are all 1 electron^2. */
double nb_spots_brightness(const nb_scene *scene);
int nb_sign(double x); /* -1, 0 or 1 */

/** The scene of the plan must outlive *spots. Its mask and region are not used. Errors:
 * NB_ERR_NOMEM; then spots is freed. */
nb_status nb_spots_build(const nb_plan *plan, nb_spots *spots, nb_error *err);
void nb_spots_free(nb_spots *spots);

enum {
    NB_SPOTS_TRIES = 8,
    NB_SPOTS_MIDDLES = 3 /* the first tries, with R < 0.6: they differ only in F */
};

/** The terms of try i to find a lower bound of the brightest pixel of the whole detector. Tries
 * begin with the strongest reflections near their middles and then add others; the first
 * NB_SPOTS_MIDDLES have R < 0.6. Returns 0 if there is no such try. */
int nb_spots_try(const nb_spots *spots, int i, nb_spot_limits *limits);

/** Would try i find the same as the one before? If all reflections are equally strong, no weaker
 * ones are added. */
int nb_spots_repeats(const nb_spots *spots, int i);

/** Set the photons that a pixel may lack, and the threshold of terms for it. result->brightest
 * must be known, or 0 if the tolerance does not need it. May refuse. */
void nb_spots_limit(const nb_spots *spots, const nb_tolerance *may,
                    nb_spot_limits *limits, nb_spots_result *result);

/** Largest part of the brightest pixel that a pixel may lack, from nb_spots_limit. */
double nb_spots_part(const nb_spots_result *result);

/** Text of the report: "from its reflections" and what may be missing. */
void nb_spots_describe(const nb_spots_result *result, char *line, size_t size);

/** The largest |g| of the box of reflections, 1/m. */
double nb_spots_farthest(const nb_spots *spots);

#endif
