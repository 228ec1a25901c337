/* SPDX-License-Identifier: MIT */
/** The files that a simulation writes. */
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

/* --- what masters of series hold --- */

/** True if a frame of the canvas has the layout of the stack in memory. */
int nb_canvas_is_stack(const nb_sim *sim);
/** Copy the pixels of a stack, of so many bytes each, to the places of their panels in the canvas.  Errors: NB_ERR_NOMEM. */
nb_status nb_canvas_put(const nb_sim *sim, const void *stack, size_t bytes, void *canvas,
                        nb_error *err);

/** *bad: 1 for gaps and pixels that are not rendered, 2 for those of a detector from a file, in the canvas; NULL if all are
 * rendered and no gap needs to be said.  The caller frees it. */
nb_status nb_canvas_bad(const nb_sim *sim, uint8_t **bad, nb_error *err);

/** The factors of the pixels in the canvas of the master, 0 in gaps; NULL: all are 1.  *factors: nb_free.  Errors:
 * NB_ERR_NOMEM. */
nb_status nb_canvas_factors(const nb_sim *sim, float **factors, nb_error *err);

/** What the master says of the panels.  Free it. */
nb_status nb_canvas_panels(const nb_sim *sim, nb_hdf5_panels *out, nb_error *err);
void nb_canvas_panels_free(nb_hdf5_panels *panels);

/** What is true of the image of this model; no_crystal: its crystal is not known. */
nb_hdf5_frame nb_sim_truth(const nb_sim *sim, int no_crystal);

/* --- -geomout and -exptout --- */

/** Write the files that sim->cfg names.  hdf5: the master of the series, or NULL; frames: of a rotation that begins with
 * that of sim, else 1; 0: of stills, whose experiments nb_expt_stills_write writes. */
nb_status nb_sim_write_detector(const nb_sim *sim, const char *hdf5, int frames,
                                nb_error *err);

/** The detector as CrystFEL text; *text is the caller's (nb_free), *n bytes without a NUL; hdf5 as above.  Errors:
 * NB_ERR_NOMEM. */
nb_status nb_sim_print_geometry(const nb_sim *sim, const nb_detector_spec *d,
                                const char *hdf5, char **text, size_t *n, nb_error *err);

/* --- -streamout: stream_out.c --- */

/** A stream of this detector, cell and beam, that is being written. */
typedef struct nb_stream_job {
    nb_stream_out out;
    nb_detector_spec detector; /* owned */
    int (*place)[2];           /* owned, [n_panels] */
    char *geometry;            /* owned */
} nb_stream_job;

/** Begin sim->cfg.stream_file; hdf5: the master of the series, or NULL.  nb_stream_close ends it, after errors too. */
nb_status nb_stream_open(const nb_sim *sim, const char *hdf5, nb_stream_job *job,
                         nb_error *err);
/** Complete the file, or with an error leave none; returns st or its own error. */
nb_status nb_stream_close(nb_stream_job *job, nb_status st, nb_error *err);

/** Columns a* b* c* in the lab at phi 0 (1/A) as those of a stream at the spindle's angle (rad). */
void nb_stream_axes(const nb_sim *sim, const double A[9], double phi, double out[9]);

/** Write the stream of a single image, whose reflections these are, if it is named. */
nb_status nb_sim_write_stream(const nb_sim *sim, const nb_reflections *spots,
                              nb_error *err);

/** Write -spectrumout, if it is named.  Errors: NB_ERR_IO, NB_ERR_NOMEM. */
nb_status nb_sim_write_spectrum(const nb_sim *sim, nb_error *err);

/** The spectrum of a frame of this configuration; the caller's (nb_spectrum_free).  Errors: those of nb_spectrum_make. */
nb_status nb_spectrum_of_frame(const nb_sim *sim, const nb_config *cfg, nb_spectrum *out,
                               nb_error *err);

/** Experiments of DIALS: detector, beam, goniometer, scan, crystal. */
nb_status nb_expt_write(const nb_sim *sim, const nb_detector_spec *detector, int frames,
                        nb_error *err);

/** Pictures with one detector and beam, and a crystal for each. */
typedef struct nb_expt_list {
    const char *path;
    const char *const *names; /* [count], of the pictures: their identifiers */
    const double (
        *edges)[9]; /* [count], a, b, c of the crystal in the lab, m; all 0: it has none */
    const double (
        *beams)[4]; /* [count], wavelength (A) and direction in the lab; NULL: those of the simulation */
    int count;
} nb_expt_list;

/** Write them, with detector and beam of the simulation.  Errors: NB_ERR_IO, NB_ERR_NOMEM. */
nb_status nb_expt_list_write(const nb_sim *sim, const nb_expt_list *list, nb_error *err);

/** The stills of a series. */
typedef struct nb_expt_stills {
    int frames;
    nb_status (*truth)(void *user, int first, int count, nb_hdf5_frame *out,
                       nb_error *err);
    /** The file of frame k, NB_PATH_MAX bytes, and its place there; *at stays -1: it is alone.  NULL: DIALS reads no
     * image of the series. */
    void (*image)(void *user, int k, char *name, int *at);
    void *user;                       /* of truth and image */
    const nb_hdf5_crystals *crystals; /* NULL: one in each frame, of the truth */
    double trusted[2];                /* counts, least and largest */
} nb_expt_stills;

/** Write an experiment for each crystal, with its frame's image, beam and detector; a frame without crystals has one experiment.
 * sim: of the configuration before the changes of frames; detector: its own.  The caller opens and commits the file.
 * Errors: NB_ERR_IO, NB_ERR_NOMEM, those of truth. */
nb_status nb_expt_stills_write(const nb_sim *sim, const nb_detector_spec *detector,
                               const nb_expt_stills *of, nb_outfile *file, nb_error *err);

/** nb_sim_config_json without the section of parameters: for masters, whose bytes stay. */
nb_status nb_sim_scene_json(const nb_sim *sim, char **json, nb_error *err);

/** Name, once, the parts of the geometry that files with this header cannot hold, so that DIALS
 * does not know them. */
void nb_notice_lost(const nb_sim *sim, const nb_hooks *hooks, nb_header_kind header);

/** Say once that DIALS does not know the sensor's material in an HDF5 master. */
void nb_notice_material(const nb_model *model, const nb_hooks *hooks);

/** Write the dumps of structure factors that are wanted; cache: Fdump.bin or what -dump names, too. */
nb_status nb_sim_write_dumps(const nb_sim *sim, int cache, nb_error *err);

/** What the headers of image files say. */
nb_image_meta nb_sim_describe(const nb_sim *sim);

/** The same of an image with noise in this kind of file. */
nb_image_meta nb_sim_describe_noise(const nb_sim *sim, nb_image_meta meta,
                                    nb_noise_file file);

#endif
