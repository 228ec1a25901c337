/* SPDX-License-Identifier: MIT */
/* Tiles of pixels.  Of each tile every reflection is summed over orientations, sources and sub-pixels; then each
 * pixel is divided among the reflections that it got something of, in the order of the list. */
#include "spot_shares.h"

#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "../base/error.h"
#include "../base/memory.h"
#include "../physics/panels.h"
#include "../plan/spot_list.h"
#include "../plan/spot_terms.h"
#include "../render/rows.h"

enum { TILE = 64 /* sub-pixels along an edge, about */, BLOCK = 1024 /* tiles */ };

/** What a reflection adds to a pixel of the tile. */
typedef struct share {
    int pixel;
    uint32_t spot;
    double sums[NB_SUMS];
} share;

/** A pixel of the tile. */
typedef struct tile_pixel {
    int known, lit;                    /* photons and least are set; has a sum */
    double photons, least, background; /* as nb_spot_shares.photons */
    double sums[NB_SUMS];              /* of the present reflection */
    size_t shares; /* in the list, as it is sorted: where the next goes */
} tile_pixel;

typedef struct tile {
    const nb_spot_shares *of;
    const nb_spot_list *list;
    int panel, f0, s0, nf, ns; /* pixels: first and count */
    int layer;
    tile_pixel *pixels; /* owned; [ns][nf] */
    int *lit;           /* owned; pixels with a sum of the present reflection */
    int n_lit;
    share *shares; /* owned */
    size_t n, room;
    nb_reflection_table table; /* the result */
    int failed;
} tile;

/* ------------------------------------------------------------------ one ray */

/** Weight of a source's sample, without F^2 and the ray's. */
static double term_of(const nb_spot_pair *pair, const nb_spot_ray *at,
                      const nb_spot_line *line, int i)
{
    const double off = pair->offset[i] + line->shift;
    if (at->scene->lattice.shape == NB_LATTICE_TOPHAT)
        return nb_spot_entry_lit(pair, at, line, i) ? pair->weight[i] : 0;
    if (pair->offset[i] > line->last)
        return 0;
    return pair->weight[i] *
           nb_spot_exp2((line->across2 + line->slope2 * off * off) * NB_SPOT_FALL);
}

/** The samples of a ray: their weight and its product with the wavelength; times: of each. */
static void add_sources(const nb_spot_pair *pair, const nb_spot_ray *at,
                        const nb_spot_line *line, double times, double least,
                        double sum[2])
{
    const nb_source *sources = at->scene->beam.sources;
    const double reach = sqrt(fmax(0.0, pair->most - line->across2)) * line->inverse;
    const double high = -line->shift + reach;
    for (int i = nb_spot_entry(pair, -line->shift - reach);
         i < pair->run->n && pair->offset[i] <= high; i++) {
        const double w = times * term_of(pair, at, line, i);
        if (!(w > 0) || w < least)
            continue;
        sum[0] += w;
        sum[1] += w * sources[at->sources[pair->run->first + (size_t)i]].lambda;
    }
}

/** What every sample of a ray counts. */
static double ray_weight(const nb_scene *sc, const nb_ray *ray, nb_vec3 incident)
{
    double weight = ray->capture;
    if (sc->oversample_omega)
        weight *= ray->omega;
    if (sc->oversample_polar && !sc->beam.nopolar)
        weight *= nb_polarization(sc->beam.polarization, incident, ray->direction,
                                  sc->beam.polar_axis);
    return weight;
}

/** The pixel, if it is to be divided. */
static tile_pixel *pixel_at(const tile *t, int i)
{
    tile_pixel *p = &t->pixels[i];
    if (!p->known) {
        p->known = 1;
        p->photons = t->of->photons(t->of->user, t->panel, t->f0 + i % t->nf,
                                    t->s0 + i / t->nf, &p->least, &p->background);
    }
    return p->photons > 0 ? p : NULL;
}

/** Add a pair's samples of one ray; u, v: sub-pixel of the tile. */
static void add_ray(tile *t, const nb_spot_pair *pair, int u, int v)
{
    const nb_scene *sc = t->of->scene;
    const int os = sc->oversample, i = v / os * t->nf + u / os;
    const nb_panel *panel = &sc->panels[t->panel];
    const nb_spot_ray at = {sc,
                            panel,
                            &sc->sensors[panel->sensor],
                            t->of->spots->source,
                            t->f0 * os + u,
                            t->s0 * os + v,
                            t->layer};
    tile_pixel *p = pixel_at(t, i);
    double sum[2] = {0, 0}, phi;
    nb_spot_line line;
    nb_spot_aim aim;
    nb_ray ray;
    if (!p)
        return;
    ray = nb_spot_ray_of(&at);
    aim = nb_spot_aim_of(pair, sc->factors.dmin, ray.direction);
    if (!nb_spot_line_of(pair, &aim, &line))
        return;
    add_sources(pair, &at, &line, pair->F2 * ray_weight(sc, &ray, pair->run->incident),
                p->least, sum);
    if (!(sum[0] > 0))
        return;
    if (!p->lit)
        t->lit[t->n_lit++] = i;
    p->lit = 1;
    phi = t->of->phi_first + pair->m / sc->lattice.n_domains * t->of->phi_step;
    p->sums[NB_SUM_WEIGHT] += sum[0];
    p->sums[NB_SUM_FAST] += sum[0] * (at.u + 0.5) / os;
    p->sums[NB_SUM_SLOW] += sum[0] * (at.v + 0.5) / os;
    p->sums[NB_SUM_PHI] += sum[0] * phi;
    p->sums[NB_SUM_LAMBDA] += sum[1];
}

/* ------------------------------------------------------------------ one reflection */

/** Sub-pixels of the tile that a run may light; 0: none. */
static int box_of(const tile *t, const nb_spot *spot, const nb_spot_cell *cell,
                  const nb_spot_run *run, int box[2][2])
{
    const nb_scene *sc = t->of->scene;
    const int os = sc->oversample, where[2] = {t->f0 * os, t->s0 * os},
              n[2] = {t->nf * os, t->ns * os};
    const nb_spot_screen screen = nb_spot_screen_of(
        &t->list->planes[t->panel], &sc->sensors[sc->panels[t->panel].sensor], t->layer);
    double range[2][2], g[3];
    int seen, lit = 1;
    nb_spot_point(cell, spot->h, g);
    seen = nb_spot_seen(t->of->spots, &screen, spot, cell, run, g, range);
    for (int k = 0; k < 2; k++) {
        box[k][0] = 0;
        box[k][1] = n[k] - 1;
        if (seen == NB_SPOT_BOXED)
            lit &= nb_spot_clip(range[k], os, where[k], n[k], box[k]);
    }
    return seen != NB_SPOT_NOWHERE && lit;
}

static void add_orientation(tile *t, const nb_spot *spot, int m)
{
    const nb_spots *sp = t->of->spots;
    for (int k = 0; k < sp->n_runs; k++) {
        const nb_spot_run *run = &sp->runs[k];
        int box[2][2];
        if (!box_of(t, spot, &sp->cells[m], run, box))
            continue;
        const nb_spot_pair pair =
            nb_spot_pair_of(sp, &t->of->scene->factors.table, spot, m, run);
        for (int v = box[1][0]; pair.F2 > 0 && v <= box[1][1]; v++)
            for (int u = box[0][0]; u <= box[0][1]; u++)
                add_ray(t, &pair, u, v);
    }
}

/** What the present reflection adds to the tile's pixels. */
static int keep_shares(tile *t, uint32_t spot)
{
    if (t->n + (size_t)t->n_lit > t->room) {
        const size_t room = 2 * (t->n + (size_t)t->n_lit);
        share *more = nb_alloc_raw(room, sizeof *more, "spots", NULL);
        if (!more)
            return 0;
        if (t->n)
            memcpy(more, t->shares, t->n * sizeof *more);
        nb_free(t->shares);
        t->shares = more;
        t->room = room;
    }
    for (int i = 0; i < t->n_lit; i++) {
        tile_pixel *p = &t->pixels[t->lit[i]];
        share *to = &t->shares[t->n++];
        to->pixel = t->lit[i];
        to->spot = spot;
        memcpy(to->sums, p->sums, sizeof p->sums);
        memset(p->sums, 0, sizeof p->sums);
        p->lit = 0;
    }
    t->n_lit = 0;
    return 1;
}

static int add_spot(tile *t, uint32_t number)
{
    const nb_spots *sp = t->of->spots;
    const nb_spot *spot = &t->list->spots[number];
    const nb_spot_group *group = &sp->groups[spot->group];
    const double *a = sp->along, *b = a + sp->stride, *c = b + sp->stride;
    const nb_scene *sc = t->of->scene;
    double most;
    const double middle = nb_spot_excitation(sp, spot, &most);
    for (t->layer = 0; t->layer < sc->sensors[sc->panels[t->panel].sensor].layers;
         t->layer++)
        for (int m = group->first; m < group->end; m++)
            if (fabs(a[m] * spot->h[0] + b[m] * spot->h[1] + c[m] * spot->h[2] + middle) <=
                most)
                add_orientation(t, spot, m);
    return keep_shares(t, number);
}

/* ------------------------------------------------------------------ by vectors */

/** What a pixel of the tile got of the reflection that `drawn` has. */
static void take_pixel(tile *t, const nb_spot_tile *drawn, int i)
{
    const int os = t->of->scene->oversample;
    const int u0 = i % t->nf * os, v0 = i / t->nf * os;
    double sums[NB_SUMS] = {0}, phi = 0;
    tile_pixel *p;
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
    if (!(sums[NB_SUM_WEIGHT] > 0) || !(p = pixel_at(t, i)) ||
        sums[NB_SUM_WEIGHT] < p->least)
        return;
    sums[NB_SUM_FAST] = t->f0 * sums[NB_SUM_WEIGHT] + sums[NB_SUM_FAST] / os;
    sums[NB_SUM_SLOW] = t->s0 * sums[NB_SUM_WEIGHT] + sums[NB_SUM_SLOW] / os;
    sums[NB_SUM_PHI] = t->of->phi_first * sums[NB_SUM_WEIGHT] + t->of->phi_step * phi;
    memcpy(p->sums, sums, sizeof sums);
    p->lit = 1;
    t->lit[t->n_lit++] = i;
}

/** Zero what a reflection added. */
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

static int draw_one(tile *t, nb_spot_tile *drawn, uint32_t number)
{
    const int os = t->of->scene->oversample;
    int(*box)[2] = drawn->drawn;
    t->of->draw(drawn, &t->list->spots[number]);
    if (box[0][0] > box[0][1])
        return 1;
    for (int s = box[1][0] / os; s <= box[1][1] / os; s++)
        for (int f = box[0][0] / os; f <= box[0][1] / os; f++)
            take_pixel(t, drawn, s * t->nf + f);
    clear_drawn(drawn);
    return keep_shares(t, number);
}

/** Between which sub-pixels each row has pixels to divide; 0: the tile has none. */
static int set_wanted(const tile *t, int (*wanted)[2])
{
    const int os = t->of->scene->oversample;
    int any = 0;
    for (int s = 0; s < t->ns; s++) {
        const int first = s * t->nf;
        int from = 0, to = t->nf;
        while (from < to && !pixel_at(t, first + from))
            from++;
        while (from < to && !pixel_at(t, first + to - 1))
            to--;
        wanted[s][0] = from * os;
        wanted[s][1] = to * os - 1;
        any |= from < to;
    }
    return any;
}

/** All reflections of the tile, by vectors; 0: out of memory. */
static int draw_tile(tile *t, nb_spot_tile *drawn, size_t number)
{
    const nb_scene *sc = t->of->scene;
    const nb_spot_list *list = t->list;
    int ok = 1;
    drawn->spots = t->of->spots;
    drawn->list = list;
    drawn->plan = &t->of->plans[t->panel];
    drawn->plane = &list->planes[t->panel];
    drawn->tile = number;
    drawn->tophat = sc->lattice.shape == NB_LATTICE_TOPHAT;
    drawn->has_factor = drawn->plan->sensor.absorb || sc->oversample_omega;
    drawn->f0 = t->f0;
    drawn->s0 = t->s0;
    drawn->nf = t->nf;
    drawn->ns = t->ns;
    drawn->nu = t->nf * sc->oversample;
    drawn->nv = t->ns * sc->oversample;
    memset(drawn->touched, 0, (size_t)drawn->nv);
    if (!set_wanted(t, drawn->wanted))
        return 1;
    for (drawn->layer = 0; drawn->layer < drawn->plan->sensor.layers; drawn->layer++) {
        memset(drawn->aimed, 0, (size_t)drawn->nv);
        for (size_t i = list->first[number]; i < list->first[number + 1] && ok; i++)
            ok = draw_one(t, drawn, list->of[i]);
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

/** The shares of each pixel one behind the other; order: [n]. */
static void sort_shares(const tile *t, size_t *order)
{
    const int n = t->nf * t->ns;
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

/** Divide the pixels among their shares; 0: out of memory. */
static int divide(tile *t)
{
    size_t *order = nb_alloc_raw(t->n, sizeof *order, "spots", NULL);
    int ok = order != NULL;
    if (ok)
        sort_shares(t, order);
    t->table.panel = t->panel;
    for (size_t i = 0; i < t->n && ok; i++) {
        const share *s = &t->shares[order[i]];
        const int32_t *h = t->list->spots[s->spot].h;
        ok = nb_reflection_add(&t->table, (const int[]){h[0], h[1], h[2]}, s->sums);
        if (ok && (i + 1 == t->n || t->shares[order[i + 1]].pixel != s->pixel))
            nb_reflection_end_pixel(&t->table, t->pixels[s->pixel].photons,
                                    t->pixels[s->pixel].background);
    }
    nb_free(order);
    return ok;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/** The tile of this number in the list. */
static tile tile_of(const nb_spot_shares *of, const nb_spot_list *list, size_t number)
{
    tile t = {.of = of, .list = list};
    while (t.panel + 1 < of->scene->n_panels && list->grids[t.panel + 1].first <= number)
        t.panel++;
    const nb_spot_grid *grid = &list->grids[t.panel];
    const int i = (int)(number - grid->first);
    t.f0 = grid->region.fmin + i % grid->across * list->edge;
    t.s0 = grid->region.smin + i / grid->across * list->edge;
    t.nf = least(list->edge, grid->region.fmax + 1 - t.f0);
    t.ns = least(list->edge, grid->region.smax + 1 - t.s0);
    return t;
}

/** Its reflections; 0: out of memory. */
static int run_tile(const nb_spot_shares *of, const nb_spot_list *list, size_t number,
                    nb_spot_tile *drawn, nb_reflection_table *table)
{
    tile t = tile_of(of, list, number);
    const size_t n = (size_t)t.nf * (size_t)t.ns;
    int ok = 1;
    if (list->first[number] == list->first[number + 1])
        return 1;
    t.pixels = nb_alloc(n, sizeof *t.pixels, "spots", NULL);
    t.lit = nb_alloc(n, sizeof *t.lit, "spots", NULL);
    ok = t.pixels && t.lit;
    if (ok && of->draw)
        ok = draw_tile(&t, drawn, number);
    for (size_t i = list->first[number]; i < list->first[number + 1] && ok && !of->draw;
         i++)
        ok = add_spot(&t, list->of[i]);
    if (ok && t.n > 0)
        ok = divide(&t);
    *table = t.table;
    nb_free(t.pixels);
    nb_free(t.lit);
    nb_free(t.shares);
    return ok;
}

/* ------------------------------------------------------------------ all tiles */

/** Add a block's tables in their order, and empty them; 0: out of memory. */
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

static int thread_number(void)
{
#ifdef _OPENMP
    return omp_get_thread_num();
#else
    return 0;
#endif
}

/** drawn: of each thread. */
static nb_status run_tiles(const nb_spot_shares *of, const nb_spot_list *list,
                           nb_spot_tile *drawn, nb_reflection_table *all, nb_error *err)
{
    const nb_hooks *hooks = of->hooks;
    const int threads = nb_thread_count(of->threads);
    nb_reflection_table tables[BLOCK] = {{0}};
    int ok[BLOCK];
    (void)threads;
    for (size_t first = 0; first < list->tiles; first += BLOCK) {
        const int n = list->tiles - first < BLOCK ? (int)(list->tiles - first) : BLOCK;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
#endif
        for (int i = 0; i < n; i++)
            ok[i] = run_tile(of, list, first + (size_t)i, &drawn[thread_number()],
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
    const nb_scene *sc = shares->scene;
    const int os = sc->oversample, edge = os < TILE ? TILE / os : 1;
    nb_region *regions = nb_alloc((size_t)sc->n_panels, sizeof *regions, "panels", err);
    const int threads = nb_thread_count(shares->threads);
    nb_spot_tile *drawn;
    nb_spot_list list;
    nb_status st = regions ? NB_OK : NB_ERR_NOMEM;
    for (int k = 0; k < sc->n_panels && !st; k++)
        regions[k] = nb_panel_region(sc, &sc->panels[k]);
    if (!st)
        st = nb_spot_list_build(shares->spots, shares->limits, regions, edge, &list, err);
    nb_free(regions);
    if (st)
        return st;
    drawn = nb_alloc((size_t)threads, sizeof *drawn, "tiles", err);
    st = drawn ? NB_OK : NB_ERR_NOMEM;
    for (int i = 0; i < threads && shares->draw && !st; i++)
        st = alloc_drawn(&drawn[i], edge * os, err);
    if (!st)
        st = run_tiles(shares, &list, drawn, table, err);
    for (int i = 0; i < threads && drawn; i++)
        free_drawn(&drawn[i]);
    nb_free(drawn);
    nb_spot_list_free(&list);
    return st;
}
