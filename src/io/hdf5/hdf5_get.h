/* SPDX-License-Identifier: MIT */
/** Read an HDF5 file without trusting it: type, size and number of points are checked
 * before reading. No other file of src/ reads attributes or data sets (make lint). */
#ifndef NB_IO_HDF5_GET_H
#define NB_IO_HDF5_GET_H

#include "hdf5_lib.h"

#ifdef NB_HAVE_HDF5

enum { NB_H5_RANK = 3 };

/** An attribute of one integer, as `type`; 0: there is none, or it has another form. */
int nb_h5_get_integer(const nb_h5_input *in, const char *path, const char *name,
                      hid_t type, void *value);

/** A text of any kind, shorter than `size`: an attribute, or with name NULL a data set. The
 * lengths of variable texts are checked here: their bytes are read without the library. Returns 0
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

/** Read a box into values, as `type` of type_bytes each. Missing data are an error and
 * never zeros: a missing chunk, a missing file of a virtual set. Errors: NB_ERR_INPUT
 * (damaged, missing filter, too large), NB_ERR_NOMEM. */
nb_status nb_h5_set_read(const nb_h5_set *set, const nb_h5_box *box, hid_t type,
                         size_t type_bytes, void *values, nb_error *err);

/** All of a set as doubles; *values is the caller's (nb_free), NULL on error. The size is
 * checked before memory is allocated. Errors: as nb_h5_set_read. */
nb_status nb_h5_set_doubles(const nb_h5_set *set, double **values, nb_error *err);

/** Number `at` of a set, counted over its rows of `width` numbers. If there are fewer rows,
 * the first row is used for all. NaN: there is none. */
double nb_h5_get_number(const nb_h5_input *in, const char *path, long long at, int width);

/** All of a one-dimensional set of exactly n numbers, as `type` of type_bytes each, into values[n].
 * 0: there is no such set, or it cannot be read. */
int nb_h5_get_column(const nb_h5_input *in, const char *path, hid_t type,
                     size_t type_bytes, size_t n, void *values);

/** All of a one-dimensional set of exactly n rows of this type; *rows is the caller's (nb_free), not
 * NULL for n = 0 either.  0: there is no such set, it cannot be read, or there is no memory. */
int nb_h5_get_rows(const nb_h5_input *in, const char *path, hid_t type, size_t type_bytes,
                   size_t n, void **rows);

int nb_h5_has_filters(const nb_h5_set *set);
/** The number of stored bytes of the chunk at these coordinates; 0: it is not there. */
size_t nb_h5_chunk_bytes(const nb_h5_set *set, const hsize_t *at);
/** The stored bytes of the chunk at these coordinates (set->rank of them), not decompressed, into
 * buffer[room]; their number, 0: it is not there, or does not fit.  *mask: the filters left out. */
size_t nb_h5_get_chunk(const nb_h5_set *set, const hsize_t *at, void *buffer, size_t room,
                       unsigned *mask);
/** The same for a chunk whose length is not known: buffer has room for all of the file. 0: it cannot
 * be read. */
int nb_h5_get_plain_chunk(const nb_h5_set *set, const hsize_t *at, void *buffer);

#endif

/* --- The two kinds of data sets that hdf5_get.c does not read directly --- */

#ifdef NB_HAVE_HDF5

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
