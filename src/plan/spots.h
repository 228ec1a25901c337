/* SPDX-License-Identifier: MIT */
/** Find the terms of an image that exceed a threshold from the reflections, for crystals
 * whose spots have no tails (laws of decay and of edge). Mathematics and bounds:
 * plans/paths.md, section 3.
 *
 *   d       ray, unit           i, kappa  source: direction, 1/wavelength    q = kappa (d - i)
 *   hkl, g  reflection          u         L (h - hkl), with R^2 = |u|^2
 *   reach   R; terms at a larger R are below the threshold */
#ifndef NB_PLAN_SPOTS_H
#define NB_PLAN_SPOTS_H

#include <math.h>

#include "../base/coefficients.h"
#include "../physics/structure_factor.h"
#include "plan.h"

enum {
    NB_SPOT_PAD = 16
}; /* padding after the last source of each run: the lanes of a vector */

/** The factor in exp(-2 R^2/width) = 2^(factor R^2). */
NB_HD double nb_spot_fall(double width)
{
    return -2.0 / width * NB_LOG2_E;
}

/** Sources of one direction and one table of F, in order of rising kappa. */
typedef struct nb_spot_run {
    nb_vec3 incident;
    int table, n;
    size_t first;             /* index of the first entry in the arrays of nb_spots */
    double middle;            /* middle kappa, 1/m */
    double shortest, longest; /* wavelengths, m */
    double per;               /* approximate number of entries per 1/m */
} nb_spot_run;

/** Matrices of an orientation. */
typedef struct nb_spot_cell {
    double A[3][3]; /* rows: u = kappa A (d - i) - L hkl; m */
    double b[3][3]; /* reciprocal cell, 1/m */
    double E[3][3]; /* columns: semi-axes of the ellipsoid R <= 1, 1/m */
} nb_spot_cell;

/** A group of orientations, first .. end - 1. They have the same cell and are within an
 * angle of the first. */
typedef struct nb_spot_group {
    int first, end;
    double chord; /* |U v - v| <= chord |v| for each rotation U from the first */
} nb_spot_group;

typedef struct nb_spots {
    const nb_scene *scene;
    nb_law law;               /* decay or edge */
    double width, fall;       /* width of the law; nb_spot_fall(width) */
    double fall_root;         /* sqrt(-fall) */
    double L[3][3];           /* upper triangle */
    double widest;            /* largest |h - hkl| along any index at R <= 1 */
    double axis;              /* upper bound of the longest semi-axis of R <= 1, 1/m */
    double cells2;            /* F_latt^2 at a reflection */
    nb_vec3 incident;         /* middle direction of the beam */
    double stray;             /* largest |i - incident| */
    double shortest, longest; /* wavelengths, m */
    int cells_differ; /* 1: orientations have different cells (a scan-varying crystal) */
    int n_runs, n_groups;
    nb_spot_run *runs;
    nb_spot_group *groups;
    nb_spot_cell *cells;
    double *along; /* [3][stride] incident . reciprocal axis of each orientation */
    size_t stride;
    int *source; /* index in the scene of each entry of a run */
    /* kappa - middle, 1/m; in the padding so large that no term counts */
    double *offset;
    double *weight;    /* 0 in the padding */
    double even;       /* weight of every source if all are equal; else 0 */
    double *wave;      /* weight times wavelength, m */
    double *below;     /* sum of the weights of earlier entries of the run */
    nb_index_box box;  /* box of reflections, not negated */
    double max;        /* largest F^2 */
    double brightness; /* largest number of photons of a pixel if all terms are 1 */
} nb_spots;

/** Terms of a pass: reflections with F^2 > weakest, up to a reach. */
typedef struct nb_spot_limits {
    double threshold; /* smallest term, electrons^2; 0 without a threshold */
    double near2;     /* if > 0: largest R^2, for any threshold */
    double weakest;   /* reflections with a larger F^2 are used, electrons^2 */
} nb_spot_limits;

/** A reflection of a group of orientations. */
typedef struct nb_spot {
    int32_t h[3], group;
    double reach2; /* largest R^2 of its terms */
    double g2;     /* |g|^2, 1/m^2 */
} nb_spot;

/** Plane of a flat panel. Ray d meets depth O at F = z d.axis[0]/d.n - start[0],
 * S = z d.axis[1]/d.n - start[1] with z = height + O rise and start[k] + O lean[k]; m. */
typedef struct nb_spot_plane {
    double axis[2][3], n[3];
    double height, rise, start[2], lean[2];
    double pixel[2];          /* edges of a pixel, m */
    double depth;             /* depth of the sensor, m */
    double middle[3], cosine; /* axis and cosine of a cone around all rays */
} nb_spot_plane;

nb_spot_plane nb_spot_plane_of(const nb_panel *panel, const nb_sensor *sensor);

/** Limits and bounds of the light that is missing in an image. */
typedef struct nb_spots_result {
    const char *refused; /* reason why nothing was rendered, in a few words; or NULL */
    double bound;        /* photons that a pixel may lack */
    double brightest;    /* lower bound of the brightest pixel, photons; 0 if unknown */
    double reach;        /* largest R of an added term */
} nb_spots_result;

/** True if the spots of the crystal have an edge, or fall below any tolerance at some
 * distance. */
int nb_spots_suit(const nb_scene *scene);

/** Reason why a scene cannot be rendered from reflections, in a few words; or NULL. */
const char *nb_spots_refuse(const nb_plan *plan);

/** Reason why a panel cannot be rendered from reflections, or NULL. */
const char *nb_spots_refuse_panel(const nb_panel *panel, const nb_sensor *sensor);

/** Reason why the terms of a beam may be negative, or NULL. */
const char *nb_spots_refuse_beam(const nb_beam *beam);

/** Estimated work for an image of the whole detector. */
typedef struct nb_spots_work {
    double columns; /* pairs of reflections and groups of orientations */
    double pairs;   /* pairs of reflections and orientations */
    double rays;    /* rays in the boxes of the pairs */
    double terms, pixels;
} nb_spots_work;
/** Estimate the work. Gaussian terms above tolerance/dim are counted, in units of the
 * largest peak. The costs of spots.c were fitted with dim = DIM. */
nb_spots_work nb_spots_work_of(const nb_plan *plan, double dim);

/** Estimated seconds of one core for the whole detector. */
double nb_spots_seconds(const nb_plan *plan);

/** Estimated seconds of one core for the first search of the brightest pixel. */
double nb_spots_look_seconds(const nb_plan *plan);

/** Estimated seconds of all steps for the whole detector with one thread, to compare with
 * nb_spots_seconds. The choice must not depend on the region or the threads, because the
 * bytes depend on the choice. */
double nb_spots_whole(const nb_plan *plan, double (*seconds)(const nb_plan *plan));

/** Largest number of photons of a pixel if all terms are 1 electron^2. */
double nb_spots_brightness(const nb_scene *scene);
int nb_sign(double x); /* -1, 0 or 1 */

/** Make *spots. The scene of the plan must outlive *spots; mask and region have no
 * effect. Errors: NB_ERR_NOMEM; then *spots is freed. */
nb_status nb_spots_build(const nb_plan *plan, nb_spots *spots, nb_error *err);
void nb_spots_free(nb_spots *spots);

enum {
    NB_SPOTS_TRIES = 8,
    /* number of the first tries, which have R < 0.6 and differ in the limit of F */
    NB_SPOTS_MIDDLES = 3
};

/** Set the terms that try i calculates to find a lower bound of the brightest pixel of
 * the whole detector. The first NB_SPOTS_MIDDLES tries take strong, then weaker
 * reflections near their middles (R < 0.6). Later tries take larger R. Returns 0 after
 * the last try. */
int nb_spots_try(const nb_spots *spots, int i, nb_spot_limits *limits);

/** True if try i repeats try i - 1: all reflections are equally strong, and the try adds
 * no weaker reflections. */
int nb_spots_repeats(const nb_spots *spots, int i);

/** Set the photons that a pixel may lack, and the threshold of terms. result->brightest
 * must be known, or 0 if the tolerance does not need it. May set result->refused. */
void nb_spots_limit(const nb_spots *spots, const nb_tolerance *may,
                    nb_spot_limits *limits, nb_spots_result *result);

/** Largest amount of light that a pixel may lack after nb_spots_limit, as a fraction of
 * the brightest pixel. */
double nb_spots_part(const nb_spots_result *result);

/** Text of the report: "from its reflections" and the part that may be missing. */
void nb_spots_describe(const nb_spots_result *result, char *line, size_t size);

/** Largest |g| of the box of reflections, 1/m. */
double nb_spots_farthest(const nb_spots *spots);

/* --- Reflections that each tile of the panels may see --- */

/** Square tiles of the region of a panel. */
typedef struct nb_spot_grid {
    nb_region region; /* pixels of the panel */
    int across, down; /* number of tiles along the axes; 0 in an empty region */
    size_t first;     /* index of the first tile in the list */
} nb_spot_grid;

typedef struct nb_spot_list {
    int edge; /* edge of a tile, pixels */
    size_t tiles, n, pairs;
    nb_spot_plane *planes; /* owned; [panels] */
    nb_spot_grid *grids;   /* owned; [panels] */
    nb_spot *spots;        /* owned; [n] */
    /* owned; [tiles + 1] index in `of` of the first spot of each tile */
    size_t *first;
    uint32_t *of; /* owned; [pairs] spots of each tile, indices in spots */
} nb_spot_list;

/** Make a list. regions: [panels], empty in a panel that is not rendered. Errors:
 * NB_ERR_NOMEM; then the list is freed. */
nb_status nb_spot_list_build(const nb_spots *spots, const nb_spot_limits *limits,
                             const nb_region *regions, int edge, nb_spot_list *list,
                             nb_error *err);
void nb_spot_list_free(nb_spot_list *list);

/* Tests, for host and device, of the pixels that a reflection can reach. Tests of a
 * reflection, an orientation and a box of pixels only save work. Mathematics:
 * plans/paths.md, section 3. */

#define NB_SPOT_ROOM 1e-6 /* margin for rounding, in parts of R and in sub-pixels */
/* rays whose angle to the panel's normal has a smaller cosine have no box */
#define NB_SPOT_GRAZING 0.01

enum { NB_SPOT_NOWHERE = 0, NB_SPOT_BOXED, NB_SPOT_ANYWHERE };

NB_HD double nb_spot_dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

NB_HD void nb_spot_array(nb_vec3 v, double to[3])
{
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
}

/** Largest F^2 of a reflection in any table. */
NB_HD double nb_spot_F2_of(const nb_factor_table *sf, const int32_t h[3])
{
    const int tables = sf->n_tables > 1 ? sf->n_tables : 1;
    double largest = 0;
    for (int t = 0; t < tables; t++) {
        double F = nb_F_nearest(sf, t, h[0], h[1], h[2]);
        largest = fmax(largest, F * F);
    }
    return largest;
}

/** Largest R^2 of the terms of a reflection; 0 without terms. Law of decay: up to this
 * R^2, exp(-2 R^2/width) A is above the threshold. Law of edge: the spot ends there. */
NB_HD double nb_spot_reach2(const nb_spots *sp, const nb_spot_limits *limits, double F2)
{
    double A = F2 * sp->cells2;
    if (!(F2 > limits->weakest))
        return 0;
    if (limits->near2 > 0)
        return limits->near2;
    if (sp->law == NB_LAW_EDGE)
        return sp->width;
    return A > limits->threshold ? 0.5 * sp->width * log(A / limits->threshold) : 0;
}

/* ------------------------------------------------------------------ reflections */

/** Indices l = low..high, without the indices between `from` and `to`. */
typedef struct nb_spot_column {
    double low, high, from, to;
} nb_spot_column;

/** Values *low to *high of l with |p + l v| <= radius. Returns 0 without such an l. */
NB_HD int nb_spot_inside_sphere(const double p[3], const double v[3], double radius,
                                double *low, double *high)
{
    double a = nb_spot_dot(v, v), b = nb_spot_dot(p, v),
           c = nb_spot_dot(p, p) - radius * radius;
    double root2 = b * b - a * c;
    if (root2 < 0)
        return 0;
    *low = (-b - sqrt(root2)) / a;
    *high = (-b + sqrt(root2)) / a;
    return 1;
}

/** Largest distance on the unit sphere from a reflection to the rays that it lights. g:
 * |g|. */
NB_HD double nb_spot_far(const nb_spots *sp, const nb_spot_group *group, double reach,
                         double g)
{
    return sp->longest * (group->chord * g + reach * sp->axis) +
           0.5 * (sp->longest - sp->shortest) * g + sp->stray;
}

/** Indices l of a column of the box whose reflections may be excited: p0 + l v within
 * `far` of the unit sphere. Returns 0 without such an l. */
NB_HD int nb_spot_column_of(const nb_spots *sp, const double p0[3], const double v[3],
                            double far, nb_spot_column *c)
{
    const int first = sp->box.low[2], last = first + sp->box.n[2] - 1;
    c->from = INFINITY;
    c->to = -INFINITY;
    if (!nb_spot_inside_sphere(p0, v, 1 + far, &c->low, &c->high))
        return 0;
    if (far < 1 && nb_spot_inside_sphere(p0, v, 1 - far, &c->from, &c->to)) {
        c->from = ceil(c->from + NB_SPOT_ROOM);
        c->to = floor(c->to - NB_SPOT_ROOM);
    }
    c->low = fmax(ceil(c->low - NB_SPOT_ROOM), (double)first);
    c->high = fmin(floor(c->high + NB_SPOT_ROOM), (double)last);
    return c->low <= c->high;
}

/** Pixels range[0] to range[1] along an axis, from the edge of the panel, whose rays have
 * d.axis/d.n in [ratio[0], ratio[1]] at a depth in [depth[0], depth[1]]. */
NB_HD void nb_spot_extent(const nb_spot_plane *plane, int axis, const double ratio[2],
                          const double depth[2], double range[2])
{
    range[0] = INFINITY;
    range[1] = -INFINITY;
    for (int i = 0; i < 4; i++) {
        double O = depth[i >> 1], z = plane->height + O * plane->rise;
        double x = (z * ratio[i & 1] - plane->start[axis] - O * plane->lean[axis]) /
                   plane->pixel[axis];
        range[0] = fmin(range[0], x);
        range[1] = fmax(range[1], x);
    }
}

/** Find the pixels whose rays may be within `far` of p. They are in range[axis] if the
 * function returns NB_SPOT_BOXED. */
NB_HD int nb_spot_near(const nb_spot_plane *plane, const double p[3], double far,
                       double range[2][2])
{
    const double depth[2] = {0, plane->depth}, height = nb_spot_dot(p, plane->n);
    if (nb_spot_dot(p, plane->middle) + far < plane->cosine || height + far < 0)
        return NB_SPOT_NOWHERE;
    if (!(height - far > NB_SPOT_GRAZING))
        return NB_SPOT_ANYWHERE;
    for (int k = 0; k < 2; k++) {
        double c = nb_spot_dot(p, plane->axis[k]) / height, across[3], ratio[2];
        for (int x = 0; x < 3; x++)
            across[x] = plane->axis[k][x] - c * plane->n[x];
        double off = far * sqrt(nb_spot_dot(across, across)) / (height - far);
        ratio[0] = c - off;
        ratio[1] = c + off;
        nb_spot_extent(plane, k, ratio, depth, range[k]);
        range[k][0] -= NB_SPOT_ROOM;
        range[k][1] += NB_SPOT_ROOM;
    }
    return NB_SPOT_BOXED;
}

/* ------------------------------------------------------------------ one orientation */

/** Largest distance of a point of a spot from the reflection, 1/m. */
NB_HD double nb_spot_distance(const nb_spots *sp, double reach2)
{
    return sqrt(reach2) * (1 + NB_SPOT_ROOM) * sp->axis;
}

/** Largest |e + lambda g^2/2| of an excited reflection, e = incident.g; 1/m. */
NB_HD double nb_spot_slack(const nb_spots *sp, double reach2)
{
    const double rho = nb_spot_distance(sp, reach2);
    return rho * (1 + 0.5 * rho * sp->longest) + NB_SPOT_ROOM * rho;
}

/** Returns middle = lambda g^2/2 for the middle wavelength. No source excites the
 * reflection in an orientation with |e + middle| > *largest, e = nb_spots.incident.g. */
NB_HD double nb_spot_excitation(const nb_spots *sp, const nb_spot *spot, double *largest)
{
    *largest = nb_spot_slack(sp, spot->reach2) + sp->stray * sqrt(spot->g2) +
               0.25 * (sp->longest - sp->shortest) * spot->g2;
    return 0.25 * (sp->shortest + sp->longest) * spot->g2;
}

#endif
