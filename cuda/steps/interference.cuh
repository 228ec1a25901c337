/* SPDX-License-Identifier: MIT */
/** The interference function from fractions of Miller indices in fixed point
 * (../../src/terms/interference.h), in a different scale: arguments are in units of
 * 2^-32 turns, their squares in units of 2^-64. The coefficients contain this scale,
 * times a common 2^124 that cancels in the quotient; this saves six multiplications. The
 * last coefficient is a denormal number, so this file must not be compiled with
 * -ftz=true or -use_fast_math. */
#ifndef NB_CUDA_INTERFERENCE_CUH
#define NB_CUDA_INTERFERENCE_CUH

#include "../backend/internal.h"

#include "../../src/terms/interference.h"

/** 2^124 P(y 2^-64): relative error 6e-9. */
static __device__ __forceinline__ float nb_scaled_sine(float y)
{
    const double S = 0x1p124;
    const float c0 = (float)(NB_PI * S);
    const float c1 = (float)(NB_SINE4_1 * S * 0x1p-64);
    const float c2 = (float)(NB_SINE4_2 * S * 0x1p-128);
    const float c3 = (float)(NB_SINE4_3 * S * 0x1p-192);
    const float c4 = (float)(NB_SINE4_4 * S * 0x1p-256);
    return fmaf(fmaf(fmaf(fmaf(c4, y, c3), y, c2), y, c1), y, c0);
}

/** 1/x to 1 ulp, without the slow path for denormal x, which does not occur. */
static __device__ __forceinline__ float nb_reciprocal(float x)
{
    return gpuReciprocal(x);
}

/** F_latt up to its sign; w: fractions. NaN if a fraction is 0 (double.cu: k_repair). */
static __device__ __forceinline__ float nb_interference_product(const int w[3],
                                                                const int N[3])
{
    float x = (float)w[0], y = (float)w[1], z = (float)w[2];
    float u = (float)(w[0] * N[0]), v = (float)(w[1] * N[1]), t = (float)(w[2] * N[2]);
    float a = nb_scaled_sine(u * u) * nb_reciprocal(nb_scaled_sine(x * x));
    float b = nb_scaled_sine(v * v) * nb_reciprocal(nb_scaled_sine(y * y));
    float c = nb_scaled_sine(t * t) * nb_reciprocal(nb_scaled_sine(z * z));
    return (u * v * t) * nb_reciprocal(x * y * z) * (a * b * c);
}

/** nb_interference_product with one reciprocal instead of four. It is for kernels with
 * many conversions from double, which use the same unit of the device as reciprocals. */
static __device__ __forceinline__ float nb_interference_quotient(const int w[3],
                                                                 const int N[3])
{
    nb_sine_args args;
#pragma unroll
    for (int i = 0; i < 3; i++) {
        args.x[i] = (float)(w[i] * N[i]) * (float)NB_FIXED_STEP;
        args.x[3 + i] = (float)w[i] * (float)NB_FIXED_STEP;
    }
    return nb_interference_of(args);
}

/** Constants for the index of F^2 (nb_cuda_factor_squares). */
struct nb_F2_index {
    int stride_h, stride_k, stride_l, offset;
};

static inline nb_F2_index nb_make_F2_index(const nb_cuda_factor_squares *F2)
{
    const nb_index_box *box = &F2->box;
    const uint32_t side = (uint32_t)F2->side, l = (uint32_t)box->n[2] * side;
    const uint32_t stride[3] = {(uint32_t)box->n[1] * l, l, side};
    nb_F2_index index = {(int)stride[0], (int)stride[1], (int)side,
                         nb_fixed_offset(box->low, stride)};
    return index;
}

#endif
