/* SPDX-License-Identifier: MIT */
#include "vector_paths.h"

#include <math.h>
#include <stdint.h>

#include "../physics/lattice.h"
#include "../physics/panels.h"
#include "../plan/fixed_point.h"
#include "../plan/one_table.h"
#include "../plan/spots.h"
#include "../plan/tiles.h"
#include "vector_plan.h"

/* |h|, or N |h|, that the magic number holds */
#define MAX_INDEX 500000.0
/* Seconds on one core, measured (reports/cpu): of a step of the reference, of a pixel's geometry; a step
 * with interpolated F, in steps of the fixed-point kernel. */
#define REFERENCE_STEP 1e-7
#define PIXEL 1e-9
#define TRICUBIC_STEP 20
/* In such steps, too: a step in double of each shape (choose_time; between those of an EPYC and of a Xeon). */
static const double double_steps[] = {3, 3, 2, 1}; /* NB_LATTICE_... */
/* Pictures from reflections and in blocks of rays take so many times the seconds of their estimates, which only say
 * when they are quicker than every step, by the same choose_time. */
#define SPOTS_LONGER 0.5
#define TILES_LONGER 2.8
/* Seconds on one core, measured (reports/cpu/tiles.md): of bounds and of a trial of some blocks, which a look for the
 * brightest pixel comes before.  Where every step takes so few times that, it is not worth it; where it takes MANY_TRIALS
 * times that, blocks are tried if they seem to gain SEEMS, and the longer every step takes, the less they need to. */
#define TRIAL 5e-3
#define TRIAL_OF_TABLE 7e-3
#define FEW_TRIALS 2.5
#define MANY_TRIALS 20
#define SEEMS 1.8

nb_fixed_mode nb_vector_mode(const nb_plan *plan)
{
    if (plan->cells > NB_FIXED_CELLS)
        return NB_FIXED_FRINGES;
    return nb_whole_cells(&plan->scene->lattice) ? NB_FIXED_INDEX : NB_FIXED_REAL;
}

static int reference_applies(const nb_plan *plan, const char **why)
{
    (void)plan;
    (void)why;
    return 1;
}

static const char large_table[] = "the structure-factor table has more than 2^31 entries";

static int table_is_large(const nb_factor_table *sf)
{
    return (double)sf->nh * sf->nk * sf->nl >= (double)INT32_MAX;
}

static int double_applies(const nb_plan *plan, const char **why)
{
    const nb_factor_table *sf = &plan->scene->factors.table;
    if (plan->engine.lacks)
        return nb_path_refuse(why, plan->engine.lacks);
    if (!(plan->index < 2e9))
        return nb_path_refuse(why, "Miller indices do not fit in 32 bits");
    if (table_is_large(sf))
        return nb_path_refuse(why, large_table);
    return 1;
}

const char *nb_fixed_refuse(const nb_plan *plan, double turns, double terms)
{
    const nb_factor_table *sf = &plan->scene->factors.table;
    if (sf->interpolate)
        return "F is interpolated";
    if (table_is_large(sf))
        return large_table;
    if (!nb_one_table(&plan->scene->beam) && !nb_factor_tables_fit(sf))
        return "the tables of F are too large for fixed point";
    if (!(plan->index * turns < MAX_INDEX))
        return "Miller indices are too large for fixed point";
    if (!nb_plan_floats_carry(plan, plan->largest * plan->largest, terms))
        return "single precision cannot hold the numbers";
    return NULL;
}

static int fixed_applies(const nb_plan *plan, const char **why)
{
    const char *reason = nb_plan_needs_double(plan, NB_FIXED_CELLS);
    double turns = nb_vector_mode(plan) == NB_FIXED_FRINGES ? plan->cells : 1;
    if (!double_applies(plan, why))
        return 0;
    if (reason)
        return nb_path_refuse(why, reason);
    reason = nb_fixed_refuse(plan, turns, NB_VECTOR_SUM_RUN);
    return reason ? nb_path_refuse(why, reason) : 1;
}

/** Are the numbers that kernel_simple.h keeps as floats for a panel far from a float's limits? */
static int floats_suffice(const nb_plan *plan, const nb_panel *panel)
{
    const nb_scene *sc = plan->scene;
    double unit = plan->largest * plan->largest;
    double photons = sc->intensity_scale * sc->beam.sources[0].weight *
                     panel->pixel_area * unit; /* per F_latt^2 at 1 m, about */
    double size =
        fmax(panel->pixel_fast * panel->columns, panel->pixel_slow * panel->rows);
    return photons > 1e-18 && photons < 1e18 && panel->close_distance > 1e-4 &&
           fmax(size, panel->distance) < 1e4 && sc->background < 1e18 * unit;
}

/** One ray a pixel, and a flat panel. */
static int is_plain(const nb_scene *sc, const nb_panel *panel)
{
    const nb_sensor *sensor = &sc->sensors[panel->sensor];
    return sensor->layers == 1 && !sensor->absorb && !panel->curved;
}

static int simple_applies(const nb_plan *plan, const char **why)
{
    const nb_scene *sc = plan->scene;
    if (!fixed_applies(plan, why))
        return 0;
    for (int k = 0; k < sc->n_panels; k++)
        if (sc->samples != 1 || !is_plain(sc, &sc->panels[k]))
            return nb_path_refuse(why, "a pixel has more than one ray, step or factor");
    if (plan->largest == 0 || sc->factors.dmin > 0)
        return nb_path_refuse(why, "nothing scatters, or dmin culls");
    for (int k = 0; k < sc->n_panels; k++)
        if (!floats_suffice(plan, &sc->panels[k]))
            return nb_path_refuse(why, "single precision cannot hold the geometry");
    return 1;
}

/** At so many seconds a step. */
static double seconds_at(const nb_plan *plan, double step)
{
    return (plan->rays * plan->steps * step + plan->pixels * PIXEL) / plan->engine.threads;
}

static double reference_seconds(const nb_plan *plan)
{
    return seconds_at(plan, REFERENCE_STEP);
}

static double double_seconds(const nb_plan *plan)
{
    const nb_scene *sc = plan->scene;
    const double steps =
        sc->factors.table.interpolate ? TRICUBIC_STEP : double_steps[sc->lattice.shape];
    return seconds_at(plan, steps * plan->engine.step);
}

static double fixed_seconds(const nb_plan *plan)
{
    return seconds_at(plan, plan->engine.step);
}

static int spots_apply(const nb_plan *plan, const char **why)
{
    const char *reason = nb_spots_refuse(plan);
    if (!double_applies(plan, why))
        return 0;
    if (reason)
        return nb_path_refuse(why, reason);
    if (!(nb_spots_seconds(plan) < nb_spots_whole(plan, double_seconds)))
        return nb_path_refuse(why, "every step is as quick");
    return 1;
}

/** Of the whole detector; where it applies it is taken, for small regions too. */
static double spots_seconds(const nb_plan *plan)
{
    double seconds = plan->tolerance.skip
                         ? SPOTS_LONGER * nb_spots_seconds(plan) / plan->engine.threads
                         : INFINITY;
    return fmin(seconds, 0.9 * double_seconds(plan));
}

static int tiles_apply(const nb_plan *plan, const char **why)
{
    const char *reason = nb_tiles_refuse(plan);
    double every, trial;
    if (!double_applies(plan, why))
        return 0;
    if (reason)
        return nb_path_refuse(why, reason);
    every = nb_spots_whole(plan,
                           nb_vector_fixed_holds(plan) ? fixed_seconds : double_seconds);
    trial = (plan->scene->factors.table.nh > 0 ? TRIAL_OF_TABLE : TRIAL) +
            nb_spots_look_seconds(plan);
    if (every < FEW_TRIALS * trial)
        return nb_path_refuse(why, "every step is quick");
    if (nb_tiles_gain(plan) < SEEMS * fmin(1, MANY_TRIALS * trial / every))
        return nb_path_refuse(why, "every step seems to be as quick");
    return 1;
}

/** Where it applies it is tried: a few blocks say whether every step is quicker. */
static double tiles_seconds(const nb_plan *plan)
{
    const int fixed = nb_vector_fixed_holds(plan);
    const double every = fixed ? fixed_seconds(plan) : double_seconds(plan);
    return nb_tiles_refuse(plan) ? INFINITY
                                 : every / fmax(1.001, nb_tiles_gain(plan) / TILES_LONGER);
}

const nb_path nb_vector_paths[NB_VECTOR_PATHS] = {
    {"fixed point, one step a pixel", simple_applies, fixed_seconds},
    {"fixed point", fixed_applies, fixed_seconds},
    {"spots", spots_apply, spots_seconds},
    {"tiles", tiles_apply, tiles_seconds},
    {"double", double_applies, double_seconds},
    {"reference", reference_applies, reference_seconds}};

nb_vector_path nb_vector_choose(const nb_plan *plan, const char **why)
{
    return (nb_vector_path)nb_path_choose(nb_vector_paths, NB_VECTOR_PATHS, plan, why);
}

const char *nb_vector_refuses_tolerance(const nb_plan *plan)
{
    const int shape = plan->scene->lattice.shape;
    const int tails = shape == NB_LATTICE_SQUARE || shape == NB_LATTICE_ROUND;
    const char *why = NULL;
    return nb_vector_paths[tails ? NB_VECTOR_TILES : NB_VECTOR_SPOTS].applies(plan, &why)
               ? NULL
               : why;
}

int nb_vector_fixed_holds(const nb_plan *plan)
{
    const char *why;
    return fixed_applies(plan, &why);
}
