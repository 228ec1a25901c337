/* SPDX-License-Identifier: MIT */
/** nb_ray_slope_to in reverse: what a sum over rays changes by, for each number of a panel's place.  One
 * pass over the rays then serves every parameter that moves the detector. */
#ifndef NB_PHYSICS_PANEL_PULL_H
#define NB_PHYSICS_PANEL_PULL_H

#include "slopes.h"

/** A point of a panel and the ray to it, nb_ray_to(panel, sensor, F, S, layer). */
typedef struct nb_pull_point {
    double F, S; /* m */
    int layer;
    nb_ray ray;
} nb_pull_point;

/** v less its part along the unit vector d. */
NB_HD nb_vec3 nb_across(nb_vec3 v, nb_vec3 d)
{
    return nb_sub(v, nb_scale(nb_dot(v, d), d));
}

/** to += the slopes by the point x of a flat panel, of which X is the slope by x. */
NB_HD void nb_pull_flat(const nb_panel *panel, const nb_pull_point *at, double O,
                        nb_vec3 X, nb_panel_slope *to)
{
    to->pix0 = nb_add(to->pix0, X);
    to->fast = nb_add(to->fast, nb_scale(at->F, X));
    to->slow = nb_add(to->slow, nb_scale(at->S, X));
    to->normal = nb_add(to->normal, nb_scale(O, X));
    to->layer_step += at->layer * nb_dot(X, panel->normal);
}

/** The same of a curved one; nb_moving_curved has the terms. */
NB_HD void nb_pull_curved(const nb_panel *panel, const nb_pull_point *at, double O,
                          nb_vec3 X, nb_panel_slope *to)
{
    double D = panel->distance, r = D + O;
    double u = (at->F - panel->Fbeam) / D, v = (at->S - panel->Sbeam) / D;
    double cu = cos(u), su = sin(u), cv = cos(v), sv = sin(v);
    double b = nb_dot(X, panel->beam), s = nb_dot(X, panel->curved_slow),
           f = nb_dot(X, panel->curved_fast);
    double along = cu * cv * b + cu * sv * s + su * f;
    double by_u = r / D * (-su * cv * b - su * sv * s + cu * f),
           by_v = r / D * (-cu * sv * b + cu * cv * s);
    to->distance += along - u * by_u - v * by_v;
    to->Fbeam -= by_u;
    to->Sbeam -= by_v;
    to->layer_step += at->layer * along;
    to->curved_slow = nb_add(to->curved_slow, nb_scale(r * cu * sv, X));
    to->curved_fast = nb_add(to->curved_fast, nb_scale(r * su, X));
}

/** The solid angle, of which `by` is the slope by its logarithm; returns what it adds to the slope by
 * log |x|. */
NB_HD double nb_pull_omega(const nb_panel *panel, const nb_pull_point *at, double by,
                           nb_panel_slope *to)
{
    double D = panel->distance, u, t;
    if (!panel->curved && !panel->point_pixel) {
        to->close_distance += by / panel->close_distance;
        return -3 * by;
    }
    if (!panel->curved || !panel->exact_omega)
        return -2 * by;
    u = (at->F - panel->Fbeam) / D;
    t = tan(u);
    to->distance += by * (u * t - 2) / D;
    to->Fbeam += by * t / D;
    return 0;
}

/** The absorbing layer of a point: U is the slope by the point at its depth, capture that by what the layer
 * captures.  Returns the slope by the point of its front face. */
NB_HD nb_vec3 nb_pull_layer(const nb_panel *panel, const nb_sensor *sensor,
                            const nb_pull_point *at, nb_vec3 front, double capture,
                            nb_vec3 U, nb_panel_slope *to)
{
    double R = nb_norm(front), T = sensor->layer_step, by_y, by_g, y, m = 0;
    nb_vec3 d = nb_scale(1.0 / R, front), along = panel->curved ? d : panel->normal;
    int t = at->layer;
    y = nb_layer_path(panel, sensor, d);
    by_y = capture * (-t * exp(-t * y) + (t + 1) * exp(-(t + 1) * y));
    if (sensor->mean_depth) {
        m = nb_mean_depth(y, nb_stopped(y));
        by_y += nb_dot(U, along) * T * nb_mean_depth_slope(y);
        to->layer_step += nb_dot(U, along) * m;
    }
    to->layer_step += by_y * y / T;
    to->mu += by_y * y / sensor->mu;
    if (panel->curved)
        return nb_add(U, nb_scale(m * T / R, nb_across(U, d)));
    by_g = -by_y * y / nb_dot(d, panel->normal);
    to->normal = nb_add(to->normal, nb_add(nb_scale(m * T, U), nb_scale(by_g, d)));
    return nb_add(U, nb_scale(by_g / R, nb_across(panel->normal, d)));
}

/** to += the slopes of a function of the ray by the panel's place; by: its slopes by the ray's direction,
 * solid angle and capture. */
NB_HD void nb_panel_pull(const nb_panel *panel, const nb_sensor *sensor,
                         const nb_pull_point *at, const nb_ray_slope *by,
                         nb_panel_slope *to)
{
    const nb_ray *ray = &at->ray;
    double O = at->layer * sensor->layer_step;
    double radial = nb_pull_omega(panel, at, by->omega * ray->omega, to);
    nb_vec3 X =
        nb_scale(1.0 / ray->airpath, nb_add(nb_across(by->direction, ray->direction),
                                            nb_scale(radial, ray->direction)));
    if (sensor->absorb)
        X = nb_pull_layer(panel, sensor, at, nb_panel_point(panel, at->F, at->S, O),
                          by->capture, X, to);
    if (panel->curved)
        nb_pull_curved(panel, at, O, X, to);
    else
        nb_pull_flat(panel, at, O, X, to);
}

#endif
