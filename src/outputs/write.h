/* SPDX-License-Identifier: MIT */
/** Files that a simulation writes. */
#ifndef NB_OUTPUTS_WRITE_H
#define NB_OUTPUTS_WRITE_H

#include "../base/outfile.h"
#include "../io/hdf5/hdf5_file.h"
#include "../io/image/writer.h"
#include "../io/table/stream.h"
#include "../nanobragg.h"
#include "../inputs/files.h"
#include "../inputs/load.h"
#include "../sim/sim.h"

/* --- contents of masters of series --- */

/** True if a frame of the canvas has the layout of the stack in memory. */
int nb_canvas_is_stack(const nb_sim *sim);
/** Copy a stack, `bytes` a pixel, to the panels' positions in the canvas. Errors:
 * NB_ERR_NOMEM. */
nb_status nb_canvas_put(const nb_sim *sim, const void *stack, size_t bytes, void *canvas,
                        nb_error *err);

/** Mark the bad pixels of the canvas in *bad (nb_free): gaps get 1; pixels that are not
 * rendered get 1, or 2 with a detector's file. *bad is NULL if all pixels are good. */
nb_status nb_canvas_bad(const nb_sim *sim, uint8_t **bad, nb_error *err);

/** Make *factors (nb_free), the factors of the pixels in the master's canvas, 0 in gaps;
 * NULL if all factors are 1.  Errors: NB_ERR_NOMEM. */
nb_status nb_canvas_factors(const nb_sim *sim, float **factors, nb_error *err);

/** Make the panels of the master; free them with nb_canvas_panels_free. */
nb_status nb_canvas_panels(const nb_sim *sim, nb_hdf5_panels *out, nb_error *err);
void nb_canvas_panels_free(nb_hdf5_panels *panels);

/** Truth of the image of sim->model. stored (or NULL): truth of the image that replaces a
 * rendered one, NaN where it is unknown. */
nb_hdf5_frame nb_sim_truth(const nb_sim *sim, const nb_hdf5_frame *stored);

/** Noise of the detector in a file of this kind; 0 without noise. */
nb_hdf5_noise nb_sim_noise_truth(const nb_sim *sim, nb_noise_file file);

/** Add a row for each twin part of a crystal with the record cfg, which is resolved. A,
 * N, cell and blocks are NaN if the crystal's files are not loaded. Errors: NB_ERR_NOMEM,
 * those of nb_sim_crystal_of. */
nb_status nb_sim_crystal_rows(const nb_sim *sim, int frame, int crystal, nb_config *cfg,
                              nb_hdf5_crystals *rows, nb_error *err);

/* --- -geomout and -exptout --- */

/** Write the files that sim->cfg names. hdf5: the master of the series, or NULL. frames:
 * number of frames of the rotation, which begins with the frame of sim; 1 without a
 * rotation; 0 for nb_expt_stills_write. */
nb_status nb_sim_write_detector(const nb_sim *sim, const char *hdf5, int frames,
                                nb_error *err);

/** Print the detector as CrystFEL text: *n bytes without a NUL in *text (nb_free). hdf5:
 * as for nb_sim_write_detector. Errors: NB_ERR_NOMEM. */
nb_status nb_sim_print_geometry(const nb_sim *sim, const nb_detector_spec *d,
                                const char *hdf5, char **text, size_t *n, nb_error *err);

/* --- -streamout: stream_out.c --- */

/** A stream that is being written, with its detector. */
typedef struct nb_stream_job {
    nb_stream_out out;
    nb_detector_spec detector; /* owned */
    int (*place)[2];           /* owned, [n_panels] */
    char *geometry;            /* owned */
} nb_stream_job;

/** Begin the file sim->cfg.stream_file. hdf5: the master of the series, or NULL. The
 * caller calls nb_stream_close, after an error too. */
nb_status nb_stream_open(const nb_sim *sim, const char *hdf5, nb_stream_job *job,
                         nb_error *err);
/** Complete the file, or remove it after an error; returns st, or a new error. */
nb_status nb_stream_close(nb_stream_job *job, nb_status st, nb_error *err);

/** Convert a matrix with the columns a* b* c* (1/A), in the lab frame at phi 0, to the
 * frame of a stream at phi, rad. */
void nb_stream_axes(const nb_sim *sim, const double A[9], double phi, double out[9]);

/** Write the stream of a single image with these reflections, if a file is named. */
nb_status nb_sim_write_stream(const nb_sim *sim, const nb_reflections *spots,
                              nb_error *err);

/** Write -spectrumout, if it is named.  Errors: NB_ERR_IO, NB_ERR_NOMEM. */
nb_status nb_sim_write_spectrum(const nb_sim *sim, nb_error *err);

/** Make the spectrum of a frame of cfg (nb_spectrum_free). Errors: those of
 * nb_spectrum_make. */
nb_status nb_spectrum_of_frame(const nb_sim *sim, const nb_config *cfg, nb_spectrum *out,
                               nb_error *err);

/** Write experiments of DIALS: detector, beam, goniometer, scan, crystal. */
nb_status nb_expt_write(const nb_sim *sim, const nb_detector_spec *detector, int frames,
                        nb_error *err);

/** Pictures taken with one detector. Each has a crystal, and a beam if `beams` is not
 * NULL. */
typedef struct nb_expt_list {
    const char *path;
    const char *const *names; /* [count]; names of the pictures, used as identifiers */
    /* [count]; a, b, c in the lab frame, m; all 0: no crystal */
    const double (*edges)[9];
    /* [count]; wavelength (A), direction in the lab frame; NULL: the beam of sim */
    const double (*beams)[4];
    int count;
} nb_expt_list;

/** Write the pictures with detector and beam of sim.  Errors: NB_ERR_IO, NB_ERR_NOMEM. */
nb_status nb_expt_list_write(const nb_sim *sim, const nb_expt_list *list, nb_error *err);

/** Stills of a series. */
typedef struct nb_expt_stills {
    int frames;
    nb_status (*truth)(void *user, int first, int count, nb_hdf5_frame *out,
                       nb_error *err);
    /** Get the name of the file of frame k (NB_PATH_MAX bytes), and the index *at of the
     * frame in the file. *at stays -1 for a file of one frame. NULL if DIALS reads no
     * image of the series. */
    void (*image)(void *user, int k, char *name, int *at);
    void *user; /* argument of truth and image */
    /* NULL: each frame has one crystal, described by its truth */
    const nb_hdf5_crystals *crystals;
    double trusted[2]; /* least and largest counts */
} nb_expt_stills;

/** Write an experiment for each crystal, or one for a frame without crystals, with image,
 * beam and detector of the frame. sim, detector: their state before frames change them.
 * The caller opens and commits the file. Errors: NB_ERR_IO, NB_ERR_NOMEM, and those of
 * `truth`. */
nb_status nb_expt_stills_write(const nb_sim *sim, const nb_detector_spec *detector,
                               const nb_expt_stills *of, nb_outfile *file, nb_error *err);

/** Like nb_sim_config_json, without parameters and panels, so that the bytes of masters
 * do not change. */
nb_status nb_sim_scene_json(const nb_sim *sim, char **json, nb_error *err);

/** Note once the parts of the geometry that files with this header cannot hold, so that
 * DIALS does not know them. */
void nb_notice_lost(const nb_sim *sim, const nb_hooks *hooks, nb_header_kind header);

/** Note once that DIALS does not know the sensor's material in an HDF5 master. */
void nb_notice_material(const nb_model *model, const nb_hooks *hooks);

/** Write the named dumps of F; cache: 1 to write also Fdump.bin or the file of -dump. */
nb_status nb_sim_write_dumps(const nb_sim *sim, int cache, nb_error *err);

/** Metadata for the headers of image files. */
nb_image_meta nb_sim_describe(const nb_sim *sim);

/** Metadata of an image with noise in this kind of file. */
nb_image_meta nb_sim_describe_noise(const nb_sim *sim, nb_image_meta meta,
                                    nb_noise_file file);

#endif
