/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../physics/lattice.h"
#include "../physics/limits.h"
#include "../physics/panels.h"
#include "../physics/ray.h"
#include "dark.h"
#include "spots.h"

/* Approximate largest angle (rad) between orientations of a group. Larger groups need
 * fewer reflections, smaller groups have tighter boxes. */
#define GROUP_ANGLE 0.03

/** Find L with R^2 = d.M.d = |L d|^2, where M includes the shape factor (-fudge). Returns
 * 0 if M has no such L. */
static int split_metric(const nb_lattice *lattice, double L[3][3])
{
    const double *r = lattice->radius2, f = lattice->fudge;
    const double M[3][3] = {{r[0] * f, 0.5 * r[3] * f, 0.5 * r[4] * f},
                            {0, r[1] * f, 0.5 * r[5] * f},
                            {0, 0, r[2] * f}};
    memset(L, 0, 9 * sizeof(double));
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++) {
            double x = M[i][j];
            for (int k = 0; k < i; k++)
                x -= L[k][i] * L[k][j];
            if (i == j && !(x > NB_SPOT_ROOM * M[i][i]))
                return 0;
            L[i][j] = i == j ? sqrt(x) : x / L[i][i];
        }
    return 1;
}

/** Invert an upper triangle. */
static void invert(double L[3][3], double inverse[3][3])
{
    memset(inverse, 0, 9 * sizeof(double));
    for (int i = 2; i >= 0; i--)
        for (int j = i; j < 3; j++) {
            double x = i == j;
            for (int k = i + 1; k <= j; k++)
                x -= L[i][k] * inverse[k][j];
            inverse[i][j] = x / L[i][i];
        }
}

/** Largest |h - hkl| along an index at R <= 1. */
static double widest_index(double inverse[3][3])
{
    double largest = 0;
    for (int i = 0; i < 3; i++)
        largest = fmax(largest, sqrt(inverse[i][0] * inverse[i][0] +
                                     inverse[i][1] * inverse[i][1] +
                                     inverse[i][2] * inverse[i][2]));
    return largest;
}

const char *nb_spots_refuse_panel(const nb_panel *panel, const nb_sensor *sensor)
{
    double front = nb_dot(panel->pix0, nb_unit(nb_cross(panel->fast, panel->slow)));
    if (panel->curved)
        return "the detector is curved";
    if (!(fabs(front) > 2 * sensor->layers * sensor->layer_step) ||
        !isfinite(nb_largest_solid_angle(panel)))
        return "the sample is in the plane of a panel";
    return NULL;
}

static const char *refuse_geometry(const nb_scene *sc)
{
    const char *why = NULL;
    for (int k = 0; !why && k < sc->n_panels; k++)
        why = nb_spots_refuse_panel(&sc->panels[k], &sc->sensors[sc->panels[k].sensor]);
    return why;
}

const char *nb_spots_refuse_beam(const nb_beam *beam)
{
    for (int i = 0; i < beam->n_sources; i++)
        if (!(beam->sources[i].weight >= 0))
            return "a source has a negative weight";
    return beam->nopolar || fabs(beam->polarization) <= 1 ? NULL
                                                          : "the polarization exceeds 1";
}

int nb_spots_suit(const nb_scene *sc)
{
    return nb_shape_ends(sc->lattice.shape);
}

static const char *refuse_crystal(const nb_plan *plan)
{
    const nb_lattice *lattice = &plan->scene->lattice;
    const nb_tolerance *may = &plan->tolerance;
    const nb_shape_row shape = nb_shape_row_of(lattice->shape);
    double L[3][3], inverse[3][3], reach2 = shape.width;
    if (!nb_spots_suit(plan->scene))
        return "the spots of this shape have long tails";
    if (shape.law == NB_LAW_DECAY && !(may->part > 0 || may->photons > 0))
        return "Gaussian spots never end";
    if (!(lattice->fudge > 0) || !split_metric(lattice, L))
        return "the size of the spots is not known";
    if (shape.law == NB_LAW_DECAY && may->part > 0)
        reach2 = fmax(0, -0.5 * shape.width * log(may->part)); /* the smallest limit */
    invert(L, inverse);
    if (!(sqrt(reach2) * widest_index(inverse) * (1 + NB_SPOT_ROOM) <= 0.5))
        return "spots of so few cells overlap";
    if (plan->scene->factors.table.interpolate)
        return "F is interpolated";
    if (!(plan->largest > 0) || !isfinite(plan->largest))
        return "nothing scatters";
    return NULL;
}

const char *nb_spots_refuse(const nb_plan *plan)
{
    const char *why = NULL;
    if (plan->precision == NB_PRECISION_DOUBLE)
        return "double precision was asked for";
    if (!plan->tolerance.skip)
        return "every step was asked for";
    if (!(plan->index < 1e8))
        return "Miller indices are too large";
    if (!(why = refuse_crystal(plan)) && !(why = nb_spots_refuse_beam(&plan->scene->beam)))
        why = refuse_geometry(plan->scene);
    return why;
}

double nb_spots_brightness(const nb_scene *sc)
{
    double weights = 0, largest = 0;
    for (int i = 0; i < sc->beam.n_sources; i++)
        weights += sc->beam.sources[i].weight;
    for (int k = 0; k < sc->n_panels; k++) {
        const nb_panel *panel = &sc->panels[k];
        const nb_sensor *sensor = &sc->sensors[panel->sensor];
        double layers = sensor->absorb ? 1 : sensor->layers;
        largest = fmax(largest, layers * nb_largest_solid_angle(panel));
    }
    return sc->intensity_scale * sc->oversample * sc->oversample * weights *
           sc->lattice.n_orientations * largest;
}

/* ------------------------------------------------------------------ sources */

typedef struct sorted_source {
    const nb_source *source;
    int index;
} sorted_source;

int nb_sign(double x)
{
    return (x > 0) - (x < 0);
}

/** Order of sources: by direction, table, 1/wavelength, then as in the scene. */
static int compare_sources(const void *a, const void *b)
{
    const sorted_source *p = a, *q = b;
    const nb_source *x = p->source, *y = q->source;
    int order = nb_sign(x->incident.x - y->incident.x);
    order = order ? order : nb_sign(x->incident.y - y->incident.y);
    order = order ? order : nb_sign(x->incident.z - y->incident.z);
    order = order ? order : x->table - y->table;
    order = order ? order : nb_sign(y->lambda - x->lambda);
    return order ? order : p->index - q->index;
}

static int same_run(const nb_source *a, const nb_source *b)
{
    return a->incident.x == b->incident.x && a->incident.y == b->incident.y &&
           a->incident.z == b->incident.z && a->table == b->table;
}

/** Add a run of sources. The entries follow the entries of earlier runs. */
static void add_run(nb_spots *sp, const sorted_source *from, int n)
{
    /* so large that no source reaches it, and its square does not overflow */
    const double far_away = 1e150;
    nb_spot_run *run = &sp->runs[sp->n_runs];
    *run = (nb_spot_run){.incident = from->source->incident, .table = from->source->table};
    if (sp->n_runs > 0)
        run->first = run[-1].first + (size_t)run[-1].n + NB_SPOT_PAD;
    run->n = n;
    run->longest = from[0].source->lambda;
    run->shortest = from[n - 1].source->lambda;
    run->middle = 0.5 * (1 / run->longest + 1 / run->shortest);
    run->per = (n - 1) / (1 / from[n - 1].source->lambda - 1 / run->longest);
    for (int i = 0; i < n + NB_SPOT_PAD; i++) {
        size_t at = run->first + (size_t)i;
        sp->offset[at] = i < n ? 1 / from[i].source->lambda - run->middle : far_away;
        sp->weight[at] = i < n ? from[i].source->weight : 0;
        sp->wave[at] = sp->weight[at] / (sp->offset[at] + run->middle);
        sp->source[at] = i < n ? from[i].index : -1;
        sp->below[at] = i > 0 ? sp->below[at - 1] + sp->weight[at - 1] : 0;
    }
    sp->n_runs++;
}

static void measure_beam(nb_spots *sp)
{
    const nb_beam *beam = &sp->scene->beam;
    sp->shortest = INFINITY;
    sp->even = beam->sources[0].weight;
    for (int i = 0; i < beam->n_sources; i++) {
        if (beam->sources[i].weight != sp->even)
            sp->even = 0;
        sp->incident = nb_add(sp->incident, beam->sources[i].incident);
        sp->shortest = fmin(sp->shortest, beam->sources[i].lambda);
        sp->longest = fmax(sp->longest, beam->sources[i].lambda);
    }
    sp->incident = nb_unit(sp->incident);
    for (int i = 0; i < beam->n_sources; i++)
        sp->stray =
            fmax(sp->stray, nb_norm(nb_sub(beam->sources[i].incident, sp->incident)));
}

static nb_status build_runs(nb_spots *sp, nb_error *err)
{
    const nb_beam *beam = &sp->scene->beam;
    const int n = beam->n_sources;
    sorted_source *order = nb_alloc((size_t)n, sizeof *order, "sources", err);
    size_t entries = (size_t)n * (1 + NB_SPOT_PAD);
    sp->runs = nb_alloc((size_t)n, sizeof *sp->runs, "sources", err);
    sp->offset = nb_alloc(entries, sizeof *sp->offset, "sources", err);
    sp->weight = nb_alloc(entries, sizeof *sp->weight, "sources", err);
    sp->wave = nb_alloc(entries, sizeof *sp->wave, "sources", err);
    sp->below = nb_alloc(entries, sizeof *sp->below, "sources", err);
    sp->source = nb_alloc(entries, sizeof *sp->source, "sources", err);
    if (order && sp->runs && sp->offset && sp->weight && sp->wave && sp->below &&
        sp->source) {
        measure_beam(sp);
        for (int i = 0; i < n; i++)
            order[i] = (sorted_source){&beam->sources[i], i};
        qsort(order, (size_t)n, sizeof *order, compare_sources);
        for (int first = 0, end; first < n; first = end) {
            for (end = first + 1;
                 end < n && same_run(order[first].source, order[end].source);)
                end++;
            add_run(sp, order + first, end - first);
        }
    }
    nb_free(order);
    return sp->n_runs > 0 ? NB_OK : NB_ERR_NOMEM;
}

/* ------------------------------------------------------------------ orientations */

static void set_cell(const nb_spots *sp, double inverse[3][3], const nb_orientation *from,
                     nb_spot_cell *to)
{
    nb_vec3 b[3];
    double a[3][3];
    nb_reciprocal_cell(from, b);
    nb_spot_array(from->a, a[0]);
    nb_spot_array(from->b, a[1]);
    nb_spot_array(from->c, a[2]);
    for (int i = 0; i < 3; i++)
        nb_spot_array(b[i], to->b[i]);
    for (int i = 0; i < 3; i++)
        for (int x = 0; x < 3; x++) {
            to->A[i][x] = to->E[x][i] = 0;
            for (int k = 0; k < 3; k++) {
                to->A[i][x] += sp->L[i][k] * a[k][x];
                to->E[x][i] += to->b[k][x] * inverse[k][i];
            }
        }
}

/** Largest |U v - v|/|v| of the rotation U between two orientations. */
static double chord_between(const nb_orientation *a, const nb_spot_cell *b)
{
    double from[3][3], sum = 0;
    nb_spot_array(a->a, from[0]);
    nb_spot_array(a->b, from[1]);
    nb_spot_array(a->c, from[2]);
    for (int x = 0; x < 3; x++)
        for (int y = 0; y < 3; y++) {
            double U = -(double)(x == y);
            for (int k = 0; k < 3; k++)
                U += b->b[k][x] * from[k][y];
            sum += U * U;
        }
    return sqrt(0.5 * sum) + NB_SPOT_ROOM * GROUP_ANGLE;
}

static void group_orientations(nb_spots *sp)
{
    const nb_lattice *lattice = &sp->scene->lattice;
    for (int m = 0; m < lattice->n_orientations; m++) {
        nb_spot_group *g = &sp->groups[sp->n_groups > 0 ? sp->n_groups - 1 : 0];
        double chord = sp->n_groups > 0
                           ? chord_between(&lattice->orientations[g->first], &sp->cells[m])
                           : INFINITY;
        if (chord > GROUP_ANGLE ||
            (sp->cells_differ && !nb_cells_alike(&lattice->orientations[g->first],
                                                 &lattice->orientations[m]))) {
            g = &sp->groups[sp->n_groups++];
            *g = (nb_spot_group){m, m, 0};
            chord = 0;
        }
        g->end = m + 1;
        g->chord = fmax(g->chord, chord);
    }
}

/** Sum of the squares of the semi-axes of R <= 1. */
static double semi_axes2(const nb_spot_cell *cell)
{
    double sum = 0;
    for (int i = 0; i < 9; i++)
        sum += cell->E[i / 3][i % 3] * cell->E[i / 3][i % 3];
    return sum;
}

static nb_status build_cells(nb_spots *sp, nb_error *err)
{
    const nb_lattice *lattice = &sp->scene->lattice;
    const size_t n = (size_t)lattice->n_orientations;
    double inverse[3][3];
    sp->cells_differ = !nb_cells_are_equal(lattice);
    sp->stride = n + NB_SPOT_PAD;
    sp->cells = nb_alloc(n, sizeof *sp->cells, "orientations", err);
    sp->groups = nb_alloc(n, sizeof *sp->groups, "orientations", err);
    sp->along = nb_alloc(3 * sp->stride, sizeof *sp->along, "orientations", err);
    if (!sp->cells || !sp->groups || !sp->along)
        return NB_ERR_NOMEM;
    invert(sp->L, inverse);
    for (size_t m = 0; m < n; m++) {
        nb_spot_cell *cell = &sp->cells[m];
        set_cell(sp, inverse, &lattice->orientations[m], cell);
        for (int k = 0; k < 3; k++)
            sp->along[(size_t)k * sp->stride + m] = sp->incident.x * cell->b[k][0] +
                                                    sp->incident.y * cell->b[k][1] +
                                                    sp->incident.z * cell->b[k][2];
    }
    for (size_t m = 0; m < (sp->cells_differ ? n : 1); m++)
        sp->axis = fmax(sp->axis, semi_axes2(&sp->cells[m]));
    sp->axis = sqrt(sp->axis) * (1 + NB_SPOT_ROOM);
    group_orientations(sp);
    return NB_OK;
}

/** Box of the visible reflections. If default_F is 0: only reflections of the table. */
static nb_status find_box(const nb_plan *plan, nb_spots *sp, nb_error *err)
{
    const nb_factor_table *sf = &plan->scene->factors.table;
    const int first[3] = {sf->hmin, sf->kmin, sf->lmin}, n[3] = {sf->nh, sf->nk, sf->nl};
    nb_index_box seen;
    nb_status st = nb_visible_box(plan, &seen, err);
    for (int i = 0; i < 3 && !st; i++) {
        int64_t high = -(int64_t)seen.low[i], low = high - seen.n[i] + 1;
        if (sf->default_F == 0 && sf->nh > 0) {
            low = low > first[i] ? low : first[i];
            high =
                high < (int64_t)first[i] + n[i] - 1 ? high : (int64_t)first[i] + n[i] - 1;
        }
        sp->box.low[i] = (int32_t)low;
        sp->box.n[i] = high >= low ? (int32_t)(high - low + 1) : 0;
    }
    return st;
}

nb_status nb_spots_build(const nb_plan *plan, nb_spots *sp, nb_error *err)
{
    const nb_scene *sc = plan->scene;
    const nb_shape_row shape = nb_shape_row_of(sc->lattice.shape);
    const double *N = sc->lattice.N, height = N[0] * N[1] * N[2] * shape.height;
    double inverse[3][3];
    nb_status st;
    memset(sp, 0, sizeof *sp);
    sp->scene = sc;
    sp->law = shape.law;
    sp->width = shape.width;
    sp->fall = nb_spot_fall(shape.width);
    sp->fall_root = sqrt(-sp->fall);
    split_metric(&sc->lattice, sp->L);
    invert(sp->L, inverse);
    sp->widest = widest_index(inverse);
    sp->cells2 = height * height;
    sp->max = plan->largest * plan->largest;
    sp->brightness = nb_spots_brightness(sc);
    if ((st = build_runs(sp, err)) || (st = build_cells(sp, err)) ||
        (st = find_box(plan, sp, err)))
        nb_spots_free(sp);
    return st;
}

/* ------------------------------------------------------------------ terms left out */

int nb_spots_repeats(const nb_spots *sp, int i)
{
    return i > 0 && i < NB_SPOTS_MIDDLES && sp->scene->factors.table.nh == 0;
}

int nb_spots_try(const nb_spots *sp, int i, nb_spot_limits *limits)
{
    static const double near2[NB_SPOTS_TRIES] = {0.36, 0.36, 0.36, 1, 2.5, 6, 12, 25};
    static const double part[NB_SPOTS_TRIES] = {0.1, 1e-3, 1e-6};
    if (i >= NB_SPOTS_TRIES || sqrt(near2[i]) * sp->widest > 0.5)
        return 0;
    *limits = (nb_spot_limits){0, near2[i], part[i] * sp->max};
    return 1;
}

void nb_spots_limit(const nb_spots *sp, const nb_tolerance *may, nb_spot_limits *limits,
                    nb_spots_result *result)
{
    double bound = nb_tolerance_photons(may, result->brightest);
    if (sp->law == NB_LAW_EDGE)
        bound = 0;
    else if (!(bound > 0))
        result->refused = "no reflection lights a pixel";
    result->bound = bound;
    limits->threshold = sp->brightness > 0 ? bound / sp->brightness : 0;
    result->reach = sqrt(nb_spot_reach2(sp, limits, sp->max));
    if (!result->refused && !(result->reach * sp->widest * (1 + NB_SPOT_ROOM) <= 0.5))
        result->refused = "spots of so few cells overlap at this tolerance";
}

double nb_spots_part(const nb_spots_result *result)
{
    if (!(result->bound > 0))
        return 0;
    return result->brightest > 0 ? fmin(1, result->bound / result->brightest) : 1;
}

void nb_spots_describe(const nb_spots_result *result, char *line, size_t size)
{
    const double part = nb_spots_part(result);
    if (part > 0)
        snprintf(line, size,
                 "from its reflections; no pixel is darker by more than %.2g of the "
                 "brightest",
                 part);
    else
        snprintf(line, size, "from its reflections");
}

/** Largest |g| of the box in an orientation. */
static double farthest_of(const nb_spots *sp, const nb_spot_cell *cell)
{
    double largest = 0;
    for (int corner = 0; corner < 8; corner++) {
        double g[3] = {0};
        for (int k = 0; k < 3; k++)
            for (int x = 0; x < 3; x++)
                g[x] += cell->b[k][x] *
                        (sp->box.low[k] + (corner >> k & 1 ? sp->box.n[k] - 1 : 0));
        largest = fmax(largest, nb_spot_dot(g, g));
    }
    return sqrt(largest);
}

double nb_spots_farthest(const nb_spots *sp)
{
    double largest = farthest_of(sp, sp->cells);
    for (int i = 1; sp->cells_differ && i < sp->n_groups; i++)
        largest = fmax(largest, farthest_of(sp, &sp->cells[sp->groups[i].first]));
    return largest;
}

void nb_spots_free(nb_spots *sp)
{
    nb_free(sp->runs);
    nb_free(sp->groups);
    nb_free(sp->cells);
    nb_free(sp->along);
    nb_free(sp->source);
    nb_free(sp->offset);
    nb_free(sp->weight);
    nb_free(sp->wave);
    nb_free(sp->below);
    memset(sp, 0, sizeof *sp);
}

/* --- Estimated time to render an image from its reflections --- */

/** Seconds on one core: `start` once, `pair` for each reflection and orientation, `ray`
 * (several sources: ray_of_sources) for each ray of the box of a pair, `term` for each
 * term of several sources, `pixel` for each pixel. Costs are 1.5 times the
 * measured costs (reports/cpu), because a wrong choice is worse than a missed gain. */
typedef struct spot_costs {
    double start, pair, ray, ray_of_sources, term, pixel;
} spot_costs;
static const spot_costs tophat_costs = {4e-4, 7e-8, 1.2e-8, 7e-9, 4.4e-9, 7e-10},
                        gauss_costs = {2.5e-3, 5e-7, 1.3e-9, 8.5e-9, 2e-10, 2.5e-9},
                        table_costs = {1e-3, 3e-8, 3.5e-9, 2e-9, 6e-10, 1.2e-9};
/* Seconds of the first search of the brightest pixel, which adds fewer terms than an
 * image. */
#define LOOK_START 3e-4
#define LOOK_COLUMN 6e-8
#define LOOK_PAIR 1.2e-7
#define LOOK_RAY 3e-9
#define LOOK_REACH 0.63 /* largest R of the terms of the first search */
#define DIM 1.0         /* dim (nb_spots_work_of) with which the costs were fitted */

typedef struct extents {
    double volume;             /* volume of the unit cell, m^3 */
    double reach;              /* largest R of a term */
    double axis;               /* approximate longest semi-axis of R <= reach, 1/m */
    double largest;            /* largest |q|, 1/m */
    double wavelength, spread; /* middle of the wavelengths, m; their range / middle */
    double rays, pixels;       /* numbers of rays and pixels of the whole detector */
    /* rad; smallest angle of a sub-pixel, which is at the close distance */
    double subpixel;
    double layers;
} extents;

static double farthest_q(const nb_scene *sc, const nb_panel *panel, double wavelength)
{
    const double F = panel->columns * panel->pixel_fast,
                 S = panel->rows * panel->pixel_slow;
    double largest = 0;
    for (int i = 0; i < 4; i++) {
        nb_vec3 d = nb_unit(nb_panel_point(panel, i & 1 ? F : 0, i & 2 ? S : 0, 0));
        largest = fmax(largest, nb_norm(nb_sub(d, sc->beam.sources[0].incident)));
    }
    return largest / wavelength;
}

static void measure_detector(const nb_scene *sc, extents *e)
{
    for (int k = 0; k < sc->n_panels; k++) {
        const nb_panel *panel = &sc->panels[k];
        const double pixels = (double)panel->columns * panel->rows;
        const double edge = fmin(panel->pixel_fast, panel->pixel_slow) / sc->oversample;
        e->pixels += pixels;
        e->layers = fmax(e->layers, sc->sensors[panel->sensor].layers);
        e->largest = fmax(e->largest, farthest_q(sc, panel, e->wavelength));
        e->subpixel = fmax(e->subpixel, panel->close_distance / edge);
    }
    e->subpixel = 1 / fmax(e->subpixel, 1e-30);
    e->rays = e->pixels * sc->oversample * sc->oversample * e->layers;
}

/** Approximate ratio of the largest term of the brightest reflection to the terms that
 * may be left out. */
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

static extents measure(const nb_plan *plan, double reach)
{
    const nb_scene *sc = plan->scene;
    const nb_orientation *u = &sc->lattice.orientations[0];
    const double *N = sc->lattice.N;
    double shortest = INFINITY, longest = 0;
    extents e = {.reach = reach};
    for (int i = 0; i < sc->beam.n_sources; i++) {
        shortest = fmin(shortest, sc->beam.sources[i].lambda);
        longest = fmax(longest, sc->beam.sources[i].lambda);
    }
    e.wavelength = 0.5 * (shortest + longest);
    e.spread = (longest - shortest) / e.wavelength;
    e.volume = fabs(nb_dot(u->a, nb_cross(u->b, u->c)));
    e.axis = e.reach / cbrt(e.volume * N[0] * N[1] * N[2] * pow(sc->lattice.fudge, 1.5));
    measure_detector(sc, &e);
    return e;
}

/* The part of the Ewald sphere with |q| < Q has the area pi Q^2. Reflections within the
 * reach of this area are excited. */
static nb_spots_work work_of(const nb_plan *plan, const extents e)
{
    const nb_scene *sc = plan->scene;
    const double *N = sc->lattice.N, steps = plan->steps;
    const double orientations = sc->lattice.n_orientations;
    const double directions = e.spread > 0 ? 1 : sc->beam.n_sources;
    double columns = NB_PI * e.largest * e.largest * cbrt(e.volume) * cbrt(e.volume);
    double pairs = orientations * directions * e.layers * e.volume * NB_PI * e.largest *
                   e.largest * (2 * e.axis + 0.5 * e.largest * e.spread);
    double width = 2 * e.axis * e.wavelength / e.subpixel + 1;
    double length = width + e.spread * e.largest * e.wavelength / e.subpixel + 4;
    double lit = fmin(1, 4 * e.reach * e.reach * e.reach / (N[0] * N[1] * N[2]));
    const nb_spots_work work = {columns * orientations / fmin(orientations, 50), pairs,
                                pairs * width * length, steps * e.rays * lit, e.pixels};
    return work;
}

nb_spots_work nb_spots_work_of(const nb_plan *plan, double dim)
{
    const nb_shape_row shape = nb_shape_row_of(plan->scene->lattice.shape);
    const double reach2 = shape.law == NB_LAW_EDGE
                              ? shape.width
                              : 0.5 * shape.width * log(range_of(plan, dim));
    return work_of(plan, measure(plan, sqrt(reach2)));
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

/* Assumes that 15 % of the reflections of a table are strong. */
double nb_spots_look_seconds(const nb_plan *plan)
{
    const double strong = plan->scene->factors.table.nh > 0 ? 0.15 : 1;
    const nb_spots_work w = work_of(plan, measure(plan, LOOK_REACH));
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
