/* SPDX-License-Identifier: MIT */
/** Write HDF5 files under the temporary name of an nb_outfile. */
#ifndef NB_IO_HDF5_PUT_H
#define NB_IO_HDF5_PUT_H

#include "../../base/outfile.h"
#include "../common/panel_spec.h"
#include "hdf5_file.h"
#include "hdf5_get.h"

/* --- Short functions that write groups, values and attributes into an HDF5 file ---
 * All share one `ok` flag: after a failure the next calls have no effect. */

/** A file for writing. */
typedef struct nb_h5 {
    hid_t file;
    int ok;
    nb_outfile out;
    nb_h5_why why;
} nb_h5;

/** Create the file under a temporary name, if the disk has about `bytes` free bytes. */
nb_status nb_h5_create(nb_h5 *h, const char *path, double bytes, nb_error *err);
/** Create the file in the temporary file of *out; h then owns *out. */
nb_status nb_h5_create_in(nb_h5 *h, nb_outfile *out, double bytes, nb_error *err);
/** Check that the disk has this number of free bytes. Errors: NB_ERR_IO. */
nb_status nb_h5_room(const nb_h5 *h, double bytes, nb_error *err);
/** After a failure: empty the file, so that the library can close it. */
void nb_h5_give_up(nb_h5 *h);
/** Close the file under the temporary name. Returns st or the new error. */
nb_status nb_h5_close(nb_h5 *h, nb_status st, nb_error *err);
/** Close the file; rename it if st and h->ok are good. Returns st or the new error. */
nb_status nb_h5_finish(nb_h5 *h, nb_status st, nb_error *err);

/** Return freed memory to the system after much output. The HDF5 library keeps one or two
 * megabytes for later use. Its small blocks prevent the C library from reusing larger
 * blocks. */
void nb_h5_tidy(void);

/** List of creation properties without a time, so that the same run makes the same bytes.
 * The caller closes the list. */
hid_t nb_h5_creation(void);

/** Type of the library for these pixels; do not close it. */
hid_t nb_h5_pixel_type(nb_hdf5_type type);

/** Make a data set with this creation list; closes list and space. -1 on failure. */
hid_t nb_h5_new_set(nb_h5 *h, const char *path, hid_t type, hid_t space, hid_t list);
void nb_h5_close_set(nb_h5 *h, hid_t set); /* Close the set; -1 is allowed. */
/** Write rows first to first+count-1 of an open data set. */
void nb_h5_put_piece(nb_h5 *h, hid_t set, hid_t type, hsize_t first, hsize_t count,
                     const void *rows);
/** Ask for chunks packed by shuffle and deflate, if the library has deflate. */
void nb_h5_pack(nb_h5 *h, hid_t list, int rank, const hsize_t *chunk, unsigned level);

/** Make a group of this NX_class; path like "/entry/data". */
void nb_h5_group(nb_h5 *h, const char *path, const char *nx_class);
void nb_h5_text(nb_h5 *h, const char *path, const char *text);
void nb_h5_number(nb_h5 *h, const char *path, double value, const char *units);
void nb_h5_integer(nb_h5 *h, const char *path, int64_t value);
/** Write an array of rank 1 to 3. */
void nb_h5_array(nb_h5 *h, const char *path, hid_t type, const void *values, int rank,
                 const hsize_t *dims);
/** A member of a struct: 1 to 8 numbers of the type, or 9 for a matrix [3][3]. */
typedef struct nb_h5_member {
    const char *path;
    hid_t type;
    int values;
    size_t offset;
    const char *units; /* units, or NULL */
} nb_h5_member;
/** Write an array for each member, from n structs that are `stride` bytes apart. */
void nb_h5_members(nb_h5 *h, const nb_h5_member *members, int count, const void *first,
                   size_t stride, size_t n);
/** Write the texts of n structs, `stride` bytes apart; no effect for n = 0. */
void nb_h5_member_texts(nb_h5 *h, const char *path, const char *first, size_t stride,
                        size_t n);
/** Write an array [slow][fast], packed by deflate if the library has it. */
void nb_h5_packed_array(nb_h5 *h, const char *path, hid_t type, const void *values,
                        const hsize_t dims[2]);
/** Write `count` texts, each with the size of the longest. (Texts of variable length
 * would leave undefined bytes in the file.) */
void nb_h5_texts(nb_h5 *h, const char *path, const char *const *texts, hsize_t count);
void nb_h5_attr_text(nb_h5 *h, const char *path, const char *name, const char *text);
void nb_h5_attr_array(nb_h5 *h, const char *path, const char *name, hid_t type,
                      const void *values, hsize_t count);
/** Write an attribute that holds `count` texts, each with the size of the longest. */
void nb_h5_attr_texts(nb_h5 *h, const char *path, const char *name,
                      const char *const *texts, hsize_t count);

/* --- Arrays of a master file with a row for each frame --- */

/** An array with a row for each frame. */
typedef struct nb_hdf5_rows {
    const char *path, *units; /* units may be NULL */
    hid_t type;               /* a type of 8 bytes */
    int values;               /* numbers of a row: 1 to 8, or 9 for a matrix [3][3] */
    size_t offset;            /* offset of the row in nb_hdf5_frame */
    /** Make a row from the truth of a frame; NULL: copy the row at `offset` of the
     * truth. */
    void (*row)(const nb_hdf5_frame *frame, const struct nb_hdf5_rows *rows, void *out);
    const void *user;
} nb_hdf5_rows;
void nb_hdf5_put_rows(nb_h5 *h, const nb_hdf5_master *master, const nb_hdf5_rows *rows);
/** Write one number for each frame. */
void nb_hdf5_put_column(nb_h5 *h, const nb_hdf5_master *master, const char *path,
                        size_t offset, const char *units);
/** True if the rows (up to eight values) differ. Returns 0 if the truth cannot be read:
 * the later call that writes the rows then fails. */
int nb_hdf5_differ(const nb_hdf5_master *master, const nb_hdf5_rows *rows);

/** A virtual set that joins the sets of the same path in all data files. */
typedef struct nb_hdf5_virtual {
    const char *path;
    hid_t type, list; /* list: creation properties; nb_hdf5_put_virtual closes it */
    int rank;
    hsize_t dims[3];
    const nb_hdf5_list *lists; /* [frames]: rows of each frame; or NULL: one per frame */
} nb_hdf5_virtual;
void nb_hdf5_put_virtual(nb_h5 *h, const nb_hdf5_master *master,
                         const nb_hdf5_virtual *set);

/* --- The detector position of a master --- It is in the axes of NeXus, with one position
 * for all frames or one for each frame. */

#define NB_HDF5_DETECTOR "/entry/instrument/detector"

/** Make the value at path an axis of a chain; kind: "rotation" or "translation". */
void nb_hdf5_make_axis(nb_h5 *h, const char *path, const char *kind, const double v[3],
                       const char *depends_on);

/** Write module, distance and beam centre into the existing group of the detector. */
void nb_hdf5_put_place(nb_h5 *h, const nb_hdf5_master *master, const nb_axes *f);

/* --- Several panels in a master: modules for readers of NXmx, and an exact copy --- */

/** Write a group NXdetector_module for each panel. */
void nb_hdf5_put_modules(nb_h5 *h, const nb_hdf5_master *master);

/* --- /entry/simulation: the true values of the images --- */

void nb_hdf5_put_truth(nb_h5 *h, const nb_hdf5_master *master);

/* --- /entry/simulation/reflections: the lists of all frames in one table --- */

/** Begin the table of a data file; kind: layout.reflections. */
hid_t nb_hdf5_open_table(nb_h5 *h, int kind);
/** Append the rows of a frame after the first `at` rows. */
void nb_hdf5_add_rows(nb_h5 *h, hid_t table, int kind, hsize_t at,
                      const nb_reflections *list);
/** Write number of rows, first row and sums of photons of each frame. */
void nb_hdf5_put_lists(nb_h5 *h, int frames, const nb_hdf5_list *lists);

/** Copy the table of another master, if it has one. /entry/simulation must exist. */
void nb_hdf5_copy_table(nb_h5 *h, const nb_h5_input *in);

/** Write the lists into the master and join the tables of the data files.
 * /entry/simulation must exist. */
void nb_hdf5_link_lists(nb_h5 *h, const nb_hdf5_master *master);

#endif
