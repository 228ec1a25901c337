/* SPDX-License-Identifier: MIT */
/* Compiled with baseline flags: nothing here may need what it asks about. */
#include "kernels.h"

const nb_image_kernels *nb_image_kernels_widest(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return &nb_image_kernels_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &nb_image_kernels_avx2;
#endif
    return &nb_image_kernels_base;
}
