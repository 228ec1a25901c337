/* SPDX-License-Identifier: MIT */
/** F_latt^2 of round and Gaussian crystals and of top hats, relative to its height, in single precision from the
 * fractions of the Miller indices as 32-bit fixed-point numbers.  Errors: plans/fast_paths.md, section 2. */
#ifndef NB_CUDA_SHAPES_CUH
#define NB_CUDA_SHAPES_CUH

#include "edge.h"
#include "interference.cuh"
#include "sphere.h"

/** A round crystal of few steps a pixel: beside NB_LATTICE_... for templates. */
enum { NB_SHAPE_FEW_ROUND = NB_LATTICE_TOPHAT + 1 };

static inline nb_shape_form nb_make_shape_form(const nb_lattice *lattice)
{
    nb_shape_form form = {};
    if (lattice->shape == NB_LATTICE_TOPHAT)
        return nb_edge_form(lattice);
    for (int i = 0; i < 6; i++) {
        double m = lattice->radius2[i] * (-2.0 / NB_GAUSS_WIDTH * NB_LOG2_E);
        if (lattice->shape == NB_LATTICE_ROUND)
            m = i < 3 ? lattice->N[i] * lattice->N[i] : 0;
        form.m[i] = (float)(m * lattice->fudge * NB_FIXED_STEP * NB_FIXED_STEP);
    }
    return form;
}

/** F_latt^2 at a reflection, where kernels sum what is relative to it; 1 where they do not. */
static inline double nb_shape_height2(const nb_lattice *lattice)
{
    const double cells = lattice->N[0] * lattice->N[1] * lattice->N[2];
    if (lattice->shape == NB_LATTICE_SQUARE)
        return 1;
    return cells * cells *
           (lattice->shape == NB_LATTICE_ROUND ? NB_ROUND_HEIGHT * NB_ROUND_HEIGHT : 1);
}

/** nb_sphere_transform squared at x = pi sqrt(u2), in floats alone: where many steps hide its zeros. */
static __device__ __forceinline__ float nb_sphere_square(float u2)
{
    const float y = u2 * (float)(NB_PI * NB_PI), u = sqrtf(u2);
    float s, c, closed;
    sincospif(u, &s, &c);
    const float x = u * (float)NB_PI;
    closed = 3.0f * fmaf(-x, c, s) * nb_reciprocal(x * y);
    closed = y < NB_SPHERE_FLAT ? nb_sphere_series(y) : closed;
    return closed * closed;
}

/** TOPHAT: NaN where it is in doubt, and the pixel is calculated again (double.cu: k_repair). */
template <int SHAPE>
static __device__ __forceinline__ float nb_shape_square(const int w[3],
                                                        const nb_shape_form &form)
{
    const float *m = form.m;
    const float x = (float)w[0], y = (float)w[1], z = (float)w[2];
    if (SHAPE == NB_LATTICE_ROUND)
        return nb_sphere_square(fmaf(m[0] * x, x, fmaf(m[1] * y, y, m[2] * z * z)));
    const float r2 = nb_shape_form_at(&form, x, y, z);
    if (SHAPE == NB_LATTICE_TOPHAT)
        return r2 > form.outside ? 0.0f : r2 < form.inside ? 1.0f : NAN;
    return exp2f(r2);
}

/** Need a step's F be known?  Where F_latt^2 is 0 it need not. */
template <int SHAPE> static __device__ __forceinline__ bool nb_shape_lit(float lattice)
{
    return SHAPE != NB_LATTICE_TOPHAT || lattice != 0;
}

#endif
