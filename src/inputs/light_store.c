/* SPDX-License-Identifier: MIT */
/* Tables of light that simulations share. */
#include <pthread.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/store.h"
#include "../base/threads.h"
#include "../physics/limits.h"
#include "light_store.h"

/* Frames take turns between a few F and cells (-vary Badd:choice:..., crystals of an image). */
enum { KEPT = 8 };
#define KEPT_BYTES 256e6 /* of all together, if they are several */

struct nb_light_store {
    pthread_mutex_t lock;
    int threads;
    nb_diffuse_table *kept[KEPT]; /* held, the last asked for first; NULL behind them */
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

/** A number of all that a table is made from. */
static uint64_t mark_of(const nb_diffuse_source *s)
{
    enum { NUMBERS = 13, OF_FORM = sizeof(nb_diffuse_form) / sizeof(double) };
    const nb_diffuse *m = s->model;
    const nb_factor_table *f = s->factors;
    const size_t voxels = (size_t)f->nh * (size_t)f->nk * (size_t)f->nl,
                 n = (size_t)m->n_forms * OF_FORM;
    const uint64_t hash = f->measured && f->hash && f->n_tables <= 1 /* nb_tables_sign */
                              ? f->hash
                              : nb_table_run_of(nb_table_at(f, s->table), voxels, 1).hash;
    double x[NUMBERS + OF_FORM * NB_DIFFUSE_FORMS] = {
        0,        f->hmin,        f->kmin,  f->lmin,  f->nh,    f->nk,    f->nl,
        m->gauss, m->unperturbed, m->sigma, m->gamma, s->reach, s->direct};
    memcpy(x, &hash, sizeof *x);
    memcpy(x + NUMBERS, m->forms, n * sizeof *x);
    return nb_table_run_of(x, NUMBERS + n, 1).hash | 1;
}

/** Where a table is; KEPT: nowhere. */
static int find(const nb_light_store *store, uint64_t mark)
{
    int i = 0;
    while (i < KEPT && !(store->kept[i] && store->kept[i]->mark == mark))
        i++;
    return i;
}

static void remove_kept(nb_light_store *store, int i)
{
    nb_shared_drop(store->kept[i]);
    memmove(store->kept + i, store->kept + i + 1,
            (size_t)(KEPT - 1 - i) * sizeof *store->kept);
    store->kept[KEPT - 1] = NULL;
}

/** Put a table before those that were asked for earlier, which had place `from`; the last go. */
static void put_first(nb_light_store *store, nb_diffuse_table *table, int from)
{
    double bytes = 0;
    if (from == KEPT) {
        nb_shared_drop(store->kept[KEPT - 1]);
        from--;
    }
    memmove(store->kept + 1, store->kept, (size_t)from * sizeof *store->kept);
    store->kept[0] = table;
    for (int n = 0; n < KEPT && store->kept[n]; n++) {
        bytes += nb_diffuse_table_bytes(store->kept[n]);
        if (n > 0 && bytes > KEPT_BYTES)
            remove_kept(store, n--);
    }
}

nb_status nb_light_store_take(nb_light_store *store, const nb_diffuse_source *source,
                              const nb_diffuse_table **table, nb_error *err)
{
    const uint64_t mark = mark_of(source);
    nb_diffuse_table *own = NULL;
    nb_diffuse_source by = *source;
    nb_status st = NB_OK;
    int at;
    pthread_mutex_lock(&store->lock);
    if (by.threads < store->threads)
        by.threads = nb_thread_count(store->threads);
    at = find(store, mark);
    if (at < KEPT)
        own = store->kept[at];
    else if (!(st = nb_diffuse_table_new(&by, &own, err)))
        own->mark = mark;
    *table = nb_shared_hold(own);
    if (!st)
        put_first(store, own, at); /* which may drop it */
    pthread_mutex_unlock(&store->lock);
    return st;
}
