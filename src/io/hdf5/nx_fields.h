/* SPDX-License-Identifier: MIT */
/** Numbers with units, names and groups of a NeXus file, for every reader of HDF5. */
#ifndef NB_IO_NX_FIELDS_H
#define NB_IO_NX_FIELDS_H

#include "hdf5_get.h"

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

/** The same of the first of these names, which a NULL ends, that is in the group. */
double nb_nx_first(const nb_h5_input *in, const char *group, const char *const *names,
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
