/* SPDX-License-Identifier: MIT */
/** Slopes of light scenes: each pixel has one step, and no parameter moves the detector.
 * Indices are in double, all later numbers in single precision
 * (nb_vector_slopes.light). */
#ifndef NB_RENDER_KERNEL_SLOPE_LIGHT_H
#define NB_RENDER_KERNEL_SLOPE_LIGHT_H

#include <math.h>

#include "kernel_simple.h"
#include "kernel_slope_sums.h"

/** Phases with separate loops. The level of the sums is NB_SLOPES_N. */
#define NB_LIGHT_CASES(DO)                                                               \
    DO(NB_PHASE_INDEX)                                                                   \
    DO(NB_PHASE_FRINGES)                                                                 \
    DO(NB_PHASE_PARTS)

/** Destination of planes: `doubles` or `floats`; the other pointer is NULL. Planes are
 * `stride` numbers apart. */
typedef struct light_planes {
    double *doubles;
    float *floats;
    size_t stride;
} light_planes;

/** Store the first n numbers of block x in plane p, from number `at` on. */
NB_INLINE void store_light(const light_planes *to, size_t p, int at, vf x, int n)
{
    const size_t from = p * to->stride + (size_t)at;
    float all[NB_W];
    int i;
    if (to->floats && n == NB_W) {
        memcpy(to->floats + from, &x, sizeof x);
        return;
    }
    memcpy(all, &x, sizeof all);
    if (to->floats)
        memcpy(to->floats + from, all, (size_t)n * sizeof *all);
    else if (n == NB_W)
        for (i = 0; i < NB_W; i++)
            to->doubles[from + (size_t)i] = all[i];
    else
        for (i = 0; i < n; i++)
            to->doubles[from + (size_t)i] = all[i];
}

/** simple_row_of with the offsets that slope_index_of needs. */
NB_INLINE simple_row light_row(const nb_vector_slopes *t, const nb_vector_plan *p, int s)
{
    const row_line line = line_of(p, s, 0, 0);
    simple_row row = simple_row_of(p, &line);
    int i;
    for (i = 0; i < 3; i++)
        row.offset[i] = t->start + t->incident[0][i] * p->sources->inv_lambda;
    return row;
}

/** Sums of the block's only step: F^2 L^2, slopes by N, and gradient times index. */
NB_INLINE void light_sums(const nb_vector_plan *p, const slope_constants *c,
                          const simple_block *block, vf *sum, const slope_case how)
{
    slope_index x = slope_index_of(c, block->t, how);
    const vf F2 = slope_square(p, squares_of_source(p, p->sources), &x, vf_set(1.0f));
    slope_term term;
    int i;
    for (i = 0; i < SLOPE_H; i++)
        sum[i] = vf_set(0.0f);
    square_term(c, &x, F2, sum, &term, how);
    for (i = 0; i < 9; i++)
        sum[SLOPE_H + i] = c->varies[i / 3] * term.g[i / 3] * x.h[i % 3];
}

enum {
    /* blocks that go through each loop together, so that their chains of operations
     * overlap */
    LIGHT_GROUP = 8
};

typedef struct light_group {
    simple_block block[LIGHT_GROUP];
    vf sum[SLOPE_V][LIGHT_GROUP];
} light_group;

/** Eight blocks, in registers. */
typedef struct light_eight {
    vf b0, b1, b2, b3, b4, b5, b6, b7;
} light_eight;

/** x + by y */
NB_INLINE light_eight add_group(light_eight x, float by, const vf y[LIGHT_GROUP])
{
    const vf k = vf_set(by);
    return (light_eight){vf_fma(y[0], k, x.b0), vf_fma(y[1], k, x.b1),
                         vf_fma(y[2], k, x.b2), vf_fma(y[3], k, x.b3),
                         vf_fma(y[4], k, x.b4), vf_fma(y[5], k, x.b5),
                         vf_fma(y[6], k, x.b6), vf_fma(y[7], k, x.b7)};
}

NB_INLINE light_eight add_three(light_eight x, const float *by, const vf (*y)[LIGHT_GROUP])
{
    return add_group(add_group(add_group(x, by[0], y[0]), by[1], y[1]), by[2], y[2]);
}

NB_INLINE void store_block_of(vf x, float *to)
{
    memcpy(to, &x, sizeof x);
}

/** Store all blocks of a group, times their factors, as floats. */
NB_INLINE void store_group(const light_eight *x, const light_group *g, float *to)
{
    store_block_of(x->b0 * g->block[0].factor, to);
    store_block_of(x->b1 * g->block[1].factor, to + NB_W);
    store_block_of(x->b2 * g->block[2].factor, to + 2 * NB_W);
    store_block_of(x->b3 * g->block[3].factor, to + 3 * NB_W);
    store_block_of(x->b4 * g->block[4].factor, to + 4 * NB_W);
    store_block_of(x->b5 * g->block[5].factor, to + 5 * NB_W);
    store_block_of(x->b6 * g->block[6].factor, to + 6 * NB_W);
    store_block_of(x->b7 * g->block[7].factor, to + 7 * NB_W);
}

/** Store the slopes of a group's n pixels in all planes, from number `at` on. */
NB_STAGE void light_contract(const nb_vector_slopes *t, const light_group *g, int n,
                             const light_planes *to, int at)
{
    for (int p = 0; p < t->job->count; p++) {
        const nb_slope_line *by = &t->lines[p];
        const vf(*sum)[LIGHT_GROUP] = (const vf(*)[LIGHT_GROUP])g->sum;
        const vf first = vf_set(by->light_captured);
        light_eight x = {first, first, first, first, first, first, first, first};
        if (by->light[SLOPE_IMAGE] != 0)
            x = add_group(x, by->light[SLOPE_IMAGE], sum[SLOPE_IMAGE]);
        for (int k = SLOPE_N; k < SLOPE_V; k += 3)
            if (by->light_parts >> k & 1)
                x = add_three(x, by->light + k, sum + k);
        if (to->floats && n == LIGHT_GROUP * NB_W) {
            store_group(&x, g, to->floats + (size_t)(p + 1) * to->stride + at);
            continue;
        }
        const vf all[LIGHT_GROUP] = {x.b0, x.b1, x.b2, x.b3, x.b4, x.b5, x.b6, x.b7};
        for (int b = 0; b * NB_W < n; b++)
            store_light(to, (size_t)p + 1, at + b * NB_W, all[b] * g->block[b].factor,
                        n - b * NB_W < NB_W ? n - b * NB_W : NB_W);
    }
}

NB_INLINE void light_pixels(const nb_vector_slopes *t, const nb_vector_plan *p, int s,
                            const double *fast, int n, const light_planes *to,
                            const slope_case how)
{
    const slope_constants c = slope_constants_of(&p->scene, t->width);
    const simple_row row = light_row(t, p, s);
    light_group g;
    int at, b, i;
    for (at = 0; at < n; at += LIGHT_GROUP * NB_W) {
        const int left = n - at < LIGHT_GROUP * NB_W ? n - at : LIGHT_GROUP * NB_W;
        if (left < LIGHT_GROUP * NB_W)
            memset(&g, 0, sizeof g);
        for (b = 0; b * NB_W < left; b++)
            g.block[b] = simple_block_at(p, &row, block_of(fast + at + b * NB_W));
        for (b = 0; b * NB_W < left; b++) {
            const vf water = vf_set(row.background);
            vf sum[SLOPE_V];
            light_sums(p, &c, &g.block[b], sum, how);
            for (i = 0; i < SLOPE_V; i++)
                g.sum[i][b] = sum[i];
            store_light(to, 0, at + b * NB_W,
                        (sum[SLOPE_IMAGE] + water) * g.block[b].factor,
                        left - b * NB_W < NB_W ? left - b * NB_W : NB_W);
        }
        light_contract(t, &g, left, to, at);
    }
}

/** Add the sums of n pixels, each times its dloss[], to sums[SLOPE_LIGHT]. peak: largest
 * |dloss|; floats hold dloss[]/peak. */
NB_INLINE void light_products(const nb_vector_slopes *t, const nb_vector_plan *p, int s,
                              const double *fast, int n, const double *dloss, double peak,
                              double *sums, const slope_case how)
{
    const slope_constants c = slope_constants_of(&p->scene, t->width);
    const simple_row row = light_row(t, p, s);
    const double scale = 1 / peak;
    vf run[SLOPE_LIGHT];
    int k, i;
    for (k = 0; k < SLOPE_LIGHT; k++)
        run[k] = vf_set(0.0f);
    for (; n > 0; n -= NB_W, fast += NB_W, dloss += NB_W) {
        const simple_block block = simple_block_at(p, &row, block_of(fast));
        float loss[NB_W] = {0};
        vf sum[SLOPE_V], weight;
        for (i = 0; i < (n < NB_W ? n : NB_W); i++)
            loss[i] = (float)(dloss[i] * scale);
        memcpy(&weight, loss, sizeof weight);
        weight = weight * block.factor;
        light_sums(p, &c, &block, sum, how);
        for (k = 0; k < SLOPE_V; k++)
            run[k] = vf_fma(sum[k], weight, run[k]);
        run[SLOPE_CAPTURED] += weight;
    }
    for (k = 0; k < SLOPE_LIGHT; k++) {
        float all[NB_W];
        double total = 0;
        memcpy(all, &run[k], sizeof all);
        for (i = 0; i < NB_W; i++)
            total += all[i];
        sums[k] += peak * total;
    }
}

/** Largest |dloss| of a row, or 1e-300, so that dloss can be divided by it. */
NB_INLINE double largest_loss(const double *dloss, int n)
{
    double peak[8] = {1e-300};
    int i, k;
    for (i = 0; i + 8 <= n; i += 8)
        for (k = 0; k < 8; k++)
            peak[k] = fabs(dloss[i + k]) > peak[k] ? fabs(dloss[i + k]) : peak[k];
    for (; i < n; i++)
        peak[0] = fmax(peak[0], fabs(dloss[i]));
    for (k = 1; k < 8; k++)
        peak[0] = fmax(peak[0], peak[k]);
    return peak[0];
}

NB_STAGE void light_dot(const nb_vector_slopes *t, const nb_vector_plan *p, int s,
                        const double *fast, int n, const double *dloss, double *sums)
{
    const double peak = largest_loss(dloss, n);
    switch (t->phase) {
#define NB_DO(of_phase)                                                                  \
    case of_phase:                                                                       \
        light_products(t, p, s, fast, n, dloss, peak, sums,                              \
                       (slope_case){NB_LAW_FRINGES, of_phase, NB_SLOPES_N});             \
        break;
        NB_LIGHT_CASES(NB_DO)
#undef NB_DO
    default:
        break;
    }
}

NB_STAGE void light_slopes(const nb_vector_slopes *t, const nb_vector_plan *p, int s,
                           const double *fast, int n, const light_planes *to)
{
    switch (t->phase) {
#define NB_DO(of_phase)                                                                  \
    case of_phase:                                                                       \
        light_pixels(t, p, s, fast, n, to,                                               \
                     (slope_case){NB_LAW_FRINGES, of_phase, NB_SLOPES_N});               \
        break;
        NB_LIGHT_CASES(NB_DO)
#undef NB_DO
    default:
        break;
    }
}

#endif
