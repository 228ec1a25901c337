/* SPDX-License-Identifier: MIT */
#include "spot_setup.h"

#include "../../src/base/error.h"
#include "../../src/base/memory.h"
#include "../../src/physics/limits.h"
#include "../../src/physics/panels.h"

#define LARGEST_SUM 0x1p61   /* limit of a pixel's integer sum, units */
#define BRIGHTEST (1 - 1e-6) /* factor that makes a sum of doubles a lower bound */
/* Largest accepted errors of integer sums: as a fraction of the brightest pixel, and of
 * the bound. */
#define ROUNDING_OF_BRIGHTEST 1e-7
#define ROUNDING_OF_BOUND 0.1

enum { ALIGNMENT = 16 };

/** Append an array to the tables; if `to` is NULL, only count its bytes. */
static const void *add_array(char *to, size_t *at, const void *from, size_t bytes)
{
    const size_t first = *at;
    if (to && bytes > 0)
        memcpy(to + first, from, bytes);
    *at = (first + bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return to + first;
}

static size_t count_sensors(const nb_scene *sc)
{
    int n = 0;
    for (int k = 0; k < sc->n_panels; k++)
        n = sc->panels[k].sensor >= n ? sc->panels[k].sensor + 1 : n;
    return (size_t)n;
}

/** Put the arrays of a setup one after the other at `to`, unless it is NULL. Returns
 * their size in bytes. */
static size_t place_arrays(nb_spot_setup *s, const nb_scene *sc,
                           const nb_spot_plane *planes, const nb_region *regions, char *to)
{
    const nb_spots *from = &s->spots;
    const nb_spot_run *last = &from->runs[from->n_runs - 1];
    const size_t entries = last->first + (size_t)last->n + NB_SPOT_PAD,
                 n = (size_t)sc->n_panels, all = (size_t)sc->lattice.n_orientations;
    nb_spot_pass *p = &s->pass;
    nb_spots *sp = &p->spots;
    size_t at = 0;
    sp->cells = (nb_spot_cell *)add_array(to, &at, from->cells, all * sizeof *sp->cells);
    sp->along =
        (double *)add_array(to, &at, from->along, 3 * sp->stride * sizeof *sp->along);
    sp->runs = (nb_spot_run *)add_array(to, &at, from->runs,
                                        (size_t)sp->n_runs * sizeof *sp->runs);
    sp->groups = (nb_spot_group *)add_array(to, &at, from->groups,
                                            (size_t)sp->n_groups * sizeof *sp->groups);
    sp->offset = (double *)add_array(to, &at, from->offset, entries * sizeof *sp->offset);
    sp->weight = (double *)add_array(to, &at, from->weight, entries * sizeof *sp->weight);
    sp->below = (double *)add_array(to, &at, from->below, entries * sizeof *sp->below);
    sp->source = (int *)add_array(to, &at, from->source, entries * sizeof *sp->source);
    p->panels = (const nb_panel *)add_array(to, &at, sc->panels, n * sizeof *sc->panels);
    p->sensors = (const nb_sensor *)add_array(to, &at, sc->sensors,
                                              count_sensors(sc) * sizeof *sc->sensors);
    p->planes = (const nb_spot_plane *)add_array(to, &at, planes, n * sizeof *planes);
    p->regions = (const nb_region *)add_array(to, &at, regions, n * sizeof *regions);
    s->everything =
        (const nb_region *)add_array(to, &at, regions + n, n * sizeof *regions);
    return at;
}

static nb_status build_tables(nb_spot_setup *s, const nb_scene *sc, nb_error *err)
{
    const size_t n = (size_t)sc->n_panels;
    nb_spot_plane *planes = nb_alloc(n, sizeof *planes, "panels", err);
    nb_region *regions = nb_alloc(2 * n, sizeof *regions, "panels", err);
    for (size_t k = 0; k < n && planes && regions; k++) {
        const nb_panel *panel = &sc->panels[k];
        planes[k] = nb_spot_plane_of(panel, &sc->sensors[panel->sensor]);
        regions[k] = nb_panel_region(sc, panel);
        regions[n + k] = nb_panel_region(&s->whole, panel);
    }
    if (planes && regions) {
        s->bytes = place_arrays(s, sc, planes, regions, NULL);
        s->tables = nb_alloc(s->bytes, 1, "tables of spots", err);
        if (s->tables)
            place_arrays(s, sc, planes, regions, s->tables);
    }
    nb_free(planes);
    nb_free(regions);
    return s->tables ? NB_OK : NB_ERR_NOMEM;
}

/** Upper bound of a pixel's sum of terms, electrons^2, times sr with -oversample_omega. */
static double largest_sum(const nb_spots *sp)
{
    const nb_scene *sc = sp->scene;
    double weights = 0, largest = 0;
    for (int i = 0; i < sc->beam.n_sources; i++)
        weights += sc->beam.sources[i].weight;
    for (int k = 0; k < sc->n_panels; k++) {
        const nb_panel *panel = &sc->panels[k];
        const nb_sensor *sensor = &sc->sensors[panel->sensor];
        largest =
            fmax(largest, (sensor->absorb ? 1 : sensor->layers) *
                              (sc->oversample_omega ? nb_largest_solid_angle(panel) : 1));
    }
    return sp->max * sp->cells2 * weights * sc->lattice.n_orientations * sc->oversample *
           sc->oversample * largest;
}

static void set_units(nb_spot_setup *s, const nb_plan *plan)
{
    const nb_spots *sp = &s->spots;
    const double largest = largest_sum(sp);
    s->pass.unit = largest / LARGEST_SUM;
    s->pass.per_unit = LARGEST_SUM / largest;
    s->rounding = plan->terms / LARGEST_SUM * sp->brightness * sp->max * sp->cells2;
}

static int all_rays_count_alike(const nb_scene *sc)
{
    int differ = sc->oversample_omega || (sc->oversample_polar && !sc->beam.nopolar) ||
                 sc->factors.dmin > 0;
    for (int k = 0; k < sc->n_panels; k++) {
        const nb_sensor *sensor = &sc->sensors[sc->panels[k].sensor];
        differ |= sensor->mean_depth || sensor->absorb;
    }
    return !differ;
}

/** Set the members of a pass that are not arrays. */
static void set_pass(nb_spot_setup *s, const nb_scene *sc)
{
    nb_spot_pass *p = &s->pass;
    p->scene = *sc;
    p->spots = s->spots;
    p->spots.scene = NULL;
    p->per_edge = 1.0 / sc->oversample;
    p->farthest = nb_spots_farthest(&s->spots);
    p->plain = all_rays_count_alike(sc);
    p->columns = (int64_t)s->spots.box.n[0] * s->spots.box.n[1];
    for (int k = 0; k < sc->n_panels; k++) {
        const int layers = sc->sensors[sc->panels[k].sensor].layers;
        p->layers = layers > p->layers ? layers : p->layers;
    }
    for (int k = 0; k < s->spots.n_groups; k++) {
        const nb_spot_group *g = &s->spots.groups[k];
        const int chunks = (g->end - g->first + NB_SPOT_CHUNK - 1) / NB_SPOT_CHUNK;
        p->chunks = chunks > p->chunks ? chunks : p->chunks;
        p->orientations =
            g->end - g->first > p->orientations ? g->end - g->first : p->orientations;
    }
    p->orientations =
        p->orientations < NB_SPOT_CHUNK ? p->orientations : (int)NB_SPOT_CHUNK;
}

nb_status nb_spot_setup_build(const nb_plan *plan, nb_spot_setup *s, nb_error *err)
{
    nb_plan all = *plan;
    nb_status st;
    memset(s, 0, sizeof *s);
    s->whole = *plan->scene;
    s->whole.raster.mask = NULL;
    s->whole.raster.roi =
        (nb_region){0, s->whole.raster.columns - 1, 0, s->whole.raster.rows - 1};
    s->tolerance = plan->tolerance;
    all.scene = &s->whole;
    NB_FORWARD(nb_spots_build(&all, &s->spots, err));
    set_pass(s, plan->scene);
    set_units(s, plan);
    if ((st = build_tables(s, plan->scene, err)))
        nb_spot_setup_free(s);
    return st;
}

void nb_spot_setup_free(nb_spot_setup *s)
{
    nb_spots_free(&s->spots);
    nb_free(s->tables);
    memset(s, 0, sizeof *s);
}

void nb_spot_setup_move(nb_spot_setup *s, const void *tables, const nb_scene *scene)
{
    const char *const from = s->tables;
    nb_spot_pass *p = &s->pass;
    nb_spots *sp = &p->spots;
#define MOVED(x) ((const char *)tables + ((const char *)(x)-from))
    sp->cells = (nb_spot_cell *)MOVED(sp->cells);
    sp->along = (double *)MOVED(sp->along);
    sp->runs = (nb_spot_run *)MOVED(sp->runs);
    sp->groups = (nb_spot_group *)MOVED(sp->groups);
    sp->offset = (double *)MOVED(sp->offset);
    sp->weight = (double *)MOVED(sp->weight);
    sp->below = (double *)MOVED(sp->below);
    sp->source = (int *)MOVED(sp->source);
    p->panels = (const nb_panel *)MOVED(p->panels);
    p->sensors = (const nb_sensor *)MOVED(p->sensors);
    p->planes = (const nb_spot_plane *)MOVED(p->planes);
    p->regions = (const nb_region *)MOVED(p->regions);
    s->everything = (const nb_region *)MOVED(s->everything);
#undef MOVED
    p->scene = *scene;
}

/* ------------------------------------------------------------------ passes */

nb_status nb_spot_setup_brightest(nb_spot_setup *s, int tries, nb_spot_runner *run,
                                  void *context, double *brightest, nb_error *err)
{
    nb_spot_pass pass = s->pass;
    nb_status st = NB_OK;
    pass.regions = s->everything;
    pass.mask = NULL;
    *brightest = 0;
    for (int i = 0;
         i < tries && !st && *brightest == 0 && nb_spots_try(&s->spots, i, &pass.limits);
         i++) {
        if (nb_spots_repeats(&s->spots, i))
            continue;
        pass.reach = sqrt(pass.limits.near2);
        st = run(context, &pass, brightest, err);
    }
    *brightest *= BRIGHTEST;
    return st;
}

int nb_spot_setup_suffices(const nb_spot_setup *s, const nb_spots_result *result)
{
    return s->spots.law == NB_LAW_EDGE ||
           s->rounding <= fmax(ROUNDING_OF_BOUND * result->bound,
                               ROUNDING_OF_BRIGHTEST * result->brightest);
}

double nb_spot_setup_share(const nb_spot_setup *s, double bound)
{
    return s->rounding <= ROUNDING_OF_BOUND * bound ? s->rounding : 0;
}

/** Set the limits of the terms: the tolerance minus the error of integer sums. */
static void limit_terms(nb_spot_setup *s, nb_spots_result *result)
{
    nb_tolerance tolerance = s->tolerance;
    const double bound = nb_tolerance_photons(&tolerance, result->brightest),
                 share = nb_spot_setup_share(s, bound);
    if (share > 0) {
        tolerance.part = 0;
        tolerance.photons = bound - share;
    }
    nb_spots_limit(&s->spots, &tolerance, &s->pass.limits, result);
    s->pass.reach = result->reach;
    if (s->spots.law != NB_LAW_EDGE)
        result->bound = bound;
}

nb_status nb_spot_setup_render(nb_spot_setup *s, nb_spot_runner *run, void *context,
                               nb_spots_result *result, nb_error *err)
{
    const int gauss = s->spots.law != NB_LAW_EDGE;
    const int coarse = s->rounding > ROUNDING_OF_BOUND * s->tolerance.photons;
    nb_status st = NB_OK;
    memset(result, 0, sizeof *result);
    if (gauss && (s->tolerance.part > 0 || coarse))
        st = nb_spot_setup_brightest(s, NB_SPOTS_TRIES, run, context, &result->brightest,
                                     err);
    if (st)
        return st;
    limit_terms(s, result);
    if (!result->refused && !nb_spot_setup_suffices(s, result))
        result->refused = "the tolerance is too small for sums of whole numbers";
    return result->refused ? NB_OK : run(context, &s->pass, NULL, err);
}
