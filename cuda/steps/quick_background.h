/* SPDX-License-Identifier: MIT */
/** Photons of the materials in a pixel, for the fast paths: nb_pixel_background in double
 * with an error of 1e-14. The inner loop has neither divisions nor exact roots; it first
 * tries the table's piece of the previous source. For host and device. */
#ifndef NB_CUDA_QUICK_BACKGROUND_H
#define NB_CUDA_QUICK_BACKGROUND_H

#ifdef NB_GPU
#include "../backend/vendor.h"
#include "depth.cuh"
#endif

#include "../../src/terms/materials.h"

/** 1/sqrt(x), x > 0. */
NB_HD double nb_quick_root(double x)
{
#ifdef NB_GPU_DEVICE_PASS
    return inverse_root(x);
#else
    return 1.0 / sqrt(x);
#endif
}

NB_HD double nb_quick_inverse(double x)
{
#ifdef NB_GPU_DEVICE_PASS
    return inverse_of(x);
#else
    return 1.0 / x;
#endif
}

/** True if the piece contains x. The last piece has no end: its `next` equals its start. */
NB_HD int nb_piece_holds(const nb_table_piece *p, double x)
{
    return x >= p->x && (x < p->next || p->next <= p->x);
}

/** nb_piece_F without divisions. */
NB_HD double nb_quick_F(const nb_table_piece *p, double x)
{
    const double c[8] = {p->x, p->next, p->before, p->F, p->d1, p->d2, p->d3, p->F_next};
    return nb_piece_lanes(c, x);
}

/** sin(theta)/lambda of the ray d for a source, 1/m. */
NB_HD double nb_quick_stol(const nb_source *source, nb_vec3 d)
{
    const double tiny = 1e-200; /* keeps the root finite in the direct beam */
    const nb_vec3 q = nb_sub(d, source->incident);
    const double q2 = fma(q.x, q.x, fma(q.y, q.y, fma(q.z, q.z, tiny)));
    return q2 * nb_quick_root(q2) * (0.5 * nb_quick_inverse(source->lambda));
}

/** Sum over the sources of weight [polar] F|F| for one material. */
NB_HD double nb_quick_material(const nb_scene *sc, const nb_amorphous *a,
                               const nb_scatterer *m, nb_vec3 d)
{
    const int polar = sc->oversample_polar && !sc->beam.nopolar;
    nb_table_piece p = a->pieces[m->first_piece];
    double sum = 0;
    for (int i = 0; i < sc->beam.n_sources; i++) {
        const nb_source *source = &sc->beam.sources[i];
        const double x = nb_quick_stol(source, d);
        double weight = source->weight, F;
        if (!nb_piece_holds(&p, x))
            p = *nb_piece_of(a, m, x);
        F = nb_quick_F(&p, x);
        if (polar)
            weight *= nb_polarization(sc->beam.polarization, source->incident, d,
                                      sc->beam.polar_axis);
        sum = fma(weight * F, fabs(F), sum);
    }
    return sum;
}

/** nb_background_source_sum for the ray d. */
NB_HD double nb_quick_sources(const nb_scene *sc, const nb_amorphous *a, nb_vec3 d)
{
    double sum = 0;
    for (int i = 0; i < a->n; i++)
        sum = fma(a->materials[i].molecules,
                  nb_quick_material(sc, a, &a->materials[i], d), sum);
    return sum * sc->lattice.n_orientations;
}

/** nb_cached_factors, from the pixel's first ray. */
NB_HD double nb_quick_factor(const nb_scene *sc, const nb_ray *ray)
{
    double factor = sc->oversample_omega ? 1.0 : ray->omega;
    if (!sc->beam.nopolar && !sc->oversample_polar)
        factor *= nb_polarization(sc->beam.polarization, sc->beam.sources[0].incident,
                                  ray->direction, sc->beam.polar_axis);
    return factor;
}

/** Photons of the materials in pixel (f, s). */
NB_HD double nb_quick_background(const nb_scene *sc, const nb_panel *panel,
                                 const nb_sensor *sensor, int f, int s)
{
    const int os = sc->oversample;
    const double fast = panel->pixel_fast / os, slow = panel->pixel_slow / os;
    double sum = 0, factor = 1;
    for (int ray_index = 0; ray_index < os * os * sensor->layers; ray_index++) {
        const int sub = ray_index % (os * os), layer = ray_index / (os * os);
        const nb_ray ray = nb_ray_to(panel, sensor, nb_edge_point(fast, os, f, sub % os),
                                     nb_edge_point(slow, os, s, sub / os), layer);
        const double weight = ray.capture * (sc->oversample_omega ? ray.omega : 1.0);
        if (ray_index == 0)
            factor = nb_quick_factor(sc, &ray);
        sum = fma(weight, nb_quick_sources(sc, sc->amorphous, ray.direction), sum);
    }
    return sc->intensity_scale * sum * factor;
}

#endif
