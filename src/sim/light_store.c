/* SPDX-License-Identifier: MIT */
/* Tables of light that simulations share. */
#include <pthread.h>
#include <string.h>

#include "../base/shared.h"
#include "light.h"

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
}

static int is_same(const nb_light_table *t, const nb_diffuse_source *s, uint64_t hash)
{
    const nb_diffuse *a = &t->table->model, *b = s->model;
    const nb_factor_table *f = &t->F, *g = s->factors;
    return t->hash == hash && f->nh == g->nh && f->nk == g->nk && f->nl == g->nl &&
           f->hmin == g->hmin && f->kmin == g->kmin && f->lmin == g->lmin &&
           t->of.reach == s->reach && a->gauss == b->gauss &&
           a->unperturbed == b->unperturbed && a->sigma == b->sigma &&
           a->gamma == b->gamma && a->n_forms == b->n_forms &&
           !memcmp(a->forms, b->forms, (size_t)a->n_forms * sizeof *a->forms);
}

static nb_status make_table(const nb_diffuse_source *source, uint64_t hash,
                            const nb_light_table **out, nb_error *err)
{
    nb_light_table *t = nb_shared_new(sizeof *t, clear_table, "diffuse light", err);
    nb_status st = t ? nb_diffuse_table_new(source, &t->table, err) : NB_ERR_NOMEM;
    if (!st) {
        t->of = *source;
        t->F = *source->factors;
        t->F.F = NULL;
        t->hash = hash;
    } else {
        nb_shared_drop(t);
        t = NULL;
    }
    *out = t;
    return st;
}

/** Of the F of one table. */
static uint64_t hash_of(const nb_diffuse_source *s)
{
    const nb_factor_table *f = s->factors;
    size_t n = (size_t)f->nh * (size_t)f->nk * (size_t)f->nl;
    return nb_table_run_of(nb_table_at(f, s->table), n, 1).hash;
}

nb_status nb_light_store_take(nb_light_store *store, const nb_diffuse_source *source,
                              const nb_light_table **table, nb_error *err)
{
    const uint64_t hash = hash_of(source);
    nb_status st = NB_OK;
    pthread_mutex_lock(&store->lock);
    if (!store->last || !is_same(store->last, source, hash)) {
        nb_shared_drop(store->last);
        st = make_table(source, hash, &store->last, err);
    }
    *table = nb_shared_hold(store->last);
    pthread_mutex_unlock(&store->lock);
    return st;
}
