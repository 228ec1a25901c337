/* SPDX-License-Identifier: MIT */
/** HDF5 files of a series: data files of compressed frames, and the NXmx master over them.
 * Not for several threads at once.  Every function gives NB_ERR_UNSUPPORTED in a build without
 * HDF5. */
#ifndef NB_IO_HDF5_FILE_H
#define NB_IO_HDF5_FILE_H

#include "../../base/hash.h"
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

/** A data file: its series and its frames. */
typedef struct nb_hdf5_data {
    nb_hdf5_layout layout;
    int frames;
    uint64_t fingerprint; /* of the configuration */
    int64_t seed;
    int64_t per_file;           /* frames of every data file but the last */
    uint64_t bytes;             /* approximate size of its chunks */
    int first;                  /* number of its first frame in the series */
    const int64_t *reflections; /* [frames], numbers of reflections; with layout.reflections */
    const nb_hdf5_facts *facts; /* [frames] */
    const uint64_t *inputs; /* [frames], hash of the input files of a single frame; NULL: no
                             * frame has its own */
} nb_hdf5_data;

/** A compressed frame. */
typedef struct nb_hdf5_packed {
    const void *data;
    size_t bytes;
    uint64_t hash; /* nb_hdf5_hash of them */
} nb_hdf5_packed;

/** The hash of a compressed frame, which its data file keeps. */
static inline uint64_t nb_hdf5_hash(const void *chunk, size_t bytes)
{
    return nb_hash_bytes(NB_HASH_START, chunk, bytes);
}

/** Gives frame i (0..frames-1) of a data file, compressed. The memory is valid until the
 * next call. */
typedef nb_status nb_hdf5_next(void *user, int i, nb_hdf5_packed *chunk, nb_error *err);

/** Gives the reflections of frame i in the same way. */
typedef nb_status nb_hdf5_next_list(void *user, int i, nb_reflections *list,
                                    nb_error *err);

/** Write a complete data file (/entry/data/data), or none. */
nb_status nb_hdf5_write_data(const char *path, const nb_hdf5_data *data,
                             nb_hdf5_next *next, nb_hdf5_next_list *next_list, void *user,
                             nb_error *err);

/** Write such a data file with one small frame beside `path` and remove it. This finds
 * errors of the build, the library, the folder or the file system before the first frame. */
nb_status nb_hdf5_try_data(const char *path, const nb_hdf5_layout *layout, nb_error *err);

/** The values of a frame's reflections that are not in the list. */
typedef struct nb_hdf5_list {
    int64_t count;
    double background, unassigned, diffuse, off_panels; /* photons, as nb_reflections */
} nb_hdf5_list;

/** What the data file has about its frames, [frames] each. */
typedef struct nb_hdf5_found {
    nb_hdf5_list *lists; /* with layout.reflections */
    uint64_t *inputs;    /* hashes of the inputs */
    nb_hdf5_facts *facts;
} nb_hdf5_found;

/** Is the file at path this data file, with every frame unchanged? Then it fills *found. */
int nb_hdf5_verify_data(const char *path, const nb_hdf5_data *data,
                        const nb_hdf5_found *found);
/** Read fingerprint, seed and per_file of the data file at path; 0 if there is none. */
int nb_hdf5_data_key(const char *path, nb_hdf5_data *key);

/** The n rows of reflections of a data file of this layout.reflections.  Errors: NB_ERR_IO, NB_ERR_INPUT, NB_ERR_UNSUPPORTED (a build
 * without HDF5). */
nb_status nb_hdf5_read_spots(const char *path, int kind, size_t n, nb_reflection *list,
                             nb_error *err);

/** The true values of one frame. */
typedef struct nb_hdf5_frame {
    double A[9];       /* 1/Angstrom, row major, columns a* b* c*; lab, phi = 0 */
    double A_drawn[9]; /* the same for the mean of the drawn mosaic domains */
    double misset[3];  /* of -misset, deg; NaN: that of A */
    double N[3];       /* cells along a, b, c */
    double blocks;
    double phi_deg, osc_deg;
    double wavelength_A, fluence, mosaic_deg;
    double exposure_s, beamsize_mm;
    double polarization; /* Kahn factor */
    double distance_mm;
    double beam_px[2]; /* fast, slow */
    /* lab; the first pixel's outer corner and unit vectors, as in nb_image_meta */
    double pix0_mm[3], fast_axis[3], slow_axis[3], beam[3], spindle[3], polar_axis[3];
    int64_t seed;
    double flicker;                        /* factor of the source; 1 without flicker */
    double dose_MGy, B_added, cell_factor; /* of a dose: 0, 0 A^2, 1 without */
    double spectrum_factor;                /* of the fluence, by -spectrum; 1 without */
    nb_hdf5_list list;                     /* with layout.reflections */
    nb_hdf5_facts facts;
} nb_hdf5_frame;

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
    int frames, frames_per_file;
    int rotation; /* else stills */
    int first;    /* number of the first frame in the whole series, from 0 */
    int moving;   /* the detector position is that of each frame, not that of meta */
    const nb_image_meta *meta; /* of the base configuration */
    /** The true values of frames first..first+count-1. */
    nb_status (*truth)(void *user, int first, int count, nb_hdf5_frame *out,
                       nb_error *err);
    void *truth_user;
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
    /** Name and value in frame k of number i < n_varied, of the frame, that -vary draws. */
    const char *(*varied_name)(void *user, int i);
    nb_status (*varied)(void *user, int i, int k, double *value, nb_error *err);
    int n_varied;
    char (*images)[256]; /* [frames], that the crystals are of: a stream of -orientations; NULL */
    const nb_hdf5_crystals *crystals; /* of -crystals; NULL: each frame has one */
    int damaged;                      /* there is a dose */
    void *frames_user;                /* of spectrum, varied_name and varied */
    /** Name of data file n (0..) relative to the master, into name[NB_PATH_MAX]. */
    void (*data_name)(void *user, int n, char *name);
    void *user;
} nb_hdf5_master;

nb_status nb_hdf5_write_master(const char *path, const nb_hdf5_master *master,
                               nb_error *err);

#endif
