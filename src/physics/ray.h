/* SPDX-License-Identifier: MIT */
/** The geometry of a point of the detector: direction, solid angle, captured fraction,
 * polarization. */
#ifndef NB_PHYSICS_RAY_H
#define NB_PHYSICS_RAY_H

#include "scene.h"

typedef struct nb_ray {
    nb_vec3 position; /* m, lab */
    double airpath;   /* |position|, m */
    nb_vec3 direction;
    double omega;   /* solid angle of the whole pixel from this point, sr */
    double capture; /* fraction of the photons that stop in this layer */
} nb_ray;

/** Centre of sub-pixel `sub` of pixel `p` along one edge, m from the panel's corner;
 * `edge` is the edge of a sub-pixel, m. */
NB_HD double nb_edge_point(double edge, int oversample, int p, int sub)
{
    return edge * ((double)p * oversample + sub) + edge / 2.0;
}

/** nb_edge_point with the edge of a pixel, m. */
NB_HD double nb_subpixel(double pixel, int oversample, int p, int sub)
{
    return nb_edge_point(pixel / oversample, oversample, p, sub);
}

/** Position of the point (F, S) [m along fast, slow] at depth O [m] below the front face. */
NB_HD nb_vec3 nb_panel_point(const nb_panel *panel, double F, double S, double O)
{
    if (panel->curved) { /* all pixels have the same distance from the sample */
        double u = (F - panel->Fbeam) / panel->distance,
               v = (S - panel->Sbeam) / panel->distance;
        double r = panel->distance + O;
        return nb_add(nb_scale(r * cos(u) * cos(v), panel->beam),
                      nb_add(nb_scale(r * cos(u) * sin(v), panel->curved_slow),
                             nb_scale(r * sin(u), panel->curved_fast)));
    }
    return nb_add(nb_add(nb_scale(F, panel->fast), nb_scale(S, panel->slow)),
                  nb_add(nb_scale(O, panel->normal), panel->pix0));
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

/** Solid angle of a pixel, sr. Flat panel: area/R^2 times the obliquity. Curved panel:
 * area/R^2, or with exact_omega the pixel's area on the unit sphere, cos u du dv, which
 * is the same at every depth. */
NB_HD double nb_solid_angle(const nb_panel *panel, const nb_ray *ray)
{
    double R = ray->airpath, omega = panel->pixel_area / (R * R), sine;
    if (!panel->curved)
        return panel->point_pixel ? omega : omega * panel->close_distance / R;
    if (!panel->exact_omega)
        return omega;
    sine = nb_dot(ray->direction, panel->curved_fast);
    return panel->pixel_area / (panel->distance * panel->distance) *
           sqrt(fmax(0.0, 1.0 - sine * sine));
}

/** A layer's thickness along `direction`, in attenuation lengths. */
NB_HD double nb_layer_path(const nb_panel *panel, const nb_sensor *sensor,
                           nb_vec3 direction)
{
    double parallax = panel->curved ? 1.0 : nb_dot(direction, panel->normal);
    return sensor->layer_step * sensor->mu / parallax;
}

/** Fraction of the photons along `direction` that pass layers 0..layer-1 and stop in
 * `layer`. */
NB_HD double nb_capture(const nb_panel *panel, const nb_sensor *sensor, int layer,
                        nb_vec3 direction)
{
    double path;
    if (!sensor->absorb)
        return 1.0;
    path = nb_layer_path(panel, sensor, direction);
    return exp(-layer * path) - exp(-(layer + 1) * path);
}

/** 1 - exp(-path): the fraction that stops in a layer of `path` attenuation lengths. */
NB_HD double nb_stopped(double path)
{
    return path < 0.1 ? -expm1(-path) : 1.0 - exp(-path);
}

/** Attenuation lengths below which a series gives the mean depth: the closed form loses digits. */
#define NB_THIN_LAYER 1e-3

/** Mean depth of the photons that stop in a layer of `path` attenuation lengths, as a
 * fraction of the layer's thickness: the mean of x in 0..1 with density exp(-path x),
 * which is 1/path - 1/(exp(path) - 1). It is 1/2 for a thin layer and 1/path for a thick
 * one. stopped = nb_stopped(path). */
NB_HD double nb_mean_depth(double path, double stopped)
{
    return fabs(path) < NB_THIN_LAYER ? 0.5 - path / 12.0
                                      : 1.0 / path + (1.0 - 1.0 / stopped);
}

/** Convert `front`, the ray to a layer's front face, into the ray to the mean depth of
 * the photons that stop in the layer. Its capture belongs to `front`. Its omega is 0. */
NB_HD nb_ray nb_go_deep(const nb_panel *panel, const nb_sensor *sensor,
                        const nb_ray *front, int layer)
{
    double path = nb_layer_path(panel, sensor, front->direction),
           stopped = nb_stopped(path);
    double depth = nb_mean_depth(path, stopped) * sensor->layer_step;
    nb_vec3 along = panel->curved ? front->direction : panel->normal;
    nb_ray ray = nb_ray_along(nb_add(front->position, nb_scale(depth, along)));
    ray.capture = layer > 0 ? exp(-layer * path) * stopped : stopped;
    return ray;
}

/** The ray to the point (F, S) of a layer. Capture and mean depth are those of the ray to
 * the layer's front face. Position, direction and omega are those of the point at the
 * layer's depth. */
NB_HD nb_ray nb_ray_to(const nb_panel *panel, const nb_sensor *sensor, double F, double S,
                       int layer)
{
    nb_ray ray = nb_ray_along(nb_panel_point(panel, F, S, layer * sensor->layer_step));
    if (sensor->mean_depth)
        ray = nb_go_deep(panel, sensor, &ray, layer);
    else
        ray.capture = nb_capture(panel, sensor, layer, ray.direction);
    ray.omega = nb_solid_angle(panel, &ray);
    return ray;
}

/** Polarization factor for scattering from `incident` into `direction` (unit vectors). K:
 * Kahn factor; axis: electric field (Kahn et al., J. Appl. Cryst. 15, 330 (1982)). cos(2
 * psi) is calculated from components, without an arc tangent. */
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
