/* SPDX-License-Identifier: MIT */
/* Compiled with baseline flags: nothing here may need what it asks about. */
#include "planes.h"

#include "../base/cpu.h"

static size_t no_values(const unsigned char *in, size_t count, unsigned char *out)
{
    (void)in;
    (void)count;
    (void)out;
    return 0;
}

static void same_bytes(const unsigned char *a, const unsigned char *b, size_t words,
                       uint64_t *same)
{
    for (size_t w = 0; w < words; w++) {
        same[w] = 0;
        for (size_t i = 0; i < 64; i++)
            same[w] |= (uint64_t)(a[64 * w + i] == b[64 * w + i]) << i;
    }
}

static const nb_plane_kernels scalar = {no_values, same_bytes};

const nb_plane_kernels *nb_plane_kernels_of(nb_isa isa)
{
    if (isa == NB_ISA_SCALAR)
        return &scalar;
#ifdef __x86_64__
    if ((isa == NB_ISA_AVX512 || isa == NB_ISA_AUTO) && nb_cpu_runs(NB_ISA_AVX512))
        return &nb_plane_kernels_avx512;
    if ((isa == NB_ISA_AVX2 || isa == NB_ISA_AUTO) && nb_cpu_runs(NB_ISA_AVX2))
        return &nb_plane_kernels_avx2;
#endif
    return &nb_plane_kernels_base;
}
