/* SPDX-License-Identifier: MIT */
/** From a point of the detector to what its geometry contributes: direction, solid angle,
 * captured fraction, polarization. */
#ifndef NB_PHYSICS_RAY_H
#define NB_PHYSICS_RAY_H

#include "scene.h"

typedef struct nb_ray {
    nb_vec3 position; /* m, lab */
    double airpath;   /* |position|, m */
    nb_vec3 direction;
    double omega;   /* solid angle of the whole pixel as seen from here, sr */
    double capture; /* fraction of the photons that stop in this layer */
} nb_ray;

/** Centre of sub-pixel `sub` of pixel `p` along one edge, m from the detector's corner. */
NB_HD double nb_subpixel(const nb_detector *det, int oversample, int p, int sub)
{
    double edge = det->pixel / oversample;
    return edge * ((double)p * oversample + sub) + edge / 2.0;
}

/** Position of the point (F, S) [m along fast, slow] at depth O [m] behind the front face. */
NB_HD nb_vec3 nb_detector_point(const nb_detector *det, double F, double S, double O)
{
    if (det->curved) { /* every pixel as far from the sample as the plane's centre */
        double u = (F - det->Fbeam) / det->distance, v = (S - det->Sbeam) / det->distance;
        double r = det->distance + O;
        return nb_add(nb_scale(r * cos(u) * cos(v), det->beam),
                      nb_add(nb_scale(r * cos(u) * sin(v), det->curved_slow),
                             nb_scale(r * sin(u), det->curved_fast)));
    }
    return nb_add(nb_add(nb_scale(F, det->fast), nb_scale(S, det->slow)),
                  nb_add(nb_scale(O, det->normal), det->pix0));
}

/** The ray to a position; omega and capture are left 0. */
NB_HD nb_ray nb_ray_along(nb_vec3 position)
{
    nb_ray ray;
    ray.position = position;
    ray.airpath = nb_norm(position);
    ray.direction = nb_scale(1.0 / ray.airpath, position);
    ray.omega = ray.capture = 0;
    return ray;
}

/** Solid angle of a pixel, sr.  Flat: area/R^2 times the obliquity.  Curved: area/R^2, or with
 * exact_omega cos u du dv, the pixel's part of the sphere, the same at every depth. */
NB_HD double nb_solid_angle(const nb_detector *det, const nb_ray *ray)
{
    double R = ray->airpath, omega = det->pixel_area / (R * R), sine;
    if (!det->curved)
        return det->point_pixel ? omega : omega * det->close_distance / R;
    if (!det->exact_omega)
        return omega;
    sine = nb_dot(ray->direction, det->curved_fast);
    return det->pixel_area / (det->distance * det->distance) *
           sqrt(fmax(0.0, 1.0 - sine * sine));
}

/** A layer's thickness along `direction`, in attenuation lengths. */
NB_HD double nb_layer_path(const nb_detector *det, nb_vec3 direction)
{
    double parallax = det->curved ? 1.0 : nb_dot(direction, det->normal);
    return det->layer_step * det->mu / parallax;
}

/** Fraction of photons along `direction` that pass layers 0..layer-1 and stop in `layer`. */
NB_HD double nb_capture(const nb_detector *det, int layer, nb_vec3 direction)
{
    double path;
    if (!det->absorb)
        return 1.0;
    path = nb_layer_path(det, direction);
    return exp(-layer * path) - exp(-(layer + 1) * path);
}

/** 1 - exp(-path): the fraction that stops in a layer of `path` attenuation lengths. */
NB_HD double nb_stopped(double path)
{
    return path < 0.1 ? -expm1(-path) : 1.0 - exp(-path);
}

/** Attenuation lengths below which a series gives the mean depth: the closed form loses digits. */
#define NB_THIN_LAYER 1e-3

/** Mean depth of the photons that stop in such a layer, as a fraction of its thickness: the mean of
 * x in 0..1 with density exp(-path x), 1/path - 1/(exp(path) - 1).  1/2 for a thin layer, 1/path for
 * a thick one.  stopped = nb_stopped(path). */
NB_HD double nb_mean_depth(double path, double stopped)
{
    return fabs(path) < NB_THIN_LAYER ? 0.5 - path / 12.0
                                      : 1.0 / path + (1.0 - 1.0 / stopped);
}

/** From the ray to a layer's front face to that to the place where its photons stop in the mean;
 * capture and depth are those along `front`.  Omega is left 0. */
NB_HD nb_ray nb_go_deep(const nb_detector *det, const nb_ray *front, int layer)
{
    double path = nb_layer_path(det, front->direction), stopped = nb_stopped(path);
    double depth = nb_mean_depth(path, stopped) * det->layer_step;
    nb_vec3 along = det->curved ? front->direction : det->normal;
    nb_ray ray = nb_ray_along(nb_add(front->position, nb_scale(depth, along)));
    ray.capture = layer > 0 ? exp(-layer * path) * stopped : stopped;
    return ray;
}

/** The ray to the point (F, S) of a layer.  Capture and mean depth are those along the ray to the
 * layer's front face; position, direction and omega are of the place where the layer stands. */
NB_HD nb_ray nb_ray_to(const nb_detector *det, double F, double S, int layer)
{
    nb_ray ray = nb_ray_along(nb_detector_point(det, F, S, layer * det->layer_step));
    if (det->mean_depth)
        ray = nb_go_deep(det, &ray, layer);
    else
        ray.capture = nb_capture(det, layer, ray.direction);
    ray.omega = nb_solid_angle(det, &ray);
    return ray;
}

/** Polarization factor for scattering from `incident` into `direction` (unit vectors), K the
 * Kahn factor, axis the electric field's (Kahn et al., J. Appl. Cryst. 15, 330 (1982)).
 * cos(2 psi) comes from the components themselves, without an arc tangent. */
NB_HD double nb_polarization(double K, nb_vec3 incident, nb_vec3 direction, nb_vec3 axis)
{
    double c = nb_dot(incident, direction), c2 = c * c, b, e, in_plane;
    nb_vec3 B, E;
    if (K == 0)
        return 0.5 * (1.0 + c2);
    B = nb_unit(nb_cross(axis, incident));
    E = nb_unit(nb_cross(incident, B));
    b = nb_dot(direction, B);
    e = nb_dot(direction, E);
    in_plane = b * b + e * e;
    return 0.5 * (1.0 + c2 -
                  K * (in_plane > 0 ? (e * e - b * b) / in_plane : 1.0) * (1.0 - c2));
}

#endif
