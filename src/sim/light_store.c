/* SPDX-License-Identifier: MIT */
/* Tables of light that simulations share. */
#include <pthread.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/shared.h"
#include "../base/threads.h"
#include "light.h"

/* Frames take turns between a few F and cells (-vary Badd:choice:..., crystals of an image). */
enum { KEPT = 8 };

struct nb_light_store {
    pthread_mutex_t lock;
    int threads;
    const nb_light_table *kept[KEPT]; /* held, the last asked for first; NULL behind them */
    const nb_factor_sums *sums;       /* held; of the last family */
    uint64_t hash;                    /* of their F */
};

static void clear_store(void *object)
{
    nb_light_store *store = object;
    for (int i = 0; i < KEPT; i++)
        nb_shared_drop(store->kept[i]);
    nb_shared_drop(store->sums);
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
    for (int i = 0; i < t->n; i++)
        nb_diffuse_table_free(t->table[i]);
}

static int is_same_family(const nb_light_request *a, const nb_light_request *b)
{
    return a->is_family == b->is_family &&
           (!a->is_family || (!memcmp(&a->range, &b->range, sizeof a->range) &&
                              !memcmp(a->cell, b->cell, sizeof a->cell) &&
                              !memcmp(a->lattice, b->lattice, sizeof a->lattice)));
}

static int is_same(const nb_light_table *t, const nb_light_request *s, uint64_t hash)
{
    const nb_diffuse *a = &t->model, *b = s->of.model;
    const nb_factor_table *f = &t->F, *g = s->of.factors;
    return t->hash == hash && f->nh == g->nh && f->nk == g->nk && f->nl == g->nl &&
           f->hmin == g->hmin && f->kmin == g->kmin && f->lmin == g->lmin &&
           t->of.of.reach == s->of.reach && a->gauss == b->gauss &&
           a->unperturbed == b->unperturbed && a->sigma == b->sigma &&
           a->gamma == b->gamma && a->n_forms == b->n_forms &&
           !memcmp(a->forms, b->forms, (size_t)a->n_forms * sizeof *a->forms) &&
           is_same_family(&t->of, s);
}

/** A number of what a table is made from. */
static uint64_t mark_of(const nb_light_table *t)
{
    enum { NUMBERS = 12, OF_FORM = sizeof(nb_diffuse_form) / sizeof(double) };
    const nb_diffuse *m = &t->model;
    double x[NUMBERS + OF_FORM * NB_DIFFUSE_FORMS] = {
        0,       t->F.hmin, t->F.kmin,      t->F.lmin, t->F.nh,  t->F.nk,
        t->F.nl, m->gauss,  m->unperturbed, m->sigma,  m->gamma, t->of.of.reach};
    const size_t n = (size_t)m->n_forms * OF_FORM;
    memcpy(x, &t->hash, sizeof *x);
    memcpy(x + NUMBERS, m->forms, n * sizeof *x);
    return nb_table_run_of(x, NUMBERS + n, 1).hash | 1;
}

static nb_status make_table(const nb_light_request *source, uint64_t hash,
                            const nb_light_table **out, nb_error *err)
{
    nb_light_table *t = nb_shared_new(sizeof *t, clear_table, "diffuse light", err);
    nb_status st = t ? NB_OK : NB_ERR_NOMEM;
    if (!st && source->is_family) {
        st = nb_light_family_make(source, t, err);
    } else if (!st) {
        st = nb_diffuse_table_new(&source->of, t->table, err);
        t->n = !st;
    }
    if (!st) {
        t->of = *source;
        t->model = *source->of.model;
        t->F = *source->of.factors;
        t->F.F = NULL;
        t->hash = hash;
        if (t->n == 1)
            t->table[0]->mark = mark_of(t);
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

/** Of F without B, once for the same sums. */
static nb_status hash_of_sums(nb_light_store *store, const nb_light_request *s,
                              uint64_t *hash, nb_error *err)
{
    const nb_factor_table *f = s->of.factors;
    const size_t n = (size_t)f->nh * (size_t)f->nk * (size_t)f->nl;
    double *F;
    if (store->sums != s->in->sums) {
        if (!(F = nb_alloc_raw(n, sizeof *F, "structure factors", err)))
            return NB_ERR_NOMEM;
        nb_light_weigh(s, 0, F);
        store->hash = nb_table_run_of(F, n, 1).hash;
        nb_free(F);
        nb_shared_drop(store->sums);
        store->sums = nb_shared_hold(s->in->sums);
    }
    *hash = store->hash;
    return NB_OK;
}

static double bytes_of(const nb_light_table *t)
{
    double sum = 0;
    for (int i = 0; i < t->n; i++)
        sum += nb_diffuse_table_bytes(t->table[i]);
    return sum;
}

/** Where the table of this source is; KEPT: nowhere. */
static int find(const nb_light_store *store, const nb_light_request *source, uint64_t hash)
{
    int i = 0;
    while (i < KEPT && !(store->kept[i] && is_same(store->kept[i], source, hash)))
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

/** The first goes last, and a family after all that is alone: a frame outside of it would cost all of its tables. */
static int least_wanted(const nb_light_store *store)
{
    int last = 0;
    for (int i = 0; i < KEPT && store->kept[i]; i++)
        if (store->kept[i]->n < 2 || store->kept[last]->n > 1)
            last = i;
    return last;
}

/** Put tables before those that were asked for earlier, which had place `from`; the last of all goes. */
static void put_first(nb_light_store *store, const nb_light_table *table, int from)
{
    double bytes = 0;
    int n = 0;
    if (from == KEPT && store->kept[KEPT - 1])
        remove_kept(store, least_wanted(store));
    if (from == KEPT)
        from--;
    memmove(store->kept + 1, store->kept, (size_t)from * sizeof *store->kept);
    store->kept[0] = table;
    for (; n < KEPT && store->kept[n]; n++)
        bytes += bytes_of(store->kept[n]);
    for (; n > 1 && bytes > NB_DIFFUSE_BYTES; n--) {
        const int i = least_wanted(store);
        bytes -= bytes_of(store->kept[i]);
        remove_kept(store, i);
    }
}

nb_status nb_light_store_take(nb_light_store *store, const nb_light_request *source,
                              const nb_light_table **table, nb_error *err)
{
    const nb_light_table *own = NULL;
    uint64_t hash = source->in ? 0 : hash_of(&source->of);
    nb_light_request by = *source;
    nb_status st = NB_OK;
    int at;
    pthread_mutex_lock(&store->lock);
    if (by.of.threads < store->threads)
        by.of.threads = nb_thread_count(store->threads);
    if (source->in)
        st = hash_of_sums(store, source, &hash, err);
    at = st ? KEPT : find(store, source, hash);
    if (at < KEPT)
        own = store->kept[at];
    else if (!st)
        st = make_table(&by, hash, &own, err);
    *table = nb_shared_hold(own);
    if (!st)
        put_first(store, own, at); /* which may drop it */
    pthread_mutex_unlock(&store->lock);
    return st;
}
