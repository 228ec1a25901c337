/* SPDX-License-Identifier: MIT */
/** Functions of every fuzz target. `make fuzz` links each target with libFuzzer (clang),
 * `make test` with replay.c, which feeds the files of tests/fuzz/corpus. Build the
 * library with -DNB_SF_MAX_VOXELS=65536 for fuzzing: otherwise two large Miller indices
 * need gigabytes. */
#ifndef NB_TESTS_FUZZ_H
#define NB_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/** Parses one input, then uses and frees the result. Returns 1 if the parser accepts the
 * input, or 0. Aborts if a property does not hold (for example if a rejected input has no
 * message). */
int nb_fuzz_accepts(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** A property that must hold. */
#define NB_FUZZ_CHECK(condition)                                                         \
    do {                                                                                 \
        if (!(condition))                                                                \
            abort();                                                                     \
    } while (0)

#define NB_FUZZ_ENTRY                                                                    \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)                         \
    {                                                                                    \
        nb_fuzz_accepts(data, size);                                                     \
        return 0;                                                                        \
    }

#endif
