/* SPDX-License-Identifier: MIT */
/* Which kernel renders a scene. */
#include "../src/physics/limits.h"
#include "../src/physics/ray.h"
#include "state.h"

#include <stdlib.h>
#include <string.h>

/* Fewer steps a ray than this: the direct kernel.  Its steps cost a third more where layers stand
 * at their mean depth, those of the tensor cores do not. */
enum { DIRECT_STEPS = 24, DIRECT_STEPS_DEEP = 8 };

const char *nb_cuda_path_name(nb_cuda_path path)
{
    switch (path) {
    case NB_PATH_DIRECT:
        return "indices in double, lattice in float";
    case NB_PATH_TENSOR:
        return "indices on FP64 tensor cores, lattice in float";
    case NB_PATH_RESIDUAL:
        return "double centres, float residuals";
    default:
        return "every operation in double";
    }
}

static int one_direction(const nb_scene *sc)
{
    int i;
    for (i = 1; i < sc->beam.n_sources; i++)
        if (memcmp(&sc->beam.sources[i].incident, &sc->beam.sources[0].incident,
                   sizeof(nb_vec3)) != 0)
            return 0;
    return 1;
}

/** Largest |h| that any pixel can have: |a| |d - i|/lambda <= 2 |a|/lambda. */
static double index_limit(const nb_scene *sc)
{
    const nb_orientation *u = &sc->lattice.orientations[0];
    double edge = fmax(nb_norm(u->a), fmax(nb_norm(u->b), nb_norm(u->c)));
    double lambda = sc->beam.sources[0].lambda;
    int i;
    for (i = 1; i < sc->beam.n_sources; i++)
        lambda = fmin(lambda, sc->beam.sources[i].lambda);
    return 2.0 * edge / lambda;
}

static double largest_N(const nb_scene *sc)
{
    return fmax(sc->lattice.N[0], fmax(sc->lattice.N[1], sc->lattice.N[2]));
}

/** N up to which fractions of 32 bits will do.  Their rounding shifts a peak's flank by
 * 4e-10 N of it, some times more in the tails.  Over many steps the errors average,
 * and the brightest of many pixels stands on a peak's top, where a shift does not
 * show: at N = 1000 and 1000 steps 1.9e-6 of the maximum at 512x512, 8e-7 at 2048x2048. */
static double fraction_limit(const nb_scene *sc, const nb_render_options *options)
{
    const nb_raster *raster = &sc->raster;
    double steps = (double)sc->beam.n_sources * sc->lattice.n_orientations;
    double rays = (double)(raster->roi.fmax - raster->roi.fmin + 1) *
                  (raster->roi.smax - raster->roi.smin + 1) * sc->oversample *
                  sc->oversample;
    if (options->precision == NB_PRECISION_SINGLE)
        return 2000;
    if (rays < 1e5)
        return 100;
    if (rays < 3e6)
        return 300;
    return 300 * fmin(fmax(sqrt(steps) / 4, 1), 5);
}

/** Do floats hold F^2 (of a table as it stands, a constant apart from the sum), the sums of all
 * steps, the water, and the factor that makes photons of them? */
static int floats_hold_sums(const nb_scene *sc)
{
    const nb_factor_table *sf = &sc->factors.table;
    double F2 = sf->default_F * sf->default_F, unit = sf->nh > 0 || F2 == 0 ? 1 : F2;
    double terms = (double)sc->samples * sc->sensors->layers, weight = 1, photons;
    int i;
    for (i = 0; i < sc->beam.n_sources; i++)
        weight = fmax(weight, fabs(sc->beam.sources[i].weight));
    photons = sc->intensity_scale * unit * nb_largest_solid_angle(sc->panels);
    return nb_floats_carry(sc, unit, terms, weight) && unit < NB_FLOAT_TOP &&
           unit > NB_FLOAT_LOW && sc->background / unit * terms < NB_FLOAT_TOP &&
           photons < NB_FLOAT_TOP && photons > NB_FLOAT_LOW;
}

/** Why only the general kernel will do, or NULL. */
static const char *needs_double(const nb_scene *sc, const nb_render_options *options)
{
    if (options->precision == NB_PRECISION_DOUBLE)
        return "double precision was asked for";
    if (sc->lattice.shape != NB_LATTICE_SQUARE)
        return "only the parallelepiped has a fast kernel";
    if (sc->lattice.N[0] == 1 && sc->lattice.N[1] == 1 && sc->lattice.N[2] == 1)
        return "a single unit cell has no lattice to speed up";
    if (sc->factors.table.nh > 0 && sc->factors.table.interpolate)
        return "structure factors are interpolated";
    if (sc->factors.dmin > 0)
        return "dmin culls by source";
    if (sc->panels->curved)
        return "the detector is curved";
    if (largest_N(sc) > fraction_limit(sc, options))
        return "the crystal is too large for 32-bit fractions";
    if (!(index_limit(sc) < 262144))
        return "Miller indices are too large for fixed point";
    if (sc->oversample_polar && !sc->beam.nopolar && !one_direction(sc))
        return "polarization is by source";
    if ((double)sc->beam.n_sources * sc->lattice.n_orientations > 1e8)
        return "the table of steps would be too large";
    if (!floats_hold_sums(sc))
        return "single precision cannot hold the numbers";
    return NULL;
}

/** Largest scattering vector, 1/m: at a corner of a flat detector. */
static double largest_q(const nb_scene *sc)
{
    const nb_raster *raster = &sc->raster;
    const nb_panel *panel = sc->panels;
    double largest = 0;
    int i, corner;
    for (corner = 0; corner < 4; corner++) {
        double F =
            (corner & 1 ? raster->roi.fmax + 1 : raster->roi.fmin) * panel->pixel_fast;
        double S =
            (corner & 2 ? raster->roi.smax + 1 : raster->roi.smin) * panel->pixel_slow;
        nb_vec3 d = nb_unit(nb_panel_point(panel, F, S, 0));
        for (i = 0; i < sc->beam.n_sources; i++) {
            nb_vec3 turn = nb_sub(d, sc->beam.sources[i].incident);
            largest = fmax(largest, nb_norm(turn) / sc->beam.sources[i].lambda);
        }
    }
    return largest;
}

/** Largest |(a - mean a).q| that an orientation can add to the mean's Miller indices. */
static double largest_residual(const nb_scene *sc)
{
    nb_orientation mean = nb_cuda_mean_orientation(sc);
    double largest = 0;
    int i;
    for (i = 0; i < sc->lattice.n_orientations; i++) {
        const nb_orientation *u = &sc->lattice.orientations[i];
        largest = fmax(largest, nb_norm(nb_sub(u->a, mean.a)));
        largest = fmax(largest, nb_norm(nb_sub(u->b, mean.b)));
        largest = fmax(largest, nb_norm(nb_sub(u->c, mean.c)));
    }
    return largest * largest_q(sc);
}

/** Half-way between reflections F^2 jumps, and there the lattice of an odd N is 1, not 0: with few
 * cells a rounded index shows in dim pixels (3e-3 of theirs at N = 5). */
static int jumps_show(const nb_scene *sc)
{
    int i, odd = 0;
    for (i = 0; i < 3; i++)
        odd |= fmod(sc->lattice.N[i], 2) == 1 && sc->lattice.N[i] < 31;
    return sc->factors.table.nh > 0 && odd;
}

/** Float residuals x are wrong by 6e-8 x, hence a peak's flanks by 4e-7 N x of it; over
 * many steps the errors average. */
static int residual_fits(const nb_scene *sc)
{
    double residual, steps = (double)sc->beam.n_sources * sc->lattice.n_orientations;
    double cells = sc->factors.table.nh > 0 ? index_limit(sc) * index_limit(sc) * 4 : 1;
    double limit = steps >= 500 ? 0.5 * sqrt(steps) : 0.5;
    if (sc->lattice.n_orientations < 8 || jumps_show(sc))
        return 0;
    residual = largest_residual(sc);
    return largest_N(sc) * residual <= limit && residual * cells < 4e6;
}

nb_cuda_path nb_cuda_choose_path(const nb_scene *sc, const nb_render_options *options,
                                 const nb_cuda_device *device, const char **why)
{
    const char *forced = getenv("NANOBRAGG_CUDA_PATH");
    double steps = (double)sc->beam.n_sources * sc->lattice.n_orientations;
    int deep = sc->sensors->mean_depth && device->has_tensor;
    *why = needs_double(sc, options);
    if (*why)
        return NB_PATH_DOUBLE;
    if (forced && strcmp(forced, "double") == 0) {
        *why = "NANOBRAGG_CUDA_PATH=double";
        return NB_PATH_DOUBLE;
    }
    *why = "";
    if (forced && strcmp(forced, "direct") == 0)
        return NB_PATH_DIRECT;
    if (sc->factors.table.nh == 0 && sc->factors.table.default_F == 0)
        return NB_PATH_DIRECT; /* it knows that there is no crystal to sum */
    if (forced && strcmp(forced, "mma") == 0 && device->has_tensor)
        return NB_PATH_TENSOR;
    if (forced && strcmp(forced, "residual") == 0)
        return residual_fits(sc) ? NB_PATH_RESIDUAL : NB_PATH_DIRECT;
    if (steps < (deep ? DIRECT_STEPS_DEEP : DIRECT_STEPS))
        return NB_PATH_DIRECT;
    if (device->has_tensor)
        return NB_PATH_TENSOR;
    return device->fp64_ratio > 4 && residual_fits(sc) ? NB_PATH_RESIDUAL : NB_PATH_DIRECT;
}
