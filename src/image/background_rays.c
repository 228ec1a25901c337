/* SPDX-License-Identifier: MIT */
/* The background of a pixel as the sum over all rays, which is exact, and the key of a
 * background. */
#include "background.h"

#include <stddef.h>

#include "../base/store.h"
#include "../physics/pixel.h"

int nb_has_background(const nb_scene *sc)
{
    for (const nb_background_kind *const *k = nb_background_kinds; *k; k++)
        if ((*k)->has(sc))
            return 1;
    return 0;
}

/* --- the sum over all rays --- */

double nb_background_scattering(const nb_scene *sc, const nb_source *source,
                                nb_vec3 direction)
{
    const double stol = 0.5 * nb_norm(nb_scattering_vector(source, direction));
    double sum = 0;
    for (const nb_background_kind *const *k = nb_background_kinds; *k; k++)
        if ((*k)->has(sc))
            sum += (*k)->scattering(sc, stol) *
                   ((*k)->factor ? (*k)->factor(sc, source, direction) : 1);
    return sum;
}

/** Scattering of all sources along a ray. */
static double ray_sum(const nb_scene *sc, nb_vec3 direction)
{
    double sum = 0;
    for (int i = 0; i < sc->beam.n_sources; i++) {
        const nb_source *source = &sc->beam.sources[i];
        double term = source->weight * nb_background_scattering(sc, source, direction);
        if (sc->oversample_polar && !sc->beam.nopolar)
            term *= nb_polarization(sc->beam.polarization, source->incident, direction,
                                    sc->beam.polar_axis);
        sum += term;
    }
    return sum;
}

double nb_background_captured(const nb_scene *sc, const nb_ray *ray)
{
    return ray->capture * (sc->oversample_omega ? ray->omega : 1.0);
}

double nb_pixel_background(const nb_scene *sc, int number, int f, int s)
{
    const nb_panel *panel = &sc->panels[number];
    const nb_sensor *sensor = &sc->sensors[panel->sensor];
    const int os = sc->oversample;
    double sum = 0;
    for (int i = 0; i < sensor->layers * os * os; i++) {
        const nb_ray ray =
            nb_ray_to(panel, sensor, nb_subpixel(panel->pixel_fast, os, f, i % os),
                      nb_subpixel(panel->pixel_slow, os, s, i / os % os), i / (os * os));
        sum += nb_background_captured(sc, &ray) * ray_sum(sc, ray.direction);
    }
    return sc->intensity_scale * sc->lattice.n_orientations * sum *
           nb_cached_factors(sc, panel, sensor, f, s);
}

/* --- the key --- */

/** Hash the members of *object from a to the end of b. */
#define HASH_FROM_TO(hash, object, a, b)                                                 \
    nb_hash_bytes(hash, &(object)->a,                                                    \
                  offsetof(__typeof__(*(object)), b) + sizeof(object)->b -               \
                      offsetof(__typeof__(*(object)), a))

static uint64_t hash_beam(uint64_t key, const nb_beam *beam)
{
    for (int i = 0; i < beam->n_sources; i++)
        key = HASH_FROM_TO(key, &beam->sources[i], incident, weight);
    key = HASH_FROM_TO(key, beam, polarization, polar_axis);
    return nb_hash_bytes(key, &beam->nopolar, sizeof beam->nopolar);
}

/* Members are hashed apart, since the padding between them is undefined. */

static uint64_t hash_panel(uint64_t key, const nb_panel *p)
{
    key = HASH_FROM_TO(key, p, columns, first_row);
    key = HASH_FROM_TO(key, p, first_pixel, first_pixel);
    key = HASH_FROM_TO(key, p, pixel_fast, close_distance);
    key = HASH_FROM_TO(key, p, point_pixel, point_pixel);
    key = HASH_FROM_TO(key, p, pixel_area, Sbeam);
    key = HASH_FROM_TO(key, p, curved, exact_omega);
    return HASH_FROM_TO(key, p, curved_fast, curved_slow);
}

static uint64_t hash_sensor(uint64_t key, const nb_sensor *s)
{
    key = HASH_FROM_TO(key, s, layers, layers);
    key = HASH_FROM_TO(key, s, layer_step, mu);
    return HASH_FROM_TO(key, s, absorb, mean_depth);
}

static uint64_t hash_detector(uint64_t key, const nb_scene *sc)
{
    key = HASH_FROM_TO(key, &sc->raster, pixels, roi);
    for (int i = 0; i < sc->n_panels; i++)
        key = hash_sensor(hash_panel(key, &sc->panels[i]),
                          &sc->sensors[sc->panels[i].sensor]);
    return key;
}

uint64_t nb_background_key(const nb_scene *sc)
{
    uint64_t key = hash_detector(hash_beam(NB_HASH_START, &sc->beam), sc);
    key = HASH_FROM_TO(key, sc, oversample, oversample_omega);
    for (const nb_background_kind *const *k = nb_background_kinds; *k; k++)
        if ((*k)->has(sc))
            key = (*k)->hash(sc, nb_hash_bytes(key, k, sizeof *k));
    return nb_has_background(sc) ? key | 1 : 0;
}
