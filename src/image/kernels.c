/* SPDX-License-Identifier: MIT */
/* Compiled with baseline flags, as it chooses the instruction set. */
#include "kernels.h"

const nb_image_kernels *nb_image_kernels_of(nb_isa isa)
{
    switch (isa) {
#ifdef __x86_64__
    case NB_ISA_AVX2:
        return &nb_image_kernels_avx2;
    case NB_ISA_AVX512:
        return &nb_image_kernels_avx512;
#endif
    default:
        return &nb_image_kernels_base;
    }
}
