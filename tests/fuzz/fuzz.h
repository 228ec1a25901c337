/* SPDX-License-Identifier: MIT */
/** What every fuzz target provides. `make fuzz` links each with libFuzzer (clang), `make
 * test` with replay.c, which feeds it the files of tests/fuzz/corpus. Build the library
 * with -DNB_SF_MAX_VOXELS=65536 for fuzzing: otherwise two large Miller indices need
 * gigabytes. */
#ifndef NB_TESTS_FUZZ_H
#define NB_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/** Feeds one input to the parser, uses and releases the result; 1 accepted, 0
 * rejected. Aborts when a property does not hold (for example a rejected input without
 * a message). */
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
