/* SPDX-License-Identifier: MIT */
/** One image as a compressed HDF5 chunk, in memory; needs no HDF5 library. */
#ifndef NB_IO_HDF5_CHUNK_H
#define NB_IO_HDF5_CHUNK_H

#include <stddef.h>
#include <stdint.h>

#include "../../nanobragg.h"

/** Filter 32008, bitshuffle, and its number for LZ4. */
enum { NB_H5_BITSHUFFLE = 32008, NB_H5_BITSHUFFLE_LZ4 = 2 };

/** The properties of all frames of a data set. */
typedef struct nb_hdf5_layout {
    int fast, slow;
    nb_hdf5_type type;
    nb_compression compress;
    int reflections; /* every frame has a list of reflections, 1; 2: with panels; 4 more: with crystals */
    nb_isa isa; /* instruction set for compression; it does not change the bytes */
} nb_hdf5_layout;

/** Bytes of one pixel, of one frame. */
size_t nb_hdf5_pixel_bytes(const nb_hdf5_layout *layout);
size_t nb_hdf5_frame_bytes(const nb_hdf5_layout *layout);
/** The largest size of a compressed frame. */
size_t nb_hdf5_chunk_bound(const nb_hdf5_layout *layout);

/** Does this build have the compression? NB_ERR_UNSUPPORTED names the missing library. */
nb_status nb_hdf5_chunk_check(const nb_hdf5_layout *layout, nb_error *err);

/** Compress a frame of pixels into chunk[nb_hdf5_chunk_bound]; *bytes is its size.
 * scratch[nb_hdf5_frame_bytes] is for the shuffled bytes. Thread-safe. */
nb_status nb_hdf5_chunk_encode(const nb_hdf5_layout *layout, const void *pixels,
                               void *scratch, void *chunk, size_t *bytes, nb_error *err);

/** Bytes of a chunk[have] of bitshuffle and LZ4 after decompression, of values of `value` bytes; 0: damaged. */
size_t nb_bslz4_bytes(const void *chunk, size_t have, size_t value);
/** Decompress it into out[nb_bslz4_bytes], checking every size; 0: damaged, no memory, or a build without
 * LZ4. Thread-safe. */
int nb_bslz4_decode(const void *chunk, size_t have, size_t value, void *out);

/** The bit planes of the first of `count` 2-byte values, each of count/8 bytes; returns how many values (a
 * multiple of 8) are done. */
typedef size_t nb_shuffle_u16(const unsigned char *in, size_t count, unsigned char *out);

#ifdef __x86_64__
extern nb_shuffle_u16 nb_shuffle_u16_avx2;
#endif

/** The function of an instruction set that this processor runs; AUTO: the widest.  NULL: there is none. */
nb_shuffle_u16 *nb_shuffle_u16_of(nb_isa isa);

/** Transpose the bits of count (a multiple of 8) values: bit plane by bit plane, as
 * Masui et al., Astronomy and Computing 12, 181 (2015).  shuffle may be NULL. */
void nb_bitshuffle(const void *in, size_t count, size_t value_bytes,
                   nb_shuffle_u16 *shuffle, void *out);
/** The values again. */
void nb_bitunshuffle(const void *in, size_t count, size_t value_bytes, void *out);

#endif
