/* SPDX-License-Identifier: MIT */
/** Terms for tile_term.h in single precision, from Miller indices in fixed point
 * (plans/paths.md, section 2). */
#ifndef NB_CUDA_TILE_FAST_CUH
#define NB_CUDA_TILE_FAST_CUH

#include <limits.h>

#include "../../src/plan/tiles.h"
#include "../steps/shapes.cuh"

/** F_latt^2 of a parallelepiped. NB_FIXED_TINY prevents 0/0 in its quotients of sines. */
static __device__ __forceinline__ float nb_tile_square_lattice(const nb_tile_pass *p,
                                                               const int w[3])
{
    nb_sine_args args;
    float ratio;
#pragma unroll
    for (int i = 0; i < 3; i++) {
        args.x[i] = nb_turns(w[i], p->N[i], (float)p->N[i] * NB_FIXED_TINY);
        args.x[3 + i] = nb_fraction(w[i], NB_FIXED_TINY);
    }
    ratio = nb_interference_of(args);
    return ratio * ratio;
}

static __device__ __forceinline__ float nb_tile_round_lattice(const nb_tile_pass *p,
                                                              const int w[3])
{
    const float x = (float)w[0], y = (float)w[1], z = (float)w[2];
    const float *m = p->form;
    return nb_sphere_square(fmaf(m[0] * x, x, fmaf(m[1] * y, y, m[2] * z * z))) *
           p->height2;
}

/** F^2 of a reflection, relative to unit. */
static __device__ __forceinline__ float nb_tile_fast_F2(const nb_tile_pass *p, int source,
                                                        const int h[3])
{
    const nb_factor_table *sf = &p->spots.scene.factors.table;
    const nb_tile_factors *f = &p->tiles.factors;
    int at = 0;
    if (sf->n_tables > 1) {
        const int table = p->spots.scene.beam.sources[p->tiles.source[source]].table;
        const double F = nb_F_nearest(sf, table, h[0], h[1], h[2]);
        return (float)(F * F * p->inverse_unit);
    }
#pragma unroll
    for (int i = 0; i < 3; i++) /* outside the table, F^2 of the table's border is used */
        at += vi_clamp(h[i] - f->low[i], f->n[i] - 1) << (i < 2 ? f->shift[i] : 0);
    return __ldg(&f->pairs[2 * at]) * (float)(1 / NB_TILE_PAIR_UP);
}

/** A step: axes of the cell, direction and wavenumber of the source. */
typedef struct nb_tile_fast {
    double a[9], i[3], kappa;
    float weight;
    int source;
} nb_tile_fast;

static __device__ __forceinline__ nb_tile_fast nb_tile_fast_of(const nb_tile_pass *p,
                                                               int m, int source)
{
    const nb_tiles *t = &p->tiles;
    const size_t n = (size_t)t->orientations;
    const int beam = p->single ? 0 : source;
    nb_tile_fast step;
    step.source = source;
    step.weight = (float)(t->weight[source] * t->present[m]);
    step.kappa = t->kappa[source];
#pragma unroll
    for (int x = 0; x < 3; x++)
        step.i[x] = t->incident[x][beam];
#pragma unroll
    for (int i = 0; i < 9; i++)
        step.a[i] = t->cells[i * n + m];
    return step;
}

/** F^2 F_latt^2, relative to unit, of a step for the ray d. */
static __device__ __forceinline__ float nb_tile_fast_term(const nb_tile_pass *p,
                                                          const nb_tile_fast *step,
                                                          nb_vec3 d, int shape)
{
    const double *a = step->a,
                 q[3] = {step->i[0] - d.x, step->i[1] - d.y, step->i[2] - d.z};
    int w[3], h[3];
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const double minus =
            fma(fma(a[3 * i], q[0], fma(a[3 * i + 1], q[1], a[3 * i + 2] * q[2])),
                step->kappa, NB_FIXED_MAGIC + 0.5);
        w[i] = __double2loint(minus) ^ INT_MIN; /* removes the 1/2 that was added */
        h[i] = NB_FIXED_HIGH - __double2hiint(minus);
    }
    return nb_tile_fast_F2(p, step->source, h) * (nb_shape_law(shape) == NB_LAW_SPHERE
                                                      ? nb_tile_round_lattice(p, w)
                                                      : nb_tile_square_lattice(p, w));
}

/** The weight of a step for a ray. */
static __device__ __forceinline__ float nb_tile_fast_weight(const nb_tile_pass *p,
                                                            const nb_tile_fast *step,
                                                            nb_vec3 d)
{
    return p->tiles.varies ? step->weight * (float)nb_tile_variation(p, step->source, d)
                           : step->weight;
}

#endif
