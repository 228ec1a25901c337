/* SPDX-License-Identifier: MIT */
/** HDF5 files are written under the temporary name of an nb_outfile. */
#ifndef NB_IO_HDF5_PUT_H
#define NB_IO_HDF5_PUT_H

#include "../../base/outfile.h"
#include "../common/panel_spec.h"
#include "hdf5_file.h"
#include "hdf5_get.h"

/* --- Short functions to write groups, values and attributes into an HDF5 file ---
 * They share one `ok` flag: after a failure the others do nothing. */

/** A file being written. */
typedef struct nb_h5 {
    hid_t file;
    int ok;
    nb_outfile out;
    nb_h5_why why;
} nb_h5;

/** Create the file under a temporary name, if the disk has about this number of free bytes. */
nb_status nb_h5_create(nb_h5 *h, const char *path, double bytes, nb_error *err);
/** The same in the temporary file of *out, which passes to h. */
nb_status nb_h5_create_in(nb_h5 *h, nb_outfile *out, double bytes, nb_error *err);
/** Has the disk this number of free bytes?  Errors: NB_ERR_IO. */
nb_status nb_h5_room(const nb_h5 *h, double bytes, nb_error *err);
/** After a failure: empty the file, so that the library can close it. */
void nb_h5_give_up(nb_h5 *h);
/** Close the file under its temporary name.  Returns st or the new error. */
nb_status nb_h5_close(nb_h5 *h, nb_status st, nb_error *err);
/** Close it, and rename it to its name if there was no error (st, h->ok). Returns st or the new error. */
nb_status nb_h5_finish(nb_h5 *h, nb_status st, nb_error *err);

/** Return memory after much was written. The library keeps one or two megabytes of freed
 * memory for its next use. Its small blocks between others prevent the C library from
 * reusing its own. */
void nb_h5_tidy(void);

/** Creation properties of data sets: without a time, so that the same run makes the same
 * bytes. The caller closes it. */
hid_t nb_h5_creation(void);

/** The library's own type for such pixels; nobody closes it. */
hid_t nb_h5_pixel_type(nb_hdf5_type type);

/** A new data set of this creation list; closes list and space.  -1: failed. */
hid_t nb_h5_new_set(nb_h5 *h, const char *path, hid_t type, hid_t space, hid_t list);
void nb_h5_close_set(nb_h5 *h, hid_t set); /* -1: nothing */
/** Write rows first..first+count-1 of an open data set. */
void nb_h5_put_piece(nb_h5 *h, hid_t set, hid_t type, hsize_t first, hsize_t count,
                     const void *rows);
/** Chunks that shuffle and deflate pack, if the library has deflate. */
void nb_h5_pack(nb_h5 *h, hid_t list, int rank, const hsize_t *chunk, unsigned level);

/** A group of this NX_class; path like "/entry/data". */
void nb_h5_group(nb_h5 *h, const char *path, const char *nx_class);
void nb_h5_text(nb_h5 *h, const char *path, const char *text);
void nb_h5_number(nb_h5 *h, const char *path, double value, const char *units);
void nb_h5_integer(nb_h5 *h, const char *path, int64_t value);
/** An array of rank 1..3. */
void nb_h5_array(nb_h5 *h, const char *path, hid_t type, const void *values, int rank,
                 const hsize_t *dims);
/** A member of a struct: `values` numbers of the type, 1..8, or 9, a matrix [3][3]. */
typedef struct nb_h5_member {
    const char *path;
    hid_t type;
    int values;
    size_t offset;
    const char *units; /* NULL: it has none */
} nb_h5_member;
/** An array of each of these members of n structs, `stride` bytes apart. */
void nb_h5_members(nb_h5 *h, const nb_h5_member *members, int count, const void *first,
                   size_t stride, size_t n);
/** The texts of n structs, `stride` bytes apart; nothing for n 0. */
void nb_h5_member_texts(nb_h5 *h, const char *path, const char *first, size_t stride,
                        size_t n);
/** An array [slow][fast] that deflate packs, if the library has it. */
void nb_h5_packed_array(nb_h5 *h, const char *path, hid_t type, const void *values,
                        const hsize_t dims[2]);
/** `count` texts, each with the size of the longest. (Texts of variable length would leave
 * undefined bytes in the file.) */
void nb_h5_texts(nb_h5 *h, const char *path, const char *const *texts, hsize_t count);
void nb_h5_attr_text(nb_h5 *h, const char *path, const char *name, const char *text);
void nb_h5_attr_array(nb_h5 *h, const char *path, const char *name, hid_t type,
                      const void *values, hsize_t count);
/** An array of texts, each with the size of the longest. */
void nb_h5_attr_texts(nb_h5 *h, const char *path, const char *name,
                      const char *const *texts, hsize_t count);

/* --- Arrays of a master file with a row for each frame --- */

/** An array with a row for each frame. */
typedef struct nb_hdf5_rows {
    const char *path, *units; /* NULL: it has none */
    hid_t type;               /* of 8 bytes */
    int values;               /* of a row: 1..8, or 9, a matrix [3][3] */
    size_t offset;            /* of the row in nb_hdf5_frame */
    /** Makes a row from a frame's truth; NULL: copies it. */
    void (*row)(const nb_hdf5_frame *frame, const struct nb_hdf5_rows *rows, void *out);
    const void *user;
} nb_hdf5_rows;
void nb_hdf5_put_rows(nb_h5 *h, const nb_hdf5_master *master, const nb_hdf5_rows *rows);
/** A number of each frame. */
void nb_hdf5_put_column(nb_h5 *h, const nb_hdf5_master *master, const char *path,
                        size_t offset, const char *units);
/** Do the rows, of at most eight values, differ? If the truth cannot be read, the answer is no; writing it will then
 * fail. */
int nb_hdf5_differ(const nb_hdf5_master *master, const nb_hdf5_rows *rows);

/** A set over those of the same path in the data files, one behind the other. */
typedef struct nb_hdf5_virtual {
    const char *path;
    hid_t type, list; /* list: of creation; nb_hdf5_put_virtual closes it */
    int rank;
    hsize_t dims[3];
    const nb_hdf5_list *lists; /* [frames], whose rows they have; NULL: a row for each frame */
} nb_hdf5_virtual;
void nb_hdf5_put_virtual(nb_h5 *h, const nb_hdf5_master *master,
                         const nb_hdf5_virtual *set);

/* --- The detector position of a master ---
 * NeXus' frame, axes, and one position for all frames or one for each. */

#define NB_HDF5_DETECTOR "/entry/instrument/detector"

/** Make the value at path an axis of a dependency chain; kind: rotation or translation. */
void nb_hdf5_make_axis(nb_h5 *h, const char *path, const char *kind, const double v[3],
                       const char *depends_on);

/** Write the detector's module, distance and beam centre. The detector's group must exist. */
void nb_hdf5_put_place(nb_h5 *h, const nb_hdf5_master *master, const nb_axes *f);

/* --- Several panels in a master: their modules for NXmx readers, and our own exact copy --- */

/** A group NXdetector_module for each panel. */
void nb_hdf5_put_modules(nb_h5 *h, const nb_hdf5_master *master);

/* --- /entry/simulation: the values from which the images were made --- */

void nb_hdf5_put_truth(nb_h5 *h, const nb_hdf5_master *master);

/* --- /entry/simulation/reflections: the lists of all frames in one table --- */

/** Begin the table of a data file, of this layout.reflections. */
hid_t nb_hdf5_open_table(nb_h5 *h, int kind);
/** Append the rows of a frame behind the first `at` ones. */
void nb_hdf5_add_rows(nb_h5 *h, hid_t table, int kind, hsize_t at,
                      const nb_reflections *list);
/** Number, first row and sums of each frame. */
void nb_hdf5_put_lists(nb_h5 *h, int frames, const nb_hdf5_list *lists);

/** Write them into the master: the tables of the data files as one. /entry/simulation must
 * exist. */
void nb_hdf5_link_lists(nb_h5 *h, const nb_hdf5_master *master);

#endif
