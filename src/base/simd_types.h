/* SPDX-License-Identifier: MIT */
/** Vectors of the instruction set of the compiled file. A block is NB_W pixels: one
 * vector of floats (vf) or of 32-bit integers (vi), or two of doubles (vd). */
#ifndef NB_BASE_SIMD_TYPES_H
#define NB_BASE_SIMD_TYPES_H

#include <stdint.h>
#include <string.h>

#include "coefficients.h"

#define NB_INLINE static inline __attribute__((always_inline))
/** Marks a loop over blocks that is not inlined, so that it has all registers. */
#define NB_STAGE static __attribute__((noinline))

#ifndef NB_W /* 4, unless the header of an instruction set has set it */
#define NB_W 4
#endif
#define NB_H (NB_W / 2)

typedef float vf __attribute__((vector_size(4 * NB_W)));
typedef int32_t vi __attribute__((vector_size(4 * NB_W)));
typedef uint32_t vu __attribute__((vector_size(4 * NB_W)));
typedef double vd __attribute__((vector_size(4 * NB_W)));
typedef int64_t vl __attribute__((vector_size(4 * NB_W))); /* masks of vd: 0 or -1 */
typedef uint64_t vul __attribute__((vector_size(4 * NB_W)));
/* one number for each lane of vd */
typedef float vfh __attribute__((vector_size(4 * NB_H)));
typedef int32_t vih __attribute__((vector_size(4 * NB_H)));
typedef uint16_t vu16 __attribute__((vector_size(2 * NB_H)));
typedef uint8_t vu8 __attribute__((vector_size(NB_H)));

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
NB_INLINE vi vi_mul(vi a, vi b) /* modulo 2^32 */
{
    return (vi)((vu)a * (vu)b);
}
NB_INLINE vi vi_shl(vi a, int32_t n)
{
    return a << n;
}
NB_INLINE vf vf_from_int(vi a)
{
    return __builtin_convertvector(a, vf);
}
NB_INLINE vd vd_set(double x)
{
    return x - (vd){0};
}
NB_INLINE vd vd_pick(vl mask, vd yes, vd no)
{
    return (vd)((mask & (vl)yes) | (~mask & (vl)no));
}
NB_INLINE vd vd_where(vl mask, vd a) /* 0 in the other lanes */
{
    return (vd)(mask & (vl)a);
}

#endif
