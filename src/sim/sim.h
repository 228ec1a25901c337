/* SPDX-License-Identifier: MIT */
/** The members of nb_sim, for the files of src/sim and of src/series only. */
#ifndef NB_SIM_SIM_H
#define NB_SIM_SIM_H

#include "../base/threads.h"
#include "../base/error.h"
#include "../inputs/inputs.h"
#include "../io/common/meta.h"
#include "../model/detector.h"
#include "../model/scene_build.h"
#include "../nanobragg.h"
#include "../physics/limits.h"
#include "engine.h"
#include <pthread.h>

/** Former state of a simulation, kept until the model of a change is built. */
typedef struct nb_undo nb_undo;

/** Values of nb_sim_set_parameters (moves). Each name is there once, in the order of its
 * last call. */
typedef struct nb_moves {
    int n;
    struct nb_move {
        char name[NB_VARIABLE_NAME];
        double value;
    } at[];
} nb_moves;

/** Receiver of the questions of nb_ask. Bit i of `asked` and `holds` stands for question
 * i. */
typedef struct nb_asker {
    const nb_hooks *hooks; /* hooks that receive the questions, or NULL to ask nothing */
    const char *place;     /* file and line where the record was typed, or "" */
    unsigned asked, /* questions about the former model, which are not asked again */
        holds;      /* questions about this model */
} nb_asker;
enum { NB_QUESTION = 400 }; /* size of a question's text, bytes */

struct nb_sim {
    nb_config typed; /* the record: typed values, from which all other members are made */
    const nb_moves *moves; /* shared; values of nb_sim_set_parameters, or NULL */
    nb_config cfg; /* the resolved record: completed from files, changed by the moves */
    nb_hooks hooks;
    nb_asker asker;  /* questions about the last model */
    nb_notes *notes; /* owned; notes for cfg.report_file, or NULL without a report */
    int64_t seed;    /* seed of the noise */
    nb_inputs in;    /* loaded files */
    /* displacement of crystal and detector by moves; its panels are owned */
    nb_displacement moved;
    struct nb_start *start; /* shared; the simulation without moves, or NULL */
    nb_model model;
    nb_undo *undo; /* owned; state before a change, from nb_sim_begin to nb_sim_end */
    nb_sim_engine engine;
    struct nb_sim_light *light;         /* owned; light of the last image, or NULL */
    int64_t clipped_noise, clipped_int; /* clipped pixels of the last files */
    nb_times times;
    /* number of lists of observed pixels made so far, from which a list gets its
     * number */
    uint64_t n_observed;
    struct nb_further_scenes *further; /* owned; further crystals (crystals.h), or NULL */
};

/** Like nb_sim_create, for `images` images. `-device auto` takes this number into
 * account. */
nb_status nb_sim_create_for(const nb_config *cfg, int images, const nb_hooks *hooks,
                            nb_sim **sim, nb_error *err);

/** Default seed from the clock. It is small enough that a user can type it. */
int64_t nb_seed_from_clock(void);

/** Results that a caller wants from a rendering. */
typedef struct nb_rendering {
    float *image;    /* [slow][fast], memory of the caller; NULL as in nb_sim_render */
    nb_stats *stats; /* gets all statistics but the solid angle; or NULL */
    nb_product *products;
    int n_products;
} nb_rendering;

/** Render as nb_sim_render does, and make products of the image. */
nb_status nb_sim_make(nb_sim *sim, const nb_rendering *wanted, nb_error *err);

/** Describe an image of this simulation in memory, for functions that make products. */
nb_photons nb_sim_photons(const nb_sim *sim, const float *image);

/** Fill stages[] with the noise stages of the configuration; returns their number. */
int nb_sim_stages(const nb_sim *sim, nb_stage stages[NB_STAGES_MAX]);

/** Refuse a model whose scale, position or cell is not finite.  Errors: NB_ERR_INPUT. */
nb_status nb_check_model(const nb_config *cfg, const nb_model *model, nb_error *err);

/** All that a model is built from, except its inputs. */
typedef struct nb_building {
    const nb_config *cfg;
    int64_t seed;
    const nb_displacement *moved; /* displacement, or NULL */
    const nb_hooks *hooks;
    int twin_part;        /* same meaning as in nb_model_inputs */
    const nb_model *like; /* the parameter `like` of nb_model_damage_tables, or NULL */
    nb_asker *asker;
} nb_building;
/** Build the model with its tables of F, and add their time to *seconds.  *model is
 * overwritten; it is zero after an error. */
nb_status nb_inputs_build(nb_inputs *loaded, const nb_building *b, nb_model *model,
                          double *seconds, nb_error *err);
/** Inputs of a model, without tables. They point to *ends, which must live as long. */
nb_model_inputs nb_inputs_of_model(const nb_inputs *loaded, int64_t seed,
                                   const nb_displacement *moved, nb_scan_points *ends);
/** Build *model, and refuse a model that cannot be rendered. An error leaves it zero. */
nb_status nb_build_checked(const nb_config *cfg, const nb_model_inputs *in,
                           const nb_hooks *hooks, nb_model *model, nb_error *err);

/** Build the models of sim->cfg and of further crystals; the caller has freed sim->model
 * or keeps a copy. After an error sim->model is zero, and the other members are
 * unchanged. */
nb_status nb_sim_build_model(nb_sim *sim, nb_error *err);

/** Begin a change: store configuration, inputs, moves and model, so that an error can
 * restore them. Errors: NB_ERR_NOMEM. */
nb_status nb_sim_begin(nb_sim *sim, nb_error *err);
/** End a change. st: status of the change. If st is NB_OK, build the model and choose the
 * backend. After an error all but the record is as it was before nb_sim_begin. Returns
 * the error. */
nb_status nb_sim_end(nb_sim *sim, nb_status st, nb_error *err);

/** Set *out to the moves of sim and `count` new moves. The caller frees *out
 * (nb_shared_drop), after an error too. The first moves also set sim->start. Errors:
 * NB_ERR_INPUT, _NOMEM. */
nb_status nb_sim_add_moves(nb_sim *sim, const char *const *names, const double *values,
                           int count, const nb_moves **out, nb_error *err);
/** Apply the moves to configuration, inputs, displacement.  NB_ERR_INPUT, _NOMEM. */
nb_status nb_sim_apply_moves(nb_sim *sim, nb_error *err);
/** Apply the moves to the model of a new record.  Drop, with a note, moves of parameters
 * that this model does not have. */
nb_status nb_sim_keep_moves(nb_sim *sim, nb_error *err);
/** If sim->in has F to finer d, give them to sim->start.  *farther: 1 if so, else 0. */
nb_status nb_sim_widen_start(nb_sim *sim, int *farther, nb_error *err);
/** Replace *moves by moves without the row's parameters.  Errors: NB_ERR_NOMEM. */
nb_status nb_moves_without(const nb_moves **moves, const nb_param *row, nb_error *err);

/** Replace F in the same box, and apply the moves. The function takes F from the caller,
 * also if it fails. */
nb_status nb_sim_take_F(nb_sim *sim, double *F, nb_error *err);

/** Resolve the record `typed`, with the -crystals line of its first crystal, to sim->cfg
 * and sim->in; the model is not built.  After an error both are as before. */
nb_status nb_sim_take_record(nb_sim *sim, const nb_config *typed,
                             const nb_frame_extra *extra, nb_error *err);

/** Results of a survey of records. */
typedef struct nb_survey {
    nb_asker asker;
    nb_geometry geometry; /* geometry of the last record */
    double dmin; /* A; finest limit of F that any record needs; 0: all reflections */
    int bright;  /* 1: a pixel may exceed a float; only rendering can show this */
} nb_survey;

/** Resolve another record through the store of sim and check it as nb_sim_frame does,
 * without orientations.  *cfg: the resolved configuration; do not follow its pointers. */
nb_status nb_sim_check_record(const nb_sim *sim, const nb_config *typed,
                              const nb_frame_extra *extra, nb_config *cfg,
                              nb_survey *survey, nb_error *err);

/** Make another simulation of the same record, with a separate backend. The new
 * simulation shares the store and F of `from`. Either simulation may be freed first.
 * hooks may be NULL. */
nb_status nb_sim_clone(const nb_sim *from, const nb_hooks *hooks, int threads,
                       nb_sim **clone, nb_error *err);

/** Give a clone the record of a frame or of a fitted picture, without moves.  After an
 * error the clone can only be freed. */
nb_status nb_sim_frame(nb_sim *clone, const nb_config *typed, const nb_frame_extra *extra,
                       nb_error *err);

/** Build the model again after the inputs were changed. */
nb_status nb_sim_build_again(nb_sim *sim, nb_error *err);

/** True if a pixel may exceed a float; then nb_sim_render looks at every pixel. */
int nb_model_may_overflow(const nb_model *model);

/** Refuse an image with these statistics if a pixel is not finite.  NB_ERR_INPUT: the
 * message names the factor that is too large; NB_ERR_INTERNAL if no factor is. */
nb_status nb_model_check_finite(const nb_model *model, const nb_stats *stats,
                                nb_error *err);

/** Weighted mean wavelength, m. */
double nb_beam_mean(const nb_beam *beam);
/** Central wavelength, A; for a spectrum the weighted mean. */
double nb_sim_wavelength(const nb_sim *sim);

/** List the values of a grid in *out (nb_factor_list_free).  Errors: NB_ERR_NOMEM. */
nb_status nb_factor_list_grid(const nb_factor_grid *grid, nb_factor_list *out,
                              nb_error *err);

/** Continue the hash h with the contents of the loaded files. */
uint64_t nb_sim_hash_files(uint64_t h, const nb_sim *sim);

/** Angle of the first spindle step, rad. */
double nb_sim_first_phi(const nb_sim *sim);

/* --- the detector of a simulation --- */

/** Positions of the panels in the canvas of this run; place[n_panels] may be NULL. */
nb_panel_canvas nb_sim_canvas(const nb_sim *sim, int (*place)[2]);
/** Positions of the panels in the canvas of -layout file; place[n_panels] may be NULL. */
nb_panel_canvas nb_sim_file_canvas(const nb_sim *sim, int (*place)[2]);

/** Describe the detector as a file does.  Free *out.  Errors: NB_ERR_INPUT for a curved
 * detector or a mirrored frame, NB_ERR_NOMEM. */
nb_status nb_sim_detector_spec(const nb_sim *sim, nb_detector_spec *out, nb_error *err);

/* --- renderers that the threads of a series share (pool.c) --- */

typedef struct nb_renderer {
    nb_backend_state *state; /* owned; NULL until first used */
    int device, busy;
    int closed; /* 1: closed, since the device has no memory for it */
} nb_renderer;

typedef struct nb_pool {
    pthread_mutex_t lock;
    pthread_cond_t freed;
    nb_renderer *all; /* owned; [count] */
    int count;
    const nb_backend *backend;
} nb_pool;

/** Accelerators that a process uses: the `count` numbers first, first + step, ... */
typedef struct nb_pool_devices {
    int first, step, count;
} nb_pool_devices;

/** Accelerators of process n of `processes`, if the host has `there` accelerators in
 * all. */
nb_pool_devices nb_pool_devices_of(const nb_device *asked, int there, int n,
                                   int processes);

/** Number of renderers, up to `threads`, for which an accelerator has memory. */
int nb_pool_renderers(const nb_sim *base, int threads);

/** Open renderers of this backend: `each` renderers on each device. */
nb_status nb_pool_open(nb_pool *pool, const nb_backend *backend, nb_pool_devices devices,
                       int each, nb_error *err);
void nb_pool_close(nb_pool *pool);

/** Render on the next free renderer.  If it fails, it is closed to free memory on its
 * device, and another one renders.  The last renderer of a device returns its error. */
nb_status nb_pool_render(nb_pool *pool, nb_sim *sim, const nb_rendering *wanted,
                         nb_error *err);

#endif
