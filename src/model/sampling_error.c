/* SPDX-License-Identifier: MIT */
#include "scene_build.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "../physics/panels.h"
#include "../physics/lattice.h"
#include "../physics/ray.h"
#include "units.h"

enum {
    GRID = 4,          /* spots along each edge of the detector */
    MAX_TERMS = 400,   /* largest number of orientations and sources of a spot */
    MAX_LOOKED = 4096, /* largest number of candidates */
    MAX_TRIED = 20000,
    MAX_SHIFTS = 200,
    MAX_OFFSETS = 64,
    MAX_WAVES = 64
};

/** One orientation and one source that light a spot. */
typedef struct term {
    double weight, fast, slow; /* place in sub-pixels */
    double excitation;         /* 1/m */
} term;

/** A spot, and displacements of the crystal that sub-pixels do not distinguish from 0. */
typedef struct spot {
    nb_vec3 towards;        /* unit, from the crystal */
    nb_vec3 fast, slow;     /* m: displacements of one wave per sub-pixel */
    nb_vec3 step_f, step_s; /* 1/m: change of the scattering vector along a sub-pixel */
    nb_vec3 astar, bstar, cstar; /* 1/m, over N: astar . displacement is in edges a */
} spot;

/** Overlap of the crystal and its copy moved by x: transform of its lattice function. */
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

/** True for a box along the axes, false for an ellipsoid. */
static int is_box(const nb_lattice *lattice)
{
    return nb_shape_law(lattice->shape) == NB_LAW_FRINGES;
}

static nb_vec3 direction(const nb_panel *panel, double F, double S)
{
    return nb_unit(nb_panel_point(panel, F, S, 0));
}

/** Spot at (F, S) with n sub-pixels along the edge of a pixel. */
static spot spot_at(const nb_scene *sc, const nb_panel *panel, const nb_orientation *u,
                    double F, double S, int n)
{
    double h = panel->pixel_fast / 2, k = 1 / (sc->beam.sources[0].lambda * n);
    double j = panel->pixel_slow / 2;
    nb_vec3 r[3];
    spot p;
    nb_reciprocal_cell(u, r);
    p.towards = direction(panel, F, S);
    p.step_f = nb_scale(k, nb_sub(direction(panel, F + h, S), direction(panel, F - h, S)));
    p.step_s = nb_scale(k, nb_sub(direction(panel, F, S + j), direction(panel, F, S - j)));
    p.fast = nb_cross(p.step_s, p.towards);
    p.fast = nb_scale(1 / nb_dot(p.fast, p.step_f), p.fast);
    p.slow = nb_cross(p.towards, p.step_f);
    p.slow = nb_scale(1 / nb_dot(p.slow, p.step_s), p.slow);
    p.astar = nb_scale(1 / sc->lattice.N[0], r[0]);
    p.bstar = nb_scale(1 / sc->lattice.N[1], r[1]);
    p.cstar = nb_scale(1 / sc->lattice.N[2], r[2]);
    return p;
}

/** Largest distance along the ray with overlap, m. */
static double farthest_along(const nb_lattice *lattice, const spot *p)
{
    double across =
        fmax(fabs(nb_dot(p->towards, p->astar)),
             fmax(fabs(nb_dot(p->towards, p->bstar)), fabs(nb_dot(p->towards, p->cstar))));
    return reach(lattice) / across;
}

/** Length of the crystal along the beam of the spot, m: 1/length is the rocking width. */
static double depth(const nb_lattice *lattice, const spot *p)
{
    double far = farthest_along(lattice, p), sum = 0;
    enum { STEPS = 64 };
    for (int i = 0; i < STEPS; i++)
        sum += overlap(lattice, p, nb_scale((i + 0.5) / STEPS * far, p->towards));
    return 2 * far * sum / STEPS;
}

/** Brightness of a spot whose lattice point is `excitation` (1/m) from the sphere. */
static double brightness(const nb_lattice *lattice, double excitation, double length)
{
    double x = NB_PI * excitation * length, s = fabs(x) < 1e-6 ? 1 : sin(x) / x;
    return is_box(lattice) ? s * s : exp(-x * x / NB_PI);
}

/** Reciprocal point of orientation `other` with the indices that q has in u. */
static nb_vec3 same_point(const nb_orientation *u, nb_vec3 q, const nb_orientation *other)
{
    nb_vec3 r[3];
    nb_reciprocal_cell(other, r);
    return nb_add(nb_add(nb_scale(nb_dot(u->a, q), r[0]), nb_scale(nb_dot(u->b, q), r[1])),
                  nb_scale(nb_dot(u->c, q), r[2]));
}

/** List orientations and sources that light the spot of orientation u and the first
 * source. Returns the number of candidates per term of the list. */
static double list_terms(const nb_scene *sc, const spot *p, const nb_orientation *u,
                         term *list, int *count)
{
    const nb_source *first = &sc->beam.sources[0];
    double length = depth(&sc->lattice, p),
           all = (double)sc->lattice.n_orientations * sc->beam.n_sources;
    double stride = fmax(1, all / MAX_LOOKED), keep = 1;
    int64_t seen = 0;
    nb_vec3 q = nb_scale(1 / first->lambda, nb_sub(p->towards, first->incident));
    *count = 0;
    for (double at = 0; at < all; at += stride) {
        int64_t i = (int64_t)at;
        const nb_source *s = &sc->beam.sources[i % sc->beam.n_sources];
        nb_vec3 v = same_point(u, q, &sc->lattice.orientations[i / sc->beam.n_sources]);
        double size, w;
        v = nb_add(s->incident, nb_scale(s->lambda, v));
        size = nb_norm(v);
        w = s->weight * brightness(&sc->lattice, (size - 1) / s->lambda, length);
        if (!(w > 1e-3) || seen++ % (int64_t)keep)
            continue;
        if (*count == MAX_TERMS) { /* keep every second one */
            for (int j = 0; j < MAX_TERMS / 2; j++)
                list[j] = list[2 * j];
            *count = MAX_TERMS / 2;
            keep *= 2;
        }
        v = nb_scale(1 / (size * first->lambda), v);
        list[(*count)++] =
            (term){w, nb_dot(v, p->fast), nb_dot(v, p->slow), (size - 1) / s->lambda};
    }
    return stride * keep;
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

/** A displacement by m, k whole waves of the sub-pixels along fast, slow. */
typedef struct shift {
    int m, k;
    double common; /* overlap of the crystal and its copy; 1 without shift */
    double middle; /* place of `common` along the ray, metres */
} shift;

/** Mean square of sum_j w_j exp(2 pi i ((m, k).place_j + middle e_j)) / sum_j w_j, with
 * excitation e_j, for one sample in `stride`. */
static double coherence(const term *list, int count, double stride, const shift *by)
{
    total t = {0};
    for (int i = 0; i < count; i++) {
        double phase = 2 * NB_PI *
                       (by->m * list[i].fast + by->k * list[i].slow +
                        by->middle * list[i].excitation);
        add_wave(&t, list[i].weight, cos(phase), sin(phase));
    }
    return mean_square(&t, stride);
}

/** Largest shift along one edge with overlap of the crystal. */
static int farthest(const nb_lattice *lattice, const nb_orientation *u, nb_vec3 step)
{
    double n = reach(lattice) * (lattice->N[0] * fabs(nb_dot(u->a, step)) +
                                 lattice->N[1] * fabs(nb_dot(u->b, step)) +
                                 lattice->N[2] * fabs(nb_dot(u->c, step)));
    return n < 1e4 ? (int)n : 10000;
}

/** Range z[0] to z[1] of z in which x + z * ray is within reach. False if empty. */
static int within_reach(const nb_lattice *lattice, const spot *p, nb_vec3 x, double z[2])
{
    const nb_vec3 axes[3] = {p->astar, p->bstar, p->cstar};
    double far = reach(lattice), at = 0, along = 0, squares = -far * far, root;
    z[0] = -DBL_MAX;
    z[1] = DBL_MAX;
    for (int i = 0; i < 3; i++) {
        double u = nb_dot(x, axes[i]), d = nb_dot(p->towards, axes[i]);
        squares += u * u;
        at += u * d;
        along += d * d;
        if (is_box(lattice)) {
            z[0] = fmax(z[0], -u / d - far / fabs(d));
            z[1] = fmin(z[1], -u / d + far / fabs(d));
        }
    }
    if (is_box(lattice))
        return z[0] < z[1];
    root = at * at - along * squares;
    if (!(root > 0))
        return 0;
    z[0] = (-at - sqrt(root)) / along;
    z[1] = (-at + sqrt(root)) / along;
    return 1;
}

/** Overlap at *middle, the centroid of the overlap in part z of the ray (within_reach).
 * The Ewald sphere shows integrals along the ray, but their quotient would be a fifth too
 * large for a parallelepiped. */
static double overlap_along(const nb_lattice *lattice, const spot *p, nb_vec3 x,
                            const double z[2], double *middle)
{
    enum { STEPS = 24 };
    double sum = 0, first = 0;
    for (int i = 0; i < STEPS; i++) {
        double at = z[0] + (i + 0.5) / STEPS * (z[1] - z[0]);
        double common = overlap(lattice, p, nb_add(x, nb_scale(at, p->towards)));
        sum += common;
        first += common * at;
    }
    *middle = fabs(sum) > 1e-9 ? first / sum : 0;
    return overlap(lattice, p, nb_add(x, nb_scale(*middle, p->towards)));
}

static nb_vec3 displacement(const spot *p, int m, int k)
{
    return nb_add(nb_scale(m, p->fast), nb_scale(k, p->slow));
}

/** The shifts to sum. */
typedef struct shifts {
    int fast, slow; /* from 0 to fast, from -slow to slow */
    int every;      /* step on a large grid */
    int64_t stride; /* one of `stride` shifts within reach is taken */
} shifts;

/** Choose the shifts. Count shifts in reach: a needle overlaps only on a thin strip. */
static shifts shifts_of(const nb_scene *sc, const spot *p, const nb_orientation *u)
{
    shifts s = {farthest(&sc->lattice, u, p->step_f),
                farthest(&sc->lattice, u, p->step_s), 1, 1};
    const double all = (s.fast + 1.0) * (2.0 * s.slow + 1);
    int64_t there = 0;
    double z[2];
    s.every = (int)ceil(sqrt(fmax(1, all / MAX_TRIED)));
    for (int m = 0; m <= s.fast; m += s.every)
        for (int k = m ? -s.slow : 1; k <= s.slow; k += s.every)
            there += within_reach(&sc->lattice, p, displacement(p, m, k), z);
    s.stride = there / MAX_SHIFTS + 1;
    return s;
}

/** Mean square of the relative error of the spot's photons. */
static double spot_error(const nb_scene *sc, const spot *p, const nb_orientation *u)
{
    const shifts s = shifts_of(sc, p, u);
    double sum = 0, stride, z[2];
    int64_t seen = 0;
    term list[MAX_TERMS];
    int count;
    if (s.fast == 0 && s.slow == 0)
        return 0;
    stride = list_terms(sc, p, u, list, &count);
    for (int m = 0; m <= s.fast; m += s.every)
        for (int k = m ? -s.slow : 1; k <= s.slow; k += s.every) {
            const nb_vec3 x = displacement(p, m, k);
            shift by = {m, k, 0, 0};
            if (!within_reach(&sc->lattice, p, x, z) || seen++ % s.stride)
                continue;
            by.common = overlap_along(&sc->lattice, p, x, z, &by.middle);
            if (fabs(by.common) > 1e-3)
                sum += 2 * by.common * by.common * coherence(list, count, stride, &by);
        }
    return sum * s.every * s.every * (double)s.stride;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/** A place on the detector: the middle of one of GRID x GRID cells. */
typedef struct place {
    const nb_panel *panel;
    double F, S; /* m */
} place;

static place place_of(const nb_scene *sc, const nb_region *roi, int at)
{
    double f = (at % GRID + 0.5) / GRID, s = (at / GRID + 0.5) / GRID;
    double row = roi->smin + s * (roi->smax - roi->smin + 1);
    const nb_panel *panel = &sc->panels[nb_panel_of_row(sc, (int)row)];
    int last = panel->columns - 1 < roi->fmax ? panel->columns - 1 : roi->fmax;
    return (place){panel, (roi->fmin + f * (last - roi->fmin + 1)) * panel->pixel_fast,
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

double nb_sampling_error(const nb_scene *sc, int oversample)
{
    const nb_orientation *u = middle_of(sc);
    double errors[GRID * GRID];
    for (int i = 0; i < GRID * GRID; i++) {
        place at = place_of(sc, &sc->raster.roi, i);
        spot p = spot_at(sc, at.panel, u, at.F, at.S, oversample);
        errors[i] = spot_error(sc, &p, u);
    }
    return typical(errors);
}

/* --- steps through the sphere --- */

/** Distances (1/m) of a reflection from the sphere, due to sources and domains. */
typedef struct offsets {
    double at[MAX_OFFSETS], weight[MAX_OFFSETS];
    int count;
    double stride; /* true offsets per offset in the list */
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

/** Waves exp(2 pi i m z at_j), and the factors that lead from m to m + 1. */
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
    term list[MAX_OFFSETS];
    for (int i = 0; i < o->count; i++)
        list[i] = (term){o->weight[i], 0, 0, o->at[i]};
    return coherence(list, o->count, o->stride, &(shift){0, 0, 1, z});
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
 * curve differs from its integral by its waves at z = m / step. */
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
    const nb_region whole = {0, sc->raster.columns - 1, 0, sc->raster.rows - 1};
    double errors[GRID * GRID];
    for (int i = 0; i < GRID * GRID; i++) { /* -roi must not change pixels */
        place at = place_of(sc, &whole, i);
        spot p = spot_at(sc, at.panel, middle_of(sc), at.F, at.S, 1);
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
