/* SPDX-License-Identifier: MIT */
/** The few vector operations that the kernels need, for the instruction set that this
 * file is compiled for.  A block is NB_W pixels: one vector of floats (vf) or of
 * 32-bit integers (vi), or two of doubles (vd).  Which pixel of a block lies in which
 * lane of the two vectors of doubles is the instruction set's choice, nb_lane: packing
 * two vectors into one is then a single instruction.  + - * / on vectors are the
 * compiler's own. */
#ifndef NB_RENDER_SIMD_OPS_H
#define NB_RENDER_SIMD_OPS_H

#include <stdint.h>
#include <string.h>

#include "../base/coefficients.h"

#define NB_INLINE static inline __attribute__((always_inline))
/** A loop over blocks that is to have the registers for itself. */
#define NB_STAGE static __attribute__((noinline))

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__)
#define NB_W 16
#define NB_KERNEL_ISA avx512
#include <immintrin.h>
#elif defined(__AVX2__) && defined(__FMA__)
#define NB_W 8
#define NB_KERNEL_ISA avx2
#include <immintrin.h>
#elif defined(__SSE2__)
#define NB_W 4
#define NB_KERNEL_ISA sse2
#include <emmintrin.h>
#elif defined(__aarch64__)
#define NB_W 4
#define NB_KERNEL_ISA neon
#include <arm_neon.h>
#else
#error "no vector instruction set that the kernels know"
#endif
#define NB_H (NB_W / 2)

typedef float vf __attribute__((vector_size(4 * NB_W)));
typedef int32_t vi __attribute__((vector_size(4 * NB_W)));
typedef uint32_t vu __attribute__((vector_size(4 * NB_W)));
typedef double vd __attribute__((vector_size(4 * NB_W)));
typedef int64_t vl __attribute__((vector_size(4 * NB_W))); /* masks of vd: 0 or -1 */

/* ---- written alike for every set ------------------------------------------------------- */

NB_INLINE vf vf_set(float x)
{
    return x - (vf){0};
}
NB_INLINE vi vi_set(int32_t x)
{
    return x - (vi){0};
}
NB_INLINE vi vi_add(vi a, vi b) /* modulo 2^32 */
{
    return (vi)((vu)a + (vu)b);
}
NB_INLINE vi vi_sub(vi a, vi b) /* modulo 2^32 */
{
    return (vi)((vu)a - (vu)b);
}
NB_INLINE vd vd_set(double x)
{
    return x - (vd){0};
}
NB_INLINE vd vd_pick(vl mask, vd yes, vd no)
{
    return (vd)((mask & (vl)yes) | (~mask & (vl)no));
}
#if NB_W ==                                                                              \
    16 /* ---- AVX-512 ------------------------------------------------------------- */

static const vd nb_lane[2] = {{0, 1, 2, 3, 4, 5, 6, 7}, {8, 9, 10, 11, 12, 13, 14, 15}};

NB_INLINE vf vf_fma(vf a, vf b, vf c)
{
    return (vf)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}
NB_INLINE vf vf_fma_once(vf a, vf b, vf c)
{
    return vf_fma(a, b, c);
}
NB_INLINE vd vd_fma(vd a, vd b, vd c)
{
    return (vd)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}
NB_INLINE vd vd_fnma(vd a, vd b, vd c) /* c - a b */
{
    return (vd)_mm512_fnmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
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
NB_INLINE vi vi_mul(vi a, vi b)
{
    return (vi)_mm512_mullo_epi32((__m512i)a, (__m512i)b);
}
NB_INLINE vi vi_shl(vi a, int32_t n)
{
    return (vi)_mm512_sllv_epi32((__m512i)a, _mm512_set1_epi32(n));
}
NB_INLINE vi vi_clamp(vi a, int32_t most) /* to 0..most */
{
    return (vi)_mm512_min_epi32(_mm512_max_epi32((__m512i)a, _mm512_setzero_si512()),
                                _mm512_set1_epi32(most));
}
NB_INLINE vf vf_from_int(vi a)
{
    return (vf)_mm512_cvtepi32_ps((__m512i)a);
}
NB_INLINE vf vf_gather(const float *table, vi index)
{
    return (vf)_mm512_i32gather_ps((__m512i)index, table, 4);
}
NB_INLINE vf vf_pack(vd a, vd b) /* the block's floats in pixel order */
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
/** 1/sqrt(a), normal a > 0: the 14-bit estimate r and a step of fourth order, r (1 + e/2 + 3/8 e^2
 * + 5/16 e^3) with e = 1 - a r^2; what is left out is below 2^-53. */
NB_INLINE vd vd_rsqrt(vd a)
{
    vd r = (vd)_mm512_rsqrt14_pd((__m512d)a), e = vd_fnma(a * r, r, vd_set(1.0));
    return vd_fma(vd_fma(vd_fma(e, vd_set(0.3125), vd_set(0.375)), e, vd_set(0.5)), r * e,
                  r);
}
NB_INLINE vd vd_round(vd a) /* to even */
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

#elif NB_W ==                                                                            \
    8 /* ---- AVX2 and FMA ------------------------------------------------------- */

static const vd nb_lane[2] = {{0, 1, 4, 5}, {2, 3, 6, 7}};

NB_INLINE vf vf_fma(vf a, vf b, vf c)
{
    return (vf)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}
NB_INLINE vf vf_fma_once(vf a, vf b, vf c)
{
    return vf_fma(a, b, c);
}
NB_INLINE vd vd_fma(vd a, vd b, vd c)
{
    return (vd)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}
NB_INLINE vd vd_fnma(vd a, vd b, vd c) /* c - a b */
{
    return (vd)_mm256_fnmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}
NB_INLINE vi low_words(vd a, vd b)
{
    return (vi)_mm256_shuffle_ps((__m256)a, (__m256)b, 0x88);
}
NB_INLINE vi high_words(vd a, vd b)
{
    return (vi)_mm256_shuffle_ps((__m256)a, (__m256)b, 0xdd);
}
NB_INLINE vi vi_mul(vi a, vi b)
{
    return (vi)_mm256_mullo_epi32((__m256i)a, (__m256i)b);
}
NB_INLINE vi vi_shl(vi a, int32_t n)
{
    return (vi)_mm256_sllv_epi32((__m256i)a, _mm256_set1_epi32(n));
}
NB_INLINE vi vi_clamp(vi a, int32_t most)
{
    return (vi)_mm256_min_epi32(_mm256_max_epi32((__m256i)a, _mm256_setzero_si256()),
                                _mm256_set1_epi32(most));
}
NB_INLINE vf vf_from_int(vi a)
{
    return (vf)_mm256_cvtepi32_ps((__m256i)a);
}
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
NB_INLINE vd vd_rsqrt(vd a) /* the divider works beside the multipliers */
{
    return 1.0 / vd_sqrt(a);
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

#elif defined(                                                                           \
    __aarch64__) /* ---- NEON ------------------------------------------------------ */

static const vd nb_lane[2] = {{0, 1}, {2, 3}};

NB_INLINE vf vf_fma(vf a, vf b, vf c)
{
    return (vf)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
}
NB_INLINE vf vf_fma_once(vf a, vf b, vf c)
{
    return vf_fma(a, b, c);
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
NB_INLINE vi vi_mul(vi a, vi b)
{
    return (vi)vmulq_s32((int32x4_t)a, (int32x4_t)b);
}
NB_INLINE vi vi_shl(vi a, int32_t n)
{
    return (vi)vshlq_s32((int32x4_t)a, vdupq_n_s32(n));
}
NB_INLINE vi vi_clamp(vi a, int32_t most)
{
    return (vi)vminq_s32(vmaxq_s32((int32x4_t)a, vdupq_n_s32(0)), vdupq_n_s32(most));
}
NB_INLINE vf vf_from_int(vi a)
{
    return (vf)vcvtq_f32_s32((int32x4_t)a);
}
NB_INLINE vf vf_gather(const float *table, vi index)
{
    return (vf){table[index[0]], table[index[1]], table[index[2]], table[index[3]]};
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
NB_INLINE vd vd_rsqrt(vd a)
{
    return 1.0 / vd_sqrt(a);
}
NB_INLINE vd vd_round(vd a) /* to even */
{
    return (vd)vrndnq_f64((float64x2_t)a);
}
NB_INLINE vd vd_floor(vd a)
{
    return (vd)vrndmq_f64((float64x2_t)a);
}
NB_INLINE vd vd_gather(const double *table, vd index)
{
    return (vd){table[(int32_t)index[0]], table[(int32_t)index[1]]};
}

#else /* ---- SSE2 -------------------------------------------------------------------------- */

static const vd nb_lane[2] = {{0, 1}, {2, 3}};

NB_INLINE vf vf_fma(vf a, vf b, vf c) /* two roundings: there is no other */
{
    return a * b + c;
}
/** As vf_fma, rounded to a float once: by way of doubles. */
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
NB_INLINE vi vi_mul(vi a, vi b)
{
    __m128i even = _mm_mul_epu32((__m128i)a, (__m128i)b);
    __m128i odd =
        _mm_mul_epu32(_mm_srli_epi64((__m128i)a, 32), _mm_srli_epi64((__m128i)b, 32));
    return (vi)_mm_unpacklo_epi32(_mm_shuffle_epi32(even, 0x08),
                                  _mm_shuffle_epi32(odd, 0x08));
}
NB_INLINE vi vi_shl(vi a, int32_t n)
{
    return (vi)_mm_sll_epi32((__m128i)a, _mm_cvtsi32_si128(n));
}
NB_INLINE vi vi_clamp(vi a, int32_t most)
{
    vi top = vi_set(most), over = (vi)(a > top);
    a = (over & top) | (~over & a);
    return (vi)(a > 0) & a;
}
NB_INLINE vf vf_from_int(vi a)
{
    return (vf)_mm_cvtepi32_ps((__m128i)a);
}
NB_INLINE vf vf_gather(const float *table, vi index)
{
    return (vf){table[index[0]], table[index[1]], table[index[2]], table[index[3]]};
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
NB_INLINE vd vd_rsqrt(vd a)
{
    return 1.0 / vd_sqrt(a);
}
/** Nearest whole number by way of numbers whose steps are 1: |a| < 2^51. */
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
NB_INLINE vd vd_gather(const double *table, vd index)
{
    return (vd){table[(int32_t)index[0]], table[(int32_t)index[1]]};
}
#endif

/** Double with exponent n (whole, -1022..1023): 2^n. */
NB_INLINE vd vd_exp2_whole(vd n)
{
    /* the low word of n + NB_ROUND_DOUBLE is n; shifted to where the exponent is */
    vl bits = (vl)(n + vd_set(NB_ROUND_DOUBLE + 1023.0));
    return (vd)(bits << 52);
}
NB_INLINE int vl_any(vl mask)
{
    int64_t any = 0;
    int i;
    for (i = 0; i < NB_H; i++)
        any |= mask[i];
    return any != 0;
}

#endif
