/* SPDX-License-Identifier: MIT */
/* Sixteen pixels give a tile's polynomial, five others test it. */
#include "background_tiles.h"

#include "../base/error.h"
#include "../base/memory.h"
#include "../physics/panels.h"
#include "../physics/pixel.h"

enum { N = NB_BACKGROUND_ORDER, STEPS_A_SPREAD = 2 };

/* What the mean over a pixel's rays may change between sines a few spreads apart, of the sum. */
#define ROUGH 2e-7
/* Spreads beyond that are not tried. */
#define WIDEST 5e-4

double nb_background_pixel(const nb_scene *sc, const nb_panel *panel,
                           const nb_background_table *table, int f, int s)
{
    const nb_sensor *sensor = &sc->sensors[panel->sensor];
    const int polar = sc->oversample_polar && !sc->beam.nopolar, os = sc->oversample;
    double sum = 0;
    for (int i = 0; i < sensor->layers * os * os; i++) {
        const nb_ray ray =
            nb_ray_to(panel, sensor, nb_subpixel(panel->pixel_fast, os, f, i % os),
                      nb_subpixel(panel->pixel_slow, os, s, i / os % os), i / (os * os));
        const double weight = ray.capture * (sc->oversample_omega ? ray.omega : 1.0);
        for (int k = 0; k < table->n; k++) {
            const nb_background_group *g = &table->groups[k];
            double term = nb_background_at(g, nb_background_sine(g, ray.direction));
            if (polar)
                term *= nb_polarization(sc->beam.polarization, g->incident, ray.direction,
                                        sc->beam.polar_axis);
            sum += weight * term;
        }
    }
    return sc->intensity_scale * sum * nb_cached_factors(sc, panel, sensor, f, s);
}

static nb_vec3 middle(const nb_background_tiles *t, const nb_panel *panel, int f, int s)
{
    return nb_unit(nb_panel_point(panel, panel->pixel_fast * (f + 0.5),
                                  panel->pixel_slow * (s + 0.5), t->depth));
}

/** What the direction of a pixel's centre scatters. */
static double middle_of(const nb_background_tiles *t, const nb_panel *panel,
                        const nb_background_table *table, int f, int s)
{
    const nb_vec3 d = middle(t, panel, f, s);
    double sum = 0;
    for (int k = 0; k < table->n; k++)
        sum +=
            nb_background_at(&table->groups[k], nb_background_sine(&table->groups[k], d));
    return sum;
}

/** to[j][k]: the coefficient of u^j in the polynomial that is 1 at u[k] and 0 at the others. */
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

static double factor_at(const nb_background_tile *tile, double u, double v)
{
    double sum = 0;
    for (int i = N - 1; i >= 0; i--) {
        double along = 0;
        for (int j = N - 1; j >= 0; j--)
            along = along * v + tile->c[i][j];
        sum = sum * u + along;
    }
    return sum;
}

typedef struct tile_maker {
    const nb_scene *scene;
    const nb_panel *panel;
    const nb_background_table *table;
    const nb_background_tiles *of;
    int knots[N];       /* pixels of a tile */
    double basis[N][N]; /* of them */
} tile_maker;

static tile_maker maker_of(const nb_scene *sc, const nb_panel *panel,
                           const nb_background_table *table, const nb_background_tiles *of)
{
    tile_maker m = {.scene = sc, .panel = panel, .table = table, .of = of};
    double u[N];
    for (int k = 0; k < N; k++) {
        const double at = 0.5 - 0.5 * cos((2 * k + 1) * NB_PI / (2 * N)); /* Chebyshev's */
        m.knots[k] = (int)(at * of->edge);
        u[k] = nb_background_place(of, m.knots[k]);
    }
    basis(u, m.basis);
    return m;
}

/** Does the polynomial give the pixels of corners and middle? */
static int is_right(const tile_maker *m, const nb_background_tile *tile, int f0, int s0)
{
    const int end = m->of->edge - 1, middle = m->of->edge / 2;
    const int at[5][2] = {{0, 0}, {end, 0}, {0, end}, {end, end}, {middle, middle}};
    for (int i = 0; i < 5; i++) {
        const int f = f0 + at[i][0], s = s0 + at[i][1];
        const double exact = nb_background_pixel(m->scene, m->panel, m->table, f, s);
        const double value =
            middle_of(m->of, m->panel, m->table, f, s) *
            factor_at(tile, nb_background_place(m->of, f), nb_background_place(m->of, s));
        if (!(fabs(value - exact) <= NB_BACKGROUND_ERROR * fabs(exact)))
            return 0;
    }
    return 1;
}

static void make_tile(const tile_maker *m, int number)
{
    nb_background_tile *tile = &m->of->tiles[number];
    const int f0 = number % m->of->across * m->of->edge,
              s0 = number / m->of->across * m->of->edge;
    double factor[N][N]; /* [fast][slow] */
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            const int f = f0 + m->knots[i], s = s0 + m->knots[j];
            factor[i][j] = nb_background_pixel(m->scene, m->panel, m->table, f, s) /
                           middle_of(m->of, m->panel, m->table, f, s);
        }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++)
                for (int l = 0; l < N; l++)
                    tile->c[i][j] += m->basis[i][k] * m->basis[j][l] * factor[k][l];
    tile->smooth = is_right(m, tile, f0, s0);
}

/* ------------------------------------------------------------------ rough sines */

/** Root mean square of the sines of a pixel's rays from their middle, at most. */
static double spread_of(const nb_scene *sc, const nb_panel *panel)
{
    const nb_sensor *sensor = &sc->sensors[panel->sensor];
    const double os = sc->oversample, half = 0.5; /* sin x cos x, at most */
    const double pixel = fmax(panel->pixel_fast, panel->pixel_slow);
    const double across = pixel * sqrt((1 - 1 / (os * os)) / 12);
    const double deep =
        sensor->layers > 1 ? half * sensor->layers * sensor->layer_step / 2 : 0;
    return 0.5 * hypot(across, deep) / panel->close_distance;
}

/** What the mean over two rays one spread away adds to a sum, of it. */
static double bend_at(const nb_background_group *g, double sine, double spread)
{
    const double y = nb_background_at(g, sine);
    return (nb_background_at(g, sine + spread) + nb_background_at(g, sine - spread)) /
               (2 * y) -
           1;
}

static int is_rough(const double *bend, int i, int steps)
{
    for (int m = 2; m <= 8; m *= 2)
        if (i >= m && i + m < steps &&
            !(fabs(bend[i] - 0.5 * (bend[i - m] + bend[i + m])) <= ROUGH))
            return 1;
    return 0;
}

/** Count the rough sines of a group; bend: [steps], room. */
static void count_rough(const nb_background_group *g, const nb_background_tiles *t,
                        double spread, double *bend, int32_t *rough)
{
    const int first = (int)(g->low * t->per / NB_BACKGROUND_BUCKETS),
              last = (int)((g->high + 1) * t->per / NB_BACKGROUND_BUCKETS);
    for (int i = 0; i < t->steps; i++)
        bend[i] = i < first || i > last ? 0 : bend_at(g, (i + 0.5) / t->per, spread);
    for (int i = 0; i < t->steps; i++)
        rough[i + 1] = rough[i] + is_rough(bend, i, t->steps);
}

static nb_status find_rough(const nb_scene *sc, const nb_panel *panel,
                            const nb_background_table *table, nb_background_tiles *to,
                            nb_error *err)
{
    const double spread = spread_of(sc, panel), finest = 1e-6;
    double *bend;
    if (!(spread > 0))
        return NB_OK;
    to->per = STEPS_A_SPREAD / fmax(spread, finest);
    to->steps = (int)to->per + 1;
    bend = nb_alloc((size_t)to->steps, sizeof *bend, "tiles of the background", err);
    to->rough = nb_alloc((size_t)table->n * ((size_t)to->steps + 1), sizeof *to->rough,
                         "tiles of the background", err);
    if (!bend || !to->rough) {
        nb_free(bend);
        return NB_ERR_NOMEM;
    }
    for (int g = 0; g < table->n; g++)
        count_rough(&table->groups[g], to, spread, bend,
                    to->rough + (size_t)g * ((size_t)to->steps + 1));
    nb_free(bend);
    return NB_OK;
}

int nb_background_is_rough(const nb_background_tiles *t, const nb_panel *panel,
                           const nb_background_table *table, int f, int s)
{
    const int last = f + NB_BACKGROUND_PIECE - 1;
    const nb_vec3 at = nb_unit(nb_add(middle(t, panel, f, s), middle(t, panel, last, s)));
    const double chord = nb_norm(nb_sub(at, middle(t, panel, f, s)));
    for (int g = 0; g < table->n && t->steps > 0; g++) {
        const int32_t *rough = t->rough + (size_t)g * ((size_t)t->steps + 1);
        const double sine = nb_background_sine(&table->groups[g], at);
        const int low = (int)((sine - 0.5 * chord) * t->per) - 1,
                  high = (int)((sine + 0.5 * chord) * t->per) + 2;
        const int from = low > 0 ? low : 0, to = high < t->steps ? high : t->steps;
        if (to > from && rough[to] > rough[from])
            return 1;
    }
    return 0;
}

/* ------------------------------------------------------------------ tiles */

nb_status nb_background_tiles_build(const nb_scene *sc, const nb_panel *panel,
                                    const nb_background_table *table, int threads,
                                    nb_background_tiles *to, nb_error *err)
{
    const nb_region r = nb_panel_region(sc, panel);
    const nb_sensor *sensor = &sc->sensors[panel->sensor];
    int left, top, across, n;
    nb_status st;
    tile_maker m;
    (void)threads;
    if (panel->curved || nb_region_pixels(r) == 0 || !(spread_of(sc, panel) < WIDEST))
        return NB_OK;
    if ((st = find_rough(sc, panel, table, to, err)))
        return st;
    to->depth = 0.5 * (sensor->layers - !sensor->mean_depth) * sensor->layer_step;
    to->edge = nb_background_edge(panel);
    to->across = (panel->columns - 1) / to->edge + 1;
    to->down = (panel->rows - 1) / to->edge + 1;
    to->tiles = nb_alloc((size_t)to->across * (size_t)to->down, sizeof *to->tiles,
                         "tiles of the background", err);
    if (!to->tiles)
        return NB_ERR_NOMEM;
    m = maker_of(sc, panel, table, to);
    left = r.fmin / to->edge;
    top = r.smin / to->edge;
    across = r.fmax / to->edge - left + 1;
    n = across * (r.smax / to->edge - top + 1);
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 8) num_threads(threads)
#endif
    for (int i = 0; i < n; i++)
        make_tile(&m, (top + i / across) * to->across + left + i % across);
    return NB_OK;
}

void nb_background_tiles_free(nb_background_tiles *tiles)
{
    nb_free(tiles->tiles);
    nb_free(tiles->rough);
    tiles->tiles = NULL;
    tiles->rough = NULL;
}
