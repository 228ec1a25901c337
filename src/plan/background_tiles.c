/* SPDX-License-Identifier: MIT */
/* Sixteen pixels give the polynomials of a tile. Four others, and one with all of its rays, test
 * them. */
#include "background_tiles.h"

#include "../base/error.h"
#include "../base/memory.h"
#include "../physics/panels.h"
#include "../physics/pixel.h"

enum {
    N = NB_BACKGROUND_ORDER,
    TERMS = 8,  /* of the smooth means */
    LOOKS = 64, /* points along a tile */
    BEND =
        1 /* points for second differences: more than a spread, so that single kinks have little effect */
};

/* Tolerances of the test with all rays of a pixel: of the means, and of the factor. */
#define AUDIT (NB_BACKGROUND_ROUGH + NB_BACKGROUND_ERROR)

static nb_vec3 toward(const nb_panel *panel, double f, double s, double depth)
{
    return nb_unit(
        nb_panel_point(panel, panel->pixel_fast * f, panel->pixel_slow * s, depth));
}

static double thickness(const nb_sensor *sensor)
{
    return sensor->layers * sensor->layer_step;
}

/* ------------------------------------------------------------------ spreads */

/** Root mean square distance of the sines of a pixel's rays from that of its middle; with one ray,
 * of all points of the pixel. 0 in the direct beam. */
static double spread_at(const nb_scene *sc, const nb_panel *panel,
                        const nb_background_group *g, double f, double s)
{
    const double os = sc->oversample > 1 ? sc->oversample : INFINITY, in_beam = 1e-9;
    const nb_vec3 at =
        nb_panel_point(panel, panel->pixel_fast * f, panel->pixel_slow * s, 0);
    const nb_vec3 d = nb_unit(at), off = nb_sub(d, g->incident);
    const double chord = nb_norm(off);
    /* the sine's gradient is that of |d - incident|/2, and d has none along itself */
    const nb_vec3 slope = nb_sub(off, nb_scale(nb_dot(off, d), d));
    if (chord < in_beam)
        return 0;
    return hypot(panel->pixel_fast * nb_dot(slope, panel->fast),
                 panel->pixel_slow * nb_dot(slope, panel->slow)) /
           (2 * chord * nb_norm(at)) * sqrt((1 - 1 / (os * os)) / 12);
}

/** The pixels of a tile; f, s: the first. */
typedef struct tile_place {
    int f, s, edge;
} tile_place;

static tile_place place_of(const nb_background_panel *p, int number)
{
    return (tile_place){number % p->across * p->edge, number / p->across * p->edge,
                        p->edge};
}

/** Index of the means that are valid for the whole tile; -2: none. *off: as in
 * nb_background_tile. */
static int find_mean(const nb_scene *sc, const nb_panel *panel,
                     const nb_background_table *table, tile_place at, double *off)
{
    double low = INFINITY, high = 0, own;
    int number;
    if (sc->oversample == 1 && !sc->sensors[panel->sensor].mean_depth)
        return -1;
    for (int i = 0; i < 5 * table->n; i++) {
        const double f = i % 5 == 4 ? 0.5 : i % 5 & 1, s = i % 5 == 4 ? 0.5 : i % 5 / 2;
        const double spread = spread_at(sc, panel, &table->groups[i / 5],
                                        at.f + f * at.edge, at.s + s * at.edge);
        if (spread > 0) {
            low = fmin(low, spread);
            high = fmax(high, spread);
        }
    }
    number = nb_background_mean_of(sqrt(low * high));
    own = nb_background_spread(number);
    *off = sc->oversample > 1 ? fmax(high / own, own / low) - 1 : 0;
    return number >= 0 && *off <= NB_BACKGROUND_SPREADS - 1 ? number : -2;
}

/** The direction to the middle of points of the panel, and the largest |d - middle| to one. */
typedef struct cone {
    nb_vec3 middle;
    double chord;
} cone;

/** The cone around the pixels from f to f1 and s to s1, at all depths. */
static cone cone_of(const nb_panel *panel, const nb_sensor *sensor, const double f[2],
                    const double s[2])
{
    nb_vec3 at[8], sum = {0, 0, 0};
    cone c = {{0, 0, 0}, 0};
    for (int i = 0; i < 8; i++) {
        at[i] = toward(panel, f[i & 1], s[i >> 1 & 1], i & 4 ? thickness(sensor) : 0);
        sum = nb_add(sum, at[i]);
    }
    c.middle = nb_unit(sum);
    for (int i = 0; i < 8; i++)
        c.chord = fmax(c.chord, nb_norm(nb_sub(at[i], c.middle)));
    return c;
}

static cone cone_of_tile(const nb_panel *panel, const nb_sensor *sensor, tile_place at)
{
    return cone_of(panel, sensor, (const double[2]){at.f, at.f + at.edge},
                   (const double[2]){at.s, at.s + at.edge});
}

/** Is a sine of the cone rough? */
static int is_rough(const nb_background_table *table, const nb_background_mean *mean,
                    const cone *c)
{
    for (int g = 0; g < table->n && mean; g++) {
        const double sine = nb_background_sine(&table->groups[g], c->middle);
        if (nb_background_is_rough(mean, g, sine - 0.5 * c->chord, sine + 0.5 * c->chord))
            return 1;
    }
    return 0;
}

int nb_background_piece_is_rough(const nb_background_tiles *t, const nb_scene *sc,
                                 int panel, int f, int s)
{
    const nb_panel *on = &sc->panels[panel];
    const nb_background_panel *p = &t->panels[panel];
    const nb_background_tile *tile = &p->tiles[s / p->edge * p->across + f / p->edge];
    const cone c = cone_of(on, &sc->sensors[on->sensor],
                           (const double[2]){f, f + NB_BACKGROUND_PIECE},
                           (const double[2]){s, s + 1});
    return is_rough(t->table, nb_background_tile_mean(t, tile), &c);
}

/* ------------------------------------------------------------------ smooth means */

/** The means of a tile without their kinks: a Chebyshev series for each group. */
typedef struct smooth_means {
    double half; /* sines from middle - half to middle + half */
    double middle[NB_BACKGROUND_GROUPS];
    double c[NB_BACKGROUND_GROUPS][TERMS];
} smooth_means;

static double smooth_at(const smooth_means *m, int group, double sine)
{
    const double x = (sine - m->middle[group]) / m->half, *c = m->c[group];
    double b = 0, before = 0;
    for (int i = TERMS - 1; i > 0; i--) {
        const double next = 2 * x * b - before + c[i];
        before = b;
        b = next;
    }
    return x * b - before + c[0];
}

/** The series through the means at Chebyshev's points. */
static void smooth_out(const nb_background_table *table, const nb_background_mean *mean,
                       const cone *c, const double cosine[TERMS][TERMS], smooth_means *to)
{
    to->half = 0.5 * c->chord + (mean ? 3 * mean->spread : 0);
    for (int g = 0; g < table->n; g++) {
        to->middle[g] = nb_background_sine(&table->groups[g], c->middle);
        for (int i = 0; i < TERMS; i++)
            to->c[g][i] = 0;
        for (int k = 0; k < TERMS; k++) {
            const double y = nb_background_mean_at(
                table, mean, g, to->middle[g] + to->half * cosine[1][k]);
            for (int i = 0; i < TERMS; i++)
                to->c[g][i] += (i > 0 ? 2.0 : 1.0) / TERMS * y * cosine[i][k];
        }
    }
}

/* ------------------------------------------------------------------ factors */

/** Makes the tiles of a panel. */
typedef struct tile_maker {
    const nb_scene *scene;
    const nb_panel *panel;
    const nb_sensor *sensor;
    const nb_background_tiles *of;
    const nb_background_panel *tiles;
    int knots[N];                /* pixels of a tile */
    double basis[N][N];          /* of them */
    double cosine[TERMS][TERMS]; /* of the smooth means: Chebyshev's polynomials at their points */
} tile_maker;

/** The tile that is made. */
typedef struct tile_job {
    const tile_maker *m;
    tile_place at;
    const nb_background_mean *mean;
    nb_background_layer *layer;
    double off; /* largest relative difference of the tile's spreads from that of the means */
    smooth_means smooth;
} tile_job;

/** Term of a ray of a layer, by the table or by the smooth means. */
static double ray_term(const tile_job *j, int smooth, double F, double S, int layer)
{
    const nb_scene *sc = j->m->scene;
    const nb_background_table *table = j->m->of->table;
    const nb_ray ray = nb_ray_to(j->m->panel, j->m->sensor, F, S, layer);
    double sum = 0;
    for (int g = 0; g < table->n; g++) {
        const nb_background_group *group = &table->groups[g];
        const double sine = nb_background_sine(group, ray.direction);
        double term =
            smooth ? smooth_at(&j->smooth, g, sine) : nb_background_at(group, sine);
        if (sc->oversample_polar && !sc->beam.nopolar)
            term *= nb_polarization(sc->beam.polarization, group->incident, ray.direction,
                                    sc->beam.polar_axis);
        sum += term;
    }
    return sum * ray.capture * (sc->oversample_omega ? ray.omega : 1.0);
}

/** The sum over all rays of a pixel. */
static double all_rays(const tile_job *j, int f, int s)
{
    const nb_panel *panel = j->m->panel;
    const int os = j->m->scene->oversample;
    double sum = 0;
    for (int i = 0; i < j->m->sensor->layers * os * os; i++)
        sum += ray_term(j, 0, nb_subpixel(panel->pixel_fast, os, f, i % os),
                        nb_subpixel(panel->pixel_slow, os, s, i / os % os), i / (os * os));
    return sum;
}

/** Four rays with the moments of all rays: they give the mean of smooth functions. */
static double four_rays(const tile_job *j, int f, int s, int layer)
{
    const nb_panel *panel = j->m->panel;
    const double os = j->m->scene->oversample, off = sqrt((1 - 1 / (os * os)) / 12);
    double sum = 0;
    if (os == 1)
        return ray_term(j, 1, panel->pixel_fast * (f + 0.5),
                        panel->pixel_slow * (s + 0.5), layer);
    for (int i = 0; i < 4; i++)
        sum += ray_term(j, 1, panel->pixel_fast * (f + 0.5 + (i & 1 ? off : -off)),
                        panel->pixel_slow * (s + 0.5 + (i & 2 ? off : -off)), layer);
    return sum * os * os / 4;
}

/** The smooth means at the middle of a pixel, from two rays at the distance of its spread. */
static double middle_sum(const tile_job *j, nb_vec3 d)
{
    const double spread = j->m->scene->oversample > 1 ? j->mean->spread : 0;
    double sum = 0;
    for (int g = 0; g < j->m->of->table->n; g++) {
        const double sine = nb_background_sine(&j->m->of->table->groups[g], d);
        sum += spread > 0 ? 0.5 * (smooth_at(&j->smooth, g, sine + spread) +
                                   smooth_at(&j->smooth, g, sine - spread))
                          : smooth_at(&j->smooth, g, sine);
    }
    return sum;
}

static nb_vec3 middle_of(const tile_job *j, int f, int s, int layer)
{
    return toward(j->m->panel, f + 0.5, s + 0.5, j->layer[layer].depth);
}

/** The factors of a pixel's layers. */
static void pixel_factors(const tile_job *j, int f, int s, double *to)
{
    const double scale = j->m->scene->intensity_scale *
                         nb_cached_factors(j->m->scene, j->m->panel, j->m->sensor, f, s);
    for (int l = 0; l < j->m->sensor->layers; l++)
        to[l] = scale * four_rays(j, f, s, l) / middle_sum(j, middle_of(j, f, s, l));
}

/* ------------------------------------------------------------------ tiles */

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

static tile_maker maker_of(const nb_scene *sc, const nb_background_tiles *of, int panel)
{
    const nb_background_panel *tiles = &of->panels[panel];
    tile_maker m = {.scene = sc,
                    .panel = &sc->panels[panel],
                    .sensor = &sc->sensors[sc->panels[panel].sensor],
                    .of = of,
                    .tiles = tiles};
    double u[N];
    for (int k = 0; k < N; k++) {
        const double at = 0.5 - 0.5 * cos((2 * k + 1) * NB_PI / (2 * N)); /* Chebyshev's */
        m.knots[k] = (int)(at * tiles->edge);
        u[k] = nb_background_place(tiles->edge, m.knots[k]);
    }
    basis(u, m.basis);
    for (int i = 0; i < TERMS * TERMS; i++)
        m.cosine[i / TERMS][i % TERMS] =
            cos(i / TERMS * (i % TERMS + 0.5) * NB_PI / TERMS);
    return m;
}

static double factor_at(const tile_job *j, int layer, int f, int s)
{
    const double u = nb_background_place(j->at.edge, f),
                 v = nb_background_place(j->at.edge, s);
    double sum = 0;
    for (int i = N - 1; i >= 0; i--) {
        double along = 0;
        for (int k = N - 1; k >= 0; k--)
            along = along * v + j->layer[layer].c[i][k];
        sum = sum * u + along;
    }
    return sum;
}

/** Add the value at a knot to the polynomials. */
static void add_knot(const tile_job *j, int i, int k)
{
    const tile_maker *m = j->m;
    double factor[NB_BACKGROUND_LAYERS];
    pixel_factors(j, j->at.f + m->knots[i], j->at.s + m->knots[k], factor);
    for (int l = 0; l < m->sensor->layers; l++)
        for (int a = 0; a < N; a++)
            for (int b = 0; b < N; b++)
                j->layer[l].c[a][b] += m->basis[a][i] * m->basis[b][k] * factor[l];
}

/** Are the polynomials right at four pixels along the edges, far from the knots? */
static int edges_are_right(const tile_job *j)
{
    const int end = j->at.edge - 1, low = j->at.edge / 8, high = end - low;
    const int at[4][2] = {{0, low}, {high, 0}, {end, high}, {low, end}};
    double factor[NB_BACKGROUND_LAYERS];
    for (int i = 0; i < 4; i++) {
        const int f = j->at.f + at[i][0], s = j->at.s + at[i][1];
        pixel_factors(j, f, s, factor);
        for (int l = 0; l < j->m->sensor->layers; l++)
            if (!(fabs(factor_at(j, l, f, s) - factor[l]) <=
                  NB_BACKGROUND_ERROR * fabs(factor[l])))
                return 0;
    }
    return 1;
}

/** Are a pixel's sines rough? */
static int pixel_is_rough(const tile_job *j, int f, int s)
{
    const cone c = cone_of_tile(j->m->panel, j->m->sensor, (tile_place){f, s, 1});
    return is_rough(j->m->of->table, j->mean, &c);
}

/** The photons of the pixel with this middle by means and polynomials. */
static double mean_sum(const tile_job *j, nb_vec3 d)
{
    const nb_background_table *table = j->m->of->table;
    double sum = 0;
    for (int g = 0; g < table->n; g++)
        sum += nb_background_mean_at(table, j->mean, g,
                                     nb_background_sine(&table->groups[g], d));
    return sum;
}

/** Does a pixel that is not rough agree with the sum over its rays? The first such pixel from the
 * middle on is tested. */
static int audit_is_right(const tile_job *j)
{
    for (int i = j->at.edge / 2; i < j->at.edge; i++) {
        const int f = j->at.f + i, s = j->at.s + i;
        double sum = 0, exact;
        if (pixel_is_rough(j, f, s))
            continue;
        exact = j->m->scene->intensity_scale * all_rays(j, f, s) *
                nb_cached_factors(j->m->scene, j->m->panel, j->m->sensor, f, s);
        for (int l = 0; l < j->m->sensor->layers; l++)
            sum += factor_at(j, l, f, s) * mean_sum(j, middle_of(j, f, s, l));
        return fabs(sum - exact) <= AUDIT * fabs(exact);
    }
    return 0;
}

/** The mean depth of a layer's rays to the middle of the tile. */
static double depth_of(const tile_maker *m, tile_place at, int layer)
{
    const double F = m->panel->pixel_fast * (at.f + 0.5 * at.edge),
                 S = m->panel->pixel_slow * (at.s + 0.5 * at.edge);
    const nb_ray ray = nb_ray_to(m->panel, m->sensor, F, S, layer);
    return nb_dot(nb_sub(ray.position, nb_panel_point(m->panel, F, S, 0)),
                  m->panel->normal);
}

/** Largest difference of the sines at the corners between the middle depth and the depths of the
 * layers. */
static double shift_of(const tile_job *j)
{
    const nb_panel *panel = j->m->panel;
    double most = 0;
    for (int i = 0; i < 4 * j->m->sensor->layers && j->mean; i++) {
        const double f = j->at.f + (i & 1 ? j->at.edge : 0),
                     s = j->at.s + (i & 2 ? j->at.edge : 0);
        const nb_ray ray = nb_ray_to(panel, j->m->sensor, panel->pixel_fast * f,
                                     panel->pixel_slow * s, i / 4);
        most = fmax(most, nb_norm(nb_sub(ray.direction,
                                         toward(panel, f, s, j->layer[i / 4].depth))));
    }
    return 0.5 * most;
}

/** Largest distance of the mean ray from a pixel's middle, and largest change of weight over a
 * spread; in spreads. */
static double lever_of(const tile_job *j, double sine)
{
    const nb_panel *panel = j->m->panel;
    const double pixel = fmax(panel->pixel_fast, panel->pixel_slow);
    const double spread = j->mean->spread;
    if (j->mean->one)
        return 0;
    return 2 * pixel / panel->close_distance +
           0.5 * spread / fmax(fabs(sine), NB_BACKGROUND_BEGIN * spread);
}

/** The means of a group along the sines of a tile, exact and smooth. */
typedef struct mean_looks {
    double step, y[LOOKS], smooth[LOOKS];
} mean_looks;

static mean_looks look_at(const tile_job *j, int group)
{
    mean_looks l = {.step = 2 * j->smooth.half / (LOOKS - 1)};
    for (int i = 0; i < LOOKS; i++) {
        const double x = j->smooth.middle[group] - j->smooth.half + i * l.step;
        l.y[i] = nb_background_mean_at(j->m->of->table, j->mean, group, x);
        l.smooth[i] = smooth_at(&j->smooth, group, x);
    }
    return l;
}

/** Difference of the slopes of both over a spread, relative to the mean. */
static double slopes_differ(const mean_looks *l, int i, double spread)
{
    return fabs((l->y[i + 1] - l->y[i - 1]) / l->y[i] -
                (l->smooth[i + 1] - l->smooth[i - 1]) / l->smooth[i]) *
           spread / (2 * l->step);
}

/** Difference of the second derivatives of both. */
static double bends_differ(const mean_looks *l, int i, double spread)
{
    const double step = BEND * l->step;
    return fabs(0.5 * (l->y[i + BEND] + l->y[i - BEND]) / l->y[i] -
                0.5 * (l->smooth[i + BEND] + l->smooth[i - BEND]) / l->smooth[i]) *
           spread * spread / (step * step);
}

/** Are the smooth means good enough for the factor of a group? The factor contains their slope
 * times the distance of the mean ray, their second derivative if the spread differs, and with
 * several groups their weights. shift: of the sines of the layers. */
static int smooth_is_right(const tile_job *j, int group, double shift)
{
    const nb_background_table *table = j->m->of->table;
    const nb_scene *sc = j->m->scene;
    const double turn =
        sc->oversample_polar && !sc->beam.nopolar
            ? nb_norm(nb_sub(table->groups[group].incident, table->groups[0].incident))
            : 0;
    const double spread = j->mean ? j->mean->spread : 0;
    const mean_looks l = look_at(j, group);
    for (int i = BEND; i < LOOKS - BEND; i++) {
        const double x = j->smooth.middle[group] - j->smooth.half + i * l.step;
        double off = 2 * turn * fabs(l.smooth[i] / l.y[i] - 1);
        if (j->mean)
            off += slopes_differ(&l, i, spread) * (lever_of(j, x) + shift / spread) +
                   bends_differ(&l, i, spread) * 2 * j->off;
        if (!(off <= NB_BACKGROUND_ERROR))
            return 0;
    }
    return 1;
}

static int smooth_are_right(const tile_job *j, double shift)
{
    if (j->mean && !(shift <= NB_BACKGROUND_SHIFT * j->mean->spread))
        return 0;
    for (int g = 0; g < j->m->of->table->n; g++)
        if (!smooth_is_right(j, g, shift))
            return 0;
    return 1;
}

static void make_tile(const tile_maker *m, int number)
{
    nb_background_tile *tile = &m->tiles->tiles[number];
    const int layers = m->sensor->layers;
    double shift;
    cone c;
    tile_job j;
    if (tile->mean < -1)
        return;
    j.m = m;
    j.at = place_of(m->tiles, number);
    j.mean = nb_background_tile_mean(m->of, tile);
    j.off = tile->off;
    j.layer = m->tiles->layer + (size_t)number * (size_t)layers;
    c = cone_of_tile(m->panel, m->sensor, j.at);
    for (int l = 0; l < layers; l++)
        j.layer[l].depth = depth_of(m, j.at, l);
    shift = shift_of(&j);
    smooth_out(m->of->table, j.mean, &c, m->cosine, &j.smooth);
    if (!smooth_are_right(&j, shift))
        return;
    for (int i = 0; i < N * N; i++)
        add_knot(&j, i % N, i / N);
    if (edges_are_right(&j) && audit_is_right(&j))
        tile->kind = is_rough(m->of->table, j.mean, &c) ? NB_BACKGROUND_SOME
                                                        : NB_BACKGROUND_SMOOTH;
}

/* ------------------------------------------------------------------ panels */

/** Tiles of a panel that meet the region. */
typedef struct tile_range {
    int first, across, n;
} tile_range;

static tile_range range_of(const nb_scene *sc, const nb_background_tiles *t, int panel)
{
    const nb_background_panel *p = &t->panels[panel];
    const nb_region r = nb_panel_region(sc, &sc->panels[panel]);
    const int left = r.fmin / p->edge, top = r.smin / p->edge,
              across = r.fmax / p->edge - left + 1;
    return (tile_range){top * p->across + left, across,
                        across * (r.smax / p->edge - top + 1)};
}

static int tile_in(const tile_range *r, const nb_background_panel *p, int i)
{
    return r->first + i / r->across * p->across + i % r->across;
}

static nb_status reserve(const nb_scene *sc, nb_background_tiles *to, int panel,
                         nb_error *err)
{
    const nb_panel *on = &sc->panels[panel];
    nb_background_panel *p = &to->panels[panel];
    const int layers = sc->sensors[on->sensor].layers;
    size_t n;
    if (on->curved || nb_region_pixels(nb_panel_region(sc, on)) == 0 ||
        layers > NB_BACKGROUND_LAYERS)
        return NB_OK;
    p->layers = layers;
    p->edge = nb_background_edge(on);
    p->across = (on->columns - 1) / p->edge + 1;
    p->down = (on->rows - 1) / p->edge + 1;
    n = (size_t)p->across * (size_t)p->down;
    p->tiles = nb_alloc(n, sizeof *p->tiles, "tiles of the background", err);
    p->layer =
        nb_alloc(n * (size_t)layers, sizeof *p->layer, "tiles of the background", err);
    return p->tiles && p->layer ? NB_OK : NB_ERR_NOMEM;
}

/** Find the means of a panel's tiles, and the range of sines that they need. */
static void survey(const nb_scene *sc, nb_background_tiles *to, int panel)
{
    const nb_panel *on = &sc->panels[panel];
    const nb_background_panel *p = &to->panels[panel];
    const tile_range range = range_of(sc, to, panel);
    for (int i = 0; i < range.n; i++) {
        const int number = tile_in(&range, p, i);
        const tile_place at = place_of(p, number);
        const cone c = cone_of_tile(on, &sc->sensors[on->sensor], at);
        nb_background_tile *tile = &p->tiles[number];
        const int mean = find_mean(sc, on, to->table, at, &tile->off);
        tile->mean = mean;
        for (int g = 0; g < to->table->n && mean >= 0; g++) {
            const double sine = nb_background_sine(&to->table->groups[g], c.middle);
            nb_background_mean_widen(&to->means[mean], sine - 0.5 * c.chord,
                                     sine + 0.5 * c.chord);
        }
    }
}

static void make_panel(const nb_scene *sc, const nb_background_tiles *t, int panel,
                       int threads)
{
    const tile_range range = range_of(sc, t, panel);
    const tile_maker m = maker_of(sc, t, panel);
    (void)threads;
#pragma omp parallel for schedule(dynamic, 8) num_threads(threads)
    for (int i = 0; i < range.n; i++)
        make_tile(&m, tile_in(&range, m.tiles, i));
}

static nb_status build(const nb_scene *sc, int threads, nb_background_tiles *t,
                       nb_error *err)
{
    nb_status st = NB_OK;
    t->panels = nb_alloc((size_t)sc->n_panels, sizeof *t->panels, "panels", err);
    if (!t->panels)
        return NB_ERR_NOMEM;
    t->n = sc->n_panels;
    for (int k = 0; k < NB_BACKGROUND_MEANS; k++) {
        t->means[k].spread = nb_background_spread(k);
        t->means[k].per = NB_BACKGROUND_CELLS / t->means[k].spread;
    }
    for (int k = 0; k < t->n && !st; k++)
        if (!(st = reserve(sc, t, k, err)) && t->panels[k].tiles)
            survey(sc, t, k);
    NB_TRY(nb_background_means_fill(t->table, sc->oversample, threads, t->means, err));
    for (int k = 0; k < t->n && !st; k++)
        if (t->panels[k].tiles)
            make_panel(sc, t, k, threads);
    return st;
}

nb_status nb_background_tiles_build(const nb_scene *sc, const nb_background_table *table,
                                    int threads, nb_background_tiles **tiles,
                                    nb_error *err)
{
    nb_status st;
    *tiles = nb_alloc(1, sizeof **tiles, "tiles of the background", err);
    if (!*tiles)
        return NB_ERR_NOMEM;
    (*tiles)->table = table;
    st = build(sc, threads, *tiles, err);
    if (st) {
        nb_background_tiles_free(*tiles);
        *tiles = NULL;
    }
    return st;
}

void nb_background_tiles_free(nb_background_tiles *t)
{
    for (int k = 0; t && k < t->n; k++) {
        nb_free(t->panels[k].tiles);
        nb_free(t->panels[k].layer);
    }
    if (t) {
        nb_background_means_free(t->means);
        nb_free(t->panels);
    }
    nb_free(t);
}
