/* SPDX-License-Identifier: MIT */
/** Passes over a block of bit planes that are compiled once for each instruction set.  All sets give the
 * same bytes. */
#ifndef NB_IO_PLANES_H
#define NB_IO_PLANES_H

#include <stddef.h>
#include <stdint.h>

#include "../nanobragg.h"

enum { NB_PLANES_BYTES = 8192 }; /* of a block, at most */

typedef struct nb_plane_kernels {
    /** The bit planes of the first of `count` 2-byte values, each of count/8 bytes; returns how many values
     * (a multiple of 8) are done. */
    size_t (*shuffle_u16)(const unsigned char *in, size_t count, unsigned char *out);
    /** Bit i % 64 of same[i / 64]: a[i] == b[i]; i < 64 words. */
    void (*same)(const unsigned char *a, const unsigned char *b, size_t words,
                 uint64_t *same);
} nb_plane_kernels;

extern const nb_plane_kernels nb_plane_kernels_base; /* what every processor has */
#ifdef __x86_64__
extern const nb_plane_kernels nb_plane_kernels_avx2, nb_plane_kernels_avx512;
#endif

/** Those of an instruction set that this processor runs; AUTO: of the widest.  SCALAR: byte by byte. */
const nb_plane_kernels *nb_plane_kernels_of(nb_isa isa);

/** Bytes that nb_planes_lz4 writes to for n bytes, at most. */
size_t nb_planes_lz4_bound(size_t n);

/** Compress a block of bit planes to a block of the format LZ4: `row` is the bytes of a plane, n <=
 * NB_PLANES_BYTES.  Returns the bytes of out[nb_planes_lz4_bound(n)]. */
size_t nb_planes_lz4(const unsigned char *in, size_t n, size_t row,
                     const nb_plane_kernels *kernels, unsigned char *out);

#endif
