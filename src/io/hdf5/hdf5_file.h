/* SPDX-License-Identifier: MIT */
/** HDF5 files of a series: data files of compressed frames, and the NXmx master over them.
 * Not for several threads at once.  Every function gives NB_ERR_UNSUPPORTED in a build without
 * HDF5. */
#ifndef NB_IO_HDF5_FILE_H
#define NB_IO_HDF5_FILE_H

#include "../../base/outfile.h"
#include "hdf5_chunk.h"
#include "../common/meta.h"
#include "../table/sources.h"

/** Group of a master with an external link data_000001, ... to the frames of each data file. */
#define NB_HDF5_LINKS "/entry/files"

/** Facts about the image of a frame. All are stored as doubles, so that one table of the
 * file holds them. */
typedef struct nb_hdf5_facts {
    double clipped;            /* pixels that the file's type could not hold */
    double max;                /* photons of the brightest pixel before noise */
    double max_fast, max_slow; /* its place */
    double sum;                /* photons */
} nb_hdf5_facts;

/** The values of a frame's reflections that are not in the list. */
typedef struct nb_hdf5_list {
    int64_t count;
    double background, unassigned, diffuse, off_panels; /* photons, as nb_reflections */
} nb_hdf5_list;

/** The true values of one frame. */
typedef struct nb_hdf5_frame {
    double A[9];       /* 1/Angstrom, row major, columns a* b* c*; lab, phi = 0 */
    double A_drawn[9]; /* the same for the mean of the drawn mosaic domains */
    double misset[3];  /* of -misset, deg; NaN: that of A */
    double N[3];       /* cells along a, b, c */
    double beamsize_mm;
#define NUMBER(part, member, ...) double member;
#include "truth_rows.h"
#undef NUMBER
    /* lab; the first pixel's outer corner and unit vectors, as in nb_image_meta */
    double pix0_mm[3], fast_axis[3], slow_axis[3], beam[3], spindle[3], polar_axis[3];
    int64_t seed;
    nb_hdf5_list list; /* with layout.reflections */
    nb_hdf5_facts facts;
} nb_hdf5_frame;

/** The series that a data file belongs to. */
typedef struct nb_series_key {
    uint64_t fingerprint; /* of the configuration */
    int64_t seed;
    int64_t per_file; /* frames of a block */
} nb_series_key;

/** A data file: its series and its frames. */
typedef struct nb_hdf5_data {
    nb_hdf5_layout layout;
    nb_series_key key;
    int first; /* number of its first frame in the series */
    int frames;
} nb_hdf5_data;

/** A data file (/entry/data/data) that is being written.  One thread at a time. */
typedef struct nb_hdf5_writer nb_hdf5_writer;

/** Begin a data file of at most data->frames frames in the temporary file of *out, which passes to the writer.
 * *writer: NULL after an error. */
nb_status nb_hdf5_data_open(nb_outfile *out, const nb_hdf5_data *data,
                            nb_hdf5_writer **writer, nb_error *err);

/** A frame: compressed pixels, true values and reflections. */
typedef struct nb_hdf5_packed {
    const void *chunk;
    size_t bytes;
    const nb_hdf5_frame *truth;
    const nb_reflections *list; /* with layout.reflections */
} nb_hdf5_packed;

/** Append the next frame.  Without room on the disk (NB_ERR_IO) those before it stay. */
nb_status nb_hdf5_data_add(nb_hdf5_writer *writer, const nb_hdf5_packed *frame,
                           nb_error *err);

/** End the file with the frames that were added, whole under its name, or none; free the writer (NULL is fine). */
nb_status nb_hdf5_data_close(nb_hdf5_writer *writer, nb_error *err);

/** Read all but the layout from the data file at path; 0: it is not there, or not one. */
int nb_hdf5_data_key(const char *path, nb_hdf5_data *key);

/** The true values of frames first.. of a data file.  Errors: NB_ERR_INPUT, NB_ERR_IO. */
nb_status nb_hdf5_read_truth(const char *path, int first, int count, nb_hdf5_frame *truth,
                             nb_error *err);

/** The n rows of reflections of a data file of this layout.reflections.  Errors: NB_ERR_IO, NB_ERR_INPUT, NB_ERR_UNSUPPORTED (a build
 * without HDF5). */
nb_status nb_hdf5_read_spots(const char *path, int kind, size_t n, nb_reflection *list,
                             nb_error *err);

/** The noise of source and detector; ADU, fractions. */
typedef struct nb_hdf5_noise {
    int wanted; /* if set, the noise is written */
    double gain, adc_offset, readout;
    double calibration;
    int64_t calib_seed;
    const char *psf; /* "none" if there is none */
    double psf_fwhm_um;
    double trusted; /* largest trusted value; 0: the type's */
} nb_hdf5_noise;

/** A detector from a file. */
typedef struct nb_hdf5_panels {
    nb_detector_spec *detector; /* owned with its members; arrays below are [n_panels] and owned */
    int (*place)[2];            /* in the canvas: fast, slow */
    double (*origin)[3], (*fast)[3], (*slow)[3]; /* lab; m, unit, unit */
    const char *convention;                      /* of the lab */
    double axes[3][3];                           /* X, Y, Z of NeXus in the lab */
} nb_hdf5_panels;

/** A crystal of a frame. */
typedef struct nb_hdf5_crystal {
    int32_t frame, crystal, twin; /* from 0; crystal: in its frame; twin: part of that */
    double part;                  /* of the crystal, that has this lattice */
    double A[9], misset[3];       /* as of nb_hdf5_frame */
    double N[3], cell[6];         /* A, deg */
    double blocks, mosaic_deg, B_added, F_scale;
    char file[256]; /* of its structure factors; "": none */
} nb_hdf5_crystal;

/** The crystals of all frames. */
typedef struct nb_hdf5_crystals {
    nb_hdf5_crystal *rows; /* owned, [n], in the order of the frames */
    size_t n, room;
    int64_t *first, *count; /* owned, [frames] */
} nb_hdf5_crystals;

/** A master file. */
typedef struct nb_hdf5_master {
    nb_hdf5_layout layout;
    int frames;
    int files;           /* number of data files */
    const int *first_of; /* [files + 1], the first frame of each, and `frames` */
    int rotation;        /* else stills */
    int first;           /* number of the first frame in the whole series, from 0 */
    int moving; /* the detector position is that of each frame, not that of meta */
    const nb_image_meta *meta; /* of the base configuration */
    /** The true values of frames first..first+count-1. */
    nb_status (*truth)(void *user, int first, int count, nb_hdf5_frame *out,
                       nb_error *err);
    nb_hdf5_noise noise;
    const char *background; /* the materials, in words; "" or NULL: none */
    const uint8_t *bad; /* [slow][fast], 1: pixel not rendered; NULL: all good.  With panels 1: gap,
                           2: masked */
    const float *transmission;    /* [slow][fast], factors of the pixels; NULL: all 1 */
    const nb_hdf5_panels *panels; /* of a detector from a file; NULL: the panel of meta */
    const char *config;           /* JSON, may be NULL */
    const char *jobs;             /* the text of -jobs, one line per frame; may be NULL */
    const nb_spectra *spectra;    /* frame k has spectrum k; NULL: none */
    /** The spectrum of -spectrum of frame k, of `wavelengths` numbers each; NULL: none.  `threads` ask for frames at
     * a time. */
    nb_status (*spectrum)(void *user, int k, double *A, double *weight, nb_error *err);
    int wavelengths, threads;
    /** Name (NULL: there are fewer) and value in frame k of number i, of the frame, that -vary draws. */
    const char *(*varied_name)(void *user, int i);
    nb_status (*varied)(void *user, int i, int k, double *value, nb_error *err);
    char (*images)[256]; /* [frames], that the crystals are of: a stream of -orientations; NULL */
    const nb_hdf5_crystals *crystals; /* of -crystals; NULL: each frame has one */
    int damaged;                      /* there is a dose */
    /** Name of data file n (0..) relative to the master, into name[NB_PATH_MAX]. */
    void (*data_name)(void *user, int n, char *name);
    void *user; /* of all functions */
} nb_hdf5_master;

nb_status nb_hdf5_write_master(const char *path, const nb_hdf5_master *master,
                               nb_error *err);

#endif
