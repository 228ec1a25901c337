/* SPDX-License-Identifier: MIT */
/** The operations of simd.h for AVX-512: blocks of 16 floats. */
#ifndef NB_BASE_SIMD_AVX512_H
#define NB_BASE_SIMD_AVX512_H

#define NB_W 16
#define NB_KERNEL_ISA avx512

#include <immintrin.h>

#include "simd_types.h"

static const vd nb_lane[2] = {{0, 1, 2, 3, 4, 5, 6, 7}, {8, 9, 10, 11, 12, 13, 14, 15}};

NB_INLINE vf vf_fma(vf a, vf b, vf c)
{
    return (vf)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}
NB_INLINE vd vd_fma(vd a, vd b, vd c)
{
    return (vd)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}
NB_INLINE vd vd_fnma(vd a, vd b, vd c) /* c - a b */
{
    return (vd)_mm512_fnmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}
/** Transpose pairs of doubles: to[2 k] = pair k of a, pair k of b, of c and of d. */
NB_INLINE void vd_pairs(__m512d a, __m512d b, __m512d c, __m512d d, vd *to)
{
    const __m512d even = _mm512_shuffle_f64x2(a, b, 0x88),
                  odd = _mm512_shuffle_f64x2(a, b, 0xdd),
                  even4 = _mm512_shuffle_f64x2(c, d, 0x88),
                  odd4 = _mm512_shuffle_f64x2(c, d, 0xdd);
    to[0] = (vd)_mm512_shuffle_f64x2(even, even4, 0x88);
    to[2] = (vd)_mm512_shuffle_f64x2(odd, odd4, 0x88);
    to[4] = (vd)_mm512_shuffle_f64x2(even, even4, 0xdd);
    to[6] = (vd)_mm512_shuffle_f64x2(odd, odd4, 0xdd);
}
/** to[j] lane i = row[i][j], j = 0..7. */
#define NB_HAVE_COLUMNS 1
NB_INLINE void vd_columns(const double *const row[8], vd to[8])
{
    __m512d low[4], high[4];
    for (int i = 0; i < 4; i++) {
        const __m512d a = _mm512_loadu_pd(row[2 * i]), b = _mm512_loadu_pd(row[2 * i + 1]);
        low[i] = _mm512_unpacklo_pd(a, b);
        high[i] = _mm512_unpackhi_pd(a, b);
    }
    vd_pairs(low[0], low[1], low[2], low[3], to);
    vd_pairs(high[0], high[1], high[2], high[3], to + 1);
}
NB_INLINE vi low_words(vd a, vd b)
{
    const __m512i even =
        _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    return (vi)_mm512_permutex2var_epi32((__m512i)a, even, (__m512i)b);
}
NB_INLINE vi high_words(vd a, vd b)
{
    const __m512i odd =
        _mm512_set_epi32(31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
    return (vi)_mm512_permutex2var_epi32((__m512i)a, odd, (__m512i)b);
}
NB_INLINE vi vi_clamp(vi a, int32_t limit) /* limits a to 0..limit */
{
    return (vi)_mm512_min_epi32(_mm512_max_epi32((__m512i)a, _mm512_setzero_si512()),
                                _mm512_set1_epi32(limit));
}
#define NB_HAVE_GATHER 1
NB_INLINE vf vf_gather(const float *table, vi index)
{
    return (vf)_mm512_i32gather_ps((__m512i)index, table, 4);
}
/* packs doubles to the block's floats, in the order of the pixels */
NB_INLINE vf vf_pack(vd a, vd b)
{
    return (vf)_mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps((__m512d)a)),
                                  _mm512_cvtpd_ps((__m512d)b), 1);
}
NB_INLINE vd vf_unpack(vf a, int half)
{
    return half ? (vd)_mm512_cvtps_pd(_mm512_extractf32x8_ps((__m512)a, 1))
                : (vd)_mm512_cvtps_pd(_mm512_castps512_ps256((__m512)a));
}
NB_INLINE vd vd_min(vd a, vd b)
{
    return (vd)_mm512_min_pd((__m512d)a, (__m512d)b);
}
NB_INLINE vd vd_max(vd a, vd b)
{
    return (vd)_mm512_max_pd((__m512d)a, (__m512d)b);
}
NB_INLINE vd vd_sqrt(vd a)
{
    return (vd)_mm512_sqrt_pd((__m512d)a);
}
#define NB_HAVE_RSQRT 1
/** 1/sqrt(a) for normal a > 0: an estimate r of 14 bits with a correction of fourth
 * order, r (1 + e/2 + 3/8 e^2 + 5/16 e^3), e = 1 - a r^2. Further terms are below
 * 2^-53. */
NB_INLINE vd vd_rsqrt(vd a)
{
    vd r = (vd)_mm512_rsqrt14_pd((__m512d)a), e = vd_fnma(a * r, r, vd_set(1.0));
    return vd_fma(vd_fma(vd_fma(e, vd_set(0.3125), vd_set(0.375)), e, vd_set(0.5)), r * e,
                  r);
}
NB_INLINE vd vd_round(vd a) /* rounds halves to even */
{
    return (vd)_mm512_roundscale_pd((__m512d)a,
                                    _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
NB_INLINE vd vd_floor(vd a)
{
    return (vd)_mm512_roundscale_pd((__m512d)a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}
NB_INLINE vd vd_gather(const double *table, vd index)
{
    return (vd)_mm512_i32gather_pd(_mm512_cvtpd_epi32((__m512d)index), table, 8);
}
/** to[j] lane i = rows[index[i]][j], j = 0..3. */
#define NB_HAVE_VF_COLUMNS 1
NB_INLINE void vf_columns(const float (*rows)[4], vi index, vf to[4])
{
    __m512 row[4], low[2], high[2];
    int32_t at[16];
    memcpy(at, &index, sizeof at);
    for (int i = 0; i < 4; i++) {
        row[i] = _mm512_castps128_ps512(_mm_loadu_ps(rows[at[i]]));
        row[i] = _mm512_insertf32x4(row[i], _mm_loadu_ps(rows[at[i + 4]]), 1);
        row[i] = _mm512_insertf32x4(row[i], _mm_loadu_ps(rows[at[i + 8]]), 2);
        row[i] = _mm512_insertf32x4(row[i], _mm_loadu_ps(rows[at[i + 12]]), 3);
    }
    for (int i = 0; i < 2; i++) {
        low[i] = _mm512_unpacklo_ps(row[2 * i], row[2 * i + 1]);
        high[i] = _mm512_unpackhi_ps(row[2 * i], row[2 * i + 1]);
    }
    to[0] = (vf)_mm512_shuffle_ps(low[0], low[1], 0x44);
    to[1] = (vf)_mm512_shuffle_ps(low[0], low[1], 0xee);
    to[2] = (vf)_mm512_shuffle_ps(high[0], high[1], 0x44);
    to[3] = (vf)_mm512_shuffle_ps(high[0], high[1], 0xee);
}
NB_INLINE vf vf_sqrt(vf a)
{
    return (vf)_mm512_sqrt_ps((__m512)a);
}
NB_INLINE vf vf_min(vf a, vf b)
{
    return (vf)_mm512_min_ps((__m512)a, (__m512)b);
}
NB_INLINE vf vf_max(vf a, vf b)
{
    return (vf)_mm512_max_ps((__m512)a, (__m512)b);
}
NB_INLINE unsigned vf_above(vf a, float x) /* returns a bit for each lane */
{
    return _mm512_cmp_ps_mask((__m512)a, _mm512_set1_ps(x), _CMP_GT_OQ);
}
#define NB_HAVE_UP_TO 1
NB_INLINE vf vf_up_to(vf a, float x) /* a, or 0 where it is above x */
{
    return (vf)_mm512_maskz_mov_ps(
        _mm512_cmp_ps_mask((__m512)a, _mm512_set1_ps(x), _CMP_LE_OQ), (__m512)a);
}
#define NB_HAVE_BITS 1
NB_INLINE unsigned vl_bits(vl mask) /* bit i of the result belongs to lane i */
{
    return _mm512_movepi64_mask((__m512i)mask);
}

#endif
