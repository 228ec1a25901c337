/* SPDX-License-Identifier: MIT */
/** Short functions to write groups, values and attributes into an HDF5 file. They share one
 * `ok` flag: after a failure the others do nothing. */
#ifndef NB_IO_HDF5_PUT_H
#define NB_IO_HDF5_PUT_H

#ifdef NB_HAVE_HDF5
#include "../../base/outfile.h"
#include "hdf5_driver.h"
#include "hdf5_lib.h"

/** A file being written. */
typedef struct nb_h5 {
    hid_t file;
    int ok;
    nb_outfile out;
    nb_h5_driver driver; /* points to out: do not move the struct while the file is open */
} nb_h5;

/** Create the file beside its name, if the disk has about so many free bytes. */
nb_status nb_h5_create(nb_h5 *h, const char *path, double bytes, nb_error *err);
/** After a failure: empty the file, so that the library can close it. */
void nb_h5_give_up(nb_h5 *h);
/** Close the file, and rename it to its name if there was no error (st, h->ok). Returns st
 * or the new error. */
nb_status nb_h5_finish(nb_h5 *h, nb_status st, nb_error *err);
/** As nb_h5_finish for a test file: it is removed. */
nb_status nb_h5_discard(nb_h5 *h, nb_status st, nb_error *err);

/** Return memory after much was written. The library keeps one or two megabytes of freed
 * memory for its next use. Its small blocks between others prevent the C library from
 * reusing its own. */
void nb_h5_tidy(void);

/** Creation properties of data sets: without a time, so that the same run makes the same
 * bytes. The caller closes it. */
hid_t nb_h5_creation(void);

/** The library's own type for such pixels; nobody closes it. */
hid_t nb_h5_pixel_type(nb_hdf5_type type);

/** A group of this NX_class; path like "/entry/data". */
void nb_h5_group(nb_h5 *h, const char *path, const char *nx_class);
void nb_h5_text(nb_h5 *h, const char *path, const char *text);
void nb_h5_number(nb_h5 *h, const char *path, double value, const char *units);
void nb_h5_integer(nb_h5 *h, const char *path, int64_t value);
/** An array of rank 1..3. */
void nb_h5_array(nb_h5 *h, const char *path, hid_t type, const void *values, int rank,
                 const hsize_t *dims);
/** An array [slow][fast] of integers that deflate packs, if the library has it. */
void nb_h5_packed_array(nb_h5 *h, const char *path, hid_t type, const void *values,
                        const hsize_t dims[2]);
/** `count` texts, each with the size of the longest. (Texts of variable length would leave
 * undefined bytes in the file.) */
void nb_h5_texts(nb_h5 *h, const char *path, const char *const *texts, hsize_t count);
/** Gives rows first..first+count-1 of an array, one after the other. */
typedef nb_status nb_h5_rows(void *user, int first, int count, void *rows, nb_error *err);
/** An array that is not completely in memory. */
typedef struct nb_h5_stream {
    const char *path;
    hid_t type;
    int rank; /* 1..3 */
    hsize_t dims[3];
    size_t row_bytes; /* of dims[0] rows */
    nb_h5_rows *rows;
    void *user;
} nb_h5_stream;
void nb_h5_put_stream(nb_h5 *h, const nb_h5_stream *stream);
void nb_h5_attr_text(nb_h5 *h, const char *path, const char *name, const char *text);
void nb_h5_attr_array(nb_h5 *h, const char *path, const char *name, hid_t type,
                      const void *values, hsize_t count);
/** An array of texts, each with the size of the longest. */
void nb_h5_attr_texts(nb_h5 *h, const char *path, const char *name,
                      const char *const *texts, hsize_t count);

#endif
#endif
