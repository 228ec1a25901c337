/* SPDX-License-Identifier: MIT */
/* Compiled with baseline flags: nothing here may need what it asks about. */
#include "planes.h"

#include "../../base/cpu.h"

static size_t no_values(const unsigned char *in, size_t count, unsigned char *out)
{
    (void)in;
    (void)count;
    (void)out;
    return 0;
}

nb_shuffle_u16 *nb_shuffle_u16_of(nb_isa isa)
{
    if (isa == NB_ISA_SCALAR)
        return no_values;
#ifdef __x86_64__
    if ((isa == NB_ISA_AVX512 || isa == NB_ISA_AUTO) && nb_cpu_runs(NB_ISA_AVX512))
        return nb_shuffle_u16_avx512;
    if ((isa == NB_ISA_AVX2 || isa == NB_ISA_AUTO) && nb_cpu_runs(NB_ISA_AVX2))
        return nb_shuffle_u16_avx2;
#endif
    return nb_shuffle_u16_base;
}
