/* SPDX-License-Identifier: MIT */
/** Arrays of a master file with a row for each frame. */
#ifndef NB_IO_HDF5_ROWS_H
#define NB_IO_HDF5_ROWS_H

#ifdef NB_HAVE_HDF5
#include "hdf5_file.h"
#include "hdf5_put.h"

/** Makes a row of an array from a frame's truth. */
typedef void nb_hdf5_row(const nb_hdf5_frame *frame, size_t offset, void *row);
/** An array with a row for each frame; offset is for the function.  Rows are `values` numbers of 8
 * bytes of the type: 1, 3 or 4; or 9, a matrix [3][3]. */
void nb_hdf5_put_rows(nb_h5 *h, const nb_hdf5_master *master, const char *path,
                      hid_t type, int values, nb_hdf5_row *row, size_t offset);
/** The 8 bytes at that offset in nb_hdf5_frame. */
void nb_hdf5_member(const nb_hdf5_frame *frame, size_t offset, void *row);
/** The three doubles there. */
void nb_hdf5_vector(const nb_hdf5_frame *frame, size_t offset, void *row);
/** Does this part of the truth differ between the frames? If it cannot be read, the answer
 * is no; writing it will then fail. */
int nb_hdf5_varies(const nb_hdf5_master *master, size_t offset, size_t bytes);

#endif
#endif
