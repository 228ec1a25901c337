/* SPDX-License-Identifier: MIT */
/** Slopes where a pixel has one step and no parameter moves the detector: everything behind the index is in single
 * precision, and no sum is kept (vector_slopes.h: light). */
#ifndef NB_DERIVE_KERNEL_LIGHT_H
#define NB_DERIVE_KERNEL_LIGHT_H

#include <math.h>

#include "kernel_terms.h"

/** The cases that the loop is compiled for; of sums there are all but those by the scattering vector. */
#define NB_LIGHT_CASES(DO)                                                               \
    DO(NB_PHASE_INDEX, 0)                                                                \
    DO(NB_PHASE_INDEX, 1)                                                                \
    DO(NB_PHASE_FRINGES, 0)                                                              \
    DO(NB_PHASE_FRINGES, 1)                                                              \
    DO(NB_PHASE_PARTS, 0)                                                                \
    DO(NB_PHASE_PARTS, 1)
#define NB_LIGHT_CASE(phase, table) (2 * (int)(phase) + (table))

NB_INLINE void store_floats(vf x, int n, double *to)
{
    float all[NB_W];
    int i;
    memcpy(all, &x, sizeof all);
    if (n == NB_W)
        for (i = 0; i < NB_W; i++)
            to[i] = all[i];
    else
        for (i = 0; i < n; i++)
            to[i] = all[i];
}

/** Sums of the block's one step: F^2 L^2, by N, and gradient times index. */
NB_INLINE void light_sums(const nb_vector_slopes *t, const nb_vector_plan *p,
                          const slope_constants *c, const rays *r, vf *sum,
                          const slope_case how)
{
    const nb_orientation *o = p->scene.lattice.orientations;
    const nb_vector_source *b = p->sources;
    const nb_vec3 cell[3] = {o->a, o->b, o->c};
    slope_index x;
    slope_term term;
    vd2 index[3];
    vf F2;
    int i;
    for (i = 0; i < 3; i++)
        index[i] =
            vd2_scale_add(dot_ray(r, cell[i]), -b->inv_lambda, vd2_set(t->offsets[i]));
    x = slope_index_of(c, index, how);
    F2 = slope_square(p, squares_of_source(p, b), &x, vf_set((float)b->weight), how);
    for (i = 0; i < SLOPE_H; i++)
        sum[i] = vf_set(0.0f);
    square_term(c, &x, F2, sum, &term, how);
    for (i = 0; i < 9; i++)
        sum[SLOPE_H + i] = c->varies[i / 3] * term.g[i / 3] * x.h[i % 3];
}

/** All factors of the one ray, whether they are taken once a pixel or not. */
NB_INLINE vf light_factor(const nb_vector_plan *p, const rays *r, double unit)
{
    vd2 factor = vd2_scale(pixel_factor(p, r), unit);
    if (p->scene.oversample_omega)
        factor = vd2_mul(factor, solid_angle(&p->panel, r));
    return vf_pack(factor.a, factor.b);
}

NB_INLINE void light_pixels(const nb_vector_slopes *t, const nb_vector_plan *p, int s,
                            const double *fast, int n, double *out, size_t stride,
                            const slope_case how)
{
    const slope_constants c = slope_constants_of(&p->scene);
    const row_line line = line_of(p, s, 0, 0);
    const vf water = vf_set((float)(t->weights * p->scene.background / t->unit));
    for (; n > 0; n -= NB_W, fast += NB_W, out += NB_W) {
        const int lanes = n < NB_W ? n : NB_W;
        const rays r = rays_to(p, block_of(fast), &line, 0);
        const vf factor = light_factor(p, &r, t->unit);
        vf sum[SLOPE_V];
        light_sums(t, p, &c, &r, sum, how);
        store_floats((sum[SLOPE_IMAGE] + water) * factor, lanes, out);
        for (int i = 0; i < t->job->count; i++) {
            const nb_slope_line *by = &t->lines[i];
            vf slope = vf_set(by->light_captured);
            for (int k = 0; k < by->n; k++)
                slope = vf_fma(sum[by->sum[k]], vf_set(by->light[k]), slope);
            store_floats(slope * factor, lanes, out + (size_t)(i + 1) * stride);
        }
    }
}

/** The sums of n pixels, each times its dloss[] over `most`; added to sums[SLOPE_LIGHT]. */
NB_INLINE void light_products(const nb_vector_slopes *t, const nb_vector_plan *p, int s,
                              const double *fast, int n, const double *dloss, double most,
                              double *sums, const slope_case how)
{
    const slope_constants c = slope_constants_of(&p->scene);
    const row_line line = line_of(p, s, 0, 0);
    const double scale = 1 / most;
    vf run[SLOPE_LIGHT];
    int k, i;
    for (k = 0; k < SLOPE_LIGHT; k++)
        run[k] = vf_set(0.0f);
    for (; n > 0; n -= NB_W, fast += NB_W, dloss += NB_W) {
        const rays r = rays_to(p, block_of(fast), &line, 0);
        float loss[NB_W] = {0};
        vf sum[SLOPE_V], weight;
        for (i = 0; i < (n < NB_W ? n : NB_W); i++)
            loss[i] = (float)(dloss[i] * scale);
        memcpy(&weight, loss, sizeof weight);
        weight = weight * light_factor(p, &r, t->unit);
        light_sums(t, p, &c, &r, sum, how);
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
        sums[k] += most * total;
    }
}

/** Floats hold any loss over the largest of a row. */
NB_INLINE double largest_loss(const double *dloss, int n)
{
    double most[8] = {1e-300};
    int i, k;
    for (i = 0; i + 8 <= n; i += 8)
        for (k = 0; k < 8; k++)
            most[k] = fabs(dloss[i + k]) > most[k] ? fabs(dloss[i + k]) : most[k];
    for (; i < n; i++)
        most[0] = fmax(most[0], fabs(dloss[i]));
    for (k = 1; k < 8; k++)
        most[0] = fmax(most[0], most[k]);
    return most[0];
}

NB_STAGE void light_dot(const nb_vector_slopes *t, const nb_vector_plan *p, int s,
                        const double *fast, int n, const double *dloss, double *sums)
{
    const int table = p->table.kind != NB_F_CONST;
    const double most = largest_loss(dloss, n);
    switch (NB_LIGHT_CASE(t->phase, table)) {
#define NB_DO(phase, of_table)                                                           \
    case NB_LIGHT_CASE(phase, of_table):                                                 \
        light_products(t, p, s, fast, n, dloss, most, sums,                              \
                       (slope_case){NB_LATTICE_SQUARE, phase, of_table, NB_SLOPES_N});   \
        break;
        NB_LIGHT_CASES(NB_DO)
#undef NB_DO
    default:
        break;
    }
}

NB_STAGE void light_slopes(const nb_vector_slopes *t, const nb_vector_plan *p, int s,
                           const double *fast, int n, double *out, size_t stride)
{
    const int table = p->table.kind != NB_F_CONST;
    switch (NB_LIGHT_CASE(t->phase, table)) {
#define NB_DO(phase, of_table)                                                           \
    case NB_LIGHT_CASE(phase, of_table):                                                 \
        light_pixels(t, p, s, fast, n, out, stride,                                      \
                     (slope_case){NB_LATTICE_SQUARE, phase, of_table, NB_SLOPES_N});     \
        break;
        NB_LIGHT_CASES(NB_DO)
#undef NB_DO
    default:
        break;
    }
}

#endif
