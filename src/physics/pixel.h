/* SPDX-License-Identifier: MIT */
/** The sum of one pixel, written once for all backends:
 *
 *     I = r_e^2 fluence / samples * sum over layers, sub-pixels, sources of
 *             w_source capture [polar] [omega] * sum over orientations F_cell^2 F_latt^2
 *
 * in photons per pixel. polar and omega have the values of the pixel's first sub-pixel,
 * layer and source, or of each term with -oversample_polar or -oversample_omega. Water
 * and materials have the same sum with their scattering (src/image/background.h). */
#ifndef NB_PHYSICS_PIXEL_H
#define NB_PHYSICS_PIXEL_H

#include "amorphous.h"
#include "lattice.h"
#include "ray.h"
#include "structure_factor.h"

/** One term of the innermost sum, with all its quantities. */
typedef struct nb_sample {
    double h, k, l;    /* fractional Miller indices */
    double h0, k0, l0; /* nearest reflection */
    double F_latt, F_cell;
} nb_sample;

/** True if -dmin removes the crystal's scattering at q: d = 1/|q| is below dmin. */
NB_HD int nb_culled(const nb_factors *factors, nb_vec3 q)
{
    double stol = 0.5 * nb_norm(q);
    return factors->dmin > 0 && stol > 0 && factors->dmin > 0.5 / stol;
}

/** The sample at q, with F from table n. */
NB_HD nb_sample nb_sample_at(const nb_lattice *lattice, const nb_factor_table *table,
                             int n, const nb_orientation *cell, nb_vec3 q)
{
    nb_sample p;
    p.h = nb_dot(cell->a, q);
    p.k = nb_dot(cell->b, q);
    p.l = nb_dot(cell->c, q);
    p.h0 = nb_nearest_index(p.h);
    p.k0 = nb_nearest_index(p.k);
    p.l0 = nb_nearest_index(p.l);
    p.F_latt = nb_lattice_factor(lattice, p.h - p.h0, p.k - p.k0, p.l - p.l0);
    p.F_cell =
        p.F_latt == 0 ? 0 : nb_structure_factor(table, n, p.h, p.k, p.l, p.h0, p.k0, p.l0);
    return p;
}

/** Sum over phi steps and domains of F_cell^2 F_latt^2 at q, electrons^2; F from table
 * n. */
NB_HD double nb_crystal_sum(const nb_lattice *lattice, const nb_factor_table *table,
                            int n, nb_vec3 q)
{
    double sum = 0;
    int i;
    for (i = 0; i < lattice->n_orientations; i++) {
        nb_sample p = nb_sample_at(lattice, table, n, &lattice->orientations[i], q);
        sum += p.F_cell * p.F_cell * p.F_latt * p.F_latt;
    }
    return sum;
}

/** Sum over the sources along one ray of w_source [polar] times nb_crystal_sum. */
NB_HD double nb_source_sum(const nb_scene *sc, const nb_ray *ray)
{
    double sum = 0;
    int i;
    for (i = 0; i < sc->beam.n_sources; i++) {
        const nb_source *source = &sc->beam.sources[i];
        nb_vec3 q = nb_scattering_vector(source, ray->direction);
        double term = 0;
        if (!nb_culled(&sc->factors, q))
            term = nb_crystal_sum(&sc->lattice, &sc->factors.table, source->table, q);
        if (sc->oversample_polar && !sc->beam.nopolar)
            term *= nb_polarization(sc->beam.polarization, source->incident,
                                    ray->direction, sc->beam.polar_axis);
        sum += source->weight * term;
    }
    return sum;
}

/** The factors [polar] [omega] that are calculated once per pixel, for its first
 * sub-pixel, layer and source. */
NB_HD double nb_cached_factors(const nb_scene *sc, const nb_panel *panel,
                               const nb_sensor *sensor, int f, int s)
{
    nb_ray ray =
        nb_ray_to(panel, sensor, nb_subpixel(panel->pixel_fast, sc->oversample, f, 0),
                  nb_subpixel(panel->pixel_slow, sc->oversample, s, 0), 0);
    double factor = 1;
    if (!sc->beam.nopolar && !sc->oversample_polar)
        factor *= nb_polarization(sc->beam.polarization, sc->beam.sources[0].incident,
                                  ray.direction, sc->beam.polar_axis);
    if (!sc->oversample_omega)
        factor *= ray.omega;
    return factor;
}

/** The pixel's sum over layers, sub-pixels, sources and orientations, without the scale
 * and the cached factors. */
NB_HD double nb_pixel_sum(const nb_scene *sc, const nb_panel *panel,
                          const nb_sensor *sensor, int f, int s)
{
    int layer, subf, subs, os = sc->oversample;
    double sum = 0;
    for (layer = 0; layer < sensor->layers; layer++)
        for (subs = 0; subs < os; subs++)
            for (subf = 0; subf < os; subf++) {
                nb_ray ray =
                    nb_ray_to(panel, sensor, nb_subpixel(panel->pixel_fast, os, f, subf),
                              nb_subpixel(panel->pixel_slow, os, s, subs), layer);
                double weight = ray.capture * (sc->oversample_omega ? ray.omega : 1.0);
                sum += weight * nb_source_sum(sc, &ray);
            }
    return sum;
}

/** Photons of the crystal in pixel (f, s) of a panel with this sensor. */
NB_HD double nb_pixel_intensity(const nb_scene *sc, const nb_panel *panel,
                                const nb_sensor *sensor, int f, int s)
{
    return sc->intensity_scale * nb_pixel_sum(sc, panel, sensor, f, s) *
           nb_cached_factors(sc, panel, sensor, f, s);
}

#endif
