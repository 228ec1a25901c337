/* SPDX-License-Identifier: MIT */
/* Estimated time of a picture from its reflections. */
#include "../physics/lattice.h"
#include "../physics/panels.h"
#include "../physics/ray.h"
#include "spots.h"

/** Seconds on one core: to start; for a reflection in an orientation; for a ray of its box with
 * one source and with several; for a term of several sources; for a pixel. They are 1.5 times the
 * measured ones (reports/cpu/spots.md), because a wrong choice of this path is worse than a
 * missed gain. */
typedef struct spot_costs {
    double start, pair, ray, ray_of_sources, term, pixel;
} spot_costs;
static const spot_costs tophat_costs = {4e-4, 7e-8, 1.2e-8, 7e-9, 4.4e-9, 7e-10},
                        gauss_costs = {2.5e-3, 5e-7, 1.3e-9, 8.5e-9, 2e-10, 2.5e-9},
                        table_costs = {1e-3, 3e-8, 3.5e-9, 2e-9, 6e-10, 1.2e-9};
/* The same for the first search of the brightest pixel, which adds fewer terms. */
#define LOOK_START 3e-4
#define LOOK_COLUMN 6e-8
#define LOOK_PAIR 1.2e-7
#define LOOK_RAY 3e-9
/* The part of the brightest peak, apart from the tolerance, with which these constants were
 * fitted. */
#define DIM 1.0
#define LOOK_DIM 1e3
#define LOOK_REACH2 0.3969

typedef struct extents {
    double volume; /* volume of the cell, m^3 */
    double axis;   /* approximate longest semi-axis of R <= reach, 1/m */
    double reach;
    double most;               /* |q|, 1/m */
    double wavelength, spread; /* middle, m; part of it */
    double rays, pixels;       /* of the whole detector */
    double subpixel;           /* angle of the finest pixel at the nearest place */
    double layers;
} extents;

static double farthest_q(const nb_scene *sc, const nb_panel *panel, double wavelength)
{
    const double F = panel->columns * panel->pixel_fast,
                 S = panel->rows * panel->pixel_slow;
    double most = 0;
    for (int i = 0; i < 4; i++) {
        nb_vec3 d = nb_unit(nb_panel_point(panel, i & 1 ? F : 0, i & 2 ? S : 0, 0));
        most = fmax(most, nb_norm(nb_sub(d, sc->beam.sources[0].incident)));
    }
    return most / wavelength;
}

static void measure_detector(const nb_scene *sc, extents *e)
{
    for (int k = 0; k < sc->n_panels; k++) {
        const nb_panel *panel = &sc->panels[k];
        const double pixels = (double)panel->columns * panel->rows;
        const double edge = fmin(panel->pixel_fast, panel->pixel_slow) / sc->oversample;
        e->pixels += pixels;
        e->layers = fmax(e->layers, sc->sensors[panel->sensor].layers);
        e->most = fmax(e->most, farthest_q(sc, panel, e->wavelength));
        e->subpixel = fmax(e->subpixel, panel->close_distance / edge);
    }
    e->subpixel = 1 / fmax(e->subpixel, 1e-30);
    e->rays = e->pixels * sc->oversample * sc->oversample * e->layers;
}

/** Approximate ratio of a term of the brightest reflection to terms that may be left out. */
static double range_of(const nb_plan *plan, double dim)
{
    const nb_tolerance *may = &plan->tolerance;
    const double *N = plan->scene->lattice.N, cells = N[0] * N[1] * N[2];
    const double term = plan->largest * cells,
                 range = dim / (may->part > 0 ? may->part : 1e-9);
    if (!(may->photons > 0))
        return range;
    return fmax(range, nb_spots_brightness(plan->scene) * term * term / may->photons);
}

static extents measure(const nb_plan *plan, nb_shape_row shape, double dim)
{
    const nb_scene *sc = plan->scene;
    const nb_orientation *u = &sc->lattice.orientations[0];
    const double *N = sc->lattice.N;
    double shortest = INFINITY, longest = 0;
    extents e = {0};
    for (int i = 0; i < sc->beam.n_sources; i++) {
        shortest = fmin(shortest, sc->beam.sources[i].lambda);
        longest = fmax(longest, sc->beam.sources[i].lambda);
    }
    e.wavelength = 0.5 * (shortest + longest);
    e.spread = (longest - shortest) / e.wavelength;
    e.volume = fabs(nb_dot(u->a, nb_cross(u->b, u->c)));
    e.reach = shape.law == NB_LAW_EDGE
                  ? sqrt(shape.width)
                  : sqrt(0.5 * shape.width * log(range_of(plan, dim)));
    e.axis = e.reach / cbrt(e.volume * N[0] * N[1] * N[2] * pow(sc->lattice.fudge, 1.5));
    measure_detector(sc, &e);
    return e;
}

/* The Ewald sphere's part within |q| < Q has the area pi Q^2; reflections within a reach of it
 * are excited. */
static nb_spots_work work_of(const nb_plan *plan, const extents e)
{
    const nb_scene *sc = plan->scene;
    const double *N = sc->lattice.N, steps = plan->steps;
    const double orientations = sc->lattice.n_orientations;
    const double directions = e.spread > 0 ? 1 : sc->beam.n_sources;
    double columns = NB_PI * e.most * e.most * cbrt(e.volume) * cbrt(e.volume);
    double pairs = orientations * directions * e.layers * e.volume * NB_PI * e.most *
                   e.most * (2 * e.axis + 0.5 * e.most * e.spread);
    double width = 2 * e.axis * e.wavelength / e.subpixel + 1;
    double length = width + e.spread * e.most * e.wavelength / e.subpixel + 4;
    double lit = fmin(1, 4 * e.reach * e.reach * e.reach / (N[0] * N[1] * N[2]));
    const nb_spots_work work = {columns * orientations / fmin(orientations, 50), pairs,
                                pairs * width * length, steps * e.rays * lit, e.pixels};
    return work;
}

nb_spots_work nb_spots_work_of(const nb_plan *plan, double dim)
{
    const nb_shape_row shape = nb_shape_row_of(plan->scene->lattice.shape);
    return work_of(plan, measure(plan, shape, dim));
}

double nb_spots_seconds(const nb_plan *plan)
{
    const nb_scene *sc = plan->scene;
    const nb_spots_work w = nb_spots_work_of(plan, DIM);
    const int edge = nb_shape_law(sc->lattice.shape) == NB_LAW_EDGE;
    const spot_costs *c = edge                       ? &tophat_costs
                          : sc->factors.table.nh > 0 ? &table_costs
                                                     : &gauss_costs;
    const int several = sc->beam.n_sources > 1;
    return c->start + c->pair * w.pairs + c->pixel * w.pixels +
           (several ? c->ray_of_sources : c->ray) * w.rays +
           (several ? c->term : 0) * w.terms;
}

/* In a table few reflections are as strong. */
double nb_spots_look_seconds(const nb_plan *plan)
{
    const double strong = plan->scene->factors.table.nh > 0 ? 0.15 : 1;
    const nb_shape_row like = {.law = NB_LAW_EDGE, .width = LOOK_REACH2};
    const nb_spots_work w = work_of(plan, measure(plan, like, LOOK_DIM));
    return LOOK_START + LOOK_COLUMN * w.columns +
           strong * (LOOK_PAIR * w.pairs + LOOK_RAY * w.rays);
}

double nb_spots_whole(const nb_plan *plan, double (*seconds)(const nb_plan *plan))
{
    nb_scene whole = *plan->scene;
    nb_plan all = *plan;
    whole.raster.roi = (nb_region){0, whole.raster.columns - 1, 0, whole.raster.rows - 1};
    all.scene = &whole;
    all.pixels = nb_rendered_pixels(&whole);
    all.rays = nb_rendered_samples(&whole) / all.steps;
    all.engine.threads = 1;
    return seconds(&all);
}
