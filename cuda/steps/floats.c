/* SPDX-License-Identifier: MIT */
/* Conditions for the device's kernels that hold indices in fixed point, and lattice
 * factors and sums in float. Estimated speeds of all kernels. */
#include <math.h>
#include <string.h>

#include "../../src/physics/limits.h"
#include "../../src/physics/panels.h"
#include "../../src/plan/fixed_point.h"
#include "../backend/paths.h"
#include "../../src/terms/shapes.h"

/* With this number of steps per pixel or more, their sum hides the zeros of a sphere's
 * transform. Near the first zeros a float has an error of 2e-4. */
#define ROUND_TERMS 8
/* From this number of pixels on, the brightest pixel is near a peak. In tails, a float of
 * a round or Gaussian crystal has an error of up to 3e-6. */
#define FORM_PIXELS 1e5
/* Limit of the steps of a pixel: the kernels need a table with an entry for each step. */
#define MAX_STEPS 1e8

int nb_cuda_has_one_direction(const nb_beam *beam)
{
    for (int i = 1; i < beam->n_sources; i++)
        if (memcmp(&beam->sources[i].incident, &beam->sources[0].incident,
                   sizeof(nb_vec3)) != 0)
            return 0;
    return 1;
}

/** Largest number of cells for fractions of 32 bits. Rounding changes the flank of a peak
 * (NB_FIXED_CELLS), and its tails several times as much. Over many steps errors average
 * out. The brightest of many pixels is on top of a peak, where shifts have no effect.
 * With N = 1000 and 1000 steps the error is 1.9e-6 of the maximum in an image of 512x512
 * pixels, and 8e-7 with 2048x2048. */
static double fraction_limit(const nb_plan *plan)
{
    const int os = plan->scene->oversample;
    double points = plan->pixels * os * os;
    if (points < 1e5)
        return NB_FIXED_CELLS;
    if (points < 3e6)
        return 300;
    return 300 * fmin(fmax(sqrt(plan->steps) / 4, 1), 5);
}

/** True if floats hold, for every panel, the factor that converts sums in units of `unit`
 * to photons. */
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

/** True for shapes other than parallelepipeds: their lattice factor in float allows any
 * real N. */
static int has_form(const nb_scene *sc)
{
    return nb_shape_law(sc->lattice.shape) != NB_LAW_FRINGES;
}

static int has_edge(const nb_scene *sc)
{
    return nb_shape_law(sc->lattice.shape) == NB_LAW_EDGE;
}

/** True if floats hold F^2 (of a table; a constant F^2 is a factor of the sum), the sums
 * of all steps, and the factor that converts sums to photons. */
static int floats_hold_sums(const nb_plan *plan)
{
    const nb_scene *sc = plan->scene;
    const nb_factor_table *sf = &sc->factors.table;
    double F2 = sf->default_F * sf->default_F, unit = sf->nh > 0 || F2 == 0 ? 1 : F2;
    const double height = nb_largest_lattice(&sc->lattice);
    return nb_plan_floats_carry(plan, unit, plan->terms) && unit < NB_FLOAT_TOP &&
           unit > NB_FLOAT_LOW &&
           floats_hold_photons(sc, has_form(sc) ? unit * height : unit);
}

static const char *needs_double(const nb_plan *plan)
{
    if (has_form(plan->scene) && plan->precision != NB_PRECISION_DOUBLE)
        return NULL;
    return nb_plan_needs_double(plan, 0);
}

/** Number of cells, with the shape factor, along the axis with the sharpest reflections. */
static double sharpest(const nb_plan *plan)
{
    const nb_lattice *lattice = &plan->scene->lattice;
    const double *r = lattice->radius2;
    if (!has_form(plan->scene))
        return plan->cells;
    return sqrt(lattice->fudge) * (nb_shape_law(lattice->shape) == NB_LAW_SPHERE
                                       ? plan->cells
                                       : sqrt(fmax(r[0], fmax(r[1], r[2]))));
}

/** True if F is interpolated between reflections of a table. */
int nb_cuda_interpolates(const nb_scene *sc)
{
    return sc->factors.table.interpolate && sc->factors.table.nh > 0;
}

/** True if indices may be in fixed point, and lattice and sums in float. */
int nb_cuda_floats_apply(const nb_plan *plan, const char **why)
{
    const nb_scene *sc = plan->scene;
    const char *reason = needs_double(plan);
    if (reason)
        return nb_path_refuse(why, reason);
    if (plan->cells == 1 && !nb_cuda_interpolates(sc))
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
    if (sc->oversample_polar && !sc->beam.nopolar && !nb_cuda_has_one_direction(&sc->beam))
        return nb_path_refuse(why, "polarization is by source");
    if (plan->steps > MAX_STEPS)
        return nb_path_refuse(why, "the table of steps would be too large");
    if (!floats_hold_sums(plan))
        return nb_path_refuse(why, "single precision cannot hold the numbers");
    return 1;
}

int nb_cuda_is_few_round(const nb_plan *plan)
{
    return nb_shape_law(plan->scene->lattice.shape) == NB_LAW_SPHERE &&
           plan->terms < ROUND_TERMS;
}

/* Approximate steps per second of the device's kernels, for the choice of a path and the
 * division of a render into launches. */

double nb_cuda_shape_rate(const nb_plan *plan)
{
    return nb_shape_row_of(plan->scene->lattice.shape).rate;
}

double nb_cuda_slow_double(const nb_plan *plan)
{
    const double fp64 = 2.0 / plan->engine.fp64_ratio;
    return fp64 > 0.5 ? 1.0 : fmin(1.0, 4 * fp64);
}

double nb_cuda_direct_rate(const nb_plan *plan)
{
    return 300e9 * plan->engine.size * nb_cuda_shape_rate(plan) *
           nb_cuda_slow_double(plan);
}

double nb_cuda_tensor_rate(const nb_plan *plan)
{
    return 450e9 * plan->engine.size * nb_cuda_shape_rate(plan);
}

double nb_cuda_tricubic_rate(const nb_plan *plan)
{
    return 131e9 * plan->engine.size * nb_cuda_shape_rate(plan) *
           nb_cuda_slow_double(plan);
}

double nb_cuda_double_rate(const nb_plan *plan)
{
    return 50e9 * plan->engine.size * (2.0 / plan->engine.fp64_ratio);
}
