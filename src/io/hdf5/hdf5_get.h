/* SPDX-License-Identifier: MIT */
/** Read an HDF5 file: type, size and number of points are checked
 * before reading. No other file of src/ reads attributes or data sets (make lint). */
#ifndef NB_IO_HDF5_GET_H
#define NB_IO_HDF5_GET_H

#include "hdf5_lib.h"
#include "hdf5_read.h"

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

enum {
    NB_H5_NAME = 256,
    NB_H5_PATH = 2 * NB_H5_NAME
}; /* bytes of a listed path; of any path */

/** The path GROUP/NAME; returns whether it exists. */
int nb_h5_at(const nb_h5_input *in, const char *group, const char *name,
             char path[NB_H5_PATH]);

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

/** All numbers of the set at path (nb_free), and its shape.  NULL: there is none, or it cannot be read. */
double *nb_h5_get_numbers(const nb_h5_input *in, const char *path, int *rank,
                          hsize_t dims[NB_H5_RANK]);

/** All of a one-dimensional set of exactly n rows of types[0], as types[1] of so many bytes; *rows is the caller's
 * (nb_free), NULL for n = 0.  0: there is no such set, it cannot be read, or there is no memory. */
int nb_h5_get_rows(const nb_h5_input *in, const char *path, const hid_t types[2],
                   size_t bytes, size_t n, void **rows);

/** Is each frame [slow][fast] one chunk, of native numbers that bitshuffle and LZ4 packed? */
int nb_h5_has_packed_frames(const nb_h5_set *set);
/** The stored bytes of the chunk at these coordinates (set->rank of them), which all filters of the set made; the
 * caller's (nb_free). NULL: it is not there, or no memory. */
void *nb_h5_get_chunk(const nb_h5_set *set, const hsize_t *at, size_t *bytes);

/* Numbers with units, names and groups of a NeXus file, for every reader of HDF5. */

#define NB_NX_THINNEST_M                                                                 \
    1e-8 /* below it there is no sensor: NXmx wants a number above 0 */

/** Kinds of numbers, and their units here. A number without the attribute `units` is in this
 * unit already; of NB_NX_EV the attribute names an energy, of NB_NX_DEGREES an angle, else a
 * length. */
typedef enum nb_nx_kind {
    NB_NX_METRES,
    NB_NX_MILLIMETRES, /* metres without the attribute */
    NB_NX_ANGSTROM,
    NB_NX_DEGREES,
    NB_NX_EV
} nb_nx_kind;

/** Units of this kind in the unit of the attribute at path; 0: the attribute names no such unit. */
double nb_nx_scale(const nb_h5_input *in, const char *path, const char *attribute,
                   nb_nx_kind kind);

/** Number `at` of the first of these names, with blanks between, that is in the group, in this unit.  NaN: there is none. */
double nb_nx_first(const nb_h5_input *in, const char *group, const char *names,
                   nb_nx_kind kind, long long at);

/** The wavelength, A, of an entry with this instrument: of its beam, of the sample's, of the
 * monochromator, or from an energy. For a spectrum the mean. NaN: not in the file. *path (may be
 * NULL) gets the data set. */
double nb_nx_wavelength(const nb_h5_input *in, const char *entry, const char *instrument,
                        long long at, char path[2 * NB_H5_NAME]);

/** The polarization of an entry by its Stokes parameters: Kahn's K, and its direction across the
 * beam (x, y of NeXus; set only if K is not 0). Returns 0 if the file has none. */
int nb_nx_polarization(const nb_h5_input *in, const char *entry, const char *instrument,
                       long long at, double *K, nb_opt3 *axis);

/** The entry: the only group of class NXentry, that of the attribute `default`, or /entry.  Errors:
 * NB_ERR_INPUT that names what is there. */
nb_status nb_nx_entry(const nb_h5_input *in, char entry[NB_H5_NAME], nb_error *err);

/** The one group of a class; an error that lists them where there are several. */
nb_status nb_nx_one_group(const nb_h5_input *in, const char *parent, const char *nx_class,
                          char path[NB_H5_NAME], nb_error *err);

/** The first group of a class, or else the one of this name; 0: none, path is then PARENT/NAME. */
int nb_nx_find_group(const nb_h5_input *in, const char *parent, const char *nx_class,
                     const char *name, char path[NB_H5_NAME]);

/** Refuse a file whose radiation is not X-rays. Errors: NB_ERR_INPUT. */
nb_status nb_nx_check_probe(const nb_h5_input *in, const char *entry,
                            const char *instrument, nb_error *err);

/* --- Chains of transformations of NeXus (NXtransformations) ---
 * For nxmx*.c alone. */

/** One axis: point -> R(vector, value) point + offset, or point + value vector + offset.  m, deg. */
typedef struct nb_nx_axis {
    char path[NB_H5_NAME];
    int rotates;
    double vector[3], value, offset[3];
} nb_nx_axis;

enum { NB_NX_DEEPEST = 64 };
typedef struct nb_nx_chain {
    int n;
    nb_nx_axis axes[NB_NX_DEEPEST]; /* in the order in which they act */
} nb_nx_chain;

/** Value 0 of a length, m.  Errors: NB_ERR_INPUT for a number that is not finite, or an unknown unit. */
nb_status nb_nx_get_length(const nb_h5_input *in, const char *path, double *value,
                           nb_error *err);

/** Wavelengths of the data set, as they were read, to A.  Errors: NB_ERR_INPUT for an unknown unit. */
nb_status nb_nx_angstroms(const nb_h5_input *in, const char *path, double *values,
                          size_t n, nb_error *err);

/** The offset of an axis, m; 0 where there is none. */
nb_status nb_nx_offset(const nb_h5_input *in, const char *path, double offset[3],
                       nb_error *err);

/** The chain of axes that starts at `name`, as written in an axis or field at `from`. */
nb_status nb_nx_chain_read(const nb_h5_input *in, const char *from, const char *name,
                           nb_nx_chain *chain, nb_error *err);

/** Axes from number `first` on, applied to a point or to a direction. */
void nb_nx_move(const nb_nx_chain *chain, int first, double point[3]);
void nb_nx_turn(const nb_nx_chain *chain, int first, double direction[3]);

/* --- The rotation of the sample in a NeXus file --- */

/** The rotation during one frame; NaN: not in the file. */
typedef struct nb_nx_scan {
    double phi_deg, osc_deg; /* start and width, which may be negative */
    nb_opt3 spindle;         /* unit, in the frame of NeXus, at the other axes' angles */
} nb_nx_scan;

/** Find the scan axis: the first, from the crystal outwards, whose values differ; else the first
 * that turns during a frame by NAME_end, NAME_increment_set or NAME_increment; else the first
 * rotation. A file without `depends_on` of the sample may have its angles in the goniometer
 * (masters of Dectris). Errors: those of a chain. */
nb_status nb_nx_scan_read(const nb_h5_input *in, const char *entry, long long frame,
                          nb_nx_chain *chain, nb_nx_scan *out, nb_error *err);

#endif
