/* SPDX-License-Identifier: MIT */
#include "analysis.h"

#include <math.h>
#include <stdint.h>

#include "../base/memory.h"

enum { ROUNDS = 12, LEAST = 4 };

/** Data of a curve. */
typedef struct curve {
    const nb_curve_point *points;
    size_t n;
    double half;
    uint8_t *used; /* [n], 1 for points that count */
} curve;

/** Sums for the fit of a weighted parabola y = a + b t + c t^2. */
typedef struct moments {
    double t[5], y[3];
    int count;
    int below, above; /* 1 if a point has t <= 0, and 1 if a point has t >= 0 */
} moments;

static void add_point(moments *m, double t, double y, double weight)
{
    double power = weight;
    for (int k = 0; k < 5; k++, power *= t) {
        m->t[k] += power;
        if (k < 3)
            m->y[k] += power * y;
    }
    m->count++;
    m->below |= t <= 0;
    m->above |= t >= 0;
}

/** a by Cramer's rule, or the weighted mean if points are too few for a parabola. */
static double at_zero(const moments *m)
{
    const double *t = m->t, *y = m->y;
    const double c0 = t[2] * t[4] - t[3] * t[3], c1 = t[2] * t[3] - t[1] * t[4],
                 c2 = t[1] * t[3] - t[2] * t[2];
    const double whole = t[0] * c0 + t[1] * c1 + t[2] * c2;
    if (!(whole > 1e-9 * t[0] * t[2] * t[4]))
        return y[0] / t[0];
    return (y[0] * c0 + y[1] * c1 + y[2] * c2) / whole;
}

/** Index of the first point less than c->half from point i. */
static size_t first_near(const curve *c, size_t i)
{
    size_t first = i;
    while (first > 0 && c->points[i].x - c->points[first - 1].x < c->half)
        first--;
    return first;
}

static double value_at(const curve *c, size_t i)
{
    const double x = c->points[i].x;
    moments m = {{0}, {0}, 0, 0, 0};
    for (size_t j = first_near(c, i); j < c->n && c->points[j].x - x < c->half; j++) {
        const nb_curve_point *p = &c->points[j];
        const double t = (p->x - x) / c->half, near = 1 - fabs(t * t * t);
        if (c->used[j])
            add_point(&m, t, p->y, near * near * near / (p->sigma * p->sigma));
    }
    return m.count >= LEAST && m.below && m.above ? at_zero(&m) : NAN;
}

/** |distance from the curve| / sigma; 0 for an unused point or without a curve. */
static double distance(const curve *c, const double *smooth, size_t i)
{
    const nb_curve_point *p = &c->points[i];
    return p->sigma > 0 && c->used[i] && isfinite(smooth[i])
               ? fabs(p->y - smooth[i]) / p->sigma
               : 0;
}

/** Leave out points that are more than 6 sigma and 6 medians from the curve, if no near
 * point is farther from it: an outlier moves the curve away from near points. Returns the
 * number left out; overwrites work[2 n]. */
static size_t leave_out(const curve *c, const double *smooth, double *work)
{
    double *far = work + c->n, limit;
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        work[i] = far[i] = distance(c, smooth, i);
    limit = 6 * fmax(nb_percentile_of(work, c->n, 50), 1);
    for (size_t i = 0; i < c->n; i++) {
        int farthest = far[i] > limit;
        for (size_t j = first_near(c, i);
             farthest && j < c->n && c->points[j].x - c->points[i].x < c->half; j++)
            farthest = far[j] <= far[i];
        if (farthest) {
            c->used[i] = 0;
            n++;
        }
    }
    return n;
}

nb_status nb_smooth_curve(const nb_curve_point *points, size_t n, double half,
                          double *smooth, nb_error *err)
{
    double *work = nb_alloc_raw(2 * n + 1, sizeof *work, "smooth curve", err);
    uint8_t *used = nb_alloc(n + 1, 1, "smooth curve", err);
    const curve c = {points, n, half, used};
    const nb_status st = work && used ? NB_OK : NB_ERR_NOMEM;
    for (size_t i = 0; !st && i < n; i++)
        used[i] = points[i].sigma > 0;
    for (int round = 0; !st && round < ROUNDS; round++) {
        for (size_t i = 0; i < n; i++)
            smooth[i] = value_at(&c, i);
        if (round == ROUNDS - 1 || leave_out(&c, smooth, work) == 0)
            break;
    }
    nb_free(work);
    nb_free(used);
    return st;
}
