/* SPDX-License-Identifier: MIT */
/** A frame of an HDF5 file: NXmx master, its data files, or any /entry/data/data. */
#ifndef NB_IO_HDF5_READ_H
#define NB_IO_HDF5_READ_H

#include "../common/panel_spec.h"

/** Names with odd units, separated by commas, for a note. */
typedef struct nb_h5_remarks {
    char bare[160]; /* without a unit */
    char odd[160];  /* with a unit that is not known */
} nb_h5_remarks;

/** The geometry of the file; NaN for missing values. */
typedef struct nb_hdf5_geometry {
    nb_said_geometry said;
    nb_opt3 axis; /* of the scan, in the frame of NeXus */
    nb_h5_remarks remarks;
    /* lab; of a master of ours: the first pixel's outer corner, unit vectors */
    double pix0_mm[3], fast_axis[3], slow_axis[3], beam[3], spindle[3];
    double polar_axis[3]; /* NaN in files of version 0.1.0 */
} nb_hdf5_geometry;

/** Does the path name an HDF5 file, a data set of one ("file.h5:/group/data"), or a frame of either ("file.h5:12",
 * "file.h5:/group/data:12")? Then name[NB_PATH_MAX] gets the file, with the data set if there is one, and *frame the
 * frame (default 0). */
int nb_hdf5_frame_of(const char *path, char *name, int *frame);
/** The file [NB_PATH_MAX] of such a name, and where in `name` its data set begins; NULL: the usual places. */
const char *nb_hdf5_set_of(const char *name, char *file);

/** An HDF5 file that stays open from frame to frame, for any number of threads.  It begins as zeros. */
typedef struct nb_hdf5_reader {
    int64_t file; /* 0: closed */
    char name[NB_PATH_MAX];
} nb_hdf5_reader;
void nb_hdf5_reader_free(nb_hdf5_reader *reader); /* and its memory, of nb_alloc; NULL is fine */

/** A frame of a file. */
typedef struct nb_hdf5_wanted {
    const char *path; /* as nb_hdf5_frame_of says */
    int frame; /* of /entry/data/data_000001, ... or /entry/data/data, or of the named set */
    int mask;       /* with the file's mask */
    double most_MB; /* the memory that a small file may need, 0 for the default (declared.h) */
    nb_hdf5_geometry *said; /* filled; NULL: not wanted, which is quicker for many frames */
    nb_hdf5_reader *reader; /* keeps the file open; NULL: it is closed again */
} nb_hdf5_wanted;

/** Fill fast, slow, pixels (caller's, nb_free), left_out, format and centre (NaN) of *out: integers or floats of two or
 * three dimensions, uncompressed, or compressed by a filter of the library, by bitshuffle and LZ4, or by an
 * installed plugin; also virtual sets.  From any thread. Errors: NB_ERR_INPUT, NB_ERR_NOMEM, NB_ERR_UNSUPPORTED (no
 * HDF5 in this build). */
nb_status nb_hdf5_read_image(const nb_hdf5_wanted *wanted, nb_image *out, nb_error *err);

/** Count the frames for nb_hdf5_read_image. Every data file is opened, so that missing and damaged
 * files are found. Errors: those of nb_hdf5_read_image, and NB_ERR_INPUT if master and data files
 * disagree. */
nb_status nb_hdf5_count_frames(const char *path, double most_MB, int *frames,
                               nb_error *err);

/** Read the detector of an NXmx file (docs/formats.md): panels, wavelength, mask and scan axis.  *out is the caller's (nb_detector_spec_free), zero
 * after an error.  Errors: NB_ERR_INPUT with the HDF5 name, NB_ERR_NOMEM, NB_ERR_UNSUPPORTED in a
 * build without HDF5. */
nb_status nb_nxmx_read(const char *path, const nb_geometry_typed *typed,
                       const nb_hooks *hooks, nb_detector_spec *out, nb_error *err);

#endif
