/* SPDX-License-Identifier: MIT */
/* A device starts in a thread while files are read or backends are compared. */
#include "engine.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/stop.h"
#include "../base/store.h"
#include "../base/memory.h"
#include "../params/config.h"
#include "../render/request.h"

struct nb_warm_up {
    pthread_t thread;
    const nb_backend *backend;
    int device_index;
};

static void *warm(void *user)
{
    const struct nb_warm_up *w = user;
    w->backend->device->warm(w->device_index);
    return NULL;
}

void nb_engine_warm(nb_sim_engine *engine, const nb_backend *backend, int device_index)
{
    struct nb_warm_up *w;
    if (engine->warm_up || !backend->device)
        return;
    w = nb_alloc(1, sizeof *w, "device", NULL);
    if (!w)
        return; /* without the thread the device starts when it is opened */
    w->backend = backend;
    w->device_index = device_index;
    nb_fork_uses_device();
    if (pthread_create(&w->thread, NULL, warm, w))
        nb_free(w);
    else
        engine->warm_up = w;
}

static void start_asked(void *user, const nb_backend *backend)
{
    nb_sim_engine *engine = user;
    nb_engine_warm(engine, backend, engine->options.device_index);
}

int nb_device_is_automatic(const nb_config *cfg)
{
    return cfg->device[0] == 0 || strcmp(cfg->device, "auto") == 0;
}

nb_status nb_engine_choose(nb_sim_engine *engine, const nb_scene *scene,
                           const char *device, nb_error *err)
{
    nb_status st;
    engine->options.asking = start_asked;
    engine->options.asking_user = engine;
    st = nb_backend_choose(scene, device, &engine->options, &engine->backend,
                           engine->line, sizeof engine->line, err);
    /* the hook is only for this choice, because *engine may be moved in memory later */
    engine->options.asking = NULL;
    engine->options.asking_user = NULL;
    if (!st)
        nb_engine_warm(engine, engine->backend, engine->options.device_index);
    return st;
}

nb_sim_engine nb_engine_like(const nb_sim_engine *engine)
{
    nb_sim_engine like = *engine;
    like.options.device_alone = 0; /* `engine` also uses the device */
    like.state = NULL;
    like.photons = (nb_photons){0};
    like.lent = NULL;
    like.spares = NULL;
    like.warm_up = NULL;
    like.footprint = (nb_footprint_plan){0};
    like.second = NULL;
    like.second_pixels = 0;
    like.background = NULL;
    return like;
}

/** The background of all images that have the same key. The store keeps it. */
struct nb_kept_background {
    uint64_t key;      /* value of nb_background_key */
    nb_background *of; /* owned */
    float *plane;      /* owned, [pixels], nb_background_plane for a device; or NULL */
};

static void clear_background(void *object)
{
    struct nb_kept_background *kept = object;
    nb_background_free(kept->of);
    nb_free(kept->plane);
}

typedef struct background_request {
    const nb_scene *scene;
    const nb_image_kernels *kernels; /* NULL: sum all rays */
    int threads, on_device;
    uint64_t key;
} background_request;

static nb_status make_background(void *user, void **object, size_t *bytes, nb_error *err)
{
    const background_request *r = user;
    const size_t pixels = r->scene->raster.pixels;
    struct nb_kept_background *kept =
        nb_shared_new(sizeof *kept, clear_background, "background", err);
    nb_status st;
    if (!(*object = kept))
        return NB_ERR_NOMEM;
    kept->key = r->key;
    *bytes = sizeof *kept + (r->on_device ? pixels * sizeof *kept->plane : 0);
    NB_FORWARD(nb_background_make(r->scene, r->kernels, r->threads, &kept->of, err));
    if (!r->on_device)
        return NB_OK;
    kept->plane = nb_alloc_large(pixels, sizeof *kept->plane, "background", err);
    if (!kept->plane)
        return NB_ERR_NOMEM;
    nb_background_plane(kept->of, r->scene, r->threads, kept->plane);
    return NB_OK;
}

nb_status nb_engine_background(nb_sim_engine *engine, nb_store *store,
                               const nb_scene *scene, int on_device, nb_mix *mix,
                               nb_error *err)
{
    background_request r = {scene, engine->kernels, engine->options.threads, on_device,
                            nb_background_key(scene)};
    nb_isa isa = NB_ISA_SCALAR;
    nb_key key = nb_key_of("background");
    void *object;
    nb_status st;
    if (r.key == 0)
        return NB_OK;
    nb_cpu_choose(engine->options.isa, &isa, NULL);
    if (isa == NB_ISA_SCALAR)
        r.kernels = NULL;
    if (!engine->background || engine->background->key != r.key ||
        (on_device && !engine->background->plane)) {
        nb_key_add(&key, &r.key, sizeof r.key);
        nb_key_number(&key, on_device);
        nb_key_number(&key, isa);
        NB_FORWARD(nb_store_take(store, &key, make_background, &r, &object, err));
        nb_shared_drop(engine->background);
        engine->background = object;
    }
    mix->background = engine->background->of;
    mix->under = on_device ? engine->background->plane : NULL;
    mix->under_scale = nb_background_scale(engine->background->of, scene);
    mix->under_key = r.key;
    return NB_OK;
}

void nb_engine_join(nb_sim_engine *engine)
{
    if (!engine->warm_up)
        return;
    if (!nb_fork_lost_device())
        pthread_join(engine->warm_up->thread, NULL);
    nb_free(engine->warm_up);
    engine->warm_up = NULL;
}

nb_status nb_engine_check(const nb_sim_engine *engine, nb_error *err)
{
    if (!engine->backend->device || !nb_fork_lost_device())
        return NB_OK;
    return nb_fail(err, NB_ERR_DEVICE, "-device %s: " NB_FORK_CURE, engine->backend->name);
}

nb_status nb_engine_open(nb_sim_engine *engine, nb_error *err)
{
    nb_status st;
    NB_FORWARD(nb_engine_check(engine, err));
    if (engine->backend->device)
        nb_engine_join(engine);
    return engine->state ? NB_OK
                         : engine->backend->open(&engine->options, &engine->state, err);
}

void nb_engine_close(nb_sim_engine *engine)
{
    if (engine->backend && !(engine->backend->device && nb_fork_lost_device()))
        engine->backend->close(engine->state);
    engine->state = NULL;
}

void nb_engine_free(nb_sim_engine *engine)
{
    nb_engine_join(engine);
    nb_engine_stop_lending(engine);
    nb_engine_close(engine);
    free(engine->photons.own);
    engine->photons.own = NULL;
    nb_footprint_plan_free(&engine->footprint);
    nb_free(engine->second);
    engine->second = NULL;
    nb_shared_drop(engine->background);
    engine->background = NULL;
}
