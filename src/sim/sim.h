/* SPDX-License-Identifier: MIT */
/** The inside of nb_sim, for the files of this room and of src/series only. */
#ifndef NB_SIM_SIM_H
#define NB_SIM_SIM_H

#include "../base/clock.h"
#include "../base/error.h"
#include "../io/common/meta.h"
#include "../model/layout.h"
#include "../model/scene_build.h"
#include "../nanobragg.h"
#include "../physics/limits.h"
#include "engine.h"
#include "inputs.h"
#include "notes.h"

/** What a change replaces, until its model is built. */
typedef struct nb_undo nb_undo;

struct nb_sim {
    nb_config cfg; /* as typed, then completed from -img and -mask headers */
    nb_hooks hooks;
    nb_notes *notes;       /* owned; the notices, for cfg.report_file; NULL without it */
    int64_t seed;          /* noise */
    nb_inputs in;          /* loaded files */
    nb_displacement moved; /* by nb_sim_set_parameters; its panels are owned */
    nb_model model;
    nb_undo *undo; /* owned; for nb_sim_begin, kept: it is large, and the heap would be cut and grown each time */
    nb_sim_engine engine;
    struct nb_sim_light *light;         /* owned; of the last image, or NULL: light.h */
    int64_t clipped_noise, clipped_int; /* of the last files */
    nb_times times;
    uint64_t n_observed;    /* lists of observed pixels so far */
    struct nb_crowd *crowd; /* owned; further crystals (crystals.h); NULL: none */
};

/** nb_sim_create for a simulation that will render `images` images. `-device auto` chooses by their number. */
nb_status nb_sim_create_for(const nb_config *cfg, int images, const nb_hooks *hooks,
                            nb_sim **sim, nb_error *err);

/** A seed that nobody typed: from the clock, small enough to be typed again. */
int64_t nb_seed_from_clock(void);

/** What is wanted of a rendering. */
typedef struct nb_rendering {
    float *image;    /* [slow][fast], the caller's; NULL: see nb_sim_render */
    nb_stats *stats; /* but for the solid angle; NULL: not wanted */
    nb_product *products;
    int n_products;
} nb_rendering;

/** nb_sim_render, and products of the image. */
nb_status nb_sim_make(nb_sim *sim, const nb_rendering *wanted, nb_error *err);

/** An image of this simulation in memory, to make products of. */
nb_photons nb_sim_photons(const nb_sim *sim, const float *image);

/** The stages of the detector that the configuration describes; returns how many. */
int nb_sim_stages(const nb_sim *sim, nb_stage stages[NB_STAGES_MOST]);

/** Decide where crystal and structure factors come from (the stand-in included), and check that
 * they fit together.  cfg is completed. */
nb_status nb_resolve_crystal(nb_config *cfg, const nb_hooks *hooks, nb_error *err);

/** Products of fields that a double does not hold.  Errors: NB_ERR_INPUT. */
nb_status nb_check_model(const nb_config *cfg, const nb_model *model, nb_error *err);

/** What a model is built from, beside inputs. */
typedef struct nb_building {
    const nb_config *cfg;
    int64_t seed;
    const nb_displacement *moved; /* or NULL */
    const nb_hooks *hooks;
    int twin_part;        /* as nb_model_inputs */
    const nb_model *like; /* as nb_model_damage_tables, or NULL */
} nb_building;
/** The model of them, with its tables of F; *seconds: is added to for these.  *model is written whole, and zero after an
 * error. */
nb_status nb_inputs_build(nb_inputs *loaded, const nb_building *b, nb_model *model,
                          double *seconds, nb_error *err);
/** The inputs without tables; `ends` lives as long. */
nb_model_inputs nb_inputs_of_model(const nb_inputs *loaded, int64_t seed,
                                   const nb_displacement *moved, nb_scan_points *ends);
/** Errors of a model that is built. */
nb_status nb_check_built(const nb_config *cfg, const nb_model *model, nb_error *err);

/** The model of sim->cfg from the loaded files, and those of further crystals.  sim->model is written whole: an older one must
 * have been freed, or be kept elsewhere.  After an error it is zero, and the rest of sim is as before. */
nb_status nb_sim_build_model(nb_sim *sim, nb_error *err);

/** Before a change of configuration, inputs or displacement: remember them and the model.  Errors: NB_ERR_NOMEM. */
nb_status nb_sim_begin(nb_sim *sim, nb_error *err);
/** After it, with its status: build the model.  On an error everything is as before, else what was replaced is
 * freed.  Returns the error. */
nb_status nb_sim_end(nb_sim *sim, nb_status st, nb_error *err);

/** The errors of nb_sim_rebuild with this configuration, without a scene: no table, no orientation is
 * made. spectrum[n]: instead of the loaded sources; NULL: those. geometry: what it would have. */
nb_status nb_sim_check_config(const nb_sim *sim, const nb_config *cfg,
                              const nb_source_line *spectrum, int n,
                              nb_geometry *geometry, nb_error *err);

/** Another simulation that shares the loaded files of `from`, with a backend of its own.  Either may be freed first.
 * hooks may be NULL. */
nb_status nb_sim_clone(const nb_sim *from, const nb_hooks *hooks, int threads,
                       nb_sim **clone, nb_error *err);

/** Give sim another configuration that names the same files, and build its model. */
nb_status nb_sim_rebuild(nb_sim *sim, const nb_config *cfg, nb_error *err);

/** The same of a clone of `from`, whose files it has again: what parameters changed since is gone.  matrix: of its crystal;
 * NULL: that of `from`. */
nb_status nb_sim_restart(nb_sim *sim, const nb_sim *from, const nb_config *cfg,
                         const nb_matrix *matrix, nb_error *err);

/** Could a pixel be more than a float holds?  Then nb_sim_render looks at every pixel. */
int nb_model_may_overflow(const nb_model *model);

/** Refuse an image with these statistics if a pixel is not finite.  Errors: NB_ERR_INPUT, whose
 * message names the factor that is too large; NB_ERR_INTERNAL when none is. */
nb_status nb_model_check_finite(const nb_model *model, const nb_stats *stats,
                                nb_error *err);

/** Central wavelength, A; of a spectrum its weighted mean. */
double nb_sim_wavelength(const nb_sim *sim);

/** What the headers of image files say. */
nb_image_meta nb_sim_describe(const nb_sim *sim);

/** The same of an image with noise in this kind of file. */
nb_image_meta nb_sim_describe_noise(const nb_sim *sim, nb_image_meta meta,
                                    nb_noise_file file);

/** Name, once, the parts of the geometry that files with this header cannot hold, so that DIALS
 * does not know them. */
void nb_notice_lost(const nb_sim *sim, const nb_hooks *hooks, nb_header_kind header);

/** Say once that DIALS does not know the sensor's material in an HDF5 master. */
void nb_notice_material(const nb_model *model, const nb_hooks *hooks);

/** nb_sim_config_json without the section of parameters: for masters, whose bytes stay. */
nb_status nb_sim_scene_json(const nb_sim *sim, char **json, nb_error *err);

/** Give another simulation's table, with the same box, the F that were typed in the place of its own; say so
 * where the boxes differ.  Errors: NB_ERR_NOMEM; as nb_sim_build_model. */
nb_status nb_sim_keep_typed_F(nb_sim *to, const nb_sim *from, nb_error *err);

/** Processor threads as asked for, or all. */
int nb_threads_of(const nb_config *cfg);

/** Write the dumps of structure factors that are wanted; cache: Fdump.bin or what -dump names, too. */
nb_status nb_sim_write_dumps(const nb_sim *sim, int cache, nb_error *err);

/** The cache's file name. */
const char *nb_dump_name(const nb_config *cfg);

/** Angle of the first spindle step, rad. */
double nb_sim_first_phi(const nb_sim *sim);

#endif
