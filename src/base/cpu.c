/* SPDX-License-Identifier: MIT */
/* This file is compiled with baseline flags, so that it runs on every processor of the
 * architecture. */
#include "threads.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"

#if defined(__x86_64__)
#include <cpuid.h>

enum {
    XCR0_AVX = 0x6,
    /* AVX: bits of the xmm and ymm registers; AVX512: also those of the opmask and zmm
     * registers */
    XCR0_AVX512 = 0xe6
};

/** Bits of the registers that the operating system saves (Intel SDM vol. 1, 13.3). */
static unsigned saved_registers(void)
{
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static int has_bits(unsigned value, unsigned bits)
{
    return (value & bits) == bits;
}

static int x86_runs(nb_isa isa)
{
    const unsigned avx_fma = bit_AVX | bit_FMA;
    const unsigned avx512 = bit_AVX512F | bit_AVX512DQ | bit_AVX512BW | bit_AVX512VL;
    unsigned a, b, c, d, saved = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d))
        return 0;
    if (isa == NB_ISA_SSE2)
        return has_bits(d, bit_SSE2);
    if (!has_bits(c, bit_OSXSAVE | avx_fma))
        return 0;
    saved = saved_registers();
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return 0;
    if (isa == NB_ISA_AVX2)
        return has_bits(saved, XCR0_AVX) && has_bits(b, bit_AVX2);
    return isa == NB_ISA_AVX512 && has_bits(saved, XCR0_AVX512) &&
           has_bits(b, avx512 | bit_AVX2);
}

/** x86_runs, with the answers stored: a virtual machine takes 10 us for each cpuid. */
static int x86_is_known_to_run(nb_isa isa)
{
    /* two bits for each instruction set: the answer is known; the set runs here */
    static atomic_uint answers;
    const unsigned asked = 1u << (2 * isa), runs = 2u << (2 * isa);
    unsigned known = atomic_load_explicit(&answers, memory_order_relaxed);
    if (!(known & asked)) {
        known = asked | (x86_runs(isa) ? runs : 0);
        atomic_fetch_or_explicit(&answers, known, memory_order_relaxed);
    }
    return (known & runs) != 0;
}
#endif

int nb_cpu_runs(nb_isa isa)
{
    if (isa == NB_ISA_SCALAR)
        return 1;
#if defined(__x86_64__)
    return x86_is_known_to_run(isa);
#elif defined(__aarch64__)
    return isa == NB_ISA_NEON; /* every processor of this architecture has NEON */
#else
    return 0;
#endif
}

static const struct {
    nb_isa isa;
    const char *name;
} names[] = {{NB_ISA_AUTO, "auto"}, {NB_ISA_SCALAR, "scalar"}, {NB_ISA_SSE2, "sse2"},
             {NB_ISA_AVX2, "avx2"}, {NB_ISA_AVX512, "avx512"}, {NB_ISA_NEON, "neon"}};
enum { NAMES = sizeof names / sizeof names[0] };

const char *nb_isa_name(nb_isa isa)
{
    for (int i = 0; i < NAMES; i++)
        if (names[i].isa == isa)
            return names[i].name;
    return "unknown";
}

static nb_status from_environment(nb_isa *isa, nb_error *err)
{
    const char *text = getenv("NANOBRAGG_ISA");
    *isa = NB_ISA_AUTO;
    if (!text || !text[0])
        return NB_OK;
    for (int i = 0; i < NAMES; i++)
        if (strcmp(text, names[i].name) == 0) {
            *isa = names[i].isa;
            return NB_OK;
        }
    return nb_fail(
        err, NB_ERR_INPUT,
        "NANOBRAGG_ISA=%.40s: must be auto, scalar, sse2, avx2, avx512 or neon", text);
}

nb_status nb_cpu_choose(nb_isa asked, nb_isa *isa, nb_error *err)
{
    static const nb_isa widest_first[] = {NB_ISA_AVX512, NB_ISA_AVX2, NB_ISA_SSE2,
                                          NB_ISA_NEON, NB_ISA_SCALAR};
    int i = 0;
    nb_status st;
    *isa = asked;
    if (asked == NB_ISA_AUTO && (st = from_environment(isa, err)) != NB_OK)
        return st;
    if (*isa == NB_ISA_AUTO) {
        while (!nb_cpu_runs(widest_first[i]))
            i++;
        *isa = widest_first[i];
    }
    if (nb_cpu_runs(*isa))
        return NB_OK;
    st =
        nb_fail(err, NB_ERR_UNSUPPORTED,
                "-isa %s: this processor, or this build, does not have it; use -isa auto",
                nb_isa_name(*isa));
    *isa = NB_ISA_SCALAR;
    return st;
}
