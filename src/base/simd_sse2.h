/* SPDX-License-Identifier: MIT */
/** The operations of simd.h for SSE2: blocks of 4 floats. */
#ifndef NB_BASE_SIMD_SSE2_H
#define NB_BASE_SIMD_SSE2_H

#define NB_W 4
#define NB_KERNEL_ISA sse2

#include <emmintrin.h>

#include "simd_types.h"

static const vd nb_lane[2] = {{0, 1}, {2, 3}};

/* rounds twice, because SSE2 has no fused operation */
NB_INLINE vf vf_fma(vf a, vf b, vf c)
{
    return a * b + c;
}
#define NB_HAVE_FMA_ONCE 1
/** vf_fma with a single rounding: computed in doubles. */
NB_INLINE vf vf_fma_once(vf a, vf b, vf c)
{
    __m128d low = (__m128d)((vd)_mm_cvtps_pd((__m128)a) * (vd)_mm_cvtps_pd((__m128)b) +
                            (vd)_mm_cvtps_pd((__m128)c));
    __m128 ah = _mm_movehl_ps((__m128)a, (__m128)a),
           bh = _mm_movehl_ps((__m128)b, (__m128)b),
           ch = _mm_movehl_ps((__m128)c, (__m128)c);
    __m128d high =
        (__m128d)((vd)_mm_cvtps_pd(ah) * (vd)_mm_cvtps_pd(bh) + (vd)_mm_cvtps_pd(ch));
    return (vf)_mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high));
}
NB_INLINE vd vd_fma(vd a, vd b, vd c)
{
    return a * b + c;
}
NB_INLINE vd vd_fnma(vd a, vd b, vd c) /* c - a b */
{
    return c - a * b;
}
NB_INLINE vi low_words(vd a, vd b)
{
    return (vi)_mm_shuffle_ps((__m128)a, (__m128)b, 0x88);
}
NB_INLINE vi high_words(vd a, vd b)
{
    return (vi)_mm_shuffle_ps((__m128)a, (__m128)b, 0xdd);
}
NB_INLINE vi vi_clamp(vi a, int32_t limit)
{
    vi top = vi_set(limit), over = (vi)(a > top);
    a = (over & top) | (~over & a);
    return (vi)(a > 0) & a;
}
NB_INLINE vf vf_pack(vd a, vd b)
{
    return (vf)_mm_movelh_ps(_mm_cvtpd_ps((__m128d)a), _mm_cvtpd_ps((__m128d)b));
}
NB_INLINE vd vf_unpack(vf a, int half)
{
    return (vd)_mm_cvtps_pd(half ? _mm_movehl_ps((__m128)a, (__m128)a) : (__m128)a);
}
NB_INLINE vd vd_min(vd a, vd b)
{
    return (vd)_mm_min_pd((__m128d)a, (__m128d)b);
}
NB_INLINE vd vd_max(vd a, vd b)
{
    return (vd)_mm_max_pd((__m128d)a, (__m128d)b);
}
NB_INLINE vd vd_sqrt(vd a)
{
    return (vd)_mm_sqrt_pd((__m128d)a);
}
/** Nearest whole number, |a| < 2^51: doubles near the added number have steps of 1. */
NB_INLINE vd vd_round(vd a)
{
    const vd big = vd_set(NB_ROUND_DOUBLE);
    return (a + big) - big;
}
NB_INLINE vd vd_floor(vd a)
{
    vd r = vd_round(a);
    return r - (vd)((vl)(r > a) & (vl)vd_set(1.0));
}
NB_INLINE vf vf_sqrt(vf a)
{
    return (vf)_mm_sqrt_ps((__m128)a);
}
NB_INLINE vf vf_min(vf a, vf b)
{
    return (vf)_mm_min_ps((__m128)a, (__m128)b);
}
NB_INLINE vf vf_max(vf a, vf b)
{
    return (vf)_mm_max_ps((__m128)a, (__m128)b);
}
NB_INLINE unsigned vf_above(vf a, float x)
{
    return (unsigned)_mm_movemask_ps(_mm_cmpgt_ps((__m128)a, _mm_set1_ps(x)));
}
#define NB_HAVE_BITS 1
NB_INLINE unsigned vl_bits(vl mask) /* bit i of the result belongs to lane i */
{
    return (unsigned)_mm_movemask_pd((__m128d)mask);
}

#endif
