/* SPDX-License-Identifier: MIT */
#include "diffuse_plane.h"

#include <math.h>
#include <string.h>

enum { D = NB_MERGE_SPACE };

#define TO_MEAN 5e-4 /* largest relative error if one sample replaces all */
#define WIDE2                                                                            \
    0.0225 /* limit of the mean square distance of samples that are merged, in 1/per^2 */
#define REACH 0.5 /* limit of the largest distance from the mean, in 1/per */

typedef struct cloud {
    double weight, mean[D], cov[D][D], reach;
} cloud;

static cloud cloud_of(const nb_merge_item *items, int n)
{
    cloud c = {0};
    for (int i = 0; i < n; i++)
        c.weight += items[i].weight;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < D; j++)
            c.mean[j] += items[i].weight / c.weight * items[i].y[j];
    for (int i = 0; i < n; i++) {
        double d[D], r2 = 0;
        for (int j = 0; j < D; j++) {
            d[j] = items[i].y[j] - c.mean[j];
            r2 += d[j] * d[j];
        }
        c.reach = fmax(c.reach, sqrt(r2));
        for (int j = 0; j < D; j++)
            for (int k = 0; k < D; k++)
                c.cov[j][k] += items[i].weight / c.weight * d[j] * d[k];
    }
    return c;
}

/** Diagonalize a by Jacobi rotations. The columns of v become the axes. */
static void find_axes(double a[D][D], double v[D][D])
{
    for (int j = 0; j < D; j++)
        for (int k = 0; k < D; k++)
            v[j][k] = j == k;
    for (int sweep = 0; sweep < 30; sweep++)
        for (int p = 0; p < D; p++)
            for (int q = p + 1; q < D; q++) {
                if (fabs(a[p][q]) < 1e-14 * (fabs(a[p][p]) + fabs(a[q][q])))
                    continue;
                double angle = 0.5 * atan2(2 * a[p][q], a[q][q] - a[p][p]);
                double c = cos(angle), s = sin(angle);
                for (int k = 0; k < D; k++) {
                    double x = a[k][p], y = a[k][q];
                    a[k][p] = c * x - s * y;
                    a[k][q] = s * x + c * y;
                }
                for (int k = 0; k < D; k++) {
                    double x = a[p][k], y = a[q][k];
                    a[p][k] = c * x - s * y;
                    a[q][k] = s * x + c * y;
                    x = v[k][p], y = v[k][q];
                    v[k][p] = c * x - s * y;
                    v[k][q] = s * x + c * y;
                }
            }
}

/** Move the items that are below the mean along an axis to the front. Returns their
 * number. */
static int divide(nb_merge_item *items, int n, const cloud *c, double v[D][D], int axis)
{
    int before = 0;
    for (int i = 0; i < n; i++) {
        double x = 0;
        for (int j = 0; j < D; j++)
            x += (items[i].y[j] - c->mean[j]) * v[j][axis];
        if (x < 0) {
            nb_merge_item moved = items[i];
            items[i] = items[before];
            items[before++] = moved;
        }
    }
    return before;
}

/** Replace the items by pairs on the axes with the same covariance. Returns the new
 * number of items, or 0 if it is not smaller. */
static int make_pairs(nb_merge_item *items, int n, const cloud *c, double v[D][D],
                      double sum)
{
    int axes = 0, made = 0;
    for (int j = 0; j < D; j++)
        axes += c->cov[j][j] > 1e-6 * sum;
    if (2 * axes >= n)
        return 0;
    for (int j = 0; j < D; j++) {
        double far = sqrt(axes * c->cov[j][j]);
        if (!(c->cov[j][j] > 1e-6 * sum))
            continue;
        for (int sign = -1; sign <= 1; sign += 2, made++) {
            items[made].weight = c->weight / (2 * axes);
            for (int k = 0; k < D; k++)
                items[made].y[k] = c->mean[k] + sign * far * v[k][j];
        }
    }
    return made;
}

int nb_merge(nb_merge_item *items, int n, double per)
{
    cloud c = cloud_of(items, n);
    double v[D][D], sum = 0, reach = per * c.reach;
    int axis = 0, before, made;
    for (int j = 0; j < D; j++)
        sum += c.cov[j][j];
    if (n < 2 || 2.1 * per * per * sum * exp(fmin(2 * reach, 100)) < TO_MEAN) {
        items[0].weight = c.weight;
        memcpy(items[0].y, c.mean, sizeof c.mean);
        return n ? 1 : 0;
    }
    find_axes(c.cov, v);
    if (per * per * sum < WIDE2 && reach < REACH) {
        made = make_pairs(items, n, &c, v, sum);
        return made ? made : n;
    }
    for (int j = 1; j < D; j++)
        axis = c.cov[j][j] > c.cov[axis][axis] ? j : axis;
    before = divide(items, n, &c, v, axis);
    if (before == 0 || before == n)
        return n;
    made = nb_merge(items + before, n - before, per);
    n = nb_merge(items, before, per);
    memmove(items + n, items + before, (size_t)made * sizeof *items);
    return n + made;
}
