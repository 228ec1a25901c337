/* SPDX-License-Identifier: MIT */
/** Read an HDF5 file with a check of type, size and number of points before reading. No
 * other file of src/ reads attributes or data sets (make lint). */
#ifndef NB_IO_HDF5_GET_H
#define NB_IO_HDF5_GET_H

#include "hdf5_lib.h"
#include "hdf5_read.h"

enum { NB_H5_RANK = 3 };

/** Read an attribute of one integer, as `type`; 0 if missing or of another form. */
int nb_h5_get_integer(const nb_h5_input *in, const char *path, const char *name,
                      hid_t type, void *value);

/** Read a text of any kind, shorter than `size`, from an attribute or, with name NULL,
 * from a data set; 0 if it is missing or has another form. */
int nb_h5_get_string(const nb_h5_input *in, const char *path, const char *name,
                     char *text, size_t size);

/** Read an attribute of exactly n numbers; 0 if it is missing or has another form. */
int nb_h5_get_vector(const nb_h5_input *in, const char *path, const char *name, int n,
                     double *values);

/** True if this absolute path exists with all its groups. */
int nb_h5_there(const nb_h5_input *in, const char *path);

enum {
    NB_H5_NAME = 256,
    NB_H5_PATH = 2 * NB_H5_NAME
}; /* bytes of a listed path, and of any path */

/** Make the path GROUP/NAME; returns 1 if it exists. */
int nb_h5_at(const nb_h5_input *in, const char *group, const char *name,
             char path[NB_H5_PATH]);

/** Fail with NB_ERR_INPUT: path and `what`, or the missing file of a broken link. */
nb_status nb_h5_wrong(const nb_h5_input *in, const char *path, const char *what,
                      nb_error *err);

/** List the paths of the groups of class nx_class (NULL: all members) in a group (or
 * "/"), in the order of the names. More than `max` are an error. Free *paths with
 * nb_free; it is NULL without a group. */
nb_status nb_h5_children(const nb_h5_input *in, const char *group, const char *nx_class,
                         int max, char (**paths)[NB_H5_NAME], int *n, nb_error *err);

/** An open data set of numbers, or of rows of one compound type. */
typedef struct nb_h5_set {
    const nb_h5_input *in;
    const char *path;
    hid_t id; /* -1: closed */
    /* required type of a row; -1: the set has numbers, not rows */
    hid_t row;
    hid_t creation;           /* list of creation properties */
    int rank;                 /* 0 to NB_H5_RANK */
    hsize_t dims[NB_H5_RANK]; /* with leading 1s if the rank is smaller */
    size_t value_bytes;       /* bytes of one number or row in the file */
    int is_integer, is_signed;
    int is_native; /* 1: 16 or 32 bits in native byte order */
} nb_h5_set;

/** Open the set at path; row: the required type, or -1 for numbers. in and path must live
 * as long as the set. Returns 0 if the set is missing or unsupported (other type, more
 * dimensions, external file); the set is then closed. */
int nb_h5_set_open(const nb_h5_input *in, const char *path, hid_t row, nb_h5_set *set);
void nb_h5_set_close(nb_h5_set *set); /* Close the set, which may be closed already. */

/** A box of a set, in NB_H5_RANK dimensions as in nb_h5_set. */
typedef struct nb_h5_box {
    hsize_t first[NB_H5_RANK], count[NB_H5_RANK];
} nb_h5_box;

/** Box of a whole set. */
nb_h5_box nb_h5_whole(const nb_h5_set *set);

/** Read a box into values, as `type`. Missing data (a chunk, or a file of a virtual set)
 * are an error, and are never read as zeros. Errors: NB_ERR_INPUT (damaged, missing
 * filter, too large), NB_ERR_NOMEM. */
nb_status nb_h5_set_read(const nb_h5_set *set, const nb_h5_box *box, hid_t type,
                         void *values, nb_error *err);

/** Read a whole set, as `type` of `bytes` bytes. Free the array with nb_free; it is NULL if
 * *st is an error. Errors: as nb_h5_set_read. */
void *nb_h5_set_all(const nb_h5_set *set, hid_t type, size_t bytes, nb_status *st,
                    nb_error *err);

/** Read number `at` of a set whose rows have `width` numbers. If the set has fewer rows,
 * the first row is used for all. NaN if the set cannot be read. */
double nb_h5_get_number(const nb_h5_input *in, const char *path, long long at, int width);

/** Read all numbers of a set (free with nb_free) and the shape; NULL on failure. */
double *nb_h5_get_numbers(const nb_h5_input *in, const char *path, int *rank,
                          hsize_t dims[NB_H5_RANK]);

/** Read a set of exactly n rows of types[0], as types[1] of `bytes` bytes. Free *rows
 * with nb_free; it is NULL for n = 0. Returns 0 if reading or allocation fails. */
int nb_h5_get_rows(const nb_h5_input *in, const char *path, const hid_t types[2],
                   size_t bytes, size_t n, void **rows);

/** True if each frame [slow][fast] is a native chunk of bitshuffle and LZ4. */
int nb_h5_has_packed_frames(const nb_h5_set *set);
/** Read the stored (filtered) bytes of the chunk at at[set->rank]. Free the result with
 * nb_free; it is NULL if the chunk is missing or memory is exhausted. */
void *nb_h5_get_chunk(const nb_h5_set *set, const hsize_t *at, size_t *bytes);

/* --- Numbers with units, names and groups of NeXus files, for all readers of HDF5 --- */

#define NB_NX_THINNEST_M                                                                 \
    1e-8 /* a thinner sensor means no sensor, because NXmx requires a number above 0 */

/** Kinds of numbers, named by the unit of the result. A number without the attribute
 * `units` already has this unit. The attribute must name an energy for NB_NX_EV, an angle
 * for NB_NX_DEGREES, and for the other kinds a length. */
typedef enum nb_nx_kind {
    NB_NX_METRES,
    NB_NX_MILLIMETRES, /* without the attribute, the number is in metres */
    NB_NX_ANGSTROM,
    NB_NX_DEGREES,
    NB_NX_EV
} nb_nx_kind;

/** Factor from the unit in an attribute to the unit of this kind; 0 if unknown. */
double nb_nx_scale(const nb_h5_input *in, const char *path, const char *attribute,
                   nb_nx_kind kind);

/** Read number `at` of the first of `names` (with blanks between) in the group, or
 * NaN. */
double nb_nx_first(const nb_h5_input *in, const char *group, const char *names,
                   nb_nx_kind kind, long long at);

/** Wavelength of an entry, A: from the beam of the instrument, the beam of the sample or
 * the monochromator, or from an energy there; the mean of a spectrum. NaN if missing.
 * path (or NULL) gets the path of the data set. */
double nb_nx_wavelength(const nb_h5_input *in, const char *entry, const char *instrument,
                        long long at, char path[2 * NB_H5_NAME]);

/** Read Kahn's K and the polarization direction (x, y of NeXus; set only if K is not 0)
 * from the Stokes parameters of an entry. Returns 0 without these parameters. */
int nb_nx_polarization(const nb_h5_input *in, const char *entry, const char *instrument,
                       long long at, double *K, nb_opt3 *axis);

/** Find the entry: the only group of class NXentry, the group in the attribute `default`,
 * or /entry. Errors: NB_ERR_INPUT with the names of the present groups. */
nb_status nb_nx_entry(const nb_h5_input *in, char entry[NB_H5_NAME], nb_error *err);

/** Find the only group of a class. Errors: NB_ERR_INPUT, which lists several groups. */
nb_status nb_nx_one_group(const nb_h5_input *in, const char *parent, const char *nx_class,
                          char path[NB_H5_NAME], nb_error *err);

/** Find the first group of a class, or without one PARENT/NAME. Returns 0 if this path
 * does not exist either. */
int nb_nx_find_group(const nb_h5_input *in, const char *parent, const char *nx_class,
                     const char *name, char path[NB_H5_NAME]);

/** Refuse a file whose radiation is not X-rays. Errors: NB_ERR_INPUT. */
nb_status nb_nx_check_probe(const nb_h5_input *in, const char *entry,
                            const char *instrument, nb_error *err);

/* --- Chains of transformations of NeXus (NXtransformations): only for nxmx*.c --- */

/** An axis moves p to R(vector, value) p + offset, or to p + value vector + offset. */
typedef struct nb_nx_axis {
    char path[NB_H5_NAME];
    int rotates;
    double vector[3], value, offset[3]; /* value: deg or m; offset: m */
} nb_nx_axis;

enum { NB_NX_DEEPEST = 64 };
typedef struct nb_nx_chain {
    int n;
    nb_nx_axis axes[NB_NX_DEEPEST]; /* in the order of their action */
} nb_nx_chain;

/** Read number 0 of a length, m. Errors: NB_ERR_INPUT (not finite, or unknown unit). */
nb_status nb_nx_get_length(const nb_h5_input *in, const char *path, double *value,
                           nb_error *err);

/** Convert wavelengths of the data set to A. Errors: NB_ERR_INPUT for an unknown unit. */
nb_status nb_nx_angstroms(const nb_h5_input *in, const char *path, double *values,
                          size_t n, nb_error *err);

/** Read the offset of an axis, m; 0 without an offset. */
nb_status nb_nx_offset(const nb_h5_input *in, const char *path, double offset[3],
                       nb_error *err);

/** Read the chain of axes from `name` on, the depends_on of the axis or field `from`. */
nb_status nb_nx_chain_read(const nb_h5_input *in, const char *from, const char *name,
                           nb_nx_chain *chain, nb_error *err);

/** Apply the axes from number `first` on to a point or a direction. */
void nb_nx_move(const nb_nx_chain *chain, int first, double point[3]);
void nb_nx_turn(const nb_nx_chain *chain, int first, double direction[3]);

/* --- The rotation of the sample in a NeXus file --- */

/** Rotation during one frame; NaN if missing. */
typedef struct nb_nx_scan {
    double phi_deg, osc_deg; /* start, and width, which may be negative */
    /* unit vector in the frame of NeXus, turned by the axes that follow in the chain */
    nb_opt3 spindle;
} nb_nx_scan;

/** Find the scan axis. It is the first axis, from the crystal outwards, whose values
 * differ; without one, the first axis that turns during a frame according to NAME_end,
 * NAME_increment_set or NAME_increment; without one, the first rotation axis. If the
 * sample has no `depends_on`, the goniometer has the angles (masters of Dectris). Errors:
 * as nb_nx_chain_read. */
nb_status nb_nx_scan_read(const nb_h5_input *in, const char *entry, long long frame,
                          nb_nx_chain *chain, nb_nx_scan *out, nb_error *err);

#endif
