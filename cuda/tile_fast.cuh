/* SPDX-License-Identifier: MIT */
/** Terms in single precision from Miller indices in fixed point (docs/physics.md, section 21.2), for
 * tile_term.h. */
#ifndef NB_CUDA_TILE_FAST_CUH
#define NB_CUDA_TILE_FAST_CUH

#include <limits.h>

#include "shapes.cuh"

/** F_latt^2 of a parallelepiped; 2^-40 keeps its sines off 0/0. */
static __device__ __forceinline__ float nb_tile_square_lattice(const nb_tile_pass *p,
                                                               const int w[3])
{
    float above = 1, below = 1, ratio;
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const float tiny = (float)NB_FIXED_TINY, step = (float)NB_FIXED_STEP;
        above *= nb_sine(fmaf((float)(w[i] * p->N[i]), step, (float)p->N[i] * tiny));
        below *= nb_sine(fmaf((float)w[i], step, tiny));
    }
    ratio = above * nb_reciprocal(below);
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

/** F^2 F_latt^2, relative to unit. */
static __device__ __forceinline__ float nb_tile_fast_term(const nb_tile_pass *p, int m,
                                                          int source, nb_vec3 d, int shape)
{
    const nb_tiles *t = &p->tiles;
    const nb_factor_table *sf = &p->spots.scene.factors.table;
    const size_t n = (size_t)t->orientations;
    const double kappa = t->kappa[source], *a = t->cells + m;
    const int beam = p->single ? 0 : source;
    const double x = t->incident[0][beam] - d.x, y = t->incident[1][beam] - d.y,
                 z = t->incident[2][beam] - d.z;
    double F;
    int w[3], h[3];
#pragma unroll
    for (int i = 0; i < 3; i++, a += 3 * n) {
        const double minus =
            fma(fma(a[0], x, fma(a[n], y, a[2 * n] * z)), kappa, NB_FIXED_MAGIC + 0.5);
        w[i] = __double2loint(minus) ^ INT_MIN; /* takes the half back off */
        h[i] = NB_FIXED_HIGH - __double2hiint(minus);
    }
    F = nb_F_nearest(
        sf, sf->n_tables > 1 ? p->spots.scene.beam.sources[t->source[source]].table : 0,
        h[0], h[1], h[2]);
    return (float)(F * F * p->inverse_unit) * (shape == NB_LATTICE_ROUND
                                                   ? nb_tile_round_lattice(p, w)
                                                   : nb_tile_square_lattice(p, w));
}

#endif
