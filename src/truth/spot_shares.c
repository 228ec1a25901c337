/* SPDX-License-Identifier: MIT */
/* Tiles of pixels: in each tile every reflection is summed over orientations, sources and
 * sub-pixels. Then each pixel is divided among its reflections, in order of the list. */
#include "reflection_table.h"

#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/threads.h"
#include "../physics/panels.h"
#include "../plan/spots.h"
#include "../render/request.h"

enum { TILE = 64 /* sub-pixels along an edge */, BLOCK = 1024 /* tiles at a time */ };

/** Sum of a reflection in a pixel of the tile. */
typedef struct share {
    int pixel;
    uint32_t spot;
    double sums[NB_SUMS];
} share;

/** A pixel of the tile. */
typedef struct tile_pixel {
    double photons, least, background; /* same meaning as nb_spot_shares.photons */
    double sums[NB_SUMS];              /* sums of the current reflection */
    size_t shares;                     /* index of the next share in the sorted list */
} tile_pixel;

typedef struct tile {
    const nb_spot_shares *of;
    nb_spot_tile *drawn;
    int panel;
    tile_pixel *pixels; /* owned; [ns][nf] */
    int *lit;           /* owned; pixels with a sum of the current reflection */
    int n_lit;
    share *shares; /* owned */
    size_t n, room;
    nb_reflection_table table; /* result */
} tile;

/* ------------------------------------------------------------------ one reflection */

/** Move the sums of the current reflection from the pixels to the list of shares. */
static int keep_shares(tile *t, uint32_t spot)
{
    const size_t wanted = t->n + (size_t)t->n_lit;
    if (wanted > t->room) {
        if (nb_grow(&t->shares, t->n, 2 * wanted, sizeof *t->shares, "spots", NULL))
            return 0;
        t->room = 2 * wanted;
    }
    for (int i = 0; i < t->n_lit; i++) {
        tile_pixel *p = &t->pixels[t->lit[i]];
        share *to = &t->shares[t->n++];
        to->pixel = t->lit[i];
        to->spot = spot;
        memcpy(to->sums, p->sums, sizeof p->sums);
        memset(p->sums, 0, sizeof p->sums);
    }
    t->n_lit = 0;
    return 1;
}

/** Record the sums of the current reflection in pixel i, unless they are too small. */
static void take_pixel(tile *t, int i)
{
    const nb_spot_tile *drawn = t->drawn;
    const int os = t->of->job->scene->oversample;
    const int u0 = i % drawn->nf * os, v0 = i / drawn->nf * os;
    double sums[NB_SUMS] = {0}, phi = 0;
    tile_pixel *p = &t->pixels[i];
    for (int v = v0; v < v0 + os; v++)
        for (int u = u0; drawn->touched[v] && u < u0 + os; u++) {
            const size_t at = (size_t)v * drawn->pitch + (size_t)u;
            const double w = drawn->sum[at];
            sums[NB_SUM_WEIGHT] += w;
            sums[NB_SUM_FAST] += w * (u + 0.5);
            sums[NB_SUM_SLOW] += w * (v + 0.5);
            phi += drawn->phi[at];
            sums[NB_SUM_LAMBDA] += drawn->lambda[at];
        }
    if (!(sums[NB_SUM_WEIGHT] > 0) || !(p->photons > 0) || sums[NB_SUM_WEIGHT] < p->least)
        return;
    sums[NB_SUM_FAST] = drawn->f0 * sums[NB_SUM_WEIGHT] + sums[NB_SUM_FAST] / os;
    sums[NB_SUM_SLOW] = drawn->s0 * sums[NB_SUM_WEIGHT] + sums[NB_SUM_SLOW] / os;
    sums[NB_SUM_PHI] =
        t->of->job->phi_first * sums[NB_SUM_WEIGHT] + t->of->job->phi_step * phi;
    memcpy(p->sums, sums, sizeof sums);
    t->lit[t->n_lit++] = i;
}

/** Set sub-pixels that a reflection touched to 0. */
static void clear_drawn(nb_spot_tile *drawn)
{
    const size_t n = (size_t)(drawn->drawn[0][1] - drawn->drawn[0][0] + 1 + NB_SPOT_PAD);
    for (int v = drawn->drawn[1][0]; v <= drawn->drawn[1][1]; v++) {
        const size_t at = (size_t)v * drawn->pitch + (size_t)drawn->drawn[0][0];
        memset(drawn->sum + at, 0, n * sizeof *drawn->sum);
        memset(drawn->phi + at, 0, n * sizeof *drawn->phi);
        memset(drawn->lambda + at, 0, n * sizeof *drawn->lambda);
    }
}

/** Sum a reflection of the list for one layer. Returns 0 if memory is exhausted. */
static int draw_one(tile *t, uint32_t number)
{
    const int os = t->of->job->scene->oversample;
    int(*box)[2] = t->drawn->drawn;
    t->of->draw(t->drawn, &t->drawn->list->spots[number]);
    if (box[0][0] > box[0][1])
        return 1;
    for (int s = box[1][0] / os; s <= box[1][1] / os; s++)
        for (int f = box[0][0] / os; f <= box[0][1] / os; f++)
            take_pixel(t, s * t->drawn->nf + f);
    clear_drawn(t->drawn);
    return keep_shares(t, number);
}

/* ------------------------------------------------------------------ all reflections */

/** Read the pixels of row s of the tile, and find the range of sub-pixels to divide.
 * Returns 0 if the range is empty. */
static int set_wanted(tile *t, int s)
{
    const nb_spot_tile *drawn = t->drawn;
    const int os = t->of->job->scene->oversample;
    int from = drawn->nf, to = 0;
    for (int f = 0; f < drawn->nf; f++) {
        tile_pixel *p = &t->pixels[s * drawn->nf + f];
        p->photons = t->of->photons(t->of->user, t->panel, drawn->f0 + f, drawn->s0 + s,
                                    &p->least, &p->background);
        if (p->photons > 0) {
            from = f < from ? f : from;
            to = f + 1;
        }
    }
    drawn->wanted[s][0] = from * os;
    drawn->wanted[s][1] = to * os - 1;
    return from < to;
}

/** Sum all reflections of the tile. Returns 0 if memory is exhausted. */
static int draw_tile(tile *t)
{
    nb_spot_tile *drawn = t->drawn;
    const nb_spot_list *list = drawn->list;
    int ok = 1, any = 0;
    for (int s = 0; s < drawn->ns; s++)
        any |= set_wanted(t, s);
    if (!any)
        return 1;
    memset(drawn->touched, 0, (size_t)drawn->nv);
    for (drawn->layer = 0; drawn->layer < drawn->plan->sensor.layers; drawn->layer++) {
        memset(drawn->aimed, 0, (size_t)drawn->nv);
        for (size_t i = list->first[drawn->tile]; i < list->first[drawn->tile + 1] && ok;
             i++)
            ok = draw_one(t, list->of[i]);
    }
    return ok;
}

static void free_drawn(nb_spot_tile *drawn)
{
    nb_spot_tile_free(drawn);
    nb_free(drawn->phi);
    nb_free(drawn->lambda);
    nb_free(drawn->wanted);
}

static nb_status alloc_drawn(nb_spot_tile *drawn, int edge, nb_error *err)
{
    nb_status st = nb_spot_tile_alloc(drawn, edge, err);
    const size_t n = (size_t)edge * drawn->pitch;
    if (st)
        return st;
    drawn->phi = nb_alloc(n, sizeof *drawn->phi, "tile", err);
    drawn->lambda = nb_alloc(n, sizeof *drawn->lambda, "tile", err);
    drawn->wanted = nb_alloc((size_t)edge, sizeof *drawn->wanted, "tile", err);
    return drawn->phi && drawn->lambda && drawn->wanted ? NB_OK : NB_ERR_NOMEM;
}

/* ------------------------------------------------------------------ one tile */

/** Sort the shares by pixel; order: [n]. */
static void sort_shares(const tile *t, size_t *order)
{
    const int n = t->drawn->nf * t->drawn->ns;
    size_t at = 0;
    for (size_t i = 0; i < t->n; i++)
        t->pixels[t->shares[i].pixel].shares++;
    for (int i = 0; i < n; i++) {
        const size_t here = t->pixels[i].shares;
        t->pixels[i].shares = at;
        at += here;
    }
    for (size_t i = 0; i < t->n; i++)
        order[t->pixels[t->shares[i].pixel].shares++] = i;
}

/** Divide pixel i, whose shares are in the table. */
static void end_pixel(tile *t, int i)
{
    const nb_spot_tile *drawn = t->drawn;
    double photons = t->pixels[i].photons;
    if (t->of->own)
        t->table.photons += t->of->own(t->of->user, t->panel, drawn->f0 + i % drawn->nf,
                                       drawn->s0 + i / drawn->nf,
                                       nb_reflection_weight(&t->table), &photons);
    nb_reflection_end_pixel(&t->table, photons, t->pixels[i].background);
}

/** Divide the pixels among their shares. Returns 0 if memory is exhausted. */
static int divide(tile *t)
{
    size_t *order = nb_alloc_raw(t->n, sizeof *order, "spots", NULL);
    int ok = order != NULL;
    if (ok)
        sort_shares(t, order);
    t->table.panel = t->panel;
    for (size_t i = 0; i < t->n && ok; i++) {
        const share *s = &t->shares[order[i]];
        const int32_t *h = t->drawn->list->spots[s->spot].h;
        ok = nb_reflection_add(&t->table, (const int[]){h[0], h[1], h[2]}, s->sums);
        if (ok && (i + 1 == t->n || t->shares[order[i + 1]].pixel != s->pixel))
            end_pixel(t, s->pixel);
    }
    nb_free(order);
    return ok;
}

/** Divide the pixels of one tile. Returns 0 if memory is exhausted. */
static int run_tile(const nb_spot_shares *of, const nb_spot_list *list, size_t number,
                    nb_spot_tile *drawn, nb_reflection_table *table)
{
    tile t = {.of = of, .drawn = drawn};
    size_t n;
    int ok;
    if (list->first[number] == list->first[number + 1])
        return 1;
    t.panel = nb_spot_tile_place(drawn, of->spots, list, of->plans, number);
    n = (size_t)drawn->nf * (size_t)drawn->ns;
    t.pixels = nb_alloc(n, sizeof *t.pixels, "spots", NULL);
    t.lit = nb_alloc(n, sizeof *t.lit, "spots", NULL);
    ok = t.pixels && t.lit && draw_tile(&t);
    if (ok && t.n > 0)
        ok = divide(&t);
    *table = t.table;
    nb_free(t.pixels);
    nb_free(t.lit);
    nb_free(t.shares);
    return ok;
}

/* ------------------------------------------------------------------ all tiles */

/** Add the tables of a block in order, and empty them. Returns 0 if memory is exhausted. */
static int collect(nb_reflection_table *tables, const int *ok, int n,
                   nb_reflection_table *all)
{
    int whole = 1;
    for (int i = 0; i < n; i++) {
        whole = whole && ok[i] && nb_reflection_merge(all, &tables[i]);
        nb_reflection_table_free(&tables[i]);
    }
    return whole;
}

/** Divide all tiles. drawn: work space of each thread. */
static nb_status run_tiles(const nb_spot_shares *of, const nb_spot_list *list,
                           nb_spot_tile *drawn, nb_reflection_table *all, nb_error *err)
{
    const nb_hooks *hooks = of->job->hooks;
    const int threads = nb_thread_count(of->job->threads);
    nb_reflection_table tables[BLOCK] = {{0}};
    int ok[BLOCK];
    (void)threads;
    for (size_t first = 0; first < list->tiles; first += BLOCK) {
        const int n = list->tiles - first < BLOCK ? (int)(list->tiles - first) : BLOCK;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
        for (int i = 0; i < n; i++)
            ok[i] = run_tile(of, list, first + (size_t)i, &drawn[nb_thread_number()],
                             &tables[i]);
        if (!collect(tables, ok, n, all))
            return nb_fail_memory(err, 0, "spots");
        if (hooks && hooks->progress &&
            hooks->progress(hooks->user, (double)(first + (size_t)n) / (double)list->tiles))
            return nb_fail(err, NB_ERR_CANCELLED, "stopped before the spots were listed");
    }
    return NB_OK;
}

nb_status nb_spot_shares_add(const nb_spot_shares *shares, nb_reflection_table *table,
                             nb_error *err)
{
    const nb_scene *sc = shares->job->scene;
    const int os = sc->oversample, edge = os < TILE ? TILE / os : 1;
    nb_region *regions = nb_alloc((size_t)sc->n_panels, sizeof *regions, "panels", err);
    const int threads = nb_thread_count(shares->job->threads);
    nb_spot_tile *drawn;
    nb_spot_list list;
    nb_status st = regions ? NB_OK : NB_ERR_NOMEM;
    for (int k = 0; k < sc->n_panels && !st; k++)
        regions[k] = nb_panel_region(sc, &sc->panels[k]);
    NB_TRY(nb_spot_list_build(shares->spots, shares->limits, regions, edge, &list, err));
    nb_free(regions);
    if (st)
        return st;
    drawn = nb_alloc((size_t)threads, sizeof *drawn, "tiles", err);
    st = drawn ? NB_OK : NB_ERR_NOMEM;
    for (int i = 0; i < threads && !st; i++)
        st = alloc_drawn(&drawn[i], edge * os, err);
    NB_TRY(run_tiles(shares, &list, drawn, table, err));
    for (int i = 0; i < threads && drawn; i++)
        free_drawn(&drawn[i]);
    nb_free(drawn);
    nb_spot_list_free(&list);
    return st;
}
