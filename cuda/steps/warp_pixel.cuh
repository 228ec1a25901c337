/* SPDX-License-Identifier: MIT */
/** A pixel in double precision by a whole warp: the formulas of src/physics, with terms
 * added in another order. */
#ifndef NB_CUDA_WARP_PIXEL_CUH
#define NB_CUDA_WARP_PIXEL_CUH

#include "../../src/physics/pixel.h"

/** Sum of this lane's terms of one ray: every 32nd of sources times orientations. */
static __device__ double lane_sum(const nb_scene *sc, const nb_ray *ray, int lane)
{
    int64_t steps = (int64_t)sc->beam.n_sources * sc->lattice.n_orientations, i;
    double sum = 0;
    for (i = lane; i < steps; i += 32) {
        const nb_source *source = &sc->beam.sources[i % sc->beam.n_sources];
        nb_vec3 q = nb_scattering_vector(source, ray->direction);
        double term = sc->background;
        if (!nb_culled(&sc->factors, q)) {
            nb_sample p =
                nb_sample_at(&sc->lattice, &sc->factors.table, source->table,
                             &sc->lattice.orientations[i / sc->beam.n_sources], q);
            term += p.F_cell * p.F_cell * p.F_latt * p.F_latt;
        }
        if (sc->oversample_polar && !sc->beam.nopolar)
            term *= nb_polarization(sc->beam.polarization, source->incident,
                                    ray->direction, sc->beam.polar_axis);
        sum += source->weight * term;
    }
    return sum;
}

/** A pixel by one warp; lane 0 gets the value. The function is not inlined: inside a
 * kernel's loops it would take 254 registers. */
static __device__ gpuCall double warp_pixel(const nb_scene *sc, const nb_panel *panel,
                                            const nb_sensor *sensor, int f, int s,
                                            int lane)
{
    int os = sc->oversample, layer, subf, subs, half;
    double sum = 0;
    for (layer = 0; layer < sensor->layers; layer++)
        for (subs = 0; subs < os; subs++)
            for (subf = 0; subf < os; subf++) {
                nb_ray ray =
                    nb_ray_to(panel, sensor, nb_subpixel(panel->pixel_fast, os, f, subf),
                              nb_subpixel(panel->pixel_slow, os, s, subs), layer);
                double weight = ray.capture * (sc->oversample_omega ? ray.omega : 1.0);
                sum += weight * lane_sum(sc, &ray, lane);
            }
    for (half = 16; half > 0; half /= 2)
        sum += gpuShuffleXor(sum, half, 32);
    return sc->intensity_scale * sum * nb_cached_factors(sc, panel, sensor, f, s);
}

#endif
