/* SPDX-License-Identifier: MIT */
/** Several pixels in the vector types of GCC and Clang, with the width of the instruction
 * set of the including file. The lanes do the same IEEE operations on every set, so that
 * results do not depend on it. Vectors are passed by address, because by value their
 * calling convention would differ between sets. */
#ifndef NB_BASE_VECTOR_H
#define NB_BASE_VECTOR_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

#if defined(__AVX512F__)
#define NB_LANES 8
#elif defined(__AVX2__)
#define NB_LANES 4
#else
#define NB_LANES 2
#endif

typedef double nb_vd __attribute__((vector_size(8 * NB_LANES)));
typedef int64_t nb_vi __attribute__((vector_size(8 * NB_LANES)));
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
#if defined(__AVX512F__)
    return _mm512_movepi64_mask((__m512i)*mask);
#elif defined(__AVX2__)
    return (unsigned)_mm256_movemask_pd((__m256d)*mask);
#elif defined(__SSE2__)
    return (unsigned)_mm_movemask_pd((__m128d)*mask);
#else
    unsigned bits = 0;
    for (unsigned i = 0; i < NB_LANES; i++)
        bits |= (unsigned)((*mask)[i] & 1) << i;
    return bits;
#endif
}

/** *product = low 32 bits of a times m < 2^32, in 64 bits; a's high bits are ignored. */
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
#if defined(__AVX512F__)
    *root = (nb_vd)_mm512_sqrt_pd((__m512d)*x);
#elif defined(__AVX2__)
    *root = (nb_vd)_mm256_sqrt_pd((__m256d)*x);
#elif defined(__SSE2__)
    *root = (nb_vd)_mm_sqrt_pd((__m128d)*x);
#else
    for (int i = 0; i < NB_LANES; i++)
        (*root)[i] = sqrt((*x)[i]);
#endif
}

static inline void nb_v_abs(const nb_vd *x, nb_vd *size)
{
    *size = (nb_vd)((nb_vi)*x & INT64_MAX);
}

/** NB_LANES floats from anywhere in memory. */
static inline void nb_v_load(const float *from, nb_vf *v)
{
    memcpy(v, from, sizeof *v);
}

#endif
