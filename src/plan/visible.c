/* SPDX-License-Identifier: MIT */
/* Find the reflections that the rendered pixels can see. */
#include "../base/memory.h"
#include "../physics/panels.h"
#include "../physics/ray.h"
#include "plan.h"

/* A box with more reflections than COARSE is found again with SIDE x SIDE patches of each
 * panel. */
enum { SIDE = 4, COARSE = 1 << 21 };

/** Extremes of fractional indices h, k and l. */
typedef struct index_range {
    double min[3], max[3];
} index_range;

/* The cone around the corners of a flat patch contains the patch, since a cone of less
 * than 90 degrees is convex. */
nb_cone nb_cone_of(const nb_panel *panel, const nb_sensor *sensor, const double F[2],
                   const double S[2])
{
    const double O[2] = {0, sensor->layers * sensor->layer_step};
    nb_cone all = {{1, 0, 0}, -1, 0}, c = {{0, 0, 0}, 1, 0};
    nb_vec3 d[8];
    if (panel->curved)
        return all;
    for (int i = 0; i < 8; i++) {
        d[i] = nb_unit(nb_panel_point(panel, F[i & 1], S[i >> 1 & 1], O[i >> 2]));
        c.axis = nb_add(c.axis, d[i]);
    }
    c.axis = nb_unit(c.axis);
    for (int i = 0; i < 8; i++)
        c.cos_angle = fmin(c.cos_angle, nb_dot(c.axis, d[i]));
    if (!(c.cos_angle > 0.02))
        return all;
    c.sin_angle = sqrt(fmax(0, 1 - c.cos_angle * c.cos_angle));
    return c;
}

/** Position of edge number i if pixels first..last are divided into `side` equal
 * parts. */
static double part(int first, int last, int i, int side)
{
    return first + (double)i * (last + 1 - first) / side;
}

/** Cones of the rendered pixels. Returns their number. */
static int panel_cones(const nb_scene *sc, const nb_panel *panel, int side, nb_cone *cones)
{
    const nb_sensor *sensor = &sc->sensors[panel->sensor];
    const nb_region r = nb_panel_region(sc, panel);
    if (nb_region_pixels(r) == 0)
        return 0;
    for (int i = 0; i < side * side; i++) {
        double F[2], S[2];
        for (int k = 0; k < 2; k++) {
            F[k] = part(r.fmin, r.fmax, i % side + k, side) * panel->pixel_fast;
            S[k] = part(r.smin, r.smax, i / side + k, side) * panel->pixel_slow;
        }
        cones[i] = nb_cone_of(panel, sensor, F, S);
    }
    return side * side;
}

/** Widen [*low, *high] by the extremes of a.d over the cone: |a| times the cosines of the
 * smallest and largest angle between a and d. */
static void widen_by_cone(const nb_cone *c, nb_vec3 a, double *low, double *high)
{
    double length = nb_norm(a), along, across, least = -length, largest = length;
    if (c->cos_angle >= 0) {
        along = nb_dot(a, c->axis);
        across = sqrt(fmax(0, length * length - along * along));
        if (along < length * c->cos_angle)
            largest = along * c->cos_angle + across * c->sin_angle;
        if (-along < length * c->cos_angle)
            least = along * c->cos_angle - across * c->sin_angle;
    }
    *low = fmin(*low, least);
    *high = fmax(*high, largest);
}

/** Widen the range by the indices along an axis of a cell for every source, with a.d in [low,
 * high]. */
static void widen(index_range *r, int axis, nb_vec3 a, const nb_beam *beam, double low,
                  double high)
{
    for (int s = 0; s < beam->n_sources; s++) {
        const nb_source *source = &beam->sources[s];
        double at = nb_dot(a, source->incident);
        r->min[axis] = fmin(r->min[axis], (low - at) / source->lambda);
        r->max[axis] = fmax(r->max[axis], (high - at) / source->lambda);
    }
}

static index_range range_of(const nb_scene *sc, const nb_cone *cones, int n_cones)
{
    index_range r = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    int m, axis, i;
    for (m = 0; m < sc->lattice.n_orientations; m++) {
        const nb_orientation *u = &sc->lattice.orientations[m];
        const nb_vec3 cell[3] = {u->a, u->b, u->c};
        for (axis = 0; axis < 3; axis++) {
            double low = INFINITY, high = -INFINITY;
            for (i = 0; i < n_cones; i++)
                widen_by_cone(&cones[i], cell[axis], &low, &high);
            widen(&r, axis, cell[axis], &sc->beam, low, high);
        }
    }
    return r;
}

static nb_index_box negated(const index_range *r)
{
    nb_index_box box;
    int axis;
    for (axis = 0; axis < 3; axis++) { /* a margin of one for rounding */
        int32_t low = (int32_t)floor(r->min[axis]) - 1;
        int32_t high = (int32_t)ceil(r->max[axis]) + 1;
        box.low[axis] = -high;
        box.n[axis] = high - low + 1;
    }
    return box;
}

static nb_index_box box_by(const nb_scene *sc, int side, nb_cone *cones)
{
    index_range range;
    int i, n = 0;
    for (i = 0; i < sc->n_panels; i++)
        n += panel_cones(sc, &sc->panels[i], side, cones + n);
    range = range_of(sc, cones, n);
    return negated(&range);
}

nb_status nb_largest_q(const nb_scene *sc, double *q, nb_error *err)
{
    nb_cone *cones = nb_alloc((size_t)sc->n_panels, sizeof *cones, "panels", err);
    int i, s, n = 0;
    *q = 0;
    if (!cones)
        return NB_ERR_NOMEM;
    for (i = 0; i < sc->n_panels; i++)
        n += panel_cones(sc, &sc->panels[i], 1, cones + n);
    for (s = 0; s < sc->beam.n_sources; s++)
        for (i = 0; i < n; i++) {
            const nb_source *source = &sc->beam.sources[s];
            double low = INFINITY, high = -INFINITY;
            widen_by_cone(&cones[i], source->incident, &low, &high);
            *q = fmax(*q, sqrt(fmax(0, 2 - 2 * low)) / source->lambda);
        }
    nb_free(cones);
    return NB_OK;
}

nb_status nb_visible_box(const nb_plan *plan, nb_index_box *box, nb_error *err)
{
    const nb_scene *sc = plan->scene;
    nb_cone *cones =
        nb_alloc((size_t)sc->n_panels * SIDE * SIDE, sizeof *cones, "panels", err);
    if (!cones)
        return NB_ERR_NOMEM;
    *box = box_by(sc, 1, cones);
    if (nb_index_box_count(box) > COARSE)
        *box = box_by(sc, SIDE, cones);
    nb_free(cones);
    return NB_OK;
}
