/* SPDX-License-Identifier: MIT */
/** The renderer of a simulation: its backend, state and device, and the last image. */
#ifndef NB_SIM_ENGINE_H
#define NB_SIM_ENGINE_H

#include "../image/footprint.h"
#include "../image/image.h"
#include "../nanobragg.h"
#include "../physics/scene.h"
#include "../render/backend.h"

struct nb_store;

typedef struct nb_sim_engine {
    const nb_backend *backend;
    nb_backend_state *state; /* owned; opened by the first render */
    nb_render_options options;
    const nb_image_kernels *kernels; /* kernels for options.isa */
    nb_photons photons;              /* the last image; owned if nb_sim_render got NULL */
    nb_device_image *lent;           /* handle of the last image if it is lent, or NULL */
    struct nb_spares *spares;        /* shared with the lent images, or NULL */
    struct nb_warm_up *warm_up;      /* owned; thread that starts a device, or NULL */
    nb_footprint_plan footprint;     /* owned; plan of the last image, or empty */
    float *second; /* owned, [second_pixels]: image of a crystal to be added, or NULL */
    size_t second_pixels;
    /* shared; background of the last image, or NULL */
    struct nb_kept_background *background;
    nb_lack lack;   /* light left out of a pixel of the last image, for all crystals */
    char line[256]; /* text of nb_sim_backend */
    int said_cpu;   /* 1: a note already gave the reason for derivatives on the CPU */
} nb_sim_engine;

/** Choose the backend of a scene from the word of -device, and start its device. */
nb_status nb_engine_choose(nb_sim_engine *engine, const nb_scene *scene,
                           const char *device, nb_error *err);

/** Make a closed engine for the same backend, which never resets the device. */
nb_sim_engine nb_engine_like(const nb_sim_engine *engine);

/** Add the background of a scene to a mix. It is valid until the engine's next
 * background. The mix of an image that stays on a device gets a plane of the background.
 * Simulations that share a store make a background once. Errors: NB_ERR_NOMEM. */
nb_status nb_engine_background(nb_sim_engine *engine, struct nb_store *store,
                               const nb_scene *scene, int on_device, nb_mix *mix,
                               nb_error *err);

/** True if -device is auto or was not typed. */
int nb_device_is_automatic(const nb_config *cfg);

/** Start the device of a backend, if any, in a new thread.  nb_engine_join waits for it;
 * nb_engine_open and nb_engine_free call nb_engine_join. */
void nb_engine_warm(nb_sim_engine *engine, const nb_backend *backend, int device_index);
void nb_engine_join(nb_sim_engine *engine);

/** Check that the engine's device is usable. Errors: NB_ERR_DEVICE if the process forked
 * and so lost the device. */
nb_status nb_engine_check(const nb_sim_engine *engine, nb_error *err);
/** Open the backend unless it is open. Errors: those of nb_engine_check and of the
 * backend. */
nb_status nb_engine_open(nb_sim_engine *engine, nb_error *err);
/** Close the state of the backend, unless the device is lost after a fork. */
void nb_engine_close(nb_sim_engine *engine);
/** Close the engine, and free the last image and its loan. */
void nb_engine_free(nb_sim_engine *engine);

/* --- the last image, lent (device_image.c) --- */

/** Lend the last image; the caller frees *image.  Errors: NB_ERR_NOMEM, NB_ERR_DEVICE. */
nb_status nb_engine_lend(nb_sim_engine *engine, size_t pixels, nb_device_image **image,
                         nb_error *err);

/** End the loan before the next image.  If another holder has the last image, the holder
 * keeps the memory, and the renderer gets other memory.  Errors: NB_ERR_DEVICE. */
nb_status nb_engine_end_loan(nb_sim_engine *engine, nb_error *err);

/** End all loans before the renderer is closed. */
void nb_engine_stop_lending(nb_sim_engine *engine);

/* --- Notes are passed to the caller and kept for the report --- */

typedef struct nb_notes {
    nb_hooks caller; /* hooks of the caller, which get all calls */
    char **line;     /* owned; [n] */
    int n;
} nb_notes;

/** Change the hooks to keep a copy of each note in *notes (nb_notes_free).  Errors:
 * NB_ERR_NOMEM. */
nb_status nb_notes_keep(nb_hooks *hooks, nb_notes **notes, nb_error *err);
void nb_notes_free(nb_notes *notes); /* NULL is allowed */

#endif
