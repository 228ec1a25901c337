/* SPDX-License-Identifier: MIT */
/** Types and operations of formulas that have one source text for all processors. In a
 * file that includes ../base/simd.h they are vectors, and a lane is a pixel, step or
 * orientation. Otherwise, in C or in a thread of a GPU (after its vendor's header), they
 * are plain numbers, with one lane.
 *
 *   vf, vi, vd           float, 32-bit integer, double
 *   vf_mask, vd_mask     lanes with a true comparison, (vf_mask)(x < y); join by | and &
 *
 * Comments here describe only the operations that base/simd.h does not have. */
#ifndef NB_TERMS_LANE_H
#define NB_TERMS_LANE_H

#if defined(NB_GPU) && !defined(NB_GPU_VENDOR)
#error                                                                                   \
    "include the vendor's header of the GPU first: without it its threads get other instructions"
#endif

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "../base/coefficients.h"
#include "../physics/hostdevice.h"

#ifdef NB_BASE_SIMD_H

#define NB_TERM NB_INLINE
#define NB_TERM_EACH

typedef vi vf_mask;
typedef vl vd_mask;

NB_TERM vf_mask vf_nowhere(void)
{
    return (vf_mask){0};
}
/** vf_mad for numbers that are the same in all lanes. */
NB_TERM float nb_mad(float a, float b, float c)
{
    return a * b + c;
}
/** a b + c. A CPU needs two operations and rounds twice, a GPU one instruction. */
NB_TERM vf vf_mad(vf a, vf b, vf c)
{
    return a * b + c;
}
NB_TERM vd vd_mad(vd a, vd b, vd c)
{
    return a * b + c;
}
/** a/b; a GPU multiplies by a reciprocal, which has an error in its last bit. */
NB_TERM vf vf_over(vf a, vf b)
{
    return a / b;
}
NB_TERM vf vf_abs(vf x)
{
    return (vf)((vi)x & INT32_MAX);
}
NB_TERM vf vf_pick(vf_mask mask, vf yes, vf no)
{
    return (vf)((mask & (vi)yes) | (~mask & (vi)no));
}
NB_TERM vi vf_bits(vf x)
{
    return (vi)x;
}
/** The larger of a and b, or b if a is NaN. */
NB_TERM vd vd_max_number(vd a, vd b)
{
    return vd_pick((vd_mask)(a > b), a, b);
}
/** The whole number n nearest to x, |n| < 1022, and *power = 2^n. */
NB_TERM vd vd_whole(vd x, vd *power)
{
    const vd n = vd_round(x);
    *power = vd_exp2_whole(n);
    return n;
}
/** A divisor x > 0. Vectors keep x. Plain numbers keep 1/sqrt(x), which a GPU calculates
 * by a few multiplications. */
typedef vd vd_divisor;

NB_TERM vd_divisor vd_divisor_of(vd x)
{
    return x;
}
NB_TERM vd vd_divided(vd x, vd_divisor by)
{
    return x / by;
}
/** y + x where the mask is true, else y. */
NB_TERM vf vf_add_where(vf_mask mask, vf x, vf y)
{
    return y + (vf)(mask & (vi)x);
}
/** x + 1 where the mask is true, else x. */
NB_TERM vi vi_count(vi x, vf_mask mask)
{
    return vi_sub(x, mask);
}

#else

#ifdef NB_GPU
#define NB_TERM static __host__ __device__ __forceinline__
#else
#define NB_TERM static inline
#endif
/* Unrolls a loop over arrays of a formula, so that the arrays stay in registers. Without
 * this k_spots is up to 9 % slower. */
#ifdef NB_GPU_DEVICE_PASS
#define NB_TERM_EACH _Pragma("unroll")
#else
#define NB_TERM_EACH
#endif

/* 1 if the processor has a fused instruction; elsewhere fma() is a slow call. */
#if defined(NB_GPU_DEVICE_PASS) || defined(__FP_FAST_FMA)
#define NB_FUSED 1
#else
#define NB_FUSED 0
#endif

typedef float vf;
typedef int32_t vi;
typedef double vd;
typedef int vf_mask, vd_mask;

NB_TERM vf vf_set(float x)
{
    return x;
}
NB_TERM vi vi_set(int32_t x)
{
    return x;
}
NB_TERM vi vi_add(vi a, vi b)
{
    return (vi)((uint32_t)a + (uint32_t)b);
}
NB_TERM vi vi_sub(vi a, vi b)
{
    return (vi)((uint32_t)a - (uint32_t)b);
}
NB_TERM vi vi_mul(vi a, vi b)
{
    return (vi)((uint32_t)a * (uint32_t)b);
}
NB_TERM vi vi_shl(vi a, int32_t n)
{
    return (vi)((uint32_t)a << n);
}
NB_TERM vi vi_clamp(vi a, int32_t limit)
{
    a = a < 0 ? 0 : a;
    return a < limit ? a : limit;
}
NB_TERM vf vf_fma(vf a, vf b, vf c)
{
    return NB_FUSED ? fmaf(a, b, c) : a * b + c;
}
NB_TERM vf vf_fma_once(vf a, vf b, vf c)
{
    return fmaf(a, b, c);
}
NB_TERM vf vf_from_int(vi a)
{
    return (float)a;
}
NB_TERM vf vf_min(vf a, vf b)
{
    return fminf(a, b);
}
NB_TERM vf vf_max(vf a, vf b)
{
    return fmaxf(a, b);
}
NB_TERM vf vf_gather(const float *table, vi index)
{
    return table[index];
}
NB_TERM vf_mask vf_nowhere(void)
{
    return 0;
}
NB_TERM vf vf_mad(vf a, vf b, vf c)
{
#ifdef NB_GPU_DEVICE_PASS
    return fmaf(a, b, c);
#else
    return a * b + c;
#endif
}
NB_TERM float nb_mad(float a, float b, float c)
{
    return vf_mad(a, b, c);
}
NB_TERM vf vf_over(vf a, vf b)
{
#ifdef NB_GPU_DEVICE_PASS
    return a * gpuReciprocal(b);
#else
    return a / b;
#endif
}
NB_TERM vf vf_abs(vf x)
{
    return fabsf(x);
}
NB_TERM vf vf_pick(vf_mask mask, vf yes, vf no)
{
    return mask ? yes : no;
}
NB_TERM vi vf_bits(vf x)
{
    vi bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
NB_TERM vf vf_add_where(vf_mask mask, vf x, vf y)
{
#ifdef NB_GPU_DEVICE_PASS
    return fmaf(mask ? 1.0f : 0.0f, x, y);
#else
    return mask ? x + y : y;
#endif
}
NB_TERM vi vi_count(vi x, vf_mask mask)
{
    return x + mask;
}
NB_TERM vd vd_set(double x)
{
    return x;
}
NB_TERM vd vd_fma(vd a, vd b, vd c)
{
    return NB_FUSED ? fma(a, b, c) : a * b + c;
}
NB_TERM vd vd_mad(vd a, vd b, vd c)
{
#ifdef NB_GPU_DEVICE_PASS
    return fma(a, b, c);
#else
    return a * b + c;
#endif
}
NB_TERM vd vd_fnma(vd a, vd b, vd c)
{
    return vd_fma(-a, b, c);
}
NB_TERM vd vd_sqrt(vd a)
{
    return sqrt(a);
}
NB_TERM vd vd_floor(vd a)
{
    return floor(a);
}
NB_TERM vd vd_min(vd a, vd b)
{
    return fmin(a, b);
}
NB_TERM vd vd_max(vd a, vd b)
{
    return fmax(a, b);
}
NB_TERM vd vd_max_number(vd a, vd b)
{
    return fmax(a, b);
}
NB_TERM vd vd_pick(vd_mask mask, vd yes, vd no)
{
    return mask ? yes : no;
}
NB_TERM vd vd_where(vd_mask mask, vd x)
{
    return mask ? x : 0;
}
NB_TERM vd vd_whole(vd x, vd *power)
{
    const vd big = x + NB_ROUND_DOUBLE; /* its low word is n */
    int64_t bits;
    memcpy(&bits, &big, sizeof bits);
    bits = (int64_t)NB_ONE_BITS + (int64_t)(int32_t)bits * ((int64_t)1 << 52);
    memcpy(power, &bits, sizeof bits);
    return big - NB_ROUND_DOUBLE;
}

typedef vd vd_divisor;

NB_TERM vd_divisor vd_divisor_of(vd x)
{
#ifdef NB_GPU_DEVICE_PASS
    return rsqrt(x);
#else
    return 1 / sqrt(x);
#endif
}
NB_TERM vd vd_divided(vd x, vd_divisor by)
{
    return x * (by * by);
}

#endif

#endif
