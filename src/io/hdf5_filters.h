/* SPDX-License-Identifier: MIT */
/** The filters that compressed data sets are read with.  libhdf5 1.10 reads past the end of a chunk
 * that decompresses to less than its size, and its deflate grows without bound; so a set is read
 * through a list of filters that check and bound every size (hdf5_chunks_get.c). */
#ifndef NB_IO_HDF5_FILTERS_H
#define NB_IO_HDF5_FILTERS_H

#ifdef NB_HAVE_HDF5
#include "hdf5_lib.h"

/** The library knows our filters from begin to end. */
void nb_h5_filters_begin(void);
void nb_h5_filters_end(void);

enum { NB_H5_MOST_FILTERS = 8 };

/** Which of our filters stands for which of the file's. */
typedef struct nb_h5_filter_map {
    int count, at[NB_H5_MOST_FILTERS];
} nb_h5_filter_map;

/** Put the filters of `creation`, each with its checks, into `list`; chunk_bytes: of a chunk before
 * compression.  0: there are too many, or one that we do not read: of the library's own we read
 * shuffle, deflate and Fletcher32, since the others of libhdf5 1.10 trust the data. */
int nb_h5_put_filters(hid_t list, hid_t creation, unsigned chunk_bytes,
                      nb_h5_filter_map *map);
/** A chunk's mask of filters that were left out, for that list. */
uint32_t nb_h5_filter_mask(const nb_h5_filter_map *map, uint32_t mask);

#endif
#endif
