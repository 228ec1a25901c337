/* SPDX-License-Identifier: MIT */
/** A frame's record in the journal of an HDF5 file: the compressed pixels, with -truth
 * spots its reflections, and the facts of the image. */
#ifndef NB_SERIES_RECORD_H
#define NB_SERIES_RECORD_H

#include "../io/hdf5/hdf5_file.h"
#include "sinks.h"

/** The end of a record; native byte order, as the journal. */
typedef struct nb_record_tail {
    uint64_t chunk_bytes, chunk_hash; /* nb_hdf5_hash */
    uint64_t inputs;                  /* nb_own_inputs of the frame */
    nb_hdf5_list list;
    nb_hdf5_facts facts;
} nb_record_tail;

/** The largest number of bytes after the chunk in a record without reflections. */
enum { NB_RECORD_MORE = 128 };

/** Complete the record in the slot, which grows: append the reflections (zeroed: none), the
 * slot's inputs and the facts of its truth to the chunk. The truth then includes the
 * reflections, and the slot the hash of the record. */
nb_status nb_record_add(nb_slot *slot, const nb_reflections *list, nb_error *err);

/** Read the tail of a record of a journal, unchecked but for its sizes; 0 if it does not fit. */
int nb_record_peek(const nb_journal *j, int64_t offset, size_t bytes,
                   nb_record_tail *tail);
/** The tail of a complete record in memory. */
nb_record_tail nb_record_tail_of(const void *record, size_t bytes);

/** The reflections of a complete record, in its memory. */
nb_reflections nb_record_list(void *record, const nb_record_tail *tail);

#endif
