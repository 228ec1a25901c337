/* SPDX-License-Identifier: MIT */
/** Compress one image in memory to an HDF5 chunk, without the HDF5 library. */
#ifndef NB_IO_HDF5_CHUNK_H
#define NB_IO_HDF5_CHUNK_H

#include <stddef.h>
#include <stdint.h>

#include "../../nanobragg.h"

/** Filter 32008 (bitshuffle), and the number of LZ4 in this filter. */
enum { NB_H5_BITSHUFFLE = 32008, NB_H5_BITSHUFFLE_LZ4 = 2 };

/** Properties of all frames of a data set. */
typedef struct nb_hdf5_layout {
    int fast, slow;
    nb_hdf5_type type;
    nb_compression compress;
    int reflections; /* 0: no lists; 1: lists; 2: with panels; plus 4: with crystals */
    nb_isa isa;      /* instruction set for compression; all give the same bytes */
} nb_hdf5_layout;

/** Bytes of one pixel, and of one frame. */
size_t nb_hdf5_pixel_bytes(const nb_hdf5_layout *layout);
size_t nb_hdf5_frame_bytes(const nb_hdf5_layout *layout);
/** Largest size of a compressed frame, bytes. */
size_t nb_hdf5_chunk_bound(const nb_hdf5_layout *layout);

/** Compress a frame of pixels into chunk[nb_hdf5_chunk_bound]; *bytes is the size of the
 * chunk. scratch[nb_hdf5_frame_bytes] is for shuffled bytes. Thread-safe. */
nb_status nb_hdf5_chunk_encode(const nb_hdf5_layout *layout, const void *pixels,
                               void *scratch, void *chunk, size_t *bytes, nb_error *err);

/** Decompressed size in bytes of a bitshuffle-LZ4 chunk[have] whose numbers have `value`
 * bytes each; 0 if it is damaged. */
size_t nb_bslz4_bytes(const void *chunk, size_t have, size_t value);
/** Decompress the chunk into out[nb_bslz4_bytes], with a check of every size. Returns 0
 * for a damaged chunk or without memory. Thread-safe. */
int nb_bslz4_decode(const void *chunk, size_t have, size_t value, void *out);

/** Write the bit planes of `count` 2-byte values, count/8 bytes per plane. Returns the
 * number of values, counted from the first, that it has written: a multiple of 8. */
typedef size_t nb_shuffle_u16(const unsigned char *in, size_t count, unsigned char *out);

#ifdef __x86_64__
extern nb_shuffle_u16 nb_shuffle_u16_avx2;
#endif

/** Function for an instruction set of this processor (AUTO: the widest), or NULL. */
nb_shuffle_u16 *nb_shuffle_u16_of(nb_isa isa);

/** Write the bit planes of `count` values (a multiple of 8) one after the other. shuffle
 * may be NULL. Source: Masui et al., Astronomy and Computing 12, 181 (2015). */
void nb_bitshuffle(const void *in, size_t count, size_t value_bytes,
                   nb_shuffle_u16 *shuffle, void *out);
/** Restore the values from the bit planes. */
void nb_bitunshuffle(const void *in, size_t count, size_t value_bytes, void *out);

#endif
