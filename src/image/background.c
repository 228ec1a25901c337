/* SPDX-License-Identifier: MIT */
/* Pixels at Chebyshev knots give the polynomials of a tile. Five others test them. */
#include "background.h"

#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/threads.h"
#include "../physics/panels.h"
#include "../physics/pixel.h"
#include "polynomial.h"

enum {
    N = NB_BACKGROUND_ORDER,
    LAWS = NB_BACKGROUND_LAWS,
    SEGMENT = NB_BACKGROUND_SEGMENT,
    EDGE = NB_BACKGROUND_EDGE,
    FINE = 4,        /* samples of a curve to a cell */
    REACH = 8,       /* samples before the first cell, for its cubic and its tests */
    NEAR = 12,       /* cells from the beam; nearer cells are NaN */
    CELLS = 1 << 15, /* limit of the cells of a finer curve */
    GRIDS = 8        /* limit of resolutions: panels at different distances */
};

#define ROUGH 3e-7        /* limit of the relative error of a cell */
#define AUDIT 3e-7        /* limit of the relative error in the test with all rays */
#define STEEP 0.5         /* limit of the relative change over two pixels */
#define BENT 2e-4         /* limit of the relative bend from ray to ray */
#define WRONG 2e-7        /* limit of the relative error of polynomials */
#define MANY 2e-3         /* part of wrong cells above which cells are cut in half */
#define COARSE 0.5        /* width of a cell, in the sine of a pixel */
#define SAME 1.125        /* panels with such ratios of a pixel's sine share curves */
#define TILE_ANGLE 0.2    /* rad; largest angle of a tile, seen from the sample */
#define SEGMENT_ANGLE 0.1 /* rad; a panel whose segments are larger sums all rays */
#define LEAST_RAYS 1e5    /* with fewer rays of all pixels, tiles do not pay */

/** Sources of one direction, seen by the kinds that have one smooth factor. */
typedef struct group {
    nb_vec3 incident;
    const nb_background_kind *kind; /* with a factor; NULL: all kinds without one */
    int flat;                       /* 1: all its kinds are */
} group;

/** Curves of all groups at one resolution. */
typedef struct curves {
    double pixel, variance; /* smallest sine across a pixel; largest variance of a pixel */
    double low, high;       /* range of sines */
    double per;             /* cells for a sine of 1 */
    int first, n;
    float (*cell)[4]; /* owned; [group][n]: c0 + t (c1 + t (c2 + t c3)), t = 0..1 */
} curves;

/** Coefficients of u^i v^j, -1 <= u, v <= 1, of a part of a tile. */
typedef struct part {
    double c[LAWS][N][N]; /* [law][j][i] */
} part;

typedef struct tiles {
    int edge, across, down; /* edge of a tile, pixels; number of tiles along fast, slow */
    int layers, grid;
    double nearest;  /* m; approximate distance of the nearest point */
    part *part;      /* owned; [down][across][layers][group]; NULL: sum all rays */
    uint8_t *smooth; /* owned; [down][across]; 0: sum all rays */
} tiles;

struct nb_background {
    const nb_image_kernels *kernels;
    int n_groups, n_grids, n_panels;
    int one;       /* 1: a pixel has one ray to a layer */
    int flat;      /* 1: all groups are */
    double size;   /* size_of */
    group *groups; /* owned */
    tiles *panels; /* owned; NULL: sum all rays */
    curves grids[GRIDS];
};

/* --- groups --- */

static nb_status add_groups(const nb_scene *sc, const nb_background_kind *kind, int flat,
                            nb_background *b, nb_error *err)
{
    const int before = b->n_groups;
    for (int i = 0; i < sc->beam.n_sources; i++) {
        const nb_vec3 incident = sc->beam.sources[i].incident;
        int g = before;
        nb_status st;
        while (g < b->n_groups && nb_norm(nb_sub(b->groups[g].incident, incident)) > 0)
            g++;
        if (g < b->n_groups || g > NB_BACKGROUND_PARTS)
            continue;
        NB_FORWARD(nb_grow(&b->groups, (size_t)g, (size_t)g + 1, sizeof *b->groups,
                           "sources", err));
        b->groups[g] = (group){incident, kind, flat};
        b->n_groups = g + 1;
    }
    return NB_OK;
}

static nb_status find_groups(const nb_scene *sc, nb_background *b, nb_error *err)
{
    int even = 0, flat = 1;
    nb_status st = NB_OK;
    for (const nb_background_kind *const *k = nb_background_kinds; *k && !st; k++)
        if ((*k)->has(sc)) {
            if ((*k)->factor) {
                st = add_groups(sc, *k, (*k)->flat, b, err);
            } else {
                even = 1;
                flat &= (*k)->flat;
            }
        }
    if (!st && even)
        st = add_groups(sc, NULL, flat, b, err);
    b->flat = 1;
    for (int g = 0; g < b->n_groups; g++)
        b->flat &= b->groups[g].flat;
    return st;
}

/** Scattering of a group at a sine, times the scale of the scene. */
static double scattering(const nb_scene *sc, const group *g, double sine)
{
    double sum = 0;
    for (int i = 0; i < sc->beam.n_sources; i++) {
        const nb_source *source = &sc->beam.sources[i];
        if (nb_norm(nb_sub(source->incident, g->incident)) > 0)
            continue;
        for (const nb_background_kind *const *k = nb_background_kinds; *k; k++)
            if (g->kind ? *k == g->kind : !(*k)->factor && (*k)->has(sc))
                sum += source->weight * (*k)->scattering(sc, sine / source->lambda);
    }
    return sum * sc->intensity_scale;
}

static double sine_of(const group *g, nb_vec3 direction)
{
    return 0.5 * nb_norm(nb_sub(direction, g->incident));
}

/* --- curves --- */

/** Cubic through four samples that are a cell apart, the second at y[0]. */
static void set_cell(const double *y, double c[4])
{
    const double before = y[-FINE], next = y[FINE], after = y[2 * FINE];
    c[0] = y[0];
    c[1] = next - before / 3 - y[0] / 2 - after / 6;
    c[2] = (next + before) / 2 - y[0];
    c[3] = (y[0] - next) / 2 + (after - before) / 6;
}

/** True if the cubic of a cell is wrong in the cell, as the mean over a pixel whose sines
 * have this variance, cells^2. The other mean takes five samples with the same moments.
 * Also true where scattering is steep, as floats have the place of a pixel.
 * pixel: width of a pixel, cells. */
static int is_wrong(const double *y, const double c[4], double variance, double pixel)
{
    const double far = variance / 4, near = variance;
    int wrong = fabs(y[FINE] - y[-FINE]) * pixel > STEEP * fabs(y[0]);
    for (int i = 0; i < FINE && !wrong; i++) {
        const double *m = y + i, t = (double)i / FINE;
        const double cubic =
            c[0] + t * (c[1] + t * (c[2] + t * c[3])) + variance * (c[2] + 3 * t * c[3]);
        const double five = (1 - 2 * far - 2 * near) * m[0] +
                            near * (m[FINE / 2] + m[-FINE / 2]) +
                            far * (m[FINE] + m[-FINE]);
        wrong = !(fabs(cubic - five) <= ROUGH * fabs(five));
    }
    return wrong;
}

/** Make the cells of a group from y, the samples from the first cell on.
 * Returns the number of wrong cells, which are NaN as their neighbours are. */
static int fill_cells(const curves *grid, const double *y, double variance,
                      float (*cell)[4])
{
    const int near = variance > 0 ? 2 : 1; /* rays of a pixel reach that far */
    int wrong = 0;
    for (int i = 0; i < grid->n; i++) {
        double c[4];
        set_cell(y + FINE * i, c);
        for (int k = 0; k < 4; k++)
            cell[i][k] = (float)c[k];
    }
    for (int i = 0; i < grid->n; i++) {
        double c[4];
        set_cell(y + FINE * i, c);
        if (grid->first + i >= NEAR &&
            !is_wrong(y + FINE * i, c, variance, grid->per * grid->pixel))
            continue;
        wrong += grid->first + i >= NEAR;
        for (int j = i > near ? i - near : 0; j <= i + near && j < grid->n; j++)
            cell[j][0] = NAN;
    }
    return wrong;
}

/** Make the curves with this number of cells for a sine of 1. *wrong: number of cells. */
static nb_status fill_curves(const nb_background *b, const nb_scene *sc, int threads,
                             curves *grid, int *wrong, nb_error *err)
{
    const int first = (int)floor(grid->low * grid->per) - 1,
              n = (int)ceil(grid->high * grid->per) + 1 - first,
              samples = FINE * n + 2 * REACH;
    double *y = nb_alloc((size_t)samples, sizeof *y, "background", err);
    float(*cell)[4] =
        nb_alloc((size_t)b->n_groups * (size_t)n, sizeof *cell, "background", err);
    (void)threads;
    nb_free(grid->cell);
    grid->cell = cell;
    grid->first = first;
    grid->n = n;
    *wrong = 0;
    for (int g = 0; g < b->n_groups && y && cell; g++) {
#pragma omp parallel for schedule(static) num_threads(threads)
        for (int i = 0; i < samples; i++)
            y[i] = scattering(sc, &b->groups[g],
                              fabs((first + (i - REACH) / (double)FINE) / grid->per));
        if (b->groups[g].flat)
            for (int i = 0; i < n; i++)
                cell[(size_t)g * (size_t)n + (size_t)i][0] = (float)y[0];
        else
            *wrong += fill_cells(grid, y + REACH, grid->variance * grid->per * grid->per,
                                 cell + (size_t)g * (size_t)n);
    }
    nb_free(y);
    return y && cell ? NB_OK : NB_ERR_NOMEM;
}

/** Make the curves of a resolution, with finer cells if many are wrong; finer cells do not
 * mend means over a pixel. */
static nb_status make_curves(const nb_background *b, const nb_scene *sc, int threads,
                             curves *grid, nb_error *err)
{
    int wrong = 0;
    nb_status st;
    grid->per = 1 / (COARSE * grid->pixel);
    st = fill_curves(b, sc, threads, grid, &wrong, err);
    while (!st && b->one && wrong > MANY * grid->n * b->n_groups && 2 * grid->n <= CELLS) {
        grid->per *= 2;
        st = fill_curves(b, sc, threads, grid, &wrong, err);
    }
    return st;
}

/* --- pixels --- */

/** Data for the tiles of a panel. */
typedef struct tile_maker {
    const nb_background *of;
    const nb_scene *scene;
    int number; /* of the panel */
    const nb_panel *panel;
    const tiles *tiles;
    int knots[N];       /* pixels of a tile */
    double basis[N][N]; /* nb_polynomial_basis of the knots */
} tile_maker;

/** A tile. f, s: first pixel. */
typedef struct tile_job {
    const tile_maker *m;
    int f, s;
    part *part;
} tile_job;

/** Place of a pixel in a tile, -1 to 1. */
static double place_in(int edge, int pixel)
{
    return (2.0 * (pixel % edge) + 1) / edge - 1;
}

static double weight_of(const nb_scene *sc, const group *g, const nb_ray *ray)
{
    const nb_source source = {.incident = g->incident};
    double weight = nb_background_captured(sc, ray);
    if (g->kind)
        weight *= g->kind->factor(sc, &source, ray->direction);
    if (sc->oversample_polar && !sc->beam.nopolar)
        weight *= nb_polarization(sc->beam.polarization, g->incident, ray->direction,
                                  sc->beam.polar_axis);
    return weight;
}

/** Laws of a pixel, and the change of the sine over a pixel along fast and slow. */
typedef struct pixel_law {
    double law[LAWS], across[2];
} pixel_law;

/** The laws of a pixel, from four rays with the same first moments as all rays. */
static pixel_law laws_of(const tile_maker *m, int f, int s, int layer, int g)
{
    const nb_panel *panel = m->panel;
    const nb_sensor *sensor = &m->scene->sensors[panel->sensor];
    const group *of = &m->of->groups[g];
    const double os = m->scene->oversample, off = sqrt((1 - 1 / (os * os)) / 12);
    const int rays = m->of->one ? 1 : 4;
    double weight[4], sine[4], all = 0, mean = 0, square = 0;
    pixel_law to = {{0}, {0}};
    for (int i = 0; i < rays; i++) {
        const double x = i & 1 ? off : -off, y = i & 2 ? off : -off;
        const nb_ray ray = nb_ray_to(panel, sensor, panel->pixel_fast * (f + 0.5 + x),
                                     panel->pixel_slow * (s + 0.5 + y), layer);
        weight[i] = weight_of(m->scene, of, &ray);
        sine[i] = sine_of(of, ray.direction);
        all += weight[i];
        mean += weight[i] * sine[i];
        to.across[0] += rays > 1 ? sine[i] / (4 * x) : 0;
        to.across[1] += rays > 1 ? sine[i] / (4 * y) : 0;
    }
    mean /= all;
    for (int i = 0; i < rays; i++)
        square += weight[i] * (sine[i] - mean) * (sine[i] - mean);
    to.law[NB_BACKGROUND_WEIGHT] =
        nb_cached_factors(m->scene, panel, sensor, f, s) * all * os * os / rays;
    to.law[NB_BACKGROUND_SQUARE] = mean * mean;
    to.law[NB_BACKGROUND_VARIANCE] = square / all;
    return to;
}

/** Mean scattering of the rays of a pixel, whose sines are linear in the pixel. *bend:
 * largest second difference along the steeper axis. */
static double mean_of_rays(const tile_maker *m, int g, double sine, const pixel_law *of,
                           double *bend)
{
    const int os = m->scene->oversample, steep = fabs(of->across[1]) > fabs(of->across[0]);
    double sum = 0, last = 0, before = 0;
    *bend = 0;
    for (int i = 0; i < os * os; i++) {
        const double x = (i % os + 0.5) / os - 0.5, y = (i / os % os + 0.5) / os - 0.5;
        const double at =
            scattering(m->scene, &m->of->groups[g],
                       sine + of->across[steep] * x + of->across[!steep] * y);
        if (i % os >= 2)
            *bend = fmax(*bend, fabs(at - 2 * last + before));
        before = last;
        last = at;
        sum += at;
    }
    return sum / (os * os);
}

/** Photons of a pixel in wrong cells. All rays are summed near the beam, and where the
 * scattering bends so much that the curvature of the sines matters. */
static double ray_photons(const tile_maker *m, int f, int s)
{
    const curves *grid = &m->of->grids[m->tiles->grid];
    const int groups = m->of->n_groups;
    double sum = 0;
    if (m->scene->oversample == 2) /* too few rays to see a bend */
        return nb_pixel_background(m->scene, m->number, f, s);
    for (int p = 0; p < m->tiles->layers * groups; p++) {
        const pixel_law of = laws_of(m, f, s, p / groups, p % groups);
        const double sine = sqrt(of.law[NB_BACKGROUND_SQUARE]);
        double bend, mean = mean_of_rays(m, p % groups, sine, &of, &bend);
        if (sine * grid->per < 2 * NEAR || !(bend <= BENT * fabs(mean)))
            return nb_pixel_background(m->scene, m->number, f, s);
        sum += of.law[NB_BACKGROUND_WEIGHT] * mean;
    }
    return sum;
}

/** Photons of a part from its laws; NaN in a wrong cell. */
static double photons(const tile_job *j, int g, const double law[LAWS])
{
    const curves *grid = &j->m->of->grids[j->m->tiles->grid];
    const double sine = sqrt(fmax(0, law[NB_BACKGROUND_SQUARE]));
    const double at = fmin(fmax(sine * grid->per - grid->first, 0), grid->n - 1);
    const float *c = grid->cell[(size_t)g * (size_t)grid->n + (size_t)at];
    const double t = at - floor(at);
    return law[NB_BACKGROUND_WEIGHT] *
           (c[0] + t * (c[1] + t * (c[2] + t * c[3])) +
            law[NB_BACKGROUND_VARIANCE] * grid->per * grid->per * (c[2] + 3 * t * c[3]));
}

/* --- tiles --- */

static tile_maker maker_of(const nb_background *b, const nb_scene *sc, int panel)
{
    tile_maker m = {b, sc, panel, &sc->panels[panel], &b->panels[panel], {0}, {{0}}};
    double u[N];
    for (int k = 0; k < N; k++) {
        const double at = 0.5 - 0.5 * cos((2 * k + 1) * NB_PI / (2 * N)); /* Chebyshev */
        m.knots[k] = (int)(at * m.tiles->edge);
        u[k] = place_in(m.tiles->edge, m.knots[k]);
    }
    nb_polynomial_basis(u, m.basis);
    return m;
}

/** Add the laws at a knot to the polynomials. */
static void add_knot(const tile_job *j, int i, int k)
{
    const tile_maker *m = j->m;
    const int groups = m->of->n_groups;
    for (int p = 0; p < m->tiles->layers * groups; p++) {
        const pixel_law of =
            laws_of(m, j->f + m->knots[i], j->s + m->knots[k], p / groups, p % groups);
        for (int l = 0; l < LAWS; l++)
            for (int a = 0; a < N; a++)
                for (int b = 0; b < N; b++)
                    j->part[p].c[l][b][a] += m->basis[a][i] * m->basis[b][k] * of.law[l];
    }
}

/** Photons of a pixel from the polynomials, or with `exact` from the laws of the pixel. */
static double smooth_photons(const tile_job *j, int f, int s, int exact)
{
    const int edge = j->m->tiles->edge, groups = j->m->of->n_groups;
    double sum = 0;
    for (int p = 0; p < j->m->tiles->layers * groups; p++) {
        double law[LAWS], c[N];
        const pixel_law of =
            exact ? laws_of(j->m, f, s, p / groups, p % groups) : (pixel_law){{0}, {0}};
        memcpy(law, of.law, sizeof law);
        for (int k = 0; k < LAWS && !exact; k++) {
            nb_polynomial_row(j->part[p].c[k], place_in(edge, s), c);
            law[k] = nb_polynomial(c, place_in(edge, f));
        }
        sum += photons(j, p % groups, law);
    }
    return sum;
}

/** True if the polynomials are right at four pixels along the edges, far from knots, or
 * the pixels are in wrong cells. */
static int edges_are_right(const tile_job *j)
{
    const int end = j->m->tiles->edge - 1, low = (end + 1) / 8, high = end - low;
    const int at[4][2] = {{0, low}, {high, 0}, {end, high}, {low, end}};
    for (int i = 0; i < 4; i++) {
        const int f = j->f + at[i][0], s = j->s + at[i][1];
        const double sum = smooth_photons(j, f, s, 1);
        if (fabs(smooth_photons(j, f, s, 0) - sum) > WRONG * fabs(sum))
            return 0;
    }
    return 1;
}

/** True if the first pixel in right cells, from the middle of the tile on, agrees with the
 * sum over all rays. */
static int middle_is_right(const tile_job *j)
{
    for (int i = j->m->tiles->edge / 2; i < j->m->tiles->edge; i++) {
        const double smooth = smooth_photons(j, j->f + i, j->s + i, 0);
        double exact;
        if (isnan(smooth))
            continue;
        exact = nb_pixel_background(j->m->scene, j->m->number, j->f + i, j->s + i);
        return fabs(smooth - exact) <= AUDIT * fabs(exact);
    }
    return 0;
}

static void make_tile(const tile_maker *m, int number)
{
    const tiles *t = m->tiles;
    const size_t parts = (size_t)t->layers * (size_t)m->of->n_groups;
    const tile_job j = {m, number % t->across * t->edge, number / t->across * t->edge,
                        t->part + (size_t)number * parts};
    for (int i = 0; i < N * N; i++)
        add_knot(&j, i % N, i / N);
    t->smooth[number] = (uint8_t)(edges_are_right(&j) && middle_is_right(&j));
}

/* --- panels --- */

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

/** Edge of the tiles of a panel: a power of 2 that spans a small angle. */
static int edge_of(const nb_panel *panel, double nearest)
{
    const double pixel = fmax(panel->pixel_fast, panel->pixel_slow);
    int edge = EDGE;
    while (edge > SEGMENT && edge * pixel > TILE_ANGLE * nearest)
        edge /= 2;
    return edge;
}

/** Curves for a pixel of this sine; NULL: too many resolutions. */
static curves *grid_of(nb_background *b, double sine)
{
    for (int i = 0; i < b->n_grids; i++) {
        curves *grid = &b->grids[i];
        if (sine <= SAME * grid->pixel && grid->pixel <= SAME * sine)
            return grid;
    }
    if (b->n_grids == GRIDS)
        return NULL;
    b->grids[b->n_grids] = (curves){.pixel = sine, .low = 1};
    return &b->grids[b->n_grids++];
}

/** Widen the range of curves by the sines of a panel. */
static void survey(const nb_background *b, const nb_scene *sc, const nb_panel *panel,
                   const tiles *t, curves *grid)
{
    const double deep = t->layers * sc->sensors[panel->sensor].layer_step;
    const double around =
        0.25 * (t->edge * (panel->pixel_fast + panel->pixel_slow) + deep) / t->nearest;
    for (int i = 0; i < t->across * t->down * b->n_groups; i++) {
        const int n = i / b->n_groups;
        const nb_vec3 middle = nb_unit(
            nb_panel_point(panel, panel->pixel_fast * t->edge * (n % t->across + 0.5),
                           panel->pixel_slow * t->edge * (n / t->across + 0.5), deep / 2));
        const double sine = sine_of(&b->groups[i % b->n_groups], middle);
        grid->low = fmin(grid->low, fmax(0, sine - around));
        grid->high = fmax(grid->high, fmin(1, sine + around));
    }
}

static nb_status reserve(const nb_scene *sc, nb_background *b, int panel, nb_error *err)
{
    const nb_panel *on = &sc->panels[panel];
    const double pixel = fmax(on->pixel_fast, on->pixel_slow);
    tiles *t = &b->panels[panel];
    curves *grid;
    size_t n;
    t->layers = sc->sensors[on->sensor].layers;
    t->nearest = nearest_of(on);
    t->edge = edge_of(on, t->nearest);
    t->across = (on->columns - 1) / t->edge + 1;
    t->down = (on->rows - 1) / t->edge + 1;
    n = (size_t)t->across * (size_t)t->down;
    if (t->layers * b->n_groups > NB_BACKGROUND_PARTS ||
        SEGMENT * pixel > SEGMENT_ANGLE * t->nearest ||
        !(grid = grid_of(b, 0.5 * pixel / t->nearest)))
        return NB_OK;
    t->grid = (int)(grid - b->grids);
    grid->pixel = fmin(grid->pixel, 0.5 * pixel / t->nearest);
    if (!b->one)
        grid->variance = fmax(grid->variance, grid->pixel * grid->pixel / 12);
    survey(b, sc, on, t, grid);
    if (nb_region_pixels(nb_panel_region(sc, on)) == 0)
        return NB_OK;
    t->smooth = nb_alloc(n, 1, "background", err);
    t->part = nb_alloc(n * (size_t)(t->layers * b->n_groups), sizeof *t->part,
                       "background", err);
    return t->smooth && t->part ? NB_OK : NB_ERR_NOMEM;
}

/** Make the tiles of a panel that meet the region. */
static void make_panel(const nb_scene *sc, const nb_background *b, int panel, int threads)
{
    const tiles *t = &b->panels[panel];
    const tile_maker m = maker_of(b, sc, panel);
    const nb_region r = nb_panel_region(sc, &sc->panels[panel]);
    const int left = r.fmin / t->edge, top = r.smin / t->edge,
              across = r.fmax / t->edge - left + 1, down = r.smax / t->edge - top + 1;
    (void)threads;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int i = 0; i < across * down; i++)
        make_tile(&m, (top + i / across) * t->across + left + i % across);
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

static nb_status build(const nb_scene *sc, int threads, nb_background *b, nb_error *err)
{
    nb_status st = find_groups(sc, b, err);
    b->one = sc->oversample == 1;
    if (!st &&
        !(b->panels = nb_alloc((size_t)sc->n_panels, sizeof *b->panels, "panels", err)))
        st = NB_ERR_NOMEM;
    b->n_panels = st ? 0 : sc->n_panels;
    for (int k = 0; k < b->n_panels && !st; k++)
        st = reserve(sc, b, k, err);
    for (int i = 0; i < b->n_grids && !st; i++)
        st = make_curves(b, sc, threads, &b->grids[i], err);
    for (int k = 0; k < b->n_panels && !st; k++)
        if (b->panels[k].part)
            make_panel(sc, b, k, threads);
    return st;
}

/** Size of the scattering, electrons^2. It makes a plane independent of the number of
 * blocks, by which scattering and the scale of an image divide and multiply. */
static double size_of(const nb_scene *sc)
{
    enum { POINTS = 16 };
    double sum = 0;
    for (const nb_background_kind *const *k = nb_background_kinds; *k; k++)
        for (int i = 1; i <= POINTS && (*k)->has(sc); i++)
            sum += fabs((*k)->scattering(sc, i * 4e9 / POINTS)); /* to 0.4 1/A */
    return sum > 0 ? sum : 1;
}

double nb_background_scale(const nb_background *b, const nb_scene *sc)
{
    return sc->intensity_scale * sc->lattice.n_orientations * b->size;
}

/** Scene of a plane: its scale is 1 / size. */
static nb_scene unit_of(const nb_background *b, const nb_scene *sc)
{
    nb_scene unit = *sc;
    unit.intensity_scale = 1 / b->size;
    unit.lattice.n_orientations = 1;
    return unit;
}

nb_status nb_background_make(const nb_scene *sc, const nb_image_kernels *kernels,
                             int threads, nb_background **out, nb_error *err)
{
    nb_background *b = *out = nb_alloc(1, sizeof *b, "background", err);
    nb_scene unit;
    nb_status st;
    if (!b)
        return NB_ERR_NOMEM;
    b->size = size_of(sc);
    if (!kernels || !pays(sc))
        return NB_OK;
    b->kernels = kernels;
    unit = unit_of(b, sc);
    st = build(&unit, nb_thread_count(threads), b, err);
    if (st) {
        nb_background_free(b);
        *out = NULL;
    }
    return st;
}

void nb_background_free(nb_background *b)
{
    if (!b)
        return;
    for (int k = 0; k < b->n_panels; k++) {
        nb_free(b->panels[k].smooth);
        nb_free(b->panels[k].part);
    }
    for (int i = 0; i < b->n_grids; i++)
        nb_free(b->grids[i].cell);
    nb_free(b->panels);
    nb_free(b->groups);
    nb_free(b);
}

/* --- rows --- */

/** Polynomials of row s in tile `number` of a panel. */
static void strip_of(const nb_background *b, const tiles *t, int number, int s,
                     nb_background_strip *to)
{
    const curves *grid = &b->grids[t->grid];
    const double v = place_in(t->edge, s), u = 2.0 * SEGMENT / (2 * t->edge);
    to->parts = t->layers * b->n_groups;
    to->middle = 1 - (double)t->edge / SEGMENT;
    for (int i = 0; i < SEGMENT; i++)
        to->place[i] = (float)((2 * i + 1 - SEGMENT) / (double)SEGMENT);
    for (int p = 0; p < to->parts; p++) {
        part *from = &t->part[(size_t)number * (size_t)to->parts + (size_t)p];
        const int g = p % b->n_groups;
        const float(*cell)[4] =
            (const float(*)[4])grid->cell + (size_t)g * (size_t)grid->n;
        const double scale[LAWS] = {b->groups[g].flat ? cell[0][0] : 1, 1,
                                    grid->per * grid->per};
        nb_background_line *line = &to->line[p];
        line->cell = b->groups[g].flat ? NULL : cell;
        line->cells = grid->n;
        line->first = grid->first;
        line->per = grid->per;
        for (int law = 0; law < (line->cell ? LAWS : 1); law++) {
            double of = scale[law];
            nb_polynomial_row(from->c[law], v, line->c[law]);
            for (int i = 0; i < N; i++, of *= u)
                line->c[law][i] *= of;
        }
    }
}

/** Sum the rays of those of n pixels that are NaN. Returns their number. */
static int mend(const nb_background *b, const nb_scene *unit, int panel, int f, int s,
                int n, float *photons)
{
    int wrong = 0;
#pragma omp simd reduction(+ : wrong)
    for (int i = 0; i < n; i++)
        wrong += photons[i] != photons[i];
    if (wrong) {
        const tile_maker m = {b,   unit, panel, &unit->panels[panel], &b->panels[panel],
                              {0}, {{0}}};
        for (int i = 0; i < n; i++)
            if (isnan(photons[i]))
                photons[i] = (float)ray_photons(&m, f + i, s);
    }
    return wrong;
}

/** Add `scale` times the photons of pixels f to end - 1 of a row, all in one tile; to:
 * pixel f. unit: unit_of. Returns the number of pixels summed ray by ray. */
static int add_smooth(const nb_background *b, const nb_scene *unit, int panel, int f,
                      int end, int s, double scale, float *to)
{
    const tiles *t = &b->panels[panel];
    const int number = s / t->edge * t->across + f / t->edge, left = f / t->edge * t->edge;
    const int first = (f - left) / SEGMENT, n = (end - 1 - left) / SEGMENT + 1 - first;
    float photons[EDGE], *from = photons + f - left - first * SEGMENT;
    nb_background_strip strip;
    int summed;
    strip_of(b, t, number, s, &strip);
    b->kernels->background(&strip, first, n, photons);
    summed = b->flat ? 0 : mend(b, unit, panel, f, s, end - f, from);
#pragma omp simd
    for (int i = 0; i < end - f; i++)
        to[i] += (float)(scale * from[i]);
    return summed;
}

/** Add `scale` times the plane of a unit scene. */
static int add_unit(const nb_background *b, const nb_scene *unit, int panel, int f, int s,
                    int n, double scale, float *to)
{
    const tiles *t = b->panels && b->panels[panel].part ? &b->panels[panel] : NULL;
    const int edge = t ? t->edge : n;
    int summed = 0;
    for (int end = f + n, next; f < end; to += next - f, f = next) {
        next = (f / edge + 1) * edge < end ? (f / edge + 1) * edge : end;
        if (t && t->smooth[s / edge * t->across + f / edge])
            summed += add_smooth(b, unit, panel, f, next, s, scale, to);
        else
            for (int i = f; i < next; i++, summed++)
                to[i - f] +=
                    (float)(scale * (float)nb_pixel_background(unit, panel, i, s));
    }
    return summed;
}

int nb_background_add(const nb_background *b, const nb_scene *sc, int panel, int f, int s,
                      int n, float *to)
{
    const nb_scene unit = unit_of(b, sc);
    return add_unit(b, &unit, panel, f, s, n, nb_background_scale(b, sc), to);
}

void nb_background_plane(const nb_background *b, const nb_scene *sc, int threads,
                         float *plane)
{
    const int use = nb_image_threads(threads, (int64_t)sc->raster.pixels);
    const nb_scene unit = unit_of(b, sc);
    memset(plane, 0, sc->raster.pixels * sizeof *plane);
#pragma omp parallel for schedule(dynamic, 16) num_threads(use)
    for (int row = 0; row < sc->raster.rows; row++) {
        const int panel = nb_panel_of_row(sc, row), s = row - sc->panels[panel].first_row;
        const nb_region r = nb_panel_region(sc, &sc->panels[panel]);
        if (r.fmax >= r.fmin && s >= r.smin && s <= r.smax)
            add_unit(b, &unit, panel, r.fmin, s, r.fmax - r.fmin + 1, 1,
                     plane + nb_row_start(sc, row) + (size_t)r.fmin);
    }
    (void)use;
}
