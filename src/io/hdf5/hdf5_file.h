/* SPDX-License-Identifier: MIT */
/** HDF5 files of a series: data files of compressed frames, and an NXmx master with links
 * to the data files. Call from one thread at a time. A build without HDF5 gives
 * NB_ERR_UNSUPPORTED. */
#ifndef NB_IO_HDF5_FILE_H
#define NB_IO_HDF5_FILE_H

#include <math.h>

#include "../../base/outfile.h"
#include "hdf5_chunk.h"
#include "../common/meta.h"
#include "../table/sources.h"

/** Group of a master with an external link data_000001, ... for each data file. */
#define NB_HDF5_LINKS "/entry/files"

/** Facts about the image of a frame; all are doubles, so that one table of the file holds
 * them. */
typedef struct nb_hdf5_facts {
    double clipped;            /* pixels whose value the file type cannot hold */
    double max;                /* photons of the brightest pixel before noise */
    double max_fast, max_slow; /* place of the brightest pixel */
    double sum;                /* photons of the image */
} nb_hdf5_facts;

/** Number of reflections of a frame, and photons that no listed reflection has. */
typedef struct nb_hdf5_list {
    int64_t count;
    /* photons, as in nb_reflections */
    double background, unassigned, diffuse, off_panels;
} nb_hdf5_list;

/** True values of one frame. */
typedef struct nb_hdf5_frame {
    double A[9];       /* 1/Angstrom, row major, columns a* b* c*; lab, phi = 0 */
    double A_drawn[9]; /* A for the mean of the drawn mosaic domains */
    double misset[3];  /* typed -misset, deg; or NaN to calculate it from A */
    double N[3];       /* unit cells along a, b, c */
    double beamsize_mm;
#define NUMBER(part, member, ...) double member;
#include "truth_rows.h"
#undef NUMBER
    /* lab; outer corner of the first pixel, and unit vectors, as in nb_image_meta */
    double pix0_mm[3], fast_axis[3], slow_axis[3], beam[3], spindle[3], polar_axis[3];
    int64_t seed;
    nb_hdf5_list list; /* used if layout.reflections is not 0 */
    nb_hdf5_facts facts;
} nb_hdf5_frame;

/** Make all true values unknown: NaN. */
static inline void nb_hdf5_forget(nb_hdf5_frame *frame)
{
    double *all = (double *)(void *)frame;
    for (size_t i = 0; i < sizeof *frame / sizeof *all; i++)
        all[i] = (double)NAN;
}

/** The series that a data file belongs to. */
typedef struct nb_series_key {
    uint64_t fingerprint; /* fingerprint of the configuration */
    int64_t seed;
    int64_t per_file; /* frames of a data file */
} nb_series_key;

/** Series and frames of a data file. */
typedef struct nb_hdf5_data {
    nb_hdf5_layout layout;
    nb_series_key key;
    int first; /* number of the first frame in the series, from 0 */
    int frames;
} nb_hdf5_data;

/** Writer of a data file (/entry/data/data), for one thread at a time. */
typedef struct nb_hdf5_writer nb_hdf5_writer;

/** Begin a data file of up to data->frames frames in the temporary file of *out, which
 * the writer then owns. *writer is NULL after an error. */
nb_status nb_hdf5_data_open(nb_outfile *out, const nb_hdf5_data *data,
                            nb_hdf5_writer **writer, nb_error *err);

/** A frame: compressed pixels, true values and reflections. */
typedef struct nb_hdf5_packed {
    const void *chunk;
    size_t bytes;
    const nb_hdf5_frame *truth;
    const nb_reflections *list; /* used if layout.reflections is not 0 */
} nb_hdf5_packed;

/** Append the next frame. If the disk is full (NB_ERR_IO), earlier frames stay. */
nb_status nb_hdf5_data_add(nb_hdf5_writer *writer, const nb_hdf5_packed *frame,
                           nb_error *err);

/** End the file, which is then complete or absent, and free the writer (may be NULL). */
nb_status nb_hdf5_data_close(nb_hdf5_writer *writer, nb_error *err);

/** Read everything except the layout from the data file at path. Returns 0 if the file is
 * not a data file. */
int nb_hdf5_data_key(const char *path, nb_hdf5_data *key);

/** Read true values of `count` frames of a file. Errors: NB_ERR_INPUT, NB_ERR_IO. */
nb_status nb_hdf5_read_truth(const char *path, int first, int count, nb_hdf5_frame *truth,
                             nb_error *err);

/** Read the true values of frames of a master of nanobragg; free *rows with nb_free.
 * Values that the master lacks are NaN. *rows is NULL for a file of another program.
 * NB_ERR_NOMEM. */
nb_status nb_hdf5_read_rows(const char *path, int first, int frames, nb_hdf5_frame **rows,
                            nb_error *err);

/** Read the n rows of reflections of a data file; kind: layout.reflections. Errors:
 * NB_ERR_IO, NB_ERR_INPUT, NB_ERR_UNSUPPORTED (no libhdf5). */
nb_status nb_hdf5_read_spots(const char *path, int kind, size_t n, nb_reflection *list,
                             nb_error *err);

/** Noise of source and detector: gain in ADU/photon, offset and readout in ADU. */
typedef struct nb_hdf5_noise {
    int wanted; /* 1: write the noise */
    double gain, adc_offset, readout;
    double calibration; /* fraction */
    int64_t calib_seed;
    const char *psf; /* name of the point spread, or "none" */
    double psf_fwhm_um;
    double trusted; /* largest trusted value; 0: the largest of the type */
} nb_hdf5_noise;

/** A detector from a file. */
typedef struct nb_hdf5_panels {
    nb_detector_spec *detector; /* owned, as are the arrays [n_panels] below */
    int (*place)[2];            /* first pixel of each panel in the data: fast, slow */
    double (*origin)[3], (*fast)[3], (*slow)[3]; /* lab; m, and unit vectors */
    const char *convention;                      /* convention of the lab */
    double axes[3][3];                           /* X, Y, Z of NeXus in the lab */
} nb_hdf5_panels;

/** A crystal of a frame. */
typedef struct nb_hdf5_crystal {
    /* crystal of the frame and domain of the twin, counted from 0 */
    int32_t frame, crystal, twin;
    double part;            /* fraction of the crystal with this lattice */
    double A[9], misset[3]; /* as in nb_hdf5_frame */
    double N[3], cell[6];   /* cell: A, deg */
    double blocks, mosaic_deg, B_added, F_scale;
    char file[256]; /* file of the structure factors, or "" */
} nb_hdf5_crystal;

/** Crystals of all frames. */
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
    const int *first_of; /* [files + 1]: first frame of each file, then `frames` */
    int rotation;        /* 1: a rotation; 0: stills */
    int first;           /* number of the first frame in the whole series, from 0 */
    int moving; /* 1: the detector moves from frame to frame; 0: it stays as in meta */
    const nb_image_meta *meta; /* metadata of the base configuration */
    /** Write the true values of frames first to first+count-1 to the rows. */
    nb_status (*truth)(void *user, int first, int count, nb_hdf5_frame *out,
                       nb_error *err);
    nb_hdf5_noise noise;
    const char *background; /* names of the materials, "" or NULL */
    const uint8_t *bad; /* [slow][fast], 1: not rendered; with panels 1: gap, 2: masked.
                           NULL if all pixels are good */
    const float *transmission;    /* [slow][fast], factors of the pixels; NULL: all 1 */
    const nb_hdf5_panels *panels; /* detector from a file; NULL: the panel of meta */
    const char *config;           /* JSON, or NULL */
    const char *jobs;             /* text of -jobs, one line per frame, or NULL */
    const nb_spectra *spectra;    /* frame k has spectrum k; or NULL */
    /** Get the drawn spectrum of frame k, A[wavelengths] and weight[wavelengths]; or NULL
     * without -spectrum. Called by `threads` threads at once. */
    nb_status (*spectrum)(void *user, int k, double *A, double *weight, nb_error *err);
    int wavelengths, threads;
    /** Name of quantity i of -vary (NULL after the last), and its value in frame k. */
    const char *(*varied_name)(void *user, int i);
    nb_status (*varied)(void *user, int i, int k, double *value, nb_error *err);
    char (*images)[256]; /* [frames]: image names of a stream of -orientations, or NULL */
    const nb_hdf5_crystals *crystals; /* -crystals; NULL: one crystal per frame */
    int damaged;                      /* 1: the frames have a dose */
    /* master of the stored images, from which other true values are copied; or NULL */
    const char *stored;
    /** Name of data file n (from 0), relative to the master, into name[NB_PATH_MAX]. */
    void (*data_name)(void *user, int n, char *name);
    void *user; /* argument of all functions */
} nb_hdf5_master;

nb_status nb_hdf5_write_master(const char *path, const nb_hdf5_master *master,
                               nb_error *err);

#endif
