/* SPDX-License-Identifier: MIT */
/** Filters for reading compressed data sets. libhdf5 1.10 reads past the end of a chunk that
 * decompresses to less than its size, and its deflate takes unlimited memory. So a set is read
 * through a list of filters that check and limit every size (hdf5_chunks_get.c). */
#ifndef NB_IO_HDF5_FILTERS_H
#define NB_IO_HDF5_FILTERS_H

#ifdef NB_HAVE_HDF5
#include "hdf5_lib.h"

/** Register our filters; nb_hdf5_load must have succeeded.  Those that read sets have numbers of their own and stay.  Filter 32008, bitshuffle
 * and LZ4, is there between begin and end, for writing: only its name is needed, because chunks are already filtered.  Others in
 * this process may have one that writes. */
void nb_h5_filters_begin(void);
void nb_h5_filters_end(void);

/** Close a file; 0: it could not be closed, for want of memory.  The filters then stay. */
int nb_h5_close_file(hid_t file);

enum { NB_H5_MOST_FILTERS = 8 };

/** Our filter for each filter of the file. */
typedef struct nb_h5_filter_map {
    int count, at[NB_H5_MOST_FILTERS];
} nb_h5_filter_map;

/** Put the filters of `creation`, each with its checks, into `list`; chunk_bytes: of a
 * chunk before compression. 0: there are too many filters, or one is not supported. Of the
 * library's own filters shuffle, deflate and Fletcher32 are supported; the others of
 * libhdf5 1.10 trust the data. */
int nb_h5_put_filters(hid_t list, hid_t creation, unsigned chunk_bytes,
                      nb_h5_filter_map *map);
/** A chunk's mask of filters that were left out, for that list. */
uint32_t nb_h5_filter_mask(const nb_h5_filter_map *map, uint32_t mask);

#endif

#endif
