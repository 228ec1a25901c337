/* SPDX-License-Identifier: MIT */
/** Upper bounds of the terms of a block of rays (../terms/tile_bounds.h). This file
 * prepares the data of NB_W steps or groups, and finds the threshold that the budget
 * allows. */
#ifndef NB_RENDER_KERNEL_TILE_BOUNDS_H
#define NB_RENDER_KERNEL_TILE_BOUNDS_H

#include "kernel_rays.h"
#include "tile_rows.h"

#include "../terms/tile_bounds.h"

NB_INLINE vf vf_load(const float *from)
{
    vf x;
    memcpy(&x, from, sizeof x);
    return x;
}

NB_INLINE void vf_store(float *to, vf x)
{
    memcpy(to, &x, sizeof x);
}

NB_INLINE float vf_sum(vf x)
{
    float sum = 0;
    for (int i = 0; i < NB_W; i++)
        sum += x[i];
    return sum;
}

/** The block of n x n rays from (u, v), cut at the edge of the tile. */
static nb_ray_block tile_block_of(const nb_ray_tile *t, int u, int v, int n)
{
    const nb_spot_tile *r = &t->rays;
    const size_t u1 = (size_t)(u + n < r->nu ? u + n : r->nu) - 1,
                 v1 = (size_t)(v + n < r->nv ? v + n : r->nv) - 1;
    const size_t at[4] = {(size_t)v * r->pitch + (size_t)u, (size_t)v * r->pitch + u1,
                          v1 * r->pitch + (size_t)u, v1 * r->pitch + u1};
    const double extent = n * (r->plan->panel.pixel_fast + r->plan->panel.pixel_slow) /
                          r->plan->scene.oversample;
    nb_vec3 corner[4];
    for (int k = 0; k < 4; k++)
        corner[k] = nb_v3(r->x[at[k]], r->y[at[k]], r->z[at[k]]);
    return nb_ray_block_of(t->tiles, corner,
                           nb_tile_depth(&r->plan->panel, &r->plan->sensor, extent),
                           NB_TILE_WIDEN);
}

/** h/kappa of ray c, for the middles of the column and of NB_W rows from `row` on. */
NB_INLINE void row_indices(const nb_tiles *t, size_t row, int column, const double c[3],
                           vf h[3])
{
    const float x = (float)(c[0] - t->towards[0][column]),
                y = (float)(c[1] - t->towards[1][column]),
                z = (float)(c[2] - t->towards[2][column]);
    const size_t n = t->row_stride;
    for (size_t i = 0; i < 3; i++) {
        const float *a = t->middle + 3 * i * n + row;
        h[i] = vf_fma(vf_load(a), vf_set(x),
                      vf_fma(vf_load(a + n), vf_set(y), vf_load(a + 2 * n) * z));
    }
}

/** Upper bounds of the sums of NB_W groups: rows from `row`; middle: from row_indices. */
NB_INLINE vf group_bounds(const nb_tiles *t, const nb_ray_block *b, size_t row,
                          int column, const vf middle[3], const int shape)
{
    const nb_tile_column of = {t->kappa_middle[column], t->kappa_range[column],
                               t->stray[column], t->weights[column]};
    const float *from = t->away + row;
    const vf away[3] = {vf_load(from), vf_load(from + t->row_stride),
                        vf_load(from + 2 * t->row_stride)};
    return nb_tile_group_bound(t, b, &of, middle, away, shape) *
           (vf_load(t->count + row) * of.weight);
}

/** Indices of NB_W steps of a group, from its k-th vector of steps on, for the ray c. */
NB_INLINE void step_indices(const nb_tiles *t, nb_tile_group g, int k, const double c[3],
                            vf h[3])
{
    const size_t n = (size_t)t->orientations, s = (size_t)g.column * NB_TILE_STEPS;
    const size_t step = (size_t)k * NB_W;
    if (t->by_source && t->uniform[g.column]) {
        const double q[3] = {c[0] - t->towards[0][g.column],
                             c[1] - t->towards[1][g.column],
                             c[2] - t->towards[2][g.column]};
        for (size_t i = 0; i < 3; i++) {
            const double *a = t->cells + 3 * i * n + g.row;
            const double G = a[0] * q[0] + a[n] * q[1] + a[2 * n] * q[2];
            h[i] = vf_load(t->kappa_f + s + step) * (float)G;
        }
    } else if (t->by_source) {
        const vf kappa = vf_load(t->kappa_f + s + step);
        vf q[3];
        for (int x = 0; x < 3; x++)
            q[x] = (vf_set((float)c[x]) - vf_load(t->incident_f[x] + s + step)) * kappa;
        for (size_t i = 0; i < 3; i++) {
            const float *a = t->cells_f + 3 * i * n + g.row;
            h[i] = q[0] * a[0] + q[1] * a[n] + q[2] * a[2 * n];
        }
    } else {
        const size_t m = (size_t)g.row * NB_TILE_STEPS + step;
        const double kappa = t->kappa[g.column];
        float q[3];
        for (int x = 0; x < 3; x++)
            q[x] = (float)((c[x] - t->incident[x][g.column]) * kappa);
        for (size_t i = 0; i < 3; i++) {
            const float *a = t->cells_f + 3 * i * n + m;
            h[i] = vf_load(a) * q[0] + vf_load(a + n) * q[1] + vf_load(a + 2 * n) * q[2];
        }
    }
}

/** Upper bounds of the weights of the steps of step_indices. */
NB_INLINE vf step_weights(const nb_tiles *t, nb_tile_group g, int k)
{
    const size_t step = (size_t)k * NB_W;
    if (t->by_source)
        return vf_load(t->weight_f + (size_t)g.column * NB_TILE_STEPS + step);
    return vf_set(t->weight_f[g.column]);
}

/** Upper bounds of the terms of NB_W steps of a group. */
NB_INLINE vf step_bounds(const nb_tiles *t, const nb_ray_block *b, nb_tile_group g, int k,
                         const int shape)
{
    vf h[3];
    step_indices(t, g, k, b->c, h);
    return nb_tile_step_bound(t, b, h, shape) * step_weights(t, g, k);
}

/** Upper bound of the sum of a group's terms, from the bounds of its steps. */
NB_INLINE float group_sum(const nb_tiles *t, const nb_ray_block *b, nb_tile_group g,
                          const int shape)
{
    vf sum = {0};
    for (int k = 0; k < NB_TILE_STEPS / NB_W; k++)
        sum = sum + step_bounds(t, b, g, k, shape);
    return vf_sum(sum) * NB_TILE_UP;
}

/* number of tried thresholds, each three times the previous one */
enum { TILE_LADDER = 12 };

/** The largest tried threshold such that the bounds up to it have a sum within the
 * budget. *spent: that sum. bounds[] has room for a vector after its n numbers. */
static float tile_threshold(float *bounds, size_t n, double budget, double *spent)
{
    const double up = 1.0001 + 1e-7 * (double)n;
    vf all = {0}, sum[TILE_LADDER] = {{0}};
    float threshold[TILE_LADDER];
    double sums;
    memset(bounds + n, 0, sizeof all);
    for (size_t i = 0; i < n; i += NB_W)
        all = all + vf_load(bounds + i);
    *spent = vf_sum(all) * up;
    if (*spent <= budget)
        return INFINITY; /* the budget covers all groups, so that none is needed */
    threshold[0] = (float)(budget / (double)n);
    for (int k = 1; k < TILE_LADDER; k++)
        threshold[k] = 3 * threshold[k - 1];
    for (size_t i = 0; i < n; i += NB_W)
        for (int k = 0; k < TILE_LADDER; k++)
            sum[k] = sum[k] + vf_up_to(vf_load(bounds + i), threshold[k]);
    for (int k = TILE_LADDER - 1; k >= 0; k--) {
        sums = vf_sum(sum[k]) * up;
        if (sums <= budget) {
            *spent = sums;
            return threshold[k];
        }
    }
    *spent = 0;
    return 0;
}

#endif
