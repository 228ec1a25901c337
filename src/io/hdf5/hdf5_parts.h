/* SPDX-License-Identifier: MIT */
/** The two kinds of data sets that hdf5_get.c does not read directly. */
#ifndef NB_IO_HDF5_PARTS_H
#define NB_IO_HDF5_PARTS_H

#ifdef NB_HAVE_HDF5
#include "hdf5_get.h"

/** The destination of a box: an array of `type` with these dimensions, from `first` on. */
typedef struct nb_h5_target {
    void *values;
    hid_t type;
    size_t type_bytes;
    hsize_t dims[NB_H5_RANK], first[NB_H5_RANK];
} nb_h5_target;

/** Read a box of a set of any layout into its destination. */
nb_status nb_h5_read_box(const nb_h5_set *set, const nb_h5_box *box,
                         const nb_h5_target *to, nb_error *err);

/** The same directly from the data set `id`, which has the set's rank; 0: it failed. */
int nb_h5_read_directly(const nb_h5_set *set, hid_t id, const nb_h5_box *box,
                        const nb_h5_target *to);

/** Read a box of a chunked set. The compressed chunks of the box are copied into a set in
 * memory whose filters check every size (hdf5_filters.h). The library does the rest. */
nb_status nb_h5_read_chunks(const nb_h5_set *set, const nb_h5_box *box,
                            const nb_h5_target *to, nb_error *err);

/** Read a box of a virtual set, mapping by mapping. The library would give zeros for a
 * missing file, follow a set that contains itself, and read the sources' chunks unchecked. */
nb_status nb_h5_read_virtual(const nb_h5_set *set, const nb_h5_box *box,
                             const nb_h5_target *to, nb_error *err);
/** Can nb_h5_read_virtual read all of its mappings? Opens no other file. */
int nb_h5_virtual_is_known(hid_t creation);

#endif
#endif
