/* SPDX-License-Identifier: MIT */
/** The boxes of sub-pixels that a reflection may light, of NB_H orientations at once, for the instruction set that this
 * file is compiled for. */
#ifndef NB_RENDER_KERNEL_SPOT_BOXES_H
#define NB_RENDER_KERNEL_SPOT_BOXES_H

#include "kernel_rays.h"
#include "spot_tile.h"

#include "../terms/spot_boxes.h"

/** What the boxes of a group of orientations share, for one run of sources. */
typedef struct spot_view {
    int group; /* -1: none yet */
    nb_spot_view of;
} spot_view;

static void look_at_group(const nb_spot_tile *t, int group, spot_view *view)
{
    const nb_spots *sp = t->spots;
    view->group = group;
    view->of = nb_spot_view_of(t->plane, &t->plan->sensor, t->layer, sp->runs,
                               &sp->cells[sp->groups[group].first],
                               sp->axis * sp->groups[group].chord);
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

/** nb_spot_box of NB_H orientations, where there is one run of sources.  Returns where there are any sub-pixels. */
static vl boxes_of(const nb_spot_tile *t, const spot_view *view, const nb_spot *spot,
                   const int *m, vd box[2][2])
{
    const int os = t->plan->scene.oversample;
    const nb_spot_field field[2] = {{os, t->f0 * os, t->nu}, {os, t->s0 * os, t->nv}};
    vd g[3];
    points_of(t->spots, spot, m, g);
    return nb_spot_box_of(t->spots, &view->of, spot, g, field, box);
}

#endif
