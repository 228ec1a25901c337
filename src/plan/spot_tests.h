/* SPDX-License-Identifier: MIT */
/** Tests of spots.h for host and device: which pixels a reflection can reach. Tests of a
 * reflection, an orientation and a box of pixels only save work. Mathematics:
 * plans/fast_paths.md, section 3. */
#ifndef NB_PLAN_SPOT_TESTS_H
#define NB_PLAN_SPOT_TESTS_H

#include <math.h>

#include "../physics/structure_factor.h"
#include "spots.h"

#define NB_SPOT_ROOM 1e-6    /* for rounding, in parts of R and in sub-pixels */
#define NB_SPOT_GRAZING 0.01 /* cosine to a panel's plane below which rays have no box */

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
    double most = 0;
    for (int t = 0; t < tables; t++) {
        double F = nb_F_nearest(sf, t, h[0], h[1], h[2]);
        most = fmax(most, F * F);
    }
    return most;
}

/** R^2 up to which terms of F^2 are added; 0: none. Law of decay: exp(-2 R^2/width) A > t. Law of
 * edge: the end of the spot. */
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

/** Indices l = low..high, without those between `from` and `to`. */
typedef struct nb_spot_column {
    double low, high, from, to;
} nb_spot_column;

/** Values of l with |p + l v| <= radius: *low to *high. Returns 0 if there are none. */
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

/** Largest distance of rays that a reflection of a group reaches from its middle; g: its |g|. */
NB_HD double nb_spot_far(const nb_spots *sp, const nb_spot_group *group, double reach,
                         double g)
{
    return sp->longest * (group->chord * g + reach * sp->axis) +
           0.5 * (sp->longest - sp->shortest) * g + sp->stray;
}

/** Indices l of a column of the box whose reflections may be excited: p0 + l v within `far` of the
 * unit sphere. Returns 0 if there are none. */
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

/** Pixels along an axis whose rays have d.axis/d.n in [ratio[0], ratio[1]] at a depth in [depth[0],
 * depth[1]]: from range[0] to range[1], in pixels from the panel's edge. */
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

/** Pixels of a panel whose rays may be within `far` of p: range[axis], if NB_SPOT_BOXED. */
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

/** Largest distance of a point of a spot from its reflection, 1/m. */
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

/** No source excites the reflection in an orientation with |e + middle| above *most; e is that of
 * the middle of the beam. */
NB_HD double nb_spot_excitation(const nb_spots *sp, const nb_spot *spot, double *most)
{
    *most = nb_spot_slack(sp, spot->reach2) + sp->stray * sqrt(spot->g2) +
            0.25 * (sp->longest - sp->shortest) * spot->g2;
    return 0.25 * (sp->shortest + sp->longest) * spot->g2;
}

#endif
