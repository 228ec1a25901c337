/* SPDX-License-Identifier: MIT */
#include "scene_build.h"

#include <math.h>
#include <stdlib.h>

#include "../physics/panels.h"
#include "../physics/lattice.h"
#include "../physics/ray.h"
#include "units.h"

enum {
    GRID = 4, /* number of spots along each edge of the detector */
    MAX_OFFSETS = 64,
    MAX_WAVES = 64
};

/** A spot. */
typedef struct spot {
    nb_vec3 towards; /* unit, from the crystal */
    /* reciprocal axes over N, 1/m: astar . displacement is in units of the crystal's edge
     * N a */
    nb_vec3 astar, bstar, cstar;
} spot;

/** Overlap of the crystal with a copy that is shifted by x: the transform of the
 * crystal's lattice function. */
static double overlap(const nb_lattice *lattice, const spot *p, nb_vec3 x)
{
    double u = nb_dot(x, p->astar), v = nb_dot(x, p->bstar), w = nb_dot(x, p->cstar);
    double r = sqrt((u * u + v * v + w * w) / lattice->fudge), z;
    const nb_shape_row shape = nb_shape_row_of(lattice->shape);
    switch (shape.law) {
    case NB_LAW_SPHERE:
        return r < 1 ? 1 - 1.5 * r + 0.5 * r * r * r : 0;
    case NB_LAW_DECAY:
        return exp(-NB_PI * NB_PI * (shape.width / 2) * r * r);
    case NB_LAW_EDGE:
        z = 2 * NB_PI * sqrt(shape.width) * r;
        return z < 1e-3 ? 1 : 3 * (sin(z) - z * cos(z)) / (z * z * z);
    case NB_LAW_FRINGES:
        break;
    }
    return fmax(0, 1 - fabs(u)) * fmax(0, 1 - fabs(v)) * fmax(0, 1 - fabs(w));
}

/** Largest distance with overlap, in units of the crystal. */
static double reach(const nb_lattice *lattice)
{
    const double g = nb_shape_is_scaled(lattice->shape) ? sqrt(lattice->fudge) : 1;
    return nb_shape_row_of(lattice->shape).reach * g;
}

/** Spot at (F, S). */
static spot spot_at(const nb_scene *sc, const nb_panel *panel, const nb_orientation *u,
                    double F, double S)
{
    nb_vec3 r[3];
    nb_reciprocal_cell(u, r);
    return (spot){
        nb_unit(nb_panel_point(panel, F, S, 0)), nb_scale(1 / sc->lattice.N[0], r[0]),
        nb_scale(1 / sc->lattice.N[1], r[1]), nb_scale(1 / sc->lattice.N[2], r[2])};
}

/** Largest distance along the ray with overlap, m. */
static double farthest_along(const nb_lattice *lattice, const spot *p)
{
    double across =
        fmax(fabs(nb_dot(p->towards, p->astar)),
             fmax(fabs(nb_dot(p->towards, p->bstar)), fabs(nb_dot(p->towards, p->cstar))));
    return reach(lattice) / across;
}

/** Point of reciprocal space whose indices in orientation `other` equal those of q in
 * u. */
static nb_vec3 same_point(const nb_orientation *u, nb_vec3 q, const nb_orientation *other)
{
    nb_vec3 r[3];
    nb_reciprocal_cell(other, r);
    return nb_add(nb_add(nb_scale(nb_dot(u->a, q), r[0]), nb_scale(nb_dot(u->b, q), r[1])),
                  nb_scale(nb_dot(u->c, q), r[2]));
}

/** Sums over waves with weights w_j. */
typedef struct total {
    double re, im, weight, squares;
} total;

static void add_wave(total *t, double weight, double re, double im)
{
    t->re += weight * re;
    t->im += weight * im;
    t->weight += weight;
    t->squares += weight * weight;
}

/** Mean square of (sum of waves / sum of weights), if one wave in `stride` is summed. */
static double mean_square(const total *t, double stride)
{
    double all = t->weight * t->weight, alone = t->squares / all;
    double both = (t->re * t->re + t->im * t->im) / all;
    return stride <= 1 ? both : fmax(0, both - alone) + alone / stride;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/** A point on the detector: the middle of one of GRID x GRID cells. */
typedef struct place {
    const nb_panel *panel;
    double F, S; /* m */
} place;

static place place_of(const nb_scene *sc, int at)
{
    double f = (at % GRID + 0.5) / GRID, s = (at / GRID + 0.5) / GRID;
    double row = s * sc->raster.rows;
    const nb_panel *panel = &sc->panels[nb_panel_of_row(sc, (int)row)];
    return (place){panel, f * panel->columns * panel->pixel_fast,
                   (row - panel->first_row) * panel->pixel_slow};
}

static const nb_orientation *middle_of(const nb_scene *sc)
{
    return &sc->lattice.orientations[(size_t)(sc->lattice.n_phi / 2) *
                                     (size_t)sc->lattice.n_domains];
}

/** Square root of the median of the errors. */
static double typical(double errors[GRID * GRID])
{
    qsort(errors, GRID * GRID, sizeof *errors, ascending);
    return sqrt(errors[GRID * GRID / 2]);
}

/** Distances (1/m) of a reflection from the sphere, due to sources and domains. */
typedef struct offsets {
    double at[MAX_OFFSETS], weight[MAX_OFFSETS];
    int count;
    double stride; /* number of true offsets for each offset in the list */
} offsets;

/** Offsets of the first `domains` domains times the first `sources`, at mid-rotation. */
static offsets offsets_of(const nb_scene *sc, const spot *p, int domains, int sources)
{
    const nb_source *first = &sc->beam.sources[0];
    const nb_orientation *u = middle_of(sc);
    const nb_vec3 q = nb_scale(1 / first->lambda, nb_sub(p->towards, first->incident));
    const double all = (double)domains * sources;
    offsets out = {.stride = fmax(1, all / MAX_OFFSETS)};
    for (double at = 0; at < all && out.count < MAX_OFFSETS; at += out.stride) {
        const int64_t i = (int64_t)at;
        const nb_source *s = &sc->beam.sources[i % sources];
        const nb_vec3 v = nb_add(nb_scale(1 / s->lambda, s->incident),
                                 same_point(u, q, &u[i / sources]));
        out.at[out.count] = nb_norm(v) - 1 / s->lambda;
        out.weight[out.count++] = s->weight;
    }
    return out;
}

/** Waves exp(2 pi i m z at_j), and the factors that change m to m + 1. */
typedef struct waves {
    double re[MAX_OFFSETS], im[MAX_OFFSETS], by_re[MAX_OFFSETS], by_im[MAX_OFFSETS];
} waves;

static void start_waves(const offsets *o, double z, waves *w)
{
    for (int i = 0; i < o->count; i++) {
        w->re[i] = 1;
        w->im[i] = 0;
        w->by_re[i] = cos(2 * NB_PI * z * o->at[i]);
        w->by_im[i] = sin(2 * NB_PI * z * o->at[i]);
    }
}

/** Mean square of sum_j w_j exp(2 pi i m z at_j) / sum_j w_j, for the next m. */
static double next_wave(const offsets *o, waves *w)
{
    total t = {0};
    for (int i = 0; i < o->count; i++) {
        double re = w->re[i] * w->by_re[i] - w->im[i] * w->by_im[i];
        w->im[i] = w->re[i] * w->by_im[i] + w->im[i] * w->by_re[i];
        w->re[i] = re;
        add_wave(&t, o->weight[i], re, w->im[i]);
    }
    return mean_square(&t, o->stride);
}

/** Mean square of sum_j w_j exp(2 pi i z at_j) / sum_j w_j. */
static double together(const offsets *o, double z)
{
    total t = {0};
    for (int i = 0; i < o->count; i++) {
        const double phase = 2 * NB_PI * z * o->at[i];
        add_wave(&t, o->weight[i], cos(phase), sin(phase));
    }
    return mean_square(&t, o->stride);
}

/** Weighted standard deviation of the offsets, 1/m. */
static double spread_of(const offsets *o)
{
    double sum = 0, first = 0, second = 0;
    for (int i = 0; i < o->count; i++) {
        sum += o->weight[i];
        first += o->weight[i] * o->at[i];
        second += o->weight[i] * o->at[i] * o->at[i];
    }
    first /= sum;
    return sqrt(fmax(0, second / sum - first * first));
}

/** Squared amplitude that a wave at z keeps in a rotation through `range` (1/m). */
static double swept(double range, double z)
{
    double x = NB_PI * range * z, s = fabs(x) < 1e-6 ? 1 : sin(x) / x;
    return s * s;
}

/** Squared overlap at z along the ray: squared transform of the rocking curve. */
static double rocking(const nb_lattice *lattice, const spot *p, double z)
{
    double common = overlap(lattice, p, nb_scale(z, p->towards));
    return common * common;
}

/** Mean square error of equal steps (1/m) through the sphere: a sum over the rocking
 * curve differs from the curve's integral by the waves at z = m / step. */
static double step_error(const nb_lattice *lattice, const spot *p, const offsets *others,
                         double step, double range)
{
    double far = farthest_along(lattice, p), sum = 0;
    waves w;
    start_waves(others, 1 / step, &w);
    for (int m = 1; m <= MAX_WAVES && m < far * step; m++)
        sum += 2 * rocking(lattice, p, m / step) * next_wave(others, &w) *
               swept(range, m / step);
    return sum;
}

/** Error of n random domains: the variance of one domain, over n. */
static double random_error(const nb_lattice *lattice, const spot *p,
                           const offsets *others, double spread, double range, double n)
{
    enum { POINTS = 48 };
    double far = farthest_along(lattice, p), z = 1e-4 * far, sum = z;
    double ratio = pow(1e4, 1.0 / POINTS);
    for (int i = 0; i < POINTS; i++, z *= ratio)
        sum += (ratio - 1) * z * rocking(lattice, p, z) * together(others, z) *
               swept(range, z);
    return fmax(0, sqrt(12.0) * spread * 2 * sum - 1) / n;
}

static double axis_error(const nb_scene *sc, const nb_steps *by, const spot *p)
{
    const nb_source *first = &sc->beam.sources[0];
    const nb_vec3 q = nb_scale(1 / first->lambda, nb_sub(p->towards, first->incident));
    const double rate = fabs(nb_dot(p->towards, nb_cross(by->spindle, q)));
    const int domains = by->axis == NB_STEPS_DOMAINS ? 1 : sc->lattice.n_domains;
    const int sources = by->axis == NB_STEPS_SOURCES ? 1 : sc->beam.n_sources;
    const offsets others = offsets_of(sc, p, domains, sources);
    offsets own;
    if (by->axis == NB_STEPS_PHI)
        return step_error(&sc->lattice, p, &others, rate * by->range / by->count, 0);
    own = by->axis == NB_STEPS_SOURCES ? offsets_of(sc, p, 1, sc->beam.n_sources)
                                       : offsets_of(sc, p, sc->lattice.n_domains, 1);
    if (by->axis == NB_STEPS_SOURCES)
        return step_error(&sc->lattice, p, &others,
                          sqrt(12.0) * spread_of(&own) / by->count, rate * by->range);
    return random_error(&sc->lattice, p, &others, spread_of(&own), rate * by->range,
                        by->count);
}

double nb_steps_error(const nb_scene *sc, const nb_steps *by)
{
    double errors[GRID * GRID];
    /* the region has no effect here, as -roi must not change pixels */
    for (int i = 0; i < GRID * GRID; i++) {
        place at = place_of(sc, i);
        spot p = spot_at(sc, at.panel, middle_of(sc), at.F, at.S);
        errors[i] = axis_error(sc, by, &p);
    }
    return typical(errors);
}

int nb_steps_enough(const nb_scene *sc, nb_steps by, double limit)
{
    enum { MAX = 100000 };
    int low = by.count - 1;
    while (by.count < MAX && nb_steps_error(sc, &by) > limit) {
        low = by.count;
        by.count *= 2;
    }
    while (by.count - low > 1 + low / 64) {
        nb_steps between = by;
        between.count = low + (by.count - low) / 2;
        if (nb_steps_error(sc, &between) > limit)
            low = between.count;
        else
            by.count = between.count;
    }
    return by.count < MAX ? by.count : MAX;
}

int nb_phi_steps_enough(const nb_scene *sc, double range, nb_vec3 spindle)
{
    const double limit = 0.05;
    return 2 * nb_steps_enough(sc, (nb_steps){NB_STEPS_PHI, 1, range, spindle}, limit);
}
