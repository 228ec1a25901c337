/* SPDX-License-Identifier: MIT */
/** Vector operations of the kernels, for the instruction set of the compiled file. The
 * compiler provides + - * / on vectors. The header of each set defines the same
 * functions. It also defines nb_lane: the pixel that each lane of a block's two vectors
 * of doubles holds. nb_lane differs between sets, so that low_words and high_words are
 * single instructions. */
#ifndef NB_BASE_SIMD_H
#define NB_BASE_SIMD_H

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__)
#include "simd_avx512.h"
#elif defined(__AVX2__) && defined(__FMA__)
#include "simd_avx2.h"
#elif defined(__SSE2__)
#include "simd_sse2.h"
#elif defined(__aarch64__)
#include "simd_neon.h"
#else /* files without kernels include only the types */
#include <math.h>

#include "simd_types.h"

NB_INLINE vd vd_sqrt(vd a)
{
    for (int i = 0; i < NB_H; i++)
        a[i] = sqrt(a[i]);
    return a;
}
#endif

/** 2^n for a whole n, -1022..1023: n becomes the exponent of the double. */
NB_INLINE vd vd_exp2_whole(vd n)
{
    /* the low word of n + NB_ROUND_DOUBLE is n; the shift moves it to the exponent */
    vl bits = (vl)(n + vd_set(NB_ROUND_DOUBLE + 1023.0));
    return (vd)(bits << 52);
}
#ifdef NB_KERNEL_ISA /* operations for which no set has an instruction */
#ifndef NB_HAVE_FMA_ONCE
NB_INLINE vf vf_fma_once(vf a, vf b, vf c) /* rounds only once */
{
    return vf_fma(a, b, c);
}
#endif
#ifndef NB_HAVE_RSQRT
NB_INLINE vd vd_rsqrt(vd a) /* the divider works in parallel with the multipliers */
{
    return 1.0 / vd_sqrt(a);
}
#endif
#ifndef NB_HAVE_GATHER
NB_INLINE vf vf_gather(const float *table, vi index)
{
    return (vf){table[index[0]], table[index[1]], table[index[2]], table[index[3]]};
}
NB_INLINE vd vd_gather(const double *table, vd index)
{
    return (vd){table[(int32_t)index[0]], table[(int32_t)index[1]]};
}
#endif
#ifndef NB_HAVE_UP_TO
NB_INLINE vf vf_up_to(vf a, float x) /* a, or 0 where it is above x */
{
    return (vf)((vi)(a <= x) & (vi)a);
}
#endif
#endif
#ifndef NB_HAVE_COLUMNS
/** to[j] lane i = row[i][j], j = 0..7. */
NB_INLINE void vd_columns(const double *const row[NB_H], vd to[8])
{
    for (int j = 0; j < 8; j++) {
        vd column = vd_set(0);
        for (int i = 0; i < NB_H; i++)
            column[i] = row[i][j];
        to[j] = column;
    }
}
#endif
#ifndef NB_HAVE_VF_COLUMNS
/** to[j] lane i = rows[index[i]][j], j = 0..3. */
NB_INLINE void vf_columns(const float (*rows)[4], vi index, vf to[4])
{
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < NB_W; i++)
            to[j][i] = rows[index[i]][j];
}
#endif
#ifndef NB_HAVE_BITS
/** Bits of a mask, whose lanes are 0 or -1: bit i is lane i. */
NB_INLINE unsigned vl_bits(vl mask)
{
    unsigned bits = 0;
    for (int i = 0; i < NB_H; i++)
        bits |= (unsigned)(mask[i] & 1) << i;
    return bits;
}
#endif
/** (low 32 bits of a) x m, 64 bits; m < 2^32. High bits of a are ignored. */
NB_INLINE vul vul_mul32(vul a, uint64_t m)
{
#if defined(__AVX512F__)
    return (vul)_mm512_mul_epu32((__m512i)a, _mm512_set1_epi64((int64_t)m));
#elif defined(__AVX2__)
    return (vul)_mm256_mul_epu32((__m256i)a, _mm256_set1_epi64x((int64_t)m));
#elif defined(__SSE2__)
    return (vul)_mm_mul_epu32((__m128i)a, _mm_set1_epi64x((int64_t)m));
#else
    return (a & 0xffffffffu) * m;
#endif
}
NB_INLINE int vl_any(vl mask)
{
    return vl_bits(mask) != 0;
}

#endif
