/* SPDX-License-Identifier: MIT */
/** Slopes of a sum over rays by each number that describes a panel's position, in reverse
 * mode: one pass over the rays serves all parameters of the detector. "Slope by x" is the
 * derivative of the sum by x. */
#ifndef NB_PHYSICS_PANEL_PULL_H
#define NB_PHYSICS_PANEL_PULL_H

#include "slopes.h"

/** A point of a panel and the ray to it, nb_ray_to(panel, sensor, F, S, layer). */
typedef struct nb_pull_point {
    double F, S; /* m */
    int layer;
    nb_ray ray;
} nb_pull_point;

/** The part of v at right angles to the unit vector d. */
NB_HD nb_vec3 nb_across(nb_vec3 v, nb_vec3 d)
{
    return nb_sub(v, nb_scale(nb_dot(v, d), d));
}

/** Flat panel: add slopes to *to. X: slope by the ray's end point, which is at depth O
 * (m). */
NB_HD void nb_pull_flat(const nb_panel *panel, const nb_pull_point *at, double O,
                        nb_vec3 X, nb_panel_slope *to)
{
    to->pix0 = nb_add(to->pix0, X);
    to->fast = nb_add(to->fast, nb_scale(at->F, X));
    to->slow = nb_add(to->slow, nb_scale(at->S, X));
    to->normal = nb_add(to->normal, nb_scale(O, X));
    to->layer_step += at->layer * nb_dot(X, panel->normal);
}

/** Add the slopes that come from the solid angle to *to. `by`: slope by the logarithm of
 * this angle. Returns the slope by log R; R: distance from sample to the ray's end. */
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

/** Slope by the path y in layer t. capture: slope by the captured fraction. */
NB_HD double nb_pull_capture(int t, double y, double capture)
{
    return capture * (-t * exp(-t * y) + (t + 1) * exp(-(t + 1) * y));
}

/** Add the slopes by an absorbing layer of a flat panel to *to. front: the ray's point on
 * the layer's front face. capture: slope by the captured fraction. U: slope by the ray's
 * end point. Returns the slope by `front`. */
NB_HD nb_vec3 nb_pull_layer(const nb_panel *panel, const nb_sensor *sensor,
                            const nb_pull_point *at, nb_vec3 front, double capture,
                            nb_vec3 U, nb_panel_slope *to)
{
    double R = nb_norm(front), T = sensor->layer_step, by_y, by_g, y, m = 0;
    nb_vec3 d = nb_scale(1.0 / R, front);
    y = nb_layer_path(panel, sensor, d);
    by_y = nb_pull_capture(at->layer, y, capture);
    if (sensor->mean_depth) {
        m = nb_mean_depth(y, nb_stopped(y));
        by_y += nb_dot(U, panel->normal) * T * nb_mean_depth_slope(y);
        to->layer_step += nb_dot(U, panel->normal) * m;
    }
    to->layer_step += by_y * y / T;
    to->mu += by_y * y / sensor->mu;
    by_g = -by_y * y / nb_dot(d, panel->normal);
    to->normal = nb_add(to->normal, nb_add(nb_scale(m * T, U), nb_scale(by_g, d)));
    return nb_add(U, nb_scale(by_g / R, nb_across(panel->normal, d)));
}

/** Add the slopes by a curved panel and its layer to *to. by_R: slope by the distance R
 * of the ray's end point. */
NB_HD void nb_pull_curved(const nb_panel *panel, const nb_sensor *sensor,
                          const nb_pull_point *at, const nb_ray_slope *by, double by_R,
                          nb_panel_slope *to)
{
    const nb_curved_frame c = nb_curved_frame_at(panel, at->F, at->S);
    double D = panel->distance, T = sensor->layer_step;
    double by_u = nb_dot(by->direction, c.by_u) / D,
           by_v = nb_dot(by->direction, c.by_v) / D;
    to->distance += by_R - c.u * by_u - c.v * by_v;
    to->Fbeam -= by_u;
    to->Sbeam -= by_v;
    to->roll += nb_dot(by->direction, c.by_roll);
    to->layer_step += at->layer * by_R;
    if (sensor->absorb) {
        double y = nb_layer_path(panel, sensor, c.e),
               by_y = nb_pull_capture(at->layer, y, by->capture);
        if (sensor->mean_depth) {
            by_y += by_R * T * nb_mean_depth_slope(y);
            to->layer_step += by_R * nb_mean_depth(y, nb_stopped(y));
        }
        to->layer_step += by_y * y / T;
        to->mu += by_y * y / sensor->mu;
    }
}

/** Add the slopes of a function of the ray by the panel's position to *to. `by` has the
 * slopes of the function by the ray's direction, solid angle and capture. */
NB_HD void nb_panel_pull(const nb_panel *panel, const nb_sensor *sensor,
                         const nb_pull_point *at, const nb_ray_slope *by,
                         nb_panel_slope *to)
{
    const nb_ray *ray = &at->ray;
    double O = at->layer * sensor->layer_step;
    double radial = nb_pull_omega(panel, at, by->omega * ray->omega, to);
    nb_vec3 X;
    if (panel->curved) {
        nb_pull_curved(panel, sensor, at, by, radial / ray->airpath, to);
        return;
    }
    X = nb_scale(1.0 / ray->airpath, nb_add(nb_across(by->direction, ray->direction),
                                            nb_scale(radial, ray->direction)));
    if (sensor->absorb)
        X = nb_pull_layer(panel, sensor, at, nb_panel_point(panel, at->F, at->S, O),
                          by->capture, X, to);
    nb_pull_flat(panel, at, O, X, to);
}

#endif
