/* SPDX-License-Identifier: MIT */
#include "light.h"

#include <pthread.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/shared.h"

/** Every kind. */
static const nb_light *const kinds[NB_LIGHT_KINDS] = {&nb_light_diffuse};
enum { KINDS = NB_LIGHT_KINDS };

/* --- tables --- */

struct nb_light_store {
    pthread_mutex_t lock;
    const nb_light_table *last; /* held, or NULL */
};

static void clear_store(void *object)
{
    nb_light_store *store = object;
    nb_shared_drop(store->last);
    pthread_mutex_destroy(&store->lock);
}

nb_status nb_light_store_new(nb_light_store **store, nb_error *err)
{
    *store = nb_shared_new(sizeof **store, clear_store, "light", err);
    if (!*store)
        return NB_ERR_NOMEM;
    pthread_mutex_init(&(*store)->lock, NULL);
    return NB_OK;
}

static void clear_table(void *object)
{
    nb_light_table *t = object;
    nb_diffuse_table_free(t->table);
    nb_shared_drop(t->owner);
}

static int is_same(const nb_light_table *t, const nb_diffuse_source *s)
{
    const nb_diffuse *a = &t->table->model, *b = s->model;
    return t->of.factors->F == s->factors->F && t->of.table == s->table &&
           t->of.reach == s->reach && a->gauss == b->gauss &&
           a->unperturbed == b->unperturbed && a->sigma == b->sigma &&
           a->gamma == b->gamma && a->n_forms == b->n_forms &&
           !memcmp(t->of.edge, s->edge, sizeof s->edge) &&
           !memcmp(a->forms, b->forms, (size_t)a->n_forms * sizeof *a->forms);
}

static nb_status make_table(const nb_diffuse_source *source, const void *owner,
                            const nb_light_table **out, nb_error *err)
{
    nb_light_table *t = nb_shared_new(sizeof *t, clear_table, "diffuse light", err);
    nb_status st = t ? nb_diffuse_table_new(source, &t->table, err) : NB_ERR_NOMEM;
    if (!st) {
        t->of = *source;
        t->of.factors = &t->F;
        t->F = *source->factors;
        t->owner = nb_shared_hold(owner);
    } else {
        nb_shared_drop(t);
        t = NULL;
    }
    *out = t;
    return st;
}

nb_status nb_light_store_take(nb_light_store *store, const nb_diffuse_source *source,
                              const void *owner, const nb_light_table **table,
                              nb_error *err)
{
    nb_status st = NB_OK;
    pthread_mutex_lock(&store->lock);
    if (!store->last || !is_same(store->last, source)) {
        nb_shared_drop(store->last);
        st = make_table(source, owner, &store->last, err);
    }
    *table = nb_shared_hold(store->last);
    pthread_mutex_unlock(&store->lock);
    return st;
}

/* --- planes --- */

/** Add a kind's plane; its photons, row by row. */
static nb_status add_kind(nb_sim *sim, int kind, float *plane, float *own, nb_error *err)
{
    size_t n = sim->model.scene.raster.pixels;
    double sum = 0;
    nb_status st = kinds[kind]->fill(sim, own, err);
    for (size_t i = 0; !st && i < n; i++) {
        sum += own[i];
        if (own != plane)
            plane[i] += own[i];
    }
    sim->light->photons[kind] = sum;
    return st;
}

static nb_status fill_plane(nb_sim *sim, nb_error *err)
{
    nb_sim_light *light = sim->light;
    float *own = light->plane;
    nb_status st = NB_OK;
    for (int i = 0; i < KINDS && !st; i++) {
        if (!kinds[i]->applies(sim))
            continue;
        if (light->lit && own == light->plane &&
            !(own = nb_alloc_large(light->pixels, sizeof *own, "light", err)))
            return NB_ERR_NOMEM;
        st = add_kind(sim, i, light->plane, own, err);
        light->lit = 1;
    }
    if (own != light->plane)
        nb_free(own);
    return st;
}

nb_status nb_sim_make_light(nb_sim *sim, nb_error *err)
{
    size_t pixels = sim->model.scene.raster.pixels;
    int some = 0;
    for (int i = 0; i < KINDS; i++)
        some = some || kinds[i]->applies(sim);
    if (sim->light)
        sim->light->lit = 0;
    if (!some)
        return NB_OK;
    if (!sim->light)
        sim->light = nb_alloc(1, sizeof *sim->light, "light", err);
    if (!sim->light)
        return NB_ERR_NOMEM;
    if (sim->light->pixels != pixels) {
        nb_free(sim->light->plane);
        sim->light->plane =
            nb_alloc_large(pixels, sizeof *sim->light->plane, "light", err);
        sim->light->pixels = sim->light->plane ? pixels : 0;
        if (!sim->light->plane)
            return NB_ERR_NOMEM;
    }
    memset(sim->light->photons, 0, sizeof sim->light->photons);
    return fill_plane(sim, err);
}

const float *nb_sim_light_plane(const nb_sim *sim)
{
    return sim->light && sim->light->lit ? sim->light->plane : NULL;
}

void nb_sim_light_node(const nb_sim *sim, nb_json to)
{
    for (int i = 0; i < KINDS; i++)
        if (kinds[i]->applies(sim))
            kinds[i]->describe(sim, sim->light && sim->light->lit ? sim->light->photons[i] : 0, to);
}

void nb_sim_light_free(nb_sim_light *light)
{
    if (!light)
        return;
    nb_free(light->plane);
    nb_free(light);
}
