/* SPDX-License-Identifier: MIT */
/** Operations on several pixels in the vectors of simd.h. The lanes do the same IEEE
 * operations on every instruction set, so the results are the same. Vectors are passed by
 * address, because by value their calling convention would differ between sets. */
#ifndef NB_BASE_VECTOR_H
#define NB_BASE_VECTOR_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "simd.h"

#define NB_LANES NB_H

typedef vd nb_vd;
typedef vl nb_vi;
typedef uint64_t nb_vu __attribute__((vector_size(8 * NB_LANES)));
typedef float nb_vf __attribute__((vector_size(4 * NB_LANES)));
typedef int32_t nb_vw __attribute__((vector_size(4 * NB_LANES)));
typedef uint16_t nb_vh __attribute__((vector_size(2 * NB_LANES)));
typedef uint8_t nb_vb __attribute__((vector_size(NB_LANES)));

/** x in lanes where the condition is true (all bits), else 0. */
#define NB_V_WHERE(condition, x) ((nb_vd)((nb_vi)(condition) & (nb_vi)(x)))
/** x in lanes where the condition is true, else y. */
#define NB_V_CHOOSE(condition, x, y)                                                     \
    ((nb_vd)(((nb_vi)(condition) & (nb_vi)(x)) | (~(nb_vi)(condition) & (nb_vi)(y))))

/** A bit for each lane, set where the mask is true. */
static inline unsigned nb_v_bits(const nb_vi *mask)
{
    return vl_bits(*mask);
}

/** *product = (low 32 bits of a) x m, 64 bits; m < 2^32; high bits of a are ignored. */
static inline void nb_v_mul32(const nb_vu *a, uint64_t m, nb_vu *product)
{
#if defined(__AVX512F__)
    *product = (nb_vu)_mm512_mul_epu32((__m512i)*a, _mm512_set1_epi64((int64_t)m));
#elif defined(__AVX2__)
    *product = (nb_vu)_mm256_mul_epu32((__m256i)*a, _mm256_set1_epi64x((int64_t)m));
#elif defined(__SSE2__)
    *product = (nb_vu)_mm_mul_epu32((__m128i)*a, _mm_set1_epi64x((int64_t)m));
#else
    *product = (*a & 0xffffffffu) * m;
#endif
}

static inline void nb_v_sqrt(const nb_vd *x, nb_vd *root)
{
    *root = vd_sqrt(*x);
}

static inline void nb_v_abs(const nb_vd *x, nb_vd *size)
{
    *size = (nb_vd)((nb_vi)*x & INT64_MAX);
}

/** Load NB_LANES floats from any address. */
static inline void nb_v_load(const float *from, nb_vf *v)
{
    memcpy(v, from, sizeof *v);
}

#endif
