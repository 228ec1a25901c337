/* SPDX-License-Identifier: MIT */
/** Pixels of a row of a flat panel.  Along it points are linear, so that the index of a ray's only term costs two
 * multiply-adds.  F is measured from the row's point nearest to the sample, where |x|^2 = square + F^2.  Plain C, as
 * slope_terms.h. */
#ifndef NB_CUDA_SLOPE_STRIP_H
#define NB_CUDA_SLOPE_STRIP_H

#include "slope_terms.h"

/** A panel, at pix0, by the slow coordinate, by the fast one. */
typedef struct nb_plain_panel {
    nb_vec3 point[3];   /* m */
    double index[3][3]; /* -h times the distance, m; of the only term */
    double nearest[2];  /* F of the nearest point: at pix0, by S */
    double middle[2];   /* F and S about the middle of the pixels that are wanted */
    double square[3];   /* |x|^2 at F = 0: powers of S */
    double pixel[2];    /* edges, fast and slow, m */
    float kahn[3][3];   /* nb_plain_frame.along times x, m */
    float area; /* of the solid angle, times the close distance but for points: m^3 or m^2 */
    int is_point, unused[2];
} nb_plain_panel;

/** A row. */
typedef struct nb_strip {
    nb_vec3 start, fast; /* x = start + F fast, m */
    double index[3][2];  /* the same of nb_plain_panel.index */
    double square, nearest, pixel;
    double middle[2]; /* F of nb_plain_panel.middle here; S from there */
    float kahn[3][2], area;
    int point;
} nb_strip;

/** A point of it. */
typedef struct nb_strip_point {
    double exact_F, exact_r; /* r: 1/distance */
    float F, r;
} nb_strip_point;

/** slow: the row's number. */
NB_TERM nb_strip nb_strip_of(const nb_plain_panel *panel, int slow)
{
    const double S = fma(panel->pixel[1], (double)slow, 0.5 * panel->pixel[1]),
                 F = fma(S, panel->nearest[1], panel->nearest[0]);
    const nb_vec3 *x = panel->point;
    nb_strip row;
    int i;
    row.start.x = fma(F, x[2].x, fma(S, x[1].x, x[0].x));
    row.start.y = fma(F, x[2].y, fma(S, x[1].y, x[0].y));
    row.start.z = fma(F, x[2].z, fma(S, x[1].z, x[0].z));
    row.fast = x[2];
    row.square =
        fma(-F, F, fma(S, fma(S, panel->square[2], panel->square[1]), panel->square[0]));
    row.nearest = F;
    row.middle[0] = panel->middle[0] - F;
    row.middle[1] = S - panel->middle[1];
    row.pixel = panel->pixel[0];
    row.area = panel->area;
    row.point = panel->is_point;
    NB_TERM_EACH
    for (i = 0; i < 3; i++) {
        const double *line = panel->index[i];
        const float *kahn = panel->kahn[i];
        row.index[i][0] = fma(F, line[2], fma(S, line[1], line[0]));
        row.index[i][1] = line[2];
        row.kahn[i][0] = fmaf((float)F, kahn[2], fmaf((float)S, kahn[1], kahn[0]));
        row.kahn[i][1] = kahn[2];
    }
    return row;
}

/** f: the pixel's column and a half. */
NB_TERM nb_strip_point nb_strip_point_of(const nb_strip *row, double f)
{
    nb_strip_point at;
    at.exact_F = fma(f, row->pixel, -row->nearest);
    at.exact_r = nb_term_inverse_root(fma(at.exact_F, at.exact_F, row->square));
    at.F = (float)at.exact_F;
    at.r = (float)at.exact_r;
    return at;
}

NB_TERM nb_vec3 nb_strip_direction(const nb_strip *row, const nb_strip_point *at)
{
    nb_vec3 d;
    d.x = fma(at->exact_F, row->fast.x, row->start.x) * at->exact_r;
    d.y = fma(at->exact_F, row->fast.y, row->start.y) * at->exact_r;
    d.z = fma(at->exact_F, row->fast.z, row->start.z) * at->exact_r;
    return d;
}

#endif
