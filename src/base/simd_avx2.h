/* SPDX-License-Identifier: MIT */
/** The operations of simd.h for AVX2 and FMA: blocks of 8 floats. */
#ifndef NB_BASE_SIMD_AVX2_H
#define NB_BASE_SIMD_AVX2_H

#define NB_W 8
#define NB_KERNEL_ISA avx2

#include <immintrin.h>

#include "simd_types.h"

static const vd nb_lane[2] = {{0, 1, 4, 5}, {2, 3, 6, 7}};

NB_INLINE vf vf_fma(vf a, vf b, vf c)
{
    return (vf)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}
NB_INLINE vd vd_fma(vd a, vd b, vd c)
{
    return (vd)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}
NB_INLINE vd vd_fnma(vd a, vd b, vd c) /* c - a b */
{
    return (vd)_mm256_fnmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}
/** to[j] lane i = row[i][j], j = 0..7. */
#define NB_HAVE_COLUMNS 1
NB_INLINE void vd_columns(const double *const row[4], vd to[8])
{
    for (int j = 0; j < 8; j += 4) {
        const __m256d a = _mm256_loadu_pd(row[0] + j), b = _mm256_loadu_pd(row[1] + j),
                      c = _mm256_loadu_pd(row[2] + j), d = _mm256_loadu_pd(row[3] + j);
        const __m256d low = _mm256_unpacklo_pd(a, b), high = _mm256_unpackhi_pd(a, b),
                      low2 = _mm256_unpacklo_pd(c, d), high2 = _mm256_unpackhi_pd(c, d);
        to[j] = (vd)_mm256_permute2f128_pd(low, low2, 0x20);
        to[j + 1] = (vd)_mm256_permute2f128_pd(high, high2, 0x20);
        to[j + 2] = (vd)_mm256_permute2f128_pd(low, low2, 0x31);
        to[j + 3] = (vd)_mm256_permute2f128_pd(high, high2, 0x31);
    }
}
NB_INLINE vi low_words(vd a, vd b)
{
    return (vi)_mm256_shuffle_ps((__m256)a, (__m256)b, 0x88);
}
NB_INLINE vi high_words(vd a, vd b)
{
    return (vi)_mm256_shuffle_ps((__m256)a, (__m256)b, 0xdd);
}
NB_INLINE vi vi_clamp(vi a, int32_t limit)
{
    return (vi)_mm256_min_epi32(_mm256_max_epi32((__m256i)a, _mm256_setzero_si256()),
                                _mm256_set1_epi32(limit));
}
#define NB_HAVE_GATHER 1
NB_INLINE vf vf_gather(const float *table, vi index)
{
    return (vf)_mm256_i32gather_ps(table, (__m256i)index, 4);
}
NB_INLINE vf vf_pack(vd a, vd b)
{
    __m128 x = _mm256_cvtpd_ps((__m256d)a), y = _mm256_cvtpd_ps((__m256d)b);
    return (vf)_mm256_set_m128(_mm_movehl_ps(y, x), _mm_movelh_ps(x, y));
}
NB_INLINE vd vf_unpack(vf a, int half)
{
    __m128 low = _mm256_castps256_ps128((__m256)a),
           high = _mm256_extractf128_ps((__m256)a, 1);
    return (vd)_mm256_cvtps_pd(half ? _mm_movehl_ps(high, low) : _mm_movelh_ps(low, high));
}
NB_INLINE vd vd_min(vd a, vd b)
{
    return (vd)_mm256_min_pd((__m256d)a, (__m256d)b);
}
NB_INLINE vd vd_max(vd a, vd b)
{
    return (vd)_mm256_max_pd((__m256d)a, (__m256d)b);
}
NB_INLINE vd vd_sqrt(vd a)
{
    return (vd)_mm256_sqrt_pd((__m256d)a);
}
NB_INLINE vd vd_round(vd a)
{
    return (vd)_mm256_round_pd((__m256d)a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
NB_INLINE vd vd_floor(vd a)
{
    return (vd)_mm256_floor_pd((__m256d)a);
}
NB_INLINE vd vd_gather(const double *table, vd index)
{
    return (vd)_mm256_i32gather_pd(table, _mm256_cvtpd_epi32((__m256d)index), 8);
}
/** to[j] lane i = rows[index[i]][j], j = 0..3. */
#define NB_HAVE_VF_COLUMNS 1
NB_INLINE void vf_columns(const float (*rows)[4], vi index, vf to[4])
{
    __m256 row[4], low[2], high[2];
    int32_t at[8];
    memcpy(at, &index, sizeof at);
    for (int i = 0; i < 4; i++)
        row[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(rows[at[i]])),
                                      _mm_loadu_ps(rows[at[i + 4]]), 1);
    for (int i = 0; i < 2; i++) {
        low[i] = _mm256_unpacklo_ps(row[2 * i], row[2 * i + 1]);
        high[i] = _mm256_unpackhi_ps(row[2 * i], row[2 * i + 1]);
    }
    to[0] = (vf)_mm256_shuffle_ps(low[0], low[1], 0x44);
    to[1] = (vf)_mm256_shuffle_ps(low[0], low[1], 0xee);
    to[2] = (vf)_mm256_shuffle_ps(high[0], high[1], 0x44);
    to[3] = (vf)_mm256_shuffle_ps(high[0], high[1], 0xee);
}
NB_INLINE vf vf_sqrt(vf a)
{
    return (vf)_mm256_sqrt_ps((__m256)a);
}
NB_INLINE vf vf_min(vf a, vf b)
{
    return (vf)_mm256_min_ps((__m256)a, (__m256)b);
}
NB_INLINE vf vf_max(vf a, vf b)
{
    return (vf)_mm256_max_ps((__m256)a, (__m256)b);
}
NB_INLINE unsigned vf_above(vf a, float x)
{
    return (unsigned)_mm256_movemask_ps(
        _mm256_cmp_ps((__m256)a, _mm256_set1_ps(x), _CMP_GT_OQ));
}
#define NB_HAVE_BITS 1
NB_INLINE unsigned vl_bits(vl mask) /* bit i of the result belongs to lane i */
{
    return (unsigned)_mm256_movemask_pd((__m256d)mask);
}

#endif
