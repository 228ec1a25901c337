/* SPDX-License-Identifier: MIT */
/** F_latt^2 of round and Gaussian crystals and of top hats, relative to the value at a
 * reflection, in single precision from fractions of Miller indices in 32-bit fixed point.
 * Errors: plans/paths.md, section 2. */
#ifndef NB_CUDA_SHAPES_CUH
#define NB_CUDA_SHAPES_CUH

#include "interference.cuh"

#include "../../src/terms/shapes.h"

/** A value for LAW in addition to nb_law: a sphere with few steps per pixel. */
enum { NB_LAW_FEW_SPHERE = 16 };

static inline nb_shape_form nb_make_shape_form(const nb_lattice *lattice)
{
    nb_shape_form form = {};
    const nb_shape_row shape = nb_shape_row_of(lattice->shape);
    if (shape.law == NB_LAW_EDGE)
        return nb_edge_form(lattice);
    for (int i = 0; i < 6; i++) {
        double m = lattice->radius2[i] * (-2.0 / shape.width * NB_LOG2_E);
        if (shape.law == NB_LAW_SPHERE)
            m = i < 3 ? lattice->N[i] * lattice->N[i] : 0;
        form.m[i] = (float)(m * lattice->fudge * NB_FIXED_STEP * NB_FIXED_STEP);
    }
    return form;
}

/** F_latt^2 at a reflection, for shapes whose sums are relative to this value; else 1. */
static inline double nb_shape_height2(const nb_lattice *lattice)
{
    const double cells = lattice->N[0] * lattice->N[1] * lattice->N[2];
    const nb_shape_row shape = nb_shape_row_of(lattice->shape);
    if (shape.law == NB_LAW_FRINGES)
        return 1;
    return cells * cells * (shape.height * shape.height);
}

/** nb_sphere_transform squared at x = pi sqrt(u2), in floats only. It is for pixels with
 * many steps, in whose sum the zeros of the transform average out. */
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

/** F_latt^2 by a law. For the law of edge it is NaN if a float cannot decide; the pixel
 * is then calculated again (k_repair in double.cu). */
template <int LAW>
static __device__ __forceinline__ float nb_shape_square(const int w[3],
                                                        const nb_shape_form &form)
{
    const float *m = form.m;
    const float x = (float)w[0], y = (float)w[1], z = (float)w[2];
    if (LAW == NB_LAW_SPHERE)
        return nb_sphere_square(fmaf(m[0] * x, x, fmaf(m[1] * y, y, m[2] * z * z)));
    const float r2 = nb_shape_form_at(&form, x, y, z);
    if (LAW == NB_LAW_EDGE)
        return r2 > form.outside ? 0.0f : r2 < form.inside ? 1.0f : NAN;
    static_assert(LAW <= NB_LAW_EDGE || LAW == NB_LAW_FEW_SPHERE,
                  "a law needs its formula");
    return exp2f(r2);
}

/** True if F of a step is needed, because its F_latt^2 is not 0. */
template <int LAW> static __device__ __forceinline__ bool nb_shape_lit(float lattice)
{
    return LAW != NB_LAW_EDGE || lattice != 0;
}

#endif
