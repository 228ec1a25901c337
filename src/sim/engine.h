/* SPDX-License-Identifier: MIT */
/** What renders: the backend that was chosen, its state and device, and the image that it made last. */
#ifndef NB_SIM_ENGINE_H
#define NB_SIM_ENGINE_H

#include "../image/footprint.h"
#include "../image/image.h"
#include "../nanobragg.h"
#include "../physics/scene.h"
#include "../render/backend.h"

/* The background of an image whose crystal absorbs: it is rendered alone, and kept for images that have the same. */

struct nb_sim_engine;

typedef struct nb_kept_rest {
    float *image; /* owned, [pixels]; NULL: none was rendered */
    size_t pixels;
    uint64_t key; /* of all that the image depends on; 0: it is not whole */
} nb_kept_rest;

/** Have engine->rest.image of a scene without crystal, of nb_scene_without_crystal, in memory.  Errors: the backend's,
 * NB_ERR_NOMEM. */
nb_status nb_engine_rest(struct nb_sim_engine *engine, const nb_scene *scene,
                         nb_error *err);

void nb_kept_rest_free(nb_kept_rest *rest); /* zero or kept */

typedef struct nb_sim_engine {
    const nb_backend *backend;
    nb_backend_state *state; /* owned; opened by the first render */
    nb_render_options options;
    const nb_image_kernels *kernels; /* as options.isa asks */
    nb_photons photons; /* the last image; those of nb_sim_render(sim, NULL, ...) are owned */
    nb_device_image *lent;       /* over the last image, or NULL */
    struct nb_spares *spares;    /* shared with the images that were lent, or NULL */
    struct nb_warming *warming;  /* owned; a device that is being started, or NULL */
    nb_footprint_plan footprint; /* owned; of the last image, or empty */
    float *second; /* owned, [second_pixels]: of a crystal that is added to an image; NULL: none was */
    size_t second_pixels;
    nb_kept_rest rest; /* owned */
    nb_lack lack;      /* of the last image: its crystals together */
    char line[256];    /* for nb_sim_backend */
    int said_cpu;      /* why derivatives are not on the device */
} nb_sim_engine;

/** Choose the backend of a scene as the word of -device asks, and start its device. */
nb_status nb_engine_choose(nb_sim_engine *engine, const nb_scene *scene,
                           const char *device, nb_error *err);

/** Another engine of the same backend, which is not open and leaves the device as it is when it closes. */
nb_sim_engine nb_engine_like(const nb_sim_engine *engine);

/** Did nobody ask for the device by name? */
int nb_device_is_automatic(const nb_config *cfg);

/** Start a backend's device, if it has one, in a thread of its own.  nb_engine_join waits for it; nb_engine_open
 * and nb_engine_free do that. */
void nb_engine_warm(nb_sim_engine *engine, const nb_backend *backend, int device_index);
void nb_engine_join(nb_sim_engine *engine);

/** Errors: NB_ERR_DEVICE when its device was lost in a fork. */
nb_status nb_engine_check(const nb_sim_engine *engine, nb_error *err);
/** Open the backend, unless it is open.  Errors: as nb_engine_check, and the backend's. */
nb_status nb_engine_open(nb_sim_engine *engine, nb_error *err);
/** Close its state, unless that is on a device that a fork has lost. */
void nb_engine_close(nb_sim_engine *engine);
/** The same, with the image and its loan. */
void nb_engine_free(nb_sim_engine *engine);

/* --- the last image, lent (device_image.c) --- */

/** Lend the last image, of so many pixels, to the caller, who frees *image.  Errors: NB_ERR_NOMEM, NB_ERR_DEVICE. */
nb_status nb_engine_lend(nb_sim_engine *engine, size_t pixels, nb_device_image **image,
                         nb_error *err);

/** Before the memory of the last image is used again: if it has another holder, it is theirs, and the
 * renderer gets other memory.  Errors: NB_ERR_DEVICE. */
nb_status nb_engine_end_loan(nb_sim_engine *engine, nb_error *err);

/** The same for good: before the renderer is closed. */
void nb_engine_stop_lending(nb_sim_engine *engine);

/* --- Notes are passed to the caller and kept for the report --- */

typedef struct nb_notes {
    nb_hooks caller; /* whom everything is passed to */
    char **line;     /* owned; [n] */
    int n;
} nb_notes;

/** Keep a copy of each note that passes these hooks, which are changed.  *notes: nb_notes_free.  Errors:
 * NB_ERR_NOMEM. */
nb_status nb_notes_keep(nb_hooks *hooks, nb_notes **notes, nb_error *err);
void nb_notes_free(nb_notes *notes); /* NULL is fine */

#endif
