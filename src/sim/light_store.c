/* SPDX-License-Identifier: MIT */
/* Tables of light that simulations share. */
#include <pthread.h>
#include <string.h>

#include "../base/shared.h"
#include "../base/threads.h"
#include "light.h"

/* Frames take turns between a few F and cells (-vary Badd:choice:..., crystals of an image). */
enum { KEPT = 8 };
#define KEPT_BYTES 256e6 /* of all together, if they are several */

struct nb_light_store {
    pthread_mutex_t lock;
    int threads;
    const nb_light_table *kept[KEPT]; /* held, the last asked for first; NULL behind them */
};

static void clear_store(void *object)
{
    nb_light_store *store = object;
    for (int i = 0; i < KEPT; i++)
        nb_shared_drop(store->kept[i]);
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

void nb_light_store_let(nb_light_store *store, int threads)
{
    pthread_mutex_lock(&store->lock);
    store->threads = threads;
    pthread_mutex_unlock(&store->lock);
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

/** A number of what a table is made from. */
static uint64_t mark_of(const nb_light_table *t)
{
    enum { NUMBERS = 12, OF_FORM = sizeof(nb_diffuse_form) / sizeof(double) };
    const nb_diffuse *m = &t->table->model;
    double x[NUMBERS + OF_FORM * NB_DIFFUSE_FORMS] = {
        0,       t->F.hmin, t->F.kmin,      t->F.lmin, t->F.nh,  t->F.nk,
        t->F.nl, m->gauss,  m->unperturbed, m->sigma,  m->gamma, t->table->reach};
    const size_t n = (size_t)m->n_forms * OF_FORM;
    memcpy(x, &t->hash, sizeof *x);
    memcpy(x + NUMBERS, m->forms, n * sizeof *x);
    return nb_table_run_of(x, NUMBERS + n, 1).hash | 1;
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
        t->table->mark = mark_of(t);
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
    if (f->measured && f->hash && f->n_tables <= 1) /* nb_tables_sign */
        return f->hash;
    return nb_table_run_of(nb_table_at(f, s->table), n, 1).hash;
}

/** Where the table of this source is; KEPT: nowhere. */
static int find(const nb_light_store *store, const nb_diffuse_source *source,
                uint64_t hash)
{
    int i = 0;
    while (i < KEPT && !(store->kept[i] && is_same(store->kept[i], source, hash)))
        i++;
    return i;
}

/** Put a table before those that were asked for earlier, which had place `from`; the last of all goes. */
static void put_first(nb_light_store *store, const nb_light_table *table, int from)
{
    double bytes = nb_diffuse_table_bytes(table->table);
    if (from == KEPT)
        nb_shared_drop(store->kept[--from]);
    memmove(store->kept + 1, store->kept, (size_t)from * sizeof *store->kept);
    store->kept[0] = table;
    for (int i = 1; i < KEPT && store->kept[i]; i++) {
        bytes += nb_diffuse_table_bytes(store->kept[i]->table);
        if (bytes <= KEPT_BYTES)
            continue;
        nb_shared_drop(store->kept[i]);
        memmove(store->kept + i, store->kept + i + 1,
                (size_t)(KEPT - 1 - i) * sizeof *store->kept);
        store->kept[KEPT - 1] = NULL;
        i--;
    }
}

nb_status nb_light_store_take(nb_light_store *store, const nb_diffuse_source *source,
                              const nb_light_table **table, nb_error *err)
{
    const uint64_t hash = hash_of(source);
    const nb_light_table *own = NULL;
    nb_diffuse_source by = *source;
    nb_status st = NB_OK;
    int at;
    pthread_mutex_lock(&store->lock);
    if (by.threads < store->threads)
        by.threads = nb_thread_count(store->threads);
    at = find(store, source, hash);
    if (at < KEPT)
        own = store->kept[at];
    else
        st = make_table(&by, hash, &own, err);
    if (!st)
        put_first(store, own, at);
    *table = nb_shared_hold(own);
    pthread_mutex_unlock(&store->lock);
    return st;
}
