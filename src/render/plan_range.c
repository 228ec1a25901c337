/* SPDX-License-Identifier: MIT */
/* Which Miller indices a region of the detector can see. */
#include "../physics/ray.h"
#include "plan.h"

/** Directions within an angle of an axis. */
typedef struct cone {
    nb_vec3 axis;
    double cos_angle, sin_angle; /* cos -1: every direction */
} cone;

/** Directions of the eight corners of the sensor under the region of interest. */
static void corner_directions(const nb_scene *sc, nb_vec3 d[8])
{
    const nb_region *roi = &sc->raster.roi;
    const nb_panel *panel = sc->panels;
    const nb_sensor *sensor = sc->sensors;
    double F[2], S[2], O[2];
    int i;
    F[0] = roi->fmin * panel->pixel_fast;
    F[1] = (roi->fmax + 1) * panel->pixel_fast;
    S[0] = roi->smin * panel->pixel_slow;
    S[1] = (roi->smax + 1) * panel->pixel_slow;
    O[0] = 0;
    O[1] = sensor->layers * sensor->layer_step;
    for (i = 0; i < 8; i++)
        d[i] = nb_unit(nb_panel_point(panel, F[i & 1], S[i >> 1 & 1], O[i >> 2]));
}

/** The corners' cone holds all of a flat sensor: a cone narrower than 90 degrees is
 * convex.  A curved detector, or a very wide flat one, gets every direction. */
static cone visible_cone(const nb_scene *sc)
{
    cone all = {{1, 0, 0}, -1, 0}, c = all;
    nb_vec3 d[8];
    int i;
    if (sc->panels->curved)
        return all;
    corner_directions(sc, d);
    c.axis = nb_v3(0, 0, 0);
    for (i = 0; i < 8; i++)
        c.axis = nb_add(c.axis, d[i]);
    c.axis = nb_unit(c.axis);
    c.cos_angle = 1;
    for (i = 0; i < 8; i++)
        c.cos_angle = fmin(c.cos_angle, nb_dot(c.axis, d[i]));
    if (!(c.cos_angle > 0.02))
        return all;
    c.sin_angle = sqrt(fmax(0, 1 - c.cos_angle * c.cos_angle));
    return c;
}

/** Extremes of a.d over the cone: |a| cos of the angle between a and its nearest and
 * farthest direction. */
static void cone_extremes(const cone *c, nb_vec3 a, double *low, double *high)
{
    double length = nb_norm(a), along, across;
    if (c->cos_angle < 0) {
        *low = -length;
        *high = length;
        return;
    }
    along = nb_dot(a, c->axis);
    across = sqrt(fmax(0, length * length - along * along));
    *high = along >= length * c->cos_angle ? length
                                           : along * c->cos_angle + across * c->sin_angle;
    *low = -along >= length * c->cos_angle ? -length
                                           : along * c->cos_angle - across * c->sin_angle;
}

static void widen(nb_hkl_range *r, int axis, double low, double high)
{
    /* !(<=) lets a NaN through, which no table accepts */
    if (!(r->min[axis] <= low))
        r->min[axis] = low;
    if (!(r->max[axis] >= high))
        r->max[axis] = high;
}

nb_hkl_range nb_visible_range(const nb_scene *sc)
{
    cone c = visible_cone(sc);
    nb_hkl_range r = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    int m, s, axis;
    for (m = 0; m < sc->lattice.n_orientations; m++) {
        const nb_vec3 cell[3] = {sc->lattice.orientations[m].a,
                                 sc->lattice.orientations[m].b,
                                 sc->lattice.orientations[m].c};
        for (axis = 0; axis < 3; axis++) {
            double low, high;
            cone_extremes(&c, cell[axis], &low, &high);
            for (s = 0; s < sc->beam.n_sources; s++) {
                double beam = nb_dot(cell[axis], sc->beam.sources[s].incident);
                widen(&r, axis, (low - beam) / sc->beam.sources[s].lambda,
                      (high - beam) / sc->beam.sources[s].lambda);
            }
        }
    }
    return r;
}
