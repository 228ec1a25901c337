/* SPDX-License-Identifier: MIT */
/** Read an HDF5 file: type, size and number of points are checked
 * before reading. No other file of src/ reads attributes or data sets (make lint). */
#ifndef NB_IO_HDF5_GET_H
#define NB_IO_HDF5_GET_H

#include "hdf5_lib.h"

enum { NB_H5_RANK = 3 };

/** An attribute of one integer, as `type`; 0: there is none, or it has another form. */
int nb_h5_get_integer(const nb_h5_input *in, const char *path, const char *name,
                      hid_t type, void *value);

/** A text of any kind, shorter than `size`: an attribute, or with name NULL a data set. Returns 0
 * as above. */
int nb_h5_get_string(const nb_h5_input *in, const char *path, const char *name,
                     char *text, size_t size);

/** An attribute of exactly n numbers; 0: there is none, or it has another form. */
int nb_h5_get_vector(const nb_h5_input *in, const char *path, const char *name, int n,
                     double *values);

/** Does this absolute path exist, with all groups before it? */
int nb_h5_there(const nb_h5_input *in, const char *path);

enum { NB_H5_NAME = 256 }; /* bytes of a path that is listed */

/** NB_ERR_INPUT: what is wrong with the set at this path; of a link to another file, that its file cannot be opened. */
nb_status nb_h5_wrong(const nb_h5_input *in, const char *path, const char *what,
                      nb_error *err);

/** The paths of the groups in a group (or "/") with the NX_class nx_class (NULL: all members), in
 * the order of their names. More than `most` are an error. *paths is the caller's (nb_free), NULL
 * when there are none. */
nb_status nb_h5_children(const nb_h5_input *in, const char *group, const char *nx_class,
                         int most, char (**paths)[NB_H5_NAME], int *n, nb_error *err);

/** A data set of numbers, or of rows of one compound type; a view of an open file. */
typedef struct nb_h5_set {
    const nb_h5_input *in;
    const char *path;
    hid_t id;                 /* -1: closed */
    hid_t creation;           /* how it was created */
    int rank;                 /* 0..NB_H5_RANK */
    hsize_t dims[NB_H5_RANK]; /* with leading 1s for a smaller rank */
    double file_bytes;        /* of the file that contains it, which a link may name */
    size_t value_bytes;       /* of one number or row in the file */
    int is_integer, is_signed;
    int is_native; /* of 16 or 32 bits, as the processor has them */
} nb_h5_set;

/** Open the set at path; row -1: numbers, otherwise the required type. in and path must
 * outlive it. 0: there is none, or it is not supported (other type, more dimensions,
 * external file); the set is then closed. */
int nb_h5_set_open(const nb_h5_input *in, const char *path, hid_t row, nb_h5_set *set);
void nb_h5_set_close(nb_h5_set *set); /* a closed set is allowed */

/** A box of a set; all NB_H5_RANK dimensions, as in nb_h5_set. */
typedef struct nb_h5_box {
    hsize_t first[NB_H5_RANK], count[NB_H5_RANK];
} nb_h5_box;

/** All of a set. */
nb_h5_box nb_h5_whole(const nb_h5_set *set);

/** Read a box into values, as `type`. Missing data are an error and
 * never zeros: a missing chunk, a missing file of a virtual set. Errors: NB_ERR_INPUT
 * (damaged, missing filter, too large), NB_ERR_NOMEM. */
nb_status nb_h5_set_read(const nb_h5_set *set, const nb_h5_box *box, hid_t type,
                         void *values, nb_error *err);

/** All of a set, as `type` of so many bytes: the caller's (nb_free), or NULL with an error in *st. The size is checked
 * before memory is allocated. Errors: as nb_h5_set_read. */
void *nb_h5_set_all(const nb_h5_set *set, hid_t type, size_t bytes, nb_status *st,
                    nb_error *err);

/** Number `at` of a set, counted over its rows of `width` numbers. If there are fewer rows,
 * the first row is used for all. NaN: there is none. */
double nb_h5_get_number(const nb_h5_input *in, const char *path, long long at, int width);

/** All of a one-dimensional set of exactly n rows of types[0], as types[1] of so many bytes; *rows is the caller's
 * (nb_free), NULL for n = 0.  0: there is no such set, it cannot be read, or there is no memory. */
int nb_h5_get_rows(const nb_h5_input *in, const char *path, const hid_t types[2],
                   size_t bytes, size_t n, void **rows);

/** Is each frame [slow][fast] one chunk, of native numbers that bitshuffle and LZ4 packed? */
int nb_h5_has_packed_frames(const nb_h5_set *set);
/** The stored bytes of the chunk at these coordinates (set->rank of them), which all filters of the set made; the
 * caller's (nb_free). NULL: it is not there, or no memory. */
void *nb_h5_get_chunk(const nb_h5_set *set, const hsize_t *at, size_t *bytes);

#endif
