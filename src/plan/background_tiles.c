/* SPDX-License-Identifier: MIT */
/* Pixels at Chebyshev knots give the polynomials of a tile. Five others test them. */
#include "background_tiles.h"

#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../physics/panels.h"
#include "../physics/pixel.h"

enum {
    N = NB_BACKGROUND_ORDER,
    LAWS = NB_BACKGROUND_LAWS,
    REACH = 3,  /* number of steps on each side of a sine that test the sine */
    BLOCK = 32, /* edge of a block, pixels */
    NEAR = 12   /* steps from the beam; nearer sines are rough */
};

#define ROUGH 6e-7     /* limit of the part of the photons that a kink takes or adds */
#define AUDIT 3e-7     /* limit of the relative error in the test with all rays */
#define LEAST 1e-7     /* smallest spread of a level */
#define LEVEL 1.125    /* ratio of the spreads of neighbouring levels */
#define TILE_ANGLE 0.2 /* rad; largest angle of a tile, seen from the sample */
#define LEAST_RAYS 1e5 /* with fewer rays of all pixels, tiles do not pay */
#define EDGES 1e-7     /* limit of the relative error of polynomials between knots */
#define FARTHEST 2.0   /* spreads; kinks farther away have no effect */

/* --- grids --- */

/** Smallest distance of some points of a panel, m. */
static double nearest_of(const nb_panel *panel)
{
    enum { POINTS = 9 };
    double nearest = INFINITY;
    for (int i = 0; i < POINTS * POINTS; i++)
        nearest = fmin(
            nearest,
            nb_norm(nb_panel_point(
                panel, i % POINTS * panel->columns * panel->pixel_fast / (POINTS - 1),
                (int)(i / POINTS) * panel->rows * panel->pixel_slow / (POINTS - 1), 0)));
    return nearest;
}

/** Lowest level with at least this spread. */
static int level_of(double spread)
{
    const double level = ceil(log(spread / LEAST) / log(LEVEL));
    return (int)fmin(NB_BACKGROUND_LEVELS - 1, fmax(0, level));
}

/** True if kinks matter: two means with equal first moments differ (at +-1 spread; at
 * +-1.5 spreads and the middle). Also true if the table crosses 0: floats are coarse. */
static int is_rough_at(const double *y)
{
    const double two = (y[-2] + y[2]) / 2, three = (2 * (y[-3] + y[3]) + 5 * y[0]) / 9;
    return !(fabs(two - three) <= ROUGH * fabs(two)) ||
           fabs(y[1] - y[-1]) > fabs(y[0]) / 4;
}

/** Cubic through y[-1] to y[2]. */
static void set_cell(const double *y, float c[4])
{
    c[0] = (float)y[0];
    c[1] = (float)(y[1] - y[-1] / 3 - y[0] / 2 - y[2] / 6);
    c[2] = (float)((y[1] + y[-1]) / 2 - y[0]);
    c[3] = (float)((y[0] - y[1]) / 2 + (y[2] - y[-1]) / 6);
}

/** Make the cells of a group. y: table at the start of the first cell. */
static void fill_group(nb_background_grid *grid, int group, const double *y)
{
    float *c = grid->c + (size_t)group * (size_t)grid->n * 4;
    int32_t *count = grid->count + (size_t)group * ((size_t)grid->n + 1);
    for (int i = 0; i < grid->n; i++) {
        set_cell(y + i, c + 4 * i);
        count[i + 1] = count[i] + (grid->first + i < NEAR || is_rough_at(y + i));
    }
}

/** Scattering of the sources of a group at a sine, electrons^2. */
static double scattering(const nb_background_tiles *t, const nb_scene *sc, int group,
                         double sine)
{
    const nb_background_group *g = &t->groups[group];
    double sum = 0;
    for (int i = g->first; i < g->first + g->n; i++)
        sum += t->sources[i].weight *
               nb_amorphous_at(sc->amorphous, sine / t->sources[i].lambda);
    return sum * sc->lattice.n_orientations;
}

/** Widen the range of a grid to these sines. */
static void widen(nb_background_grid *grid, double low, double high)
{
    const int first = (int)floor(low * grid->per) - 2 * REACH,
              end = (int)floor(high * grid->per) + 2 * REACH;
    const int before = grid->n ? grid->first + grid->n : end;
    grid->first = grid->n && grid->first < first ? grid->first : first;
    grid->n = (before > end ? before : end) - grid->first;
}

static nb_status fill_grid(const nb_background_tiles *t, const nb_scene *sc, int threads,
                           nb_background_grid *grid, nb_error *err)
{
    const size_t cells = (size_t)t->n_groups * (size_t)grid->n;
    const int samples = grid->n + 2 * REACH;
    double *y = nb_alloc((size_t)samples, sizeof *y, "grid of the background", err);
    (void)threads;
    grid->c = nb_alloc(cells, 4 * sizeof *grid->c, "grid of the background", err);
    grid->count = nb_alloc(cells + (size_t)t->n_groups, sizeof *grid->count,
                           "grid of the background", err);
    for (int g = 0; g < t->n_groups && y && grid->c && grid->count; g++) {
#pragma omp parallel for schedule(static) num_threads(threads)
        for (int i = 0; i < samples; i++)
            y[i] = scattering(t, sc, g, fabs((grid->first + i - REACH) / grid->per));
        fill_group(grid, g, y + REACH);
    }
    nb_free(y);
    return y && grid->c && grid->count ? NB_OK : NB_ERR_NOMEM;
}

/** Scattering from the cells of a grid. */
static double grid_at(const nb_background_grid *grid, int group, double sine)
{
    const double at = fmin(fmax(sine * grid->per - grid->first, 0), grid->n - 1);
    const float *c = grid->c + ((size_t)group * (size_t)grid->n + (size_t)at) * 4;
    const double t = at - floor(at);
    return c[0] + t * (c[1] + t * (c[2] + t * c[3]));
}

/** True if a sine from low to high is rough for a group. */
static int is_rough(const nb_background_grid *r, int group, double low, double high)
{
    const int32_t *count = r->count + (size_t)group * ((size_t)r->n + 1);
    const double far = FARTHEST * r->spread;
    const int from = (int)floor((low - far) * r->per) - r->first,
              to = (int)ceil((high + far) * r->per) - r->first + 1;
    return count[to < 0      ? 0
                 : to < r->n ? to
                             : r->n] > count[from < 0      ? 0
                                             : from < r->n ? from
                                                           : r->n];
}

/** Pixels of a panel: first pixel, and numbers along fast and slow. */
typedef struct box {
    int f, s, n[2];
} box;

/** Direction to the middle of a box. *around: largest difference of the sines in the box,
 * at all depths, from the sine of the middle. */
static nb_vec3 sines_of(const nb_scene *sc, const nb_panel *on, double nearest, box b,
                        double *around)
{
    const nb_sensor *sensor = &sc->sensors[on->sensor];
    const double deep = sensor->layers * sensor->layer_step;
    const nb_vec3 middle = nb_panel_point(on, on->pixel_fast * (b.f + 0.5 * b.n[0]),
                                          on->pixel_slow * (b.s + 0.5 * b.n[1]), deep / 2);
    *around = 0.25 * (b.n[0] * on->pixel_fast + b.n[1] * on->pixel_slow + deep) / nearest;
    return nb_unit(middle);
}

static double sine_of(const nb_background_group *g, nb_vec3 direction)
{
    return 0.5 * nb_norm(nb_sub(direction, g->incident));
}

static int are_rough(const nb_background_tiles *t, const nb_scene *sc, int panel, box b)
{
    const nb_background_panel *p = &t->panels[panel];
    double around;
    const nb_vec3 middle = sines_of(sc, &sc->panels[panel], p->nearest, b, &around);
    for (int g = 0; g < t->n_groups; g++) {
        const double sine = sine_of(&t->groups[g], middle);
        if (is_rough(&t->grids[p->level], g, sine - around, sine + around))
            return 1;
    }
    return 0;
}

int nb_background_piece_is_rough(const nb_background_tiles *t, const nb_scene *sc,
                                 int panel, int f, int s)
{
    return are_rough(t, sc, panel, (box){f, s, {NB_BACKGROUND_PIECE, 1}});
}

/* --- pixels --- */

/** Data for the tiles of a panel. */
typedef struct tile_maker {
    const nb_scene *scene;
    int number; /* number of the panel */
    const nb_panel *panel;
    const nb_sensor *sensor;
    const nb_background_tiles *of;
    const nb_background_panel *tiles;
    int knots[N];       /* pixels of a tile */
    double basis[N][N]; /* coefficients of the polynomials of the knots: basis() */
} tile_maker;

/** A tile. f, s: first pixel. */
typedef struct tile_job {
    const tile_maker *m;
    int f, s;
    nb_background_part *part;
} tile_job;

/** Part of the light of a ray that a layer captures, with polarization of a group. */
static double ray_weight(const tile_maker *m, const nb_background_group *g,
                         const nb_ray *ray)
{
    const nb_scene *sc = m->scene;
    double weight = ray->capture * (sc->oversample_omega ? ray->omega : 1.0);
    if (sc->oversample_polar && !sc->beam.nopolar)
        weight *= nb_polarization(sc->beam.polarization, g->incident, ray->direction,
                                  sc->beam.polar_axis);
    return weight;
}

static double scale_of(const tile_maker *m, int f, int s)
{
    return m->scene->intensity_scale *
           nb_cached_factors(m->scene, m->panel, m->sensor, f, s);
}

/** Three laws of a pixel, from four rays with the same first moments as all rays. */
static void pixel_laws(const tile_job *j, int f, int s, int layer, int group,
                       double law[LAWS])
{
    const tile_maker *m = j->m;
    const nb_background_group *g = &m->of->groups[group];
    const double os = m->scene->oversample, off = sqrt((1 - 1 / (os * os)) / 12);
    double weight[4], sine[4], all = 0, mean = 0, square = 0;
    const int rays = m->of->one ? 1 : 4;
    for (int i = 0; i < rays; i++) {
        const nb_ray ray = nb_ray_to(
            m->panel, m->sensor, m->panel->pixel_fast * (f + 0.5 + (i & 1 ? off : -off)),
            m->panel->pixel_slow * (s + 0.5 + (i & 2 ? off : -off)), layer);
        weight[i] = ray_weight(m, g, &ray);
        sine[i] = sine_of(g, ray.direction);
        all += weight[i];
        mean += weight[i] * sine[i];
    }
    mean /= all;
    for (int i = 0; i < rays; i++)
        square += weight[i] * (sine[i] - mean) * (sine[i] - mean);
    law[NB_BACKGROUND_WEIGHT] = scale_of(m, f, s) * all * os * os / (m->of->one ? 1 : 8);
    law[NB_BACKGROUND_SQUARE] = mean * mean;
    law[NB_BACKGROUND_SPREAD] = sqrt(square / all);
}

/** Photons of a pixel from the laws. */
static double photons(const tile_job *j, int group, const double law[LAWS])
{
    const nb_background_grid *grid = &j->m->of->grids[j->m->tiles->level];
    const double sine = sqrt(fmax(0, law[NB_BACKGROUND_SQUARE])),
                 spread = law[NB_BACKGROUND_SPREAD];
    if (j->m->of->one)
        return law[NB_BACKGROUND_WEIGHT] * grid_at(grid, group, sine);
    return law[NB_BACKGROUND_WEIGHT] *
           (grid_at(grid, group, sine - spread) + grid_at(grid, group, sine + spread));
}

/** Photons of a pixel from all rays. */
static double all_rays(const tile_maker *m, int f, int s)
{
    const int os = m->scene->oversample;
    double sum = 0;
    for (int i = 0; i < m->sensor->layers * os * os; i++) {
        const nb_ray ray = nb_ray_to(
            m->panel, m->sensor, nb_subpixel(m->panel->pixel_fast, os, f, i % os),
            nb_subpixel(m->panel->pixel_slow, os, s, i / os % os), i / (os * os));
        for (int g = 0; g < m->of->n_groups; g++)
            sum +=
                ray_weight(m, &m->of->groups[g], &ray) *
                scattering(m->of, m->scene, g, sine_of(&m->of->groups[g], ray.direction));
    }
    return sum * scale_of(m, f, s);
}

/* --- tiles --- */

/** to[j][k]: coefficient of u^j in the polynomial that is 1 at u[k], 0 at other knots. */
static void basis(const double u[N], double to[N][N])
{
    for (int k = 0; k < N; k++) {
        double p[N] = {1};
        for (int i = 0, degree = 0; i < N; i++) {
            if (i == k)
                continue;
            degree++;
            for (int j = degree; j >= 0; j--)
                p[j] = ((j > 0 ? p[j - 1] : 0) - u[i] * (j < degree ? p[j] : 0)) /
                       (u[k] - u[i]);
        }
        for (int j = 0; j < N; j++)
            to[j][k] = p[j];
    }
}

static tile_maker maker_of(const nb_scene *sc, const nb_background_tiles *of, int panel)
{
    const nb_background_panel *tiles = &of->panels[panel];
    tile_maker m = {.scene = sc,
                    .number = panel,
                    .panel = &sc->panels[panel],
                    .sensor = &sc->sensors[sc->panels[panel].sensor],
                    .of = of,
                    .tiles = tiles};
    double u[N];
    for (int k = 0; k < N; k++) {
        const double at = 0.5 - 0.5 * cos((2 * k + 1) * NB_PI / (2 * N)); /* Chebyshev */
        m.knots[k] = (int)(at * tiles->edge);
        u[k] = nb_background_place(tiles->edge, m.knots[k]);
    }
    basis(u, m.basis);
    return m;
}

/** Photons of a pixel from the polynomials. */
static double smooth_photons(const tile_job *j, int f, int s)
{
    const int edge = j->m->tiles->edge, groups = j->m->of->n_groups;
    const double u = nb_background_place(edge, f), v = nb_background_place(edge, s);
    double sum = 0;
    for (int p = 0; p < j->m->sensor->layers * groups; p++) {
        double law[LAWS];
        for (int k = 0; k < LAWS; k++) {
            law[k] = 0;
            for (int a = N - 1; a >= 0; a--)
                law[k] = law[k] * u + nb_background_polynomial(j->part[p].c[k][a], v);
        }
        sum += photons(j, p % groups, law);
    }
    return sum;
}

/** Add the laws at a knot to the polynomials. */
static void add_knot(const tile_job *j, int i, int k)
{
    const tile_maker *m = j->m;
    const int groups = m->of->n_groups;
    for (int p = 0; p < m->sensor->layers * groups; p++) {
        double law[LAWS];
        pixel_laws(j, j->f + m->knots[i], j->s + m->knots[k], p / groups, p % groups, law);
        for (int l = 0; l < LAWS; l++)
            for (int a = 0; a < N; a++)
                for (int b = 0; b < N; b++)
                    j->part[p].c[l][a][b] += m->basis[a][i] * m->basis[b][k] * law[l];
    }
}

/** True if the polynomials are right at four pixels along the edges, far from knots. */
static int edges_are_right(const tile_job *j)
{
    const int groups = j->m->of->n_groups, end = j->m->tiles->edge - 1;
    const int low = (end + 1) / 8, high = end - low;
    const int at[4][2] = {{0, low}, {high, 0}, {end, high}, {low, end}};
    for (int i = 0; i < 4; i++) {
        const int f = j->f + at[i][0], s = j->s + at[i][1];
        double sum = 0;
        for (int p = 0; p < j->m->sensor->layers * groups; p++) {
            double law[LAWS];
            pixel_laws(j, f, s, p / groups, p % groups, law);
            sum += photons(j, p % groups, law);
        }
        if (!(fabs(smooth_photons(j, f, s) - sum) <= EDGES * fabs(sum)))
            return 0;
    }
    return 1;
}

static int pixels_are_rough(const tile_job *j, int f, int s, int edge)
{
    return are_rough(j->m->of, j->m->scene, j->m->number, (box){f, s, {edge, edge}});
}

/** True if the first smooth pixel, from the middle of the tile on, agrees with the sum
 * over all rays. */
static int audit_is_right(const tile_job *j)
{
    for (int i = j->m->tiles->edge / 2; i < j->m->tiles->edge; i++) {
        const int f = j->f + i, s = j->s + i;
        double exact;
        if (pixels_are_rough(j, f, s, 1))
            continue;
        exact = all_rays(j->m, f, s);
        return fabs(smooth_photons(j, f, s) - exact) <= AUDIT * fabs(exact);
    }
    return 0;
}

static void make_tile(const tile_maker *m, int number)
{
    const nb_background_panel *t = m->tiles;
    const int parts = m->sensor->layers * m->of->n_groups;
    const tile_job j = {m, number % t->across * t->edge, number / t->across * t->edge,
                        t->part + (size_t)number * (size_t)parts};
    for (int i = 0; i < N * N; i++)
        add_knot(&j, i % N, i / N);
    if (edges_are_right(&j) && audit_is_right(&j))
        for (int i = 0; i < t->edge * t->edge; i += t->block * t->block) {
            const int n = i / (t->block * t->block), per = t->edge / t->block;
            const int f = j.f + n % per * t->block, s = j.s + n / per * t->block;
            t->kind[s / t->block * t->blocks + f / t->block] =
                pixels_are_rough(&j, f, s, t->block) ? NB_BACKGROUND_SOME
                                                     : NB_BACKGROUND_SMOOTH;
        }
}

/* --- panels --- */

/** Edge of the tiles of a panel: a power of 2 that spans a small angle. */
static int edge_of(const nb_panel *panel, double nearest)
{
    const double pixel = fmax(panel->pixel_fast, panel->pixel_slow);
    int edge = 256;
    while (edge > 8 && edge * pixel > TILE_ANGLE * nearest)
        edge /= 2;
    return edge;
}

/** Tiles of a panel that meet the region: first tile, and numbers along fast and slow. */
static box range_of(const nb_scene *sc, const nb_background_panel *p, int panel)
{
    const nb_region r = nb_panel_region(sc, &sc->panels[panel]);
    const int left = r.fmin / p->edge, top = r.smin / p->edge;
    return (box){left, top, {r.fmax / p->edge - left + 1, r.smax / p->edge - top + 1}};
}

/** Widen the grid of a panel by the sines of the tiles. */
static void survey(const nb_scene *sc, nb_background_tiles *t, int panel)
{
    const nb_background_panel *p = &t->panels[panel];
    const box range = range_of(sc, p, panel);
    nb_background_grid *grid = &t->grids[p->level];
    grid->spread = LEAST * pow(LEVEL, p->level);
    grid->per = 2 / grid->spread;
    for (int i = 0; i < range.n[0] * range.n[1]; i++) {
        const box tile = {(range.f + i % range.n[0]) * p->edge,
                          (range.s + i / range.n[0]) * p->edge,
                          {p->edge, p->edge}};
        double around;
        const nb_vec3 middle = sines_of(sc, &sc->panels[panel], p->nearest, tile, &around);
        for (int g = 0; g < t->n_groups; g++) {
            const double sine = sine_of(&t->groups[g], middle);
            widen(grid, sine - around, fmin(1, sine + around));
        }
    }
}

static nb_status reserve(const nb_scene *sc, nb_background_tiles *t, int panel,
                         nb_error *err)
{
    const nb_panel *on = &sc->panels[panel];
    nb_background_panel *p = &t->panels[panel];
    const int parts = sc->sensors[on->sensor].layers * t->n_groups;
    double spread;
    int per;
    if (nb_region_pixels(nb_panel_region(sc, on)) == 0 || parts > NB_BACKGROUND_PARTS)
        return NB_OK;
    p->layers = sc->sensors[on->sensor].layers;
    p->nearest = nearest_of(on);
    p->edge = edge_of(on, p->nearest);
    p->across = (on->columns - 1) / p->edge + 1;
    p->down = (on->rows - 1) / p->edge + 1;
    p->block = p->edge < BLOCK ? p->edge : BLOCK;
    per = p->edge / p->block;
    p->blocks = p->across * per;
    p->kind = nb_alloc((size_t)p->blocks * (size_t)(p->down * per), 1, "tiles", err);
    p->part = nb_alloc((size_t)p->across * (size_t)p->down * (size_t)parts,
                       sizeof *p->part, "tiles", err);
    if (!p->kind || !p->part)
        return NB_ERR_NOMEM;
    spread = 0.5 * fmax(on->pixel_fast, on->pixel_slow) / p->nearest / sqrt(12);
    p->level = level_of(t->one ? spread / 2 : LEVEL * spread); /* finer for one ray */
    survey(sc, t, panel);
    return NB_OK;
}

static void make_panel(const nb_scene *sc, const nb_background_tiles *t, int panel,
                       int threads)
{
    const nb_background_panel *p = &t->panels[panel];
    const tile_maker m = maker_of(sc, t, panel);
    const box range = range_of(sc, p, panel);
    (void)threads;
#pragma omp parallel for schedule(dynamic, 8) num_threads(threads)
    for (int i = 0; i < range.n[0] * range.n[1]; i++)
        make_tile(&m, (range.s + i / range.n[0]) * p->across + range.f + i % range.n[0]);
}

/** Sort the sources by direction. With too many directions, t->n_groups stays 0. */
static nb_status find_groups(const nb_beam *beam, nb_background_tiles *t, nb_error *err)
{
    const size_t n = (size_t)beam->n_sources;
    int groups = 0, next = 0;
    t->sources = nb_alloc(n, sizeof *t->sources, "sources", err);
    if (!t->sources)
        return NB_ERR_NOMEM;
    for (size_t i = 0; i < n; i++) {
        int g = 0;
        while (g < groups &&
               nb_norm(nb_sub(t->groups[g].incident, beam->sources[i].incident)) > 0)
            g++;
        if (g == NB_BACKGROUND_GROUPS)
            return NB_OK;
        if (g == groups)
            t->groups[groups++].incident = beam->sources[i].incident;
    }
    for (int g = 0; g < groups; g++) {
        t->groups[g].first = next;
        for (size_t i = 0; i < n; i++)
            if (nb_norm(nb_sub(t->groups[g].incident, beam->sources[i].incident)) == 0)
                t->sources[next++] = beam->sources[i];
        t->groups[g].n = next - t->groups[g].first;
    }
    t->n_groups = groups;
    return NB_OK;
}

/** True if tiles are quicker than all rays. The region has no effect on the answer. */
static int pays(const nb_scene *sc)
{
    double rays = 0;
    for (int k = 0; k < sc->n_panels; k++)
        rays += (double)sc->panels[k].columns * sc->panels[k].rows *
                sc->sensors[sc->panels[k].sensor].layers * sc->oversample * sc->oversample;
    return rays >= LEAST_RAYS;
}

static nb_status build(const nb_scene *sc, int threads, nb_background_tiles *t,
                       nb_error *err)
{
    nb_status st = find_groups(&sc->beam, t, err);
    t->one = sc->oversample == 1;
    t->panels = nb_alloc((size_t)sc->n_panels, sizeof *t->panels, "panels", err);
    t->n = t->panels && t->n_groups ? sc->n_panels : 0;
    NB_TRY(t->panels ? NB_OK : NB_ERR_NOMEM);
    for (int k = 0; k < t->n; k++)
        NB_TRY(reserve(sc, t, k, err));
    for (int i = 0; i < NB_BACKGROUND_LEVELS; i++)
        if (t->grids[i].n)
            NB_TRY(fill_grid(t, sc, threads, &t->grids[i], err));
    for (int k = 0; k < t->n && !st; k++)
        if (t->panels[k].kind)
            make_panel(sc, t, k, threads);
    return st;
}

nb_status nb_background_tiles_build(const nb_scene *sc, int threads,
                                    nb_background_tiles **tiles, nb_error *err)
{
    nb_status st;
    *tiles = NULL;
    if (!pays(sc))
        return NB_OK;
    if (!(*tiles = nb_alloc(1, sizeof **tiles, "tiles of the background", err)))
        return NB_ERR_NOMEM;
    st = build(sc, threads, *tiles, err);
    if (st || !(*tiles)->n) {
        nb_background_tiles_free(*tiles);
        *tiles = NULL;
    }
    return st;
}

void nb_background_tiles_free(nb_background_tiles *t)
{
    for (int k = 0; t && k < t->n; k++) {
        nb_free(t->panels[k].kind);
        nb_free(t->panels[k].part);
    }
    for (int i = 0; t && i < NB_BACKGROUND_LEVELS; i++)
        nb_free(t->grids[i].c), nb_free(t->grids[i].count);
    if (t) {
        nb_free(t->panels);
        nb_free(t->sources);
    }
    nb_free(t);
}
