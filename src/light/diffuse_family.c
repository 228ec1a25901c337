/* SPDX-License-Identifier: MIT */
#include "diffuse_family.h"

#include <math.h>
#include <string.h>

/* Errors of a reflection's share at the worst B, edges and reflection: of B; and of B in the slope by the edges, in the
 * corners of the range.  The second are taken where the first need too many tables. */
static const struct {
    double B, slope;
} errors[] = {{1e-3, 1e-3}, {2e-3, 3e-3}};
#define SCALE_ERROR 1e-3 /* of the straight line between two edges */
#define POWER 2.0        /* of the edges, about which the shares' powers 0 to 4 lie */
#define CURVATURE                                                                        \
    12.0 /* of a share by the logarithm of the edges, beside that power; its slope is at most POWER */

/** Weights of the nodes for B, about s^2/2 = middle. */
static void lagrange(const double *node, int n, double B, double middle, double *weight)
{
    for (int i = 0; i < n; i++) {
        weight[i] = exp(-(B - node[i]) * middle);
        for (int j = 0; j < n; j++)
            if (j != i)
                weight[i] *= (B - node[j]) / (node[i] - node[j]);
    }
}

/** The largest error of a share by these nodes, as a part of it: reflections are at most `middle` away from the middle. */
static double error_of(const double *node, int n, const double B[2], double middle)
{
    enum { STEPS = 48 };
    double worst = 0, weight[NB_DIFFUSE_TABLES];
    for (int k = 0; k <= STEPS; k++) {
        const double at = B[0] + (B[1] - B[0]) * k / STEPS;
        lagrange(node, n, at, 0, weight);
        for (int end = -1; end <= 1; end += 2) {
            double sum = -1;
            for (int i = 0; i < n; i++)
                sum += weight[i] * exp((at - node[i]) * end * middle);
            worst = fmax(worst, fabs(sum));
        }
    }
    return worst;
}

/** The least number of nodes, at the points of Chebyshev, whose error is below a limit; NB_DIFFUSE_TABLES + 1: more. */
static int choose_B(const double B[2], double middle, double limit, double *node)
{
    const double mean = (B[0] + B[1]) / 2, half = (B[1] - B[0]) / 2;
    for (int n = 1; n <= NB_DIFFUSE_TABLES; n++) {
        for (int i = 0; i < n; i++)
            node[i] = mean - half * cos(NB_PI * (i + 0.5) / n);
        if (half == 0 || error_of(node, n, B, middle) <= limit)
            return n;
    }
    return NB_DIFFUSE_TABLES + 1;
}

int nb_diffuse_choose_nodes(const nb_diffuse_range *range, double s_most,
                            nb_diffuse_nodes *nodes)
{
    const double *s = range->scale, mean = (s[0] + s[1]) / 2, half = (s[1] - s[0]) / 2;
    const double width = half / mean;
    nb_diffuse_nodes *o = nodes;
    memset(o, 0, sizeof *o);
    o->middle = s_most * s_most / 4;
    o->scale[0] = mean - half * sqrt(0.5);
    o->scale[1] = mean + half * sqrt(0.5);
    if (width * width / 4 * CURVATURE > SCALE_ERROR)
        return 0;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        o->n_first = choose_B(range->B, o->middle, errors[i].B, o->first);
        if (half > 0) /* half of the range's width and more beyond the first */
            o->n_more = choose_B(range->B, o->middle,
                                 errors[i].slope / (POWER * 1.7 * width), o->more);
        if (o->n_first + o->n_more <= NB_DIFFUSE_TABLES)
            return o->n_first + o->n_more;
    }
    return 0;
}

double nb_diffuse_node_B(const nb_diffuse_nodes *o, int i)
{
    return i < o->n_first ? o->first[i] : o->more[i - o->n_first];
}

double nb_diffuse_node_scale(const nb_diffuse_nodes *o, int i)
{
    return o->scale[i >= o->n_first];
}

void nb_diffuse_node_weights(const nb_diffuse_nodes *o, double B, double scale,
                             double *weight)
{
    const double part =
        o->n_more ? (scale - o->scale[0]) / (o->scale[1] - o->scale[0]) : 0;
    double *more = weight + o->n_first, there[NB_DIFFUSE_TABLES];
    lagrange(o->first, o->n_first, B, o->middle, weight);
    lagrange(o->more, o->n_more, B, o->middle, more);
    for (int k = 0; k < o->n_more; k++) { /* less what the first give at its place */
        more[k] *= part;
        lagrange(o->first, o->n_first, o->more[k], o->middle, there);
        for (int i = 0; i < o->n_first; i++)
            weight[i] -= more[k] * there[i];
    }
    for (int i = 0; i < o->n_first + o->n_more; i++)
        weight[i] *= pow(scale / nb_diffuse_node_scale(o, i), POWER);
}
