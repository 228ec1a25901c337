/* SPDX-License-Identifier: MIT */
/* Images that stay on the device and are lent to callers, their holders. If the last
 * image still has holders when the next image begins, they keep its memory. The renderer
 * then takes memory that former holders gave back, or new memory; allocation on a device
 * is slow. */
#include "engine.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "../base/stop.h"
#include "../base/error.h"
#include "../base/memory.h"

enum { MAX_SPARES = 2 };

/** Memory that holders gave back, shared by a simulation and its lent images. */
typedef struct nb_spares {
    pthread_mutex_t lock;
    int users;  /* number of users: the simulation, and each image with separate memory */
    int closed; /* 1: the simulation was freed */
    nb_device_image *spare[MAX_SPARES];
} nb_spares;

struct nb_device_image {
    float *pixels;
    size_t count;
    int device;                /* number of the device; -1: host memory */
    const nb_image_device *on; /* functions of the device; NULL: host memory */
    nb_spares *spares;         /* NULL while the renderer owns the pixels */
    atomic_int holders;
};

static void discard(nb_device_image *image)
{
    if (image->on && !nb_fork_lost_device())
        image->on->discard(image->device, image->pixels);
    else if (!image->on)
        free(image->pixels);
    nb_free(image);
}

/** Remove a user and unlock; the last user frees the spares. */
static void leave_spares(nb_spares *s)
{
    int last = --s->users == 0;
    pthread_mutex_unlock(&s->lock);
    if (last) {
        pthread_mutex_destroy(&s->lock);
        nb_free(s);
    }
}

/** Keep the memory of an image without holders for the next image, or free it. */
static void bring_back(nb_device_image *image)
{
    nb_spares *s = image->spares;
    int kept = 0;
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < MAX_SPARES && !kept && !s->closed; i++)
        if (!s->spare[i]) {
            s->spare[i] = image;
            kept = 1;
        }
    leave_spares(s);
    if (!kept)
        discard(image);
}

/** Take spare memory of the same size and device, or return NULL. Spare memory of another
 * size is freed. */
static nb_device_image *take_spare(nb_spares *s, const nb_device_image *like)
{
    nb_device_image *found = NULL;
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < MAX_SPARES; i++) {
        nb_device_image *spare = s->spare[i];
        if (!spare ||
            (found && spare->count == like->count && spare->device == like->device))
            continue;
        s->spare[i] = NULL;
        if (spare->count == like->count && spare->device == like->device)
            found = spare;
        else
            discard(spare);
    }
    pthread_mutex_unlock(&s->lock);
    return found;
}

static void join_spares(nb_spares *s)
{
    pthread_mutex_lock(&s->lock);
    s->users++;
    pthread_mutex_unlock(&s->lock);
}

/** Give the lent memory to its holders, and memory `other` (or NULL) to the renderer. */
static void part(nb_sim_engine *engine, nb_device_image *lent, float *other)
{
    if (lent->on)
        lent->on->replace(engine->state, other, lent->count * sizeof(float));
    else
        engine->photons.own = other;
    nb_photons_forget(&engine->photons);
    join_spares(engine->spares);
    lent->spares = engine->spares;
}

nb_status nb_engine_end_loan(nb_sim_engine *engine, nb_error *err)
{
    nb_device_image *lent = engine->lent, *spare;
    nb_status st = NB_OK;
    if (!lent)
        return NB_OK;
    engine->lent = NULL;
    if (atomic_load(&lent->holders) > 1) {
        spare = take_spare(engine->spares, lent);
        part(engine, lent, spare ? spare->pixels : NULL);
        nb_free(spare);
    }
    /* work of the last holders may still be queued in this memory */
    if (lent->on)
        st = lent->on->settle(lent->device, err);
    nb_device_image_free(lent);
    return st;
}

void nb_engine_stop_lending(nb_sim_engine *engine)
{
    nb_spares *s = engine->spares;
    if (engine->lent && atomic_load(&engine->lent->holders) > 1)
        part(engine, engine->lent, NULL);
    nb_device_image_free(engine->lent);
    engine->lent = NULL;
    engine->spares = NULL;
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    s->closed = 1;
    for (int i = 0; i < MAX_SPARES; i++)
        if (s->spare[i])
            discard(s->spare[i]);
    memset(s->spare, 0, sizeof s->spare);
    leave_spares(s);
}

nb_status nb_engine_lend(nb_sim_engine *engine, size_t pixels, nb_device_image **out,
                         nb_error *err)
{
    nb_device_image *image = nb_alloc(1, sizeof *image, "image", err);
    nb_status st = image ? NB_OK : NB_ERR_NOMEM;
    if (!st && !engine->spares) {
        engine->spares = nb_alloc(1, sizeof *engine->spares, "image", err);
        st = engine->spares ? NB_OK : NB_ERR_NOMEM;
        if (!st) {
            pthread_mutex_init(&engine->spares->lock, NULL);
            engine->spares->users = 1;
        }
    }
    if (!st) {
        *image = (nb_device_image){.count = pixels,
                                   .device = -1,
                                   .pixels = engine->photons.own,
                                   .on = engine->photons.device};
        atomic_init(&image->holders, 1);
    }
    if (!st && image->on)
        st = image->on->locate(engine->state, &image->pixels, &image->device, err);
    if (st) {
        nb_free(image);
        return st;
    }
    engine->lent = image;
    *out = nb_device_image_hold(image);
    return NB_OK;
}

nb_device_image *nb_device_image_hold(nb_device_image *image)
{
    if (image)
        atomic_fetch_add(&image->holders, 1);
    return image;
}

void nb_device_image_free(nb_device_image *image)
{
    if (!image || atomic_fetch_sub(&image->holders, 1) > 1)
        return;
    if (image->spares)
        bring_back(image);
    else
        nb_free(image);
}

float *nb_device_image_pixels(const nb_device_image *image, size_t *count)
{
    if (count)
        *count = image ? image->count : 0;
    return image ? image->pixels : NULL;
}

int nb_device_image_device(const nb_device_image *image)
{
    return image ? image->device : -1;
}

nb_status nb_device_image_read(const nb_device_image *image, float *out, nb_error *err)
{
    NB_REFUSE_NULL(image && out);
    if (image->on)
        return image->on->copy(image->device, image->pixels, out,
                               image->count * sizeof *out, err);
    memcpy(out, image->pixels, image->count * sizeof *out);
    return NB_OK;
}
