/* SPDX-License-Identifier: MIT */
#include "tile_setup.h"

#include "../../src/base/error.h"
#include "../../src/base/memory.h"
#include "../../src/physics/panels.h"
#include "../../src/plan/dark.h"

enum {
    ALIGNMENT = 64,
    PILOTS = 2048, /* approximate number of blocks that a trial takes */
    /* a trial takes no more than every 31st block, to save time */
    PILOT_STRIDE = 31,
    LEAST_PILOTS = 64, /* approximate least number of blocks that a trial takes */
    /* smallest numbers of rows and columns of groups for tests of whole rows */
    ROWS_LEAST = 8,
    COLUMNS_LEAST = 2
};

/* Limit of the change of a Miller index across a large first block. */
#define BLOCK_INDEX 0.6
/* Limit of the change of a Miller index from the middle source of a row to the others. */
#define ROW_INDEX 0.5

/* Seconds of a whole H200 for a first block, a smaller block, 32 tests of groups, 32
 * tests of steps, and 8 steps of 4 rays; fitted to times (reports/cuda). */
static const double costs[NB_TILE_TALLIES] = {1.2e-9, 1.6e-9, 5.4e-10, 2.2e-10, 2e-10};
#define ROUND_TERMS 1.1   /* factor of the last of `costs` for round crystals */
#define EXACT_TERMS 12.0  /* factor of the last of `costs` for terms in doubles */
#define SUMMED (1 - 1e-5) /* factor that makes a sum of floats a lower bound */
#define START 3e-4        /* seconds of the first search and of launches */
#define PIXEL 1e-11       /* seconds of a pixel */
#define GAIN 1.15         /* smallest gain for which blocks are used */

/** Append an array to the tables; if `to` is NULL, only count its bytes. */
static void *add_array(char *to, size_t *at, const void *from, size_t bytes)
{
    const size_t first = *at;
    if (to && from && bytes > 0)
        memcpy(to + first, from, bytes);
    *at = (first + bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return to ? to + first : NULL;
}

static size_t count_rows(const nb_scene *sc)
{
    size_t rows = 0;
    for (int k = 0; k < sc->n_panels; k++)
        rows += (size_t)sc->panels[k].rows;
    return rows;
}

/** log2 of the number of rays along the edge of a panel's first blocks. Blocks may be
 * larger than in nb_tile_block and still be quick, because groups are also tested for
 * quarters. */
static int bits_of_edge(const nb_tiles *t, const nb_panel *panel)
{
    const double step = fmax(panel->pixel_fast, panel->pixel_slow) /
                        t->scene->oversample / panel->close_distance;
    const double off = fmax(t->length[0], fmax(t->length[1], t->length[2])) * t->kappa_max;
    return off * step * 2 * (1 << NB_TILE_LARGE) < BLOCK_INDEX ? NB_TILE_LARGE
                                                               : NB_TILE_SMALL;
}

/** Set the grid of a panel's region; items: number of blocks of the earlier panels.
 * Returns the new number of blocks. */
static int64_t set_grid(const nb_tile_setup *s, const nb_panel *panel, nb_region r,
                        int64_t items, nb_tile_grid *grid)
{
    const nb_scene *sc = &s->spots.whole;
    const nb_sensor *sensor = &sc->sensors[panel->sensor];
    const int os = sc->oversample, bits = bits_of_edge(&s->tiles, panel), edge = 1 << bits;
    grid->first = items;
    grid->bits = bits;
    grid->across = 1;
    grid->brightness = sc->intensity_scale * os * os *
                       (sensor->absorb ? 1 : sensor->layers) * s->tiles.unit;
    if (nb_region_pixels(r) == 0)
        return items;
    grid->u0 = r.fmin * os / edge;
    grid->v0 = r.smin * os / edge;
    grid->across = ((r.fmax + 1) * os - 1) / edge + 1 - grid->u0;
    return items + (int64_t)grid->across * (((r.smax + 1) * os - 1) / edge + 1 - grid->v0);
}

/** Set the blocks of the wanted pixels, the blocks of the whole detector, and the columns
 * that may have photons in each row. */
static void fill_grids(nb_tile_setup *s, const nb_scene *sc, nb_tile_grid *grids, int *lit)
{
    nb_plan whole = s->plan;
    nb_lit_cone cone;
    int64_t of[2] = {0, 0};
    size_t rows = 0;
    whole.scene = &s->spots.whole;
    cone = nb_lit_cone_of(&whole);
    for (int k = 0; k < sc->n_panels; k++) {
        const nb_panel *panel = &sc->panels[k];
        nb_lit_panel seen = nb_lit_panel_of(&cone, panel, &sc->sensors[panel->sensor]);
        nb_tile_grid *two[2] = {&grids[k], &grids[sc->n_panels + k]};
        of[0] = set_grid(s, panel, nb_panel_region(sc, panel), of[0], two[0]);
        of[1] = set_grid(s, panel, nb_panel_region(&s->spots.whole, panel), of[1], two[1]);
        two[0]->lit = two[1]->lit = rows;
        seen.columns = panel->columns;
        for (int row = 0; row < panel->rows; row++, rows++)
            nb_lit_columns(&seen, row, &lit[2 * rows], &lit[2 * rows + 1]);
    }
    s->items[0] = of[0];
    s->items[1] = of[1];
}

static nb_status build_tables(nb_tile_setup *s, const nb_scene *sc, nb_error *err)
{
    const size_t n = 2 * (size_t)sc->n_panels, rows = count_rows(sc);
    size_t at = 0;
    char *to;
    add_array(NULL, &at, NULL, s->tiles.bytes);
    add_array(NULL, &at, NULL, nb_tile_packs_bytes(&s->tiles));
    add_array(NULL, &at, NULL, n * sizeof(nb_tile_grid));
    add_array(NULL, &at, NULL, 2 * rows * sizeof(int));
    s->bytes = at;
    s->tables = to = nb_alloc(at, 1, "tables of blocks", err);
    if (!to)
        return NB_ERR_NOMEM;
    at = 0;
    s->steps_at = add_array(to, &at, s->tiles.memory, s->tiles.bytes);
    s->packs = add_array(to, &at, NULL, nb_tile_packs_bytes(&s->tiles));
    s->grids = add_array(to, &at, NULL, n * sizeof(nb_tile_grid));
    s->lit = add_array(to, &at, NULL, 2 * rows * sizeof(int));
    nb_tile_packs_fill(&s->tiles, s->packs);
    fill_grids(s, sc, s->grids, s->lit);
    return NB_OK;
}

static int bits_of(int n)
{
    int bits = 0;
    while (n > 1 << bits)
        bits++;
    return bits;
}

/** Divide n items into parts of about equal size, up to `limit`; returns this size. */
static int even_part(int n, int limit)
{
    const int parts = (n + limit - 1) / limit;
    return (n + parts - 1) / parts;
}

/** True if a first test of whole rows (an orientation with all sources) saves time.
 * Sources must not be much farther apart than the rays of a block. */
static int looks_by_rows(const nb_tiles *t)
{
    const double longest = fmax(t->length[0], fmax(t->length[1], t->length[2]));
    const double apart = longest * t->kappa_max * t->kappa_range[t->columns];
    return t->by_source && t->rows >= ROWS_LEAST && t->columns >= COLUMNS_LEAST &&
           t->columns <= NB_TILE_ROW && apart < ROW_INDEX;
}

/** Set the members of s->pass. nb_tile_setup_move then changes the addresses. */
static void set_pass(nb_tile_setup *s, const nb_scene *sc)
{
    nb_tile_pass *p = &s->pass;
    const nb_tiles *t = &s->tiles;
    const nb_lattice *lattice = &sc->lattice;
    const double height = nb_shape_row_of(lattice->shape).height;
    const double cells = lattice->N[0] * lattice->N[1] * lattice->N[2];
    p->spots = s->spots.pass;
    p->tiles = *t;
    p->packs = nb_tile_packs_in(t, s->packs);
    p->lattice = *lattice;
    p->grids = s->grids;
    p->lit = s->lit;
    p->items = s->items[0];
    p->stride = 1;
    p->by_rows = looks_by_rows(t);
    p->chunk = even_part(p->by_rows ? t->rows : t->rows * t->columns,
                         NB_TILE_CHUNK / (p->by_rows ? t->columns : 1));
    p->column_bits = bits_of(t->columns);
    p->inverse_unit = 1 / t->unit;
    p->height2 = (float)(cells * cells * height * height);
    p->single = 1;
    for (int i = 0; i < t->sources; i++)
        for (int x = 0; x < 3; x++)
            p->single &= t->incident[x][i] == t->incident[x][0];
    for (int i = 0; i < 3; i++) {
        const double N = lattice->N[i];
        p->N[i] = N < INT32_MAX ? (int)N : 0;
        p->form[i] = (float)(N * N * lattice->fudge * NB_FIXED_STEP * NB_FIXED_STEP);
    }
}

nb_status nb_tile_setup_build(const nb_plan *plan, nb_tile_setup *s, nb_error *err)
{
    nb_plan like = *plan;
    nb_status st;
    memset(s, 0, sizeof *s);
    s->plan = *plan;
    s->tolerance = plan->tolerance;
    s->part = nb_tiles_like(plan->scene, &s->like);
    like.scene = &s->like;
    NB_FORWARD(nb_spot_setup_build(&like, &s->spots, err));
    st = nb_tiles_build_steps(plan, &s->tiles, err);
    NB_TRY(build_tables(s, plan->scene, err));
    if (!st)
        set_pass(s, plan->scene);
    else
        nb_tile_setup_free(s);
    return st;
}

void nb_tile_setup_free(nb_tile_setup *s)
{
    nb_spot_setup_free(&s->spots);
    nb_tiles_free(&s->tiles);
    nb_free(s->tables);
    memset(s, 0, sizeof *s);
}

size_t nb_tile_setup_pairs(const nb_tile_setup *s)
{
    const nb_tile_factors *f = &s->tiles.factors;
    return ((size_t)f->n[0] << f->shift[0]) * 2 * sizeof *f->pairs;
}

void nb_tile_setup_move(nb_tile_setup *s, const void *tables)
{
    nb_tile_pass *p = &s->pass;
    nb_tiles *t = &p->tiles;
    char *const to = (char *)tables + ((char *)s->steps_at - (char *)s->tables);
    const ptrdiff_t grids = (char *)s->grids - (char *)s->tables;
#define MOVE(x) (x) = (void *)(to + ((char *)(x) - (char *)s->tiles.memory))
    MOVE(t->cells);
    MOVE(t->present);
    MOVE(t->kappa);
    MOVE(t->weight);
    MOVE(t->source);
    MOVE(t->cells_f);
    MOVE(t->kappa_f);
    MOVE(t->weight_f);
    for (int x = 0; x < 3; x++) {
        MOVE(t->incident[x]);
        MOVE(t->incident_f[x]);
        MOVE(t->towards[x]);
    }
    MOVE(t->middle);
    MOVE(t->away);
    MOVE(t->count);
    MOVE(t->kappa_middle);
    MOVE(t->kappa_range);
    MOVE(t->stray);
    MOVE(t->weights);
    MOVE(t->uniform);
#undef MOVE
    p->packs =
        nb_tile_packs_in(t, (const char *)tables + ((char *)s->packs - (char *)s->tables));
    p->grids = (const nb_tile_grid *)((const char *)tables + grids);
    p->lit = (const int *)((const char *)tables + ((char *)s->lit - (char *)s->tables));
    p->spots = s->spots.pass;
}

/* ------------------------------------------------------------------ passes */

/** Find a lower bound of the photons of the detector's brightest pixel: the photons of
 * the pixel that a search finds. */
static nb_status find_brightest(nb_tile_setup *s, const nb_tile_runner *run,
                                double *brightest, nb_error *err)
{
    nb_tile_pass whole = s->pass;
    double photons = 0;
    nb_status st = nb_spot_setup_brightest(&s->spots, NB_SPOTS_MIDDLES, run->spots,
                                           run->context, brightest, err);
    if (st || !(*brightest > 0))
        return st;
    whole.spots.regions = s->spots.everything;
    whole.spots.mask = NULL;
    st = run->pixel(run->context, s, &whole, &photons, err);
    *brightest = fmax(*brightest * s->part, photons * SUMMED);
    return st;
}

/** Set the photons that may be left out of a pixel. */
static nb_status set_bound(nb_tile_setup *s, const nb_tile_runner *run,
                           nb_spots_result *result, nb_error *err)
{
    nb_status st = NB_OK;
    if (s->tolerance.part > 0)
        st = find_brightest(s, run, &result->brightest, err);
    result->bound = nb_tolerance_photons(&s->tolerance, result->brightest);
    if (!st && !(result->bound > 0))
        result->refused = "no reflection lights a pixel";
    else if (!st && !nb_spot_setup_suffices(&s->spots, result))
        result->refused = "the tolerance is too small for sums of whole numbers";
    return st;
}

static int64_t pilot_stride(int64_t items)
{
    const int64_t few = items / LEAST_PILOTS + 1, some = items / PILOTS + 1;
    return some > PILOT_STRIDE ? some : few < PILOT_STRIDE ? few : PILOT_STRIDE;
}

/** Set result->refused if this path is not quicker. The work for some blocks of the whole
 * detector decides, so that the choice does not depend on the region. */
static nb_status try_blocks(nb_tile_setup *s, const nb_tile_runner *run,
                            nb_spots_result *result, nb_error *err)
{
    const nb_tile_pass saved = s->pass;
    const int round = nb_shape_law(saved.lattice.shape) == NB_LAW_SPHERE;
    const double term = (round ? ROUND_TERMS : 1) * (s->exact ? EXACT_TERMS : 1);
    double counts[NB_TILE_TALLIES] = {0}, seconds = 0, unused;
    nb_tile_pass *p = &s->pass;
    nb_status st;
    p->grids += p->spots.scene.n_panels;
    p->spots.regions = s->spots.everything;
    p->spots.mask = NULL;
    p->items = s->items[1];
    p->stride = pilot_stride(p->items);
    p->only_count = 1;
    st = run->tiles(run->context, s, counts, &unused, err);
    for (int i = 0; i < NB_TILE_TALLIES; i++)
        seconds += counts[i] * costs[i] * (i == NB_TILE_TERMS ? term : 1);
    seconds = START + (seconds * (double)p->stride +
                       PIXEL * (double)p->spots.scene.raster.pixels) /
                          s->size;
    s->pass = saved;
    s->seconds = seconds * (double)s->items[0] / (double)s->items[1];
    if (!st && !(GAIN * seconds < s->every))
        result->refused = "every step is as quick";
    return st;
}

nb_status nb_tile_setup_render(nb_tile_setup *s, const nb_tile_runner *run,
                               nb_spots_result *result, nb_error *err)
{
    double lack = 0, share;
    nb_status st;
    memset(result, 0, sizeof *result);
    st = set_bound(s, run, result, err);
    share = nb_spot_setup_share(&s->spots, result->bound);
    s->pass.bound = result->bound - share;
    if (!st && !result->refused && s->every > 0)
        st = try_blocks(s, run, result, err);
    if (st || result->refused)
        return st;
    st = run->tiles(run->context, s, NULL, &lack, err);
    result->bound = fmin(result->bound, lack + share);
    return st;
}
