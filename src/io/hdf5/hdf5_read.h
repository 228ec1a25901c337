/* SPDX-License-Identifier: MIT */
/** Read a frame of an HDF5 file: an NXmx master, a data file, or any /entry/data/data. */
#ifndef NB_IO_HDF5_READ_H
#define NB_IO_HDF5_READ_H

#include "../common/panel_spec.h"

/** Names of data sets without a known unit, separated by commas, for a note. */
typedef struct nb_h5_remarks {
    char bare[160]; /* names without a unit */
    char odd[160];  /* names with an unknown unit */
} nb_h5_remarks;

/** Geometry of the file; NaN for missing values. */
typedef struct nb_hdf5_geometry {
    nb_said_geometry said;
    nb_opt3 axis; /* scan axis, in the frame of NeXus */
    nb_h5_remarks remarks;
    /* lab, only in masters of nanobragg: outer corner of the first pixel, unit vectors */
    double pix0_mm[3], fast_axis[3], slow_axis[3], beam[3], spindle[3];
    double polar_axis[3]; /* NaN in files of version 0.1.0 */
} nb_hdf5_geometry;

/** True if the path names an HDF5 file, a data set ("file.h5:/group/data"), or a frame
 * ("file.h5:12", "file.h5:/group/data:12"). name[NB_PATH_MAX] gets the file, with the
 * data set if the path has one; *frame gets the frame (default 0). */
int nb_hdf5_frame_of(const char *path, char *name, int *frame);
/** Copy the file of a name to file[NB_PATH_MAX]; returns the set in `name`, or NULL. */
const char *nb_hdf5_set_of(const char *name, char *file);

/** A file that stays open from frame to frame, for all threads. At first all members are
 * 0. */
typedef struct nb_hdf5_reader {
    int64_t file; /* 0: closed */
    char name[NB_PATH_MAX];
} nb_hdf5_reader;
/* Close the file and free the reader; NULL is allowed. */
void nb_hdf5_reader_free(nb_hdf5_reader *reader);

/** A frame of a file. */
typedef struct nb_hdf5_wanted {
    const char *path; /* name of the file and set, from nb_hdf5_frame_of */
    /* number of the frame from 0, counted over data_000001, ... together, or in data or
     * the named set */
    int frame;
    int mask;               /* 1: use the mask of the file */
    nb_hdf5_geometry *said; /* gets the geometry; NULL is quicker for many frames */
    nb_hdf5_reader *reader; /* keeps the file open; NULL: the file is closed again */
} nb_hdf5_wanted;

/** Read a frame into *out, with centre NaN; free pixels and left_out with nb_free. Data
 * sets are integers or floats of 2 or 3 dimensions, also virtual, plain or packed by a
 * filter of the library, by bitshuffle with LZ4 or by a plugin. Call from any thread.
 * Errors: NB_ERR_INPUT, NB_ERR_NOMEM, NB_ERR_UNSUPPORTED (no libhdf5). */
nb_status nb_hdf5_read_image(const nb_hdf5_wanted *wanted, nb_image *out, nb_error *err);

struct nb_hdf5_frame;
/** Read the geometry of the frames (at least 1) of a file. *differ: 0 if they are one scan
 * or stills of one geometry; then said has only the first and the last. truth: values of
 * nb_hdf5_read_rows, or NULL. Errors: as nb_hdf5_read_image. */
nb_status nb_hdf5_read_geometry(const char *path, int frames,
                                const struct nb_hdf5_frame *truth, nb_hdf5_geometry *said,
                                int *differ, nb_error *err);

/** Count the frames for nb_hdf5_read_image. Opens every data file, to find missing and
 * damaged files. Errors: those of nb_hdf5_read_image, and NB_ERR_INPUT if master and data
 * files differ in the number. */
nb_status nb_hdf5_count_frames(const char *path, int *frames, nb_error *err);

/** Read panels, wavelength, mask and scan axis of an NXmx file (docs/formats.md). Free
 * *out with nb_detector_spec_free; on error it is zero. Errors: NB_ERR_NOMEM,
 * NB_ERR_INPUT with the HDF5 name, NB_ERR_UNSUPPORTED without libhdf5. */
nb_status nb_nxmx_read(const char *path, const nb_geometry_typed *typed,
                       const nb_hooks *hooks, nb_detector_spec *out, nb_error *err);

#endif
