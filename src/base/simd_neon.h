/* SPDX-License-Identifier: MIT */
/** The operations of simd.h for 64-bit Arm: blocks of 4 floats. */
#ifndef NB_BASE_SIMD_NEON_H
#define NB_BASE_SIMD_NEON_H

#define NB_W 4
#define NB_KERNEL_ISA neon

#include <arm_neon.h>

#include "simd_types.h"

static const vd nb_lane[2] = {{0, 1}, {2, 3}};

NB_INLINE vf vf_fma(vf a, vf b, vf c)
{
    return (vf)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
}
NB_INLINE vd vd_fma(vd a, vd b, vd c)
{
    return (vd)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
}
NB_INLINE vd vd_fnma(vd a, vd b, vd c) /* c - a b */
{
    return (vd)vfmsq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
}
NB_INLINE vi low_words(vd a, vd b)
{
    return (vi)vuzp1q_s32((int32x4_t)a, (int32x4_t)b);
}
NB_INLINE vi high_words(vd a, vd b)
{
    return (vi)vuzp2q_s32((int32x4_t)a, (int32x4_t)b);
}
NB_INLINE vi vi_clamp(vi a, int32_t limit)
{
    return (vi)vminq_s32(vmaxq_s32((int32x4_t)a, vdupq_n_s32(0)), vdupq_n_s32(limit));
}
NB_INLINE vf vf_pack(vd a, vd b)
{
    return (vf)vcvt_high_f32_f64(vcvt_f32_f64((float64x2_t)a), (float64x2_t)b);
}
NB_INLINE vd vf_unpack(vf a, int half)
{
    return half ? (vd)vcvt_high_f64_f32((float32x4_t)a)
                : (vd)vcvt_f64_f32(vget_low_f32((float32x4_t)a));
}
NB_INLINE vd vd_min(vd a, vd b)
{
    return (vd)vminq_f64((float64x2_t)a, (float64x2_t)b);
}
NB_INLINE vd vd_max(vd a, vd b)
{
    return (vd)vmaxq_f64((float64x2_t)a, (float64x2_t)b);
}
NB_INLINE vd vd_sqrt(vd a)
{
    return (vd)vsqrtq_f64((float64x2_t)a);
}
NB_INLINE vd vd_round(vd a) /* rounds halves to even */
{
    return (vd)vrndnq_f64((float64x2_t)a);
}
NB_INLINE vd vd_floor(vd a)
{
    return (vd)vrndmq_f64((float64x2_t)a);
}
NB_INLINE vf vf_sqrt(vf a)
{
    return (vf)vsqrtq_f32((float32x4_t)a);
}
NB_INLINE vf vf_min(vf a, vf b)
{
    return (vf)vminq_f32((float32x4_t)a, (float32x4_t)b);
}
NB_INLINE vf vf_max(vf a, vf b)
{
    return (vf)vmaxq_f32((float32x4_t)a, (float32x4_t)b);
}
NB_INLINE unsigned vf_above(vf a, float x)
{
    const vi above = (vi)(a > x);
    unsigned bits = 0;
    for (unsigned i = 0; i < NB_W; i++)
        bits |= (unsigned)(above[i] & 1) << i;
    return bits;
}

#endif
