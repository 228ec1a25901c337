/* SPDX-License-Identifier: MIT */
/** The boxes of sub-pixels that a reflection may light, of NB_H orientations at once, for the instruction set that this
 * file is compiled for. */
#ifndef NB_RENDER_KERNEL_SPOT_BOXES_H
#define NB_RENDER_KERNEL_SPOT_BOXES_H

#include "kernel_rays.h"
#include "spot_tile.h"

#include "../terms/spot_terms.h"

/** What all boxes of a group of orientations share on a panel, for one run of sources (nb_spot_seen). */
typedef struct spot_view {
    int group;           /* -1: none yet */
    double axis_E[2][3]; /* the panel's vectors times the semi-axes of the group's first cell */
    double n_E[3];
    double spread; /* of these among the group's cells, for a unit vector */
    double axis_length[2], incident[3], incident_n, incident_axis[2];
    nb_spot_screen screen;
} spot_view;

static void look_at_group(const nb_spot_tile *t, int group, spot_view *view)
{
    const nb_spots *sp = t->spots;
    const nb_spot_plane *plane = t->plane;
    const nb_spot_cell *cell = &sp->cells[sp->groups[group].first];
    view->group = group;
    view->spread = sp->axis * sp->groups[group].chord;
    view->screen = nb_spot_screen_of(plane, &t->plan->sensor, t->layer);
    nb_spot_array(sp->runs->incident, view->incident);
    view->incident_n = nb_spot_dot(view->incident, plane->n);
    for (int i = 0; i < 3; i++) {
        const double E[3] = {cell->E[0][i], cell->E[1][i], cell->E[2][i]};
        view->n_E[i] = nb_spot_dot(plane->n, E);
        for (int k = 0; k < 2; k++)
            view->axis_E[k][i] = nb_spot_dot(plane->axis[k], E);
    }
    for (int k = 0; k < 2; k++) {
        view->axis_length[k] = sqrt(nb_spot_dot(plane->axis[k], plane->axis[k]));
        view->incident_axis[k] = nb_spot_dot(view->incident, plane->axis[k]);
    }
}

NB_INLINE vd vd_dot(const vd a[3], const double b[3])
{
    return vd_fma(a[0], vd_set(b[0]), vd_fma(a[1], vd_set(b[1]), a[2] * b[2]));
}

/** g of a reflection in NB_H orientations. */
NB_INLINE void points_of(const nb_spots *sp, const nb_spot *spot, const int *m, vd g[3])
{
    const double *row[NB_H];
    vd b[9];
    for (int i = 0; i < NB_H; i++) {
        row[i] = sp->cells[m[i]].b[0];
        b[8][i] = sp->cells[m[i]].b[2][2];
    }
    vd_columns(row, b);
    for (int x = 0; x < 3; x++)
        g[x] = vd_fma(b[x], vd_set(spot->h[0]),
                      vd_fma(b[3 + x], vd_set(spot->h[1]), b[6 + x] * (double)spot->h[2]));
}

/** No less than nb_spot_width of the group's cells by sqrt(reach2). */
NB_INLINE vd width_of(const spot_view *view, int k, vd ratio)
{
    vd sum = {0};
    for (int i = 0; i < 3; i++) {
        const vd y = vd_fnma(ratio, vd_set(view->n_E[i]), vd_set(view->axis_E[k][i]));
        sum = vd_fma(y, y, sum);
    }
    return vd_sqrt(sum) + view->spread * (vd_max(ratio, -ratio) + view->axis_length[k]);
}

/** nb_spot_extent. */
NB_INLINE void extent_of(const nb_spot_screen *screen, int k, const vd ratio[2],
                         vd range[2])
{
    const nb_spot_plane *plane = screen->plane;
    const double scale = 1 / plane->pixel[k];
    const int depths = screen->depth[0] < screen->depth[1] ? 2 : 1;
    for (int i = 0; i < 2 * depths; i++) {
        const double O = screen->depth[i >> 1],
                     z = (plane->height + O * plane->rise) * scale,
                     start = (plane->start[k] + O * plane->lean[k]) * scale;
        const vd x = ratio[i & 1] * z - start;
        range[0] = i ? vd_min(range[0], x) : x;
        range[1] = i ? vd_max(range[1], x) : x;
    }
}

/** nb_spot_clip: whole numbers to[0] .. to[1]; empty where to[0] > to[1]. */
NB_INLINE void clip_of(const vd range[2], int oversample, int first, int n, vd to[2])
{
    const double start = (double)first + 0.5;
    const vd low = range[0] * (double)oversample - (start + NB_SPOT_ROOM),
             high = range[1] * (double)oversample - (start - NB_SPOT_ROOM);
    const vd a = vd_round(low), b = vd_round(high);
    to[0] = vd_max(vd_pick((vl)(a < low), a + 1.0, a), vd_set(0));
    to[1] = vd_min(vd_pick((vl)(b > high), b - 1.0, b), vd_set(n - 1));
}

/** nb_spot_box of NB_H orientations, where there is one run of sources: sub-pixels box[axis][0] ..
 * box[axis][1] of the tile.  Returns where there are any. */
static vl boxes_of(const nb_spot_tile *t, const spot_view *view, const nb_spot *spot,
                   const int *m, vd box[2][2])
{
    const nb_spots *sp = t->spots;
    const nb_spot_plane *plane = t->plane;
    const double slack = nb_spot_slack(sp, spot->reach2), os = t->plan->scene.oversample,
                 rho = nb_spot_distance(sp, spot->reach2), per = 2 / spot->g2,
                 reach = sqrt(spot->reach2) * (1 + NB_SPOT_ROOM);
    const int first[2] = {t->f0, t->s0}, n[2] = {t->nu, t->nv};
    vd g[3], e, l[2], w[2], far, least;
    vl lit, anywhere;
    points_of(sp, spot, m, g);
    e = vd_dot(g, view->incident);
    l[0] = vd_set(sp->runs->shortest);
    l[1] = vd_set(sp->runs->longest);
    if (spot->g2 > 0) {
        l[0] = vd_max(l[0], (-e - slack) * per);
        l[1] = vd_min(l[1], (slack - e) * per);
    }
    far = l[1] * rho;
    for (int j = 0; j < 2; j++)
        w[j] = vd_fma(l[j], vd_dot(g, plane->n), vd_set(view->incident_n));
    lit = (vl)(l[0] <= l[1]) & (vl)(vd_max(w[0], w[1]) + far >= 0.0);
    least = vd_min(w[0], w[1]) - far;
    anywhere = ~(vl)(least > NB_SPOT_GRAZING);
    for (int k = 0; k < 2; k++) {
        const vd along = vd_dot(g, plane->axis[k]);
        vd ratio[2], off = vd_set(0), ends[2], range[2];
        for (int j = 0; j < 2; j++) {
            ratio[j] = vd_fma(l[j], along, vd_set(view->incident_axis[k])) / w[j];
            off = vd_max(off, width_of(view, k, ratio[j]));
        }
        off *= reach * l[1] / least;
        ends[0] = vd_min(ratio[0], ratio[1]) - off;
        ends[1] = vd_max(ratio[0], ratio[1]) + off;
        extent_of(&view->screen, k, ends, range);
        clip_of(range, (int)os, first[k] * (int)os, n[k], box[k]);
        box[k][0] = vd_pick(anywhere, vd_set(0), box[k][0]);
        box[k][1] = vd_pick(anywhere, vd_set(n[k] - 1), box[k][1]);
        lit &= (vl)(box[k][0] <= box[k][1]);
    }
    return lit;
}

#endif
