/* SPDX-License-Identifier: MIT */
/** Boxes of sub-pixels that a reflection may reach in an orientation (../plan/spots.h); other
 * sub-pixels need no test. A lane is an orientation. Mathematics: plans/fast_paths.md, section
 * 3. */
#ifndef NB_TERMS_SPOT_BOXES_H
#define NB_TERMS_SPOT_BOXES_H

#include "../plan/spot_tests.h"
#include "lane.h"

/** A layer of a panel for a run of sources, in some orientations. */
typedef struct nb_spot_view {
    const nb_spot_plane *plane;
    double depth[2];     /* coordinates of the ends of the layer's rays */
    double axis_E[2][3]; /* the panel's vectors times the semi-axes of a cell */
    double n_E[3];
    double spread; /* of these among the orientations' cells, for a unit vector */
    double axis_length[2], incident[3], incident_n, incident_axis[2];
    double shortest, longest; /* wavelengths */
} nb_spot_view;

/** cell: of one of the orientations. */
NB_HD nb_spot_view nb_spot_view_of(const nb_spot_plane *plane, const nb_sensor *sensor,
                                   int layer, const nb_spot_run *run,
                                   const nb_spot_cell *cell, double spread)
{
    nb_spot_view view;
    view.plane = plane;
    view.depth[0] = layer * sensor->layer_step;
    view.depth[1] = (layer + (sensor->mean_depth ? 1 : 0)) * sensor->layer_step;
    view.spread = spread;
    view.shortest = run->shortest;
    view.longest = run->longest;
    nb_spot_array(run->incident, view.incident);
    view.incident_n = nb_spot_dot(view.incident, plane->n);
    NB_TERM_EACH
    for (int i = 0; i < 3; i++) {
        const double E[3] = {cell->E[0][i], cell->E[1][i], cell->E[2][i]};
        view.n_E[i] = nb_spot_dot(plane->n, E);
        NB_TERM_EACH
        for (int k = 0; k < 2; k++)
            view.axis_E[k][i] = nb_spot_dot(plane->axis[k], E);
    }
    NB_TERM_EACH
    for (int k = 0; k < 2; k++) {
        view.axis_length[k] = sqrt(nb_spot_dot(plane->axis[k], plane->axis[k]));
        view.incident_axis[k] = nb_spot_dot(view.incident, plane->axis[k]);
    }
    return view;
}

NB_TERM vd nb_spot_along(const vd a[3], const double b[3])
{
    return vd_fma(a[0], vd_set(b[0]), vd_fma(a[1], vd_set(b[1]), a[2] * b[2]));
}

/** Largest distance of d.axis/d.n of a ray at R = 1 from `ratio`, times d.n/lambda. */
NB_TERM vd nb_spot_width(const nb_spot_view *view, int axis, vd ratio)
{
    vd sum = vd_set(0);
    NB_TERM_EACH
    for (int i = 0; i < 3; i++) {
        const vd y = vd_fnma(ratio, vd_set(view->n_E[i]), vd_set(view->axis_E[axis][i]));
        sum = vd_fma(y, y, sum);
    }
    return vd_sqrt(sum) + view->spread * (vd_max(ratio, -ratio) + view->axis_length[axis]);
}

/** Pixels along an axis of rays with d.axis/d.n from ratio[0] to ratio[1]: nb_spot_extent. */
NB_TERM void nb_spot_reached(const nb_spot_view *view, int axis, const vd ratio[2],
                             vd range[2])
{
    const nb_spot_plane *plane = view->plane;
    const double scale = 1 / plane->pixel[axis];
    const int depths = view->depth[0] < view->depth[1] ? 2 : 1;
    NB_TERM_EACH
    for (int i = 0; i < 2 * depths; i++) {
        const double O = view->depth[i >> 1],
                     z = (plane->height + O * plane->rise) * scale,
                     start = (plane->start[axis] + O * plane->lean[axis]) * scale;
        const vd x = ratio[i & 1] * z - start;
        range[0] = i ? vd_min(range[0], x) : x;
        range[1] = i ? vd_max(range[1], x) : x;
    }
}

/** Sub-pixels first .. first + n - 1 along an axis. */
typedef struct nb_spot_field {
    int oversample, first, n;
} nb_spot_field;

/** Sub-pixels whose middles are between these pixels: to[0] .. to[1], counted from the first; none
 * if to[0] > to[1]. */
NB_TERM void nb_spot_clip(const vd range[2], const nb_spot_field *field, vd to[2])
{
    const double start = (double)field->first + 0.5, os = field->oversample;
    const vd low = range[0] * os - (start + NB_SPOT_ROOM),
             high = range[1] * os - (start - NB_SPOT_ROOM);
    to[0] = vd_max(-vd_floor(-low), vd_set(0));
    to[1] = vd_min(vd_floor(high), vd_set(field->n - 1));
}

/** Wavelengths of the view that may excite g, e = incident.g: from l[0] to l[1]. */
NB_TERM void nb_spot_wavelengths(const nb_spots *sp, const nb_spot_view *view,
                                 const nb_spot *spot, vd e, vd l[2])
{
    const double slack = nb_spot_slack(sp, spot->reach2), per = 2 / spot->g2;
    l[0] = vd_set(view->shortest);
    l[1] = vd_set(view->longest);
    if (spot->g2 > 0) {
        l[0] = vd_max(l[0], (-e - slack) * per);
        l[1] = vd_min(l[1], (slack - e) * per);
    }
}

/** The sub-pixels box[axis][0] .. box[axis][1] of two fields, one for each axis; g: of the
 * reflection in the orientations. Returns the mask of lanes with any. */
NB_TERM vd_mask nb_spot_box_of(const nb_spots *sp, const nb_spot_view *view,
                               const nb_spot *spot, const vd g[3],
                               const nb_spot_field field[2], vd box[2][2])
{
    const nb_spot_plane *plane = view->plane;
    const double rho = nb_spot_distance(sp, spot->reach2),
                 reach = sqrt(spot->reach2) * (1 + NB_SPOT_ROOM);
    vd l[2], w[2], far, least;
    vd_mask lit, boxed;
    nb_spot_wavelengths(sp, view, spot, nb_spot_along(g, view->incident), l);
    far = l[1] * rho;
    NB_TERM_EACH
    for (int j = 0; j < 2; j++)
        w[j] = vd_fma(l[j], nb_spot_along(g, plane->n), vd_set(view->incident_n));
    lit = (vd_mask)(l[0] <= l[1]) & (vd_mask)(vd_max(w[0], w[1]) + far >= 0.0);
    least = vd_min(w[0], w[1]) - far;
    boxed = (vd_mask)(least > NB_SPOT_GRAZING);
    NB_TERM_EACH
    for (int k = 0; k < 2; k++) {
        const vd along = nb_spot_along(g, plane->axis[k]);
        vd ratio[2], off = vd_set(0), ends[2], range[2];
        NB_TERM_EACH
        for (int j = 0; j < 2; j++) { /* at both ends of the wavelengths */
            ratio[j] = vd_fma(l[j], along, vd_set(view->incident_axis[k])) / w[j];
            off = vd_max(off, nb_spot_width(view, k, ratio[j]));
        }
        off *= reach * l[1] / least;
        ends[0] = vd_min(ratio[0], ratio[1]) - off;
        ends[1] = vd_max(ratio[0], ratio[1]) + off;
        nb_spot_reached(view, k, ends, range);
        nb_spot_clip(range, &field[k], box[k]);
        box[k][0] = vd_pick(boxed, box[k][0], vd_set(0));
        box[k][1] = vd_pick(boxed, box[k][1], vd_set(field[k].n - 1));
        lit &= (vd_mask)(box[k][0] <= box[k][1]);
    }
    return lit;
}

#endif
