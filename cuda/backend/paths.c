/* SPDX-License-Identifier: MIT */
#include "paths.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/physics/limits.h"
#include "../../src/physics/panels.h"
#include "../../src/physics/ray.h"
#include "../../src/plan/fixed_point.h"
#include "../../src/plan/one_table.h"
#include "../../src/plan/spots.h"
#include "../../src/plan/tiles.h"
#include "../steps/edge.h"
#include "part_costs.h"

/* of a pixel, from which on no zero of a sphere's transform stands alone: near the first ones a float is 2e-4 off */
#define ROUND_TERMS 8
#define SINGLE_SPHERE "the zeros of a single sphere need double precision"
/* from which on the brightest stands near a peak, and not in tails alone: there a float of a round or
 * Gaussian crystal is up to 3e-6 of the value off */
#define FORM_PIXELS 1e5
/* of a pixel, in a table */
#define MAX_STEPS 1e8

static int one_direction(const nb_beam *beam)
{
    for (int i = 1; i < beam->n_sources; i++)
        if (memcmp(&beam->sources[i].incident, &beam->sources[0].incident,
                   sizeof(nb_vec3)) != 0)
            return 0;
    return 1;
}

/** Cells up to which fractions of 32 bits will do.  Their rounding shifts a peak's flank (NB_FIXED_CELLS),
 * some times more in the tails.  Over many steps the errors average, and the brightest of many pixels
 * stands on a peak's top, where a shift does not show: at N = 1000 and 1000 steps 1.9e-6 of the maximum
 * at 512x512, 8e-7 at 2048x2048. */
static double fraction_limit(const nb_plan *plan)
{
    const int os = plan->scene->oversample;
    double points = plan->pixels * os * os;
    if (plan->precision == NB_PRECISION_SINGLE)
        return 2000;
    if (points < 1e5)
        return NB_FIXED_CELLS;
    if (points < 3e6)
        return 300;
    return 300 * fmin(fmax(sqrt(plan->steps) / 4, 1), 5);
}

/** Do floats hold the factor of every panel that makes photons of sums relative to `unit`? */
static int floats_hold_photons(const nb_scene *sc, double unit)
{
    for (int k = 0; k < sc->n_panels; k++) {
        double photons =
            sc->intensity_scale * unit * nb_largest_solid_angle(&sc->panels[k]);
        if (!(photons < NB_FLOAT_TOP && photons > NB_FLOAT_LOW))
            return 0;
    }
    return 1;
}

static int is_flat(const nb_scene *sc)
{
    for (int k = 0; k < sc->n_panels; k++)
        if (sc->panels[k].curved)
            return 0;
    return 1;
}

/** Do layers of any panel stand at their mean depth? */
static int is_deep(const nb_scene *sc)
{
    for (int k = 0; k < sc->n_panels; k++)
        if (sc->sensors[sc->panels[k].sensor].mean_depth)
            return 1;
    return 0;
}

/** All but parallelepipeds have their own lattice in float, of any real N. */
static int has_form(const nb_scene *sc)
{
    return sc->lattice.shape != NB_LATTICE_SQUARE;
}

static int has_edge(const nb_scene *sc)
{
    return sc->lattice.shape == NB_LATTICE_TOPHAT;
}

/** Do floats hold F^2 (of a table as it stands, a constant apart from the sum), the sums of all
 * steps, the water, and the factor that makes photons of them? */
static int floats_hold_sums(const nb_plan *plan)
{
    const nb_scene *sc = plan->scene;
    const nb_factor_table *sf = &sc->factors.table;
    double F2 = sf->default_F * sf->default_F, unit = sf->nh > 0 || F2 == 0 ? 1 : F2;
    const double height = nb_largest_lattice(&sc->lattice);
    return nb_plan_floats_carry(plan, unit, plan->terms) && unit < NB_FLOAT_TOP &&
           unit > NB_FLOAT_LOW && sc->background / unit * plan->terms < NB_FLOAT_TOP &&
           floats_hold_photons(sc, has_form(sc) ? unit * height : unit);
}

static const char *needs_double(const nb_plan *plan)
{
    if (has_form(plan->scene) && plan->precision != NB_PRECISION_DOUBLE)
        return NULL;
    return nb_plan_needs_double(plan, 0);
}

/** Cells along the axis on which the lattice varies most. */
static double sharpest(const nb_plan *plan)
{
    const nb_lattice *lattice = &plan->scene->lattice;
    const double *r = lattice->radius2;
    if (!has_form(plan->scene))
        return plan->cells;
    return sqrt(lattice->fudge) * (lattice->shape == NB_LATTICE_ROUND
                                       ? plan->cells
                                       : sqrt(fmax(r[0], fmax(r[1], r[2]))));
}

/** Are there reflections to interpolate between? */
static int interpolates(const nb_scene *sc)
{
    return sc->factors.table.interpolate && sc->factors.table.nh > 0;
}

/** May indices be in fixed point, and lattice and sums in float? */
static int floats_apply(const nb_plan *plan, const char **why)
{
    const nb_scene *sc = plan->scene;
    const char *reason = needs_double(plan);
    if (reason)
        return nb_path_refuse(why, reason);
    if (plan->cells == 1 && !interpolates(sc))
        return nb_path_refuse(why, "a single unit cell has no lattice to speed up");
    if (sc->factors.dmin > 0)
        return nb_path_refuse(why, "dmin culls by source");
    if (!is_flat(sc))
        return nb_path_refuse(why, "the detector is curved");
    if (has_edge(sc) && !(nb_edge_doubt(&sc->lattice) < NB_EDGE_DOUBT))
        return nb_path_refuse(why, "the edges of the spots need double precision");
    if (has_form(sc) && !has_edge(sc) && plan->pixels < FORM_PIXELS)
        return nb_path_refuse(why, "the tails of a small picture need double precision");
    if (!has_edge(sc) && !(sharpest(plan) <= fraction_limit(plan)))
        return nb_path_refuse(why, "the crystal is too large for 32-bit fractions");
    if (!(plan->index < NB_FIXED_INDICES))
        return nb_path_refuse(why, "Miller indices are too large for fixed point");
    if (sc->oversample_polar && !sc->beam.nopolar && !one_direction(&sc->beam))
        return nb_path_refuse(why, "polarization is by source");
    if (plan->steps > MAX_STEPS)
        return nb_path_refuse(why, "the table of steps would be too large");
    if (!floats_hold_sums(plan))
        return nb_path_refuse(why, "single precision cannot hold the numbers");
    return 1;
}

int nb_cuda_is_few_round(const nb_plan *plan)
{
    return plan->scene->lattice.shape == NB_LATTICE_ROUND && plan->terms < ROUND_TERMS;
}

static int direct_applies(const nb_plan *plan, const char **why)
{
    if (plan->scene->factors.table.interpolate)
        return nb_path_refuse(why, "structure factors are interpolated");
    if (nb_cuda_is_few_round(plan) && !one_direction(&plan->scene->beam))
        return nb_path_refuse(why, SINGLE_SPHERE);
    return floats_apply(plan, why);
}

/** The direct kernel, and it alone, knows when there is no crystal to sum. */
static int scatters(const nb_plan *plan)
{
    const nb_factor_table *sf = &plan->scene->factors.table;
    return sf->nh > 0 || sf->default_F != 0;
}

static int tensor_applies(const nb_plan *plan, const char **why)
{
    if (!plan->engine.has_tensor)
        return nb_path_refuse(why, "there are no FP64 tensor cores");
    if (!scatters(plan))
        return nb_path_refuse(why, "there is no crystal to sum");
    if (nb_cuda_is_few_round(plan))
        return nb_path_refuse(why, SINGLE_SPHERE);
    return direct_applies(plan, why);
}

static int tricubic_applies(const nb_plan *plan, const char **why)
{
    if (!interpolates(plan->scene))
        return nb_path_refuse(why, "structure factors are not interpolated");
    if (!nb_one_table(&plan->scene->beam))
        return nb_path_refuse(why, "sources have their own structure factors");
    if (nb_cuda_is_few_round(plan))
        return nb_path_refuse(why, SINGLE_SPHERE);
    return floats_apply(plan, why);
}

static int double_applies(const nb_plan *plan, const char **why)
{
    (void)plan;
    (void)why;
    return 1;
}

/** Steps of a shape in the time of one of a parallelepiped. */
static double shape_rate(const nb_plan *plan)
{
    static const double rates[] = {1, 0.82, 1.7, 1.75}; /* NB_LATTICE_... */
    return rates[plan->scene->lattice.shape];
}

/* From measurements on an H200 (132 multiprocessors at 1.98 GHz, FP64 at half the FP32 rate). */
double nb_cuda_step_rate(nb_cuda_path path, const nb_plan *plan)
{
    double size = plan->engine.size, fp64 = 2.0 / plan->engine.fp64_ratio;
    switch (path) {
    case NB_PATH_TENSOR:
        return 450e9 * size * shape_rate(plan);
    case NB_PATH_DIRECT:
        return 300e9 * size * shape_rate(plan) * (fp64 > 0.5 ? 1.0 : fmin(1.0, 4 * fp64));
    case NB_PATH_TRICUBIC:
        return 131e9 * size * shape_rate(plan) * (fp64 > 0.5 ? 1.0 : fmin(1.0, 4 * fp64));
    default:
        return 50e9 * size * fp64;
    }
}

static double steps_seconds(nb_cuda_path path, const nb_plan *plan)
{
    return plan->rays * plan->steps / nb_cuda_step_rate(path, plan);
}

static double direct_seconds(const nb_plan *plan)
{
    return steps_seconds(NB_PATH_DIRECT, plan);
}

/** With what a ray costs beside its steps.  It was measured as the number of steps from which on this kernel
 * is quicker than the direct one: 24, or 8 where layers stand at their mean depth, for there the direct
 * kernel's steps cost a third more and those of the tensor cores do not. */
static double tensor_seconds(const nb_plan *plan)
{
    const double even = (is_deep(plan->scene) ? 8 : 24) - 0.5; /* neither is quicker */
    return plan->rays * even *
               (1 / nb_cuda_step_rate(NB_PATH_DIRECT, plan) -
                1 / nb_cuda_step_rate(NB_PATH_TENSOR, plan)) +
           steps_seconds(NB_PATH_TENSOR, plan);
}

/** With a pass over the table, which becomes cells. */
static double tricubic_seconds(const nb_plan *plan)
{
    const nb_factor_table *sf = &plan->scene->factors.table;
    const double cells = (double)sf->nh * sf->nk * sf->nl, rate = 5e9;
    return cells / (rate * plan->engine.size) + steps_seconds(NB_PATH_TRICUBIC, plan);
}

static double double_seconds(const nb_plan *plan)
{
    return steps_seconds(NB_PATH_DOUBLE, plan);
}

/** Of the quickest path that leaves nothing out. */
static double every_step_seconds(const nb_plan *plan)
{
    double least = double_seconds(plan);
    const char *unused;
    for (int i = 0; i < NB_PATH_DOUBLE; i++) {
        const double seconds = nb_cuda_paths[i].seconds(plan);
        if (seconds < least && nb_cuda_paths[i].applies(plan, &unused)) /* may take long */
            least = seconds;
    }
    return least;
}

static nb_cuda_path forced_path(void);

#define SPOTS_GAIN 1.5 /* less is not worth it: estimates are that good */

static int spots_apply(const nb_plan *plan, const char **why)
{
    const char *reason = nb_spots_refuse(plan);
    if (reason)
        return nb_path_refuse(why, reason);
    if (forced_path() != NB_PATH_SPOTS && !(SPOTS_GAIN * nb_cuda_spots_seconds(plan) <
                                            nb_spots_whole(plan, every_step_seconds)))
        return nb_path_refuse(why, "every step is as quick");
    return 1;
}

static int tiles_apply(const nb_plan *plan, const char **why)
{
    const int forced = forced_path() == NB_PATH_TILES;
    const char *reason = NULL;
    if (!forced && nb_cuda_has_few_steps(plan)) /* to look further takes microseconds */
        reason = "every step is quick";
    if (!reason)
        reason = nb_tiles_refuse(plan);
    if (!reason && !forced)
        reason = nb_cuda_refuse_trial(plan, nb_spots_whole(plan, every_step_seconds));
    return reason ? nb_path_refuse(why, reason) : 1;
}

/** Known only when some blocks have been tried; where it applies they are. */
static double tiles_seconds(const nb_plan *plan)
{
    if (nb_tiles_refuse(plan))
        return INFINITY;
    return 0.5 * every_step_seconds(plan);
}

static double floats_hold(const nb_plan *plan)
{
    const char *unused;
    return direct_applies(plan, &unused);
}

nb_cuda_tile_choice nb_cuda_choose_tiles(const nb_plan *plan)
{
    const int forced = forced_path() == NB_PATH_TILES;
    const nb_cuda_tile_choice choice = {
        !(nb_spots_whole(plan, floats_hold) > 0),
        forced ? 0 : nb_spots_whole(plan, every_step_seconds)};
    return choice;
}

/** Of the whole detector; where it applies it is taken, for small regions too. */
static double spots_seconds(const nb_plan *plan)
{
    if (nb_spots_refuse(plan))
        return INFINITY;
    return fmin(nb_cuda_spots_seconds(plan), 0.5 * every_step_seconds(plan));
}

const nb_path nb_cuda_paths[NB_CUDA_PATHS] = {
    {.name = "indices in double, lattice in float",
     .applies = direct_applies,
     .seconds = direct_seconds},
    {.name = "indices on FP64 tensor cores, lattice in float",
     .applies = tensor_applies,
     .seconds = tensor_seconds},
    {.name =
         "indices in double, tricubic F and lattice in float, pixels in doubt in double",
     .applies = tricubic_applies,
     .seconds = tricubic_seconds},
    {.name = "every operation in double",
     .applies = double_applies,
     .seconds = double_seconds},
    {.name = "from its reflections", .applies = spots_apply, .seconds = spots_seconds},
    {.name = "in blocks of rays", .applies = tiles_apply, .seconds = tiles_seconds}};
static const nb_path *const list[] = {&nb_cuda_paths[0],
                                      &nb_cuda_paths[1],
                                      &nb_cuda_paths[2],
                                      &nb_cuda_paths[3],
                                      &nb_cuda_paths[4],
                                      &nb_cuda_paths[5],
                                      NULL};

/** The path that the environment asks for; NB_CUDA_PATHS: none. */
static nb_cuda_path forced_path(void)
{
    static const char *const words[NB_CUDA_PATHS] = {"direct", "mma",   "tricubic",
                                                     "double", "spots", "tiles"};
    const char *forced = getenv("NANOBRAGG_CUDA_PATH");
    int path = 0;
    while (path < NB_CUDA_PATHS && !(forced && strcmp(forced, words[path]) == 0))
        path++;
    return (nb_cuda_path)path;
}

nb_cuda_path nb_cuda_choose_path(const nb_plan *plan, const char **why)
{
    nb_cuda_path forced = forced_path(), best;
    const char *unused;
    nb_plan mine = *plan;
    mine.paths = list;
    best = (nb_cuda_path)(nb_path_choose(&mine, why) - nb_cuda_paths);
    if (best == NB_PATH_SPOTS || best == NB_PATH_TILES || best == NB_PATH_TRICUBIC)
        *why = "";
    if (forced == NB_CUDA_PATHS || best == NB_PATH_DOUBLE || best == forced)
        return best;
    if (forced == NB_PATH_DOUBLE)
        *why = "NANOBRAGG_CUDA_PATH=double";
    else if (!nb_cuda_paths[forced].applies(plan, &unused))
        return best;
    return forced;
}

const char *nb_cuda_refuses_tolerance(const nb_plan *plan)
{
    const int shape = plan->scene->lattice.shape;
    const char *why = NULL;
    if (shape == NB_LATTICE_SQUARE || shape == NB_LATTICE_ROUND)
        return tiles_apply(plan, &why) ? NULL : why;
    return spots_apply(plan, &why) ? NULL : why;
}
