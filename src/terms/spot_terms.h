/* SPDX-License-Identifier: MIT */
/** The terms that a reflection in one orientation adds to a ray (../plan/spots.h), in
 * double. A lane is a ray; its result does not depend on other lanes. */
#ifndef NB_TERMS_SPOT_TERMS_H
#define NB_TERMS_SPOT_TERMS_H

#include "../physics/pixel.h"
#include "../plan/spots.h"
#include "lane.h"

/* ln(2)^k/k!: coefficients of 2^x for |x| <= 1/2. The relative error is 2e-10, a
 * hundredth of a float's rounding. */
#define NB_SPOT_LN2 (NB_LN2_HIGH + NB_LN2_LOW)
#define NB_SPOT_EXP_2 (NB_SPOT_LN2 * NB_SPOT_LN2 / 2)
#define NB_SPOT_EXP_3 (NB_SPOT_LN2 * NB_SPOT_LN2 * NB_SPOT_LN2 / 6)
#define NB_SPOT_EXP_4 (NB_SPOT_LN2 * NB_SPOT_LN2 * NB_SPOT_LN2 * NB_SPOT_LN2 / 24)
#define NB_SPOT_LN2_5                                                                    \
    (NB_SPOT_LN2 * NB_SPOT_LN2 * NB_SPOT_LN2 * NB_SPOT_LN2 * NB_SPOT_LN2)
#define NB_SPOT_EXP_5 (NB_SPOT_LN2_5 / 120)
#define NB_SPOT_EXP_6 (NB_SPOT_LN2_5 * NB_SPOT_LN2 / 720)
#define NB_SPOT_EXP_7 (NB_SPOT_LN2_5 * NB_SPOT_LN2 * NB_SPOT_LN2 / 5040)
#define NB_SPOT_EXP_8 (NB_SPOT_LN2_5 * NB_SPOT_LN2 * NB_SPOT_LN2 * NB_SPOT_LN2 / 40320)

/** A pair of a reflection and an orientation, for the sources of a run (nb_spot_run). */
typedef struct nb_spot_pair {
    const nb_spot *spot;
    const nb_spot_run *run;
    int m; /* orientation */
    double A[3][3], Lh[3];
    double F2;     /* F^2 F_latt^2 at the reflection */
    double R2_max; /* largest R^2 of terms that count */
    const double *offset, *weight, *below;
} nb_spot_pair;

/** The ray to a sub-pixel, as the scalar renderer calculates it. */
typedef struct nb_spot_ray {
    const nb_scene *scene;
    const nb_panel *panel;
    const nb_sensor *sensor;
    const int *sources; /* nb_spots.source */
    int u, v, layer;    /* sub-pixel of the panel */
} nb_spot_ray;

/** R^2 of a ray as a function of a source's `offset`: across2 + slope2 (offset +
 * shift)^2. */
typedef struct nb_spot_line {
    /* last: largest offset that -dmin does not cull */
    double across2, slope2, shift, last;
} nb_spot_line;

/** Reciprocal-lattice vector g of a reflection in an orientation, 1/m. */
NB_HD void nb_spot_point(const nb_spot_cell *cell, const int32_t h[3], double g[3])
{
    for (int x = 0; x < 3; x++)
        g[x] = h[0] * cell->b[0][x] + h[1] * cell->b[1][x] + h[2] * cell->b[2][x];
}

/** F^2 F_latt^2 at the centre of a reflection, with F from the run's table. */
NB_HD double nb_spot_peak(const nb_spots *sp, const nb_factor_table *table,
                          const nb_spot *spot, const nb_spot_run *run)
{
    const int32_t *h = spot->h;
    const double F = nb_F_nearest(table, run->table, h[0], h[1], h[2]);
    return F * F * sp->cells2;
}

/** The pair of a spot and orientation m, for a run; F2: nb_spot_peak. */
NB_HD nb_spot_pair nb_spot_pair_with(const nb_spots *sp, double F2, const nb_spot *spot,
                                     int m, const nb_spot_run *run)
{
    const int32_t *h = spot->h;
    nb_spot_pair pair;
    pair.spot = spot;
    pair.run = run;
    pair.m = m;
    pair.F2 = F2;
    pair.R2_max = spot->reach2 * (1 + NB_SPOT_ROOM);
    pair.offset = sp->offset + run->first;
    pair.weight = sp->weight + run->first;
    pair.below = sp->below + run->first;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++)
            pair.A[i][k] = sp->cells[m].A[i][k];
        pair.Lh[i] = sp->L[i][0] * h[0] + sp->L[i][1] * h[1] + sp->L[i][2] * h[2];
    }
    return pair;
}

NB_HD nb_spot_pair nb_spot_pair_of(const nb_spots *sp, const nb_factor_table *table,
                                   const nb_spot *spot, int m, const nb_spot_run *run)
{
    return nb_spot_pair_with(sp, nb_spot_peak(sp, table, spot, run), spot, m, run);
}

/** The ray to *at, on a flat panel. */
NB_HD nb_ray nb_spot_ray_of(const nb_spot_ray *at)
{
    const int os = at->scene->oversample;
    nb_panel panel = *at->panel;
    panel.curved = 0; /* The compiler can drop the code for curved panels. */
    return nb_ray_to(&panel, at->sensor, nb_edge_point(panel.pixel_fast / os, 1, at->u, 0),
                     nb_edge_point(panel.pixel_slow / os, 1, at->v, 0), at->layer);
}

/** nb_spot_is_lit for a shape that the compiler knows as a constant. */
NB_HD int nb_spot_is_lit_of(const nb_spot_ray *at, const int32_t h[3], int m, int source,
                            int shape)
{
    const nb_scene *sc = at->scene;
    const nb_source *from = &sc->beam.sources[source];
    const nb_ray ray = nb_spot_ray_of(at);
    const nb_vec3 q = nb_scattering_vector(from, ray.direction);
    nb_lattice lattice = sc->lattice;
    lattice.shape = shape;
    const nb_sample p = nb_sample_at(&lattice, &sc->factors.table, from->table,
                                     &sc->lattice.orientations[m], q);
    return p.F_latt != 0 && p.h0 == h[0] && p.k0 == h[1] && p.l0 == h[2];
}

/** True if a source lights this top-hat reflection for a ray, in the arithmetic of the
 * scalar renderer. */
NB_HD_CALL int nb_spot_is_lit(const nb_spot_ray *at, const int32_t h[3], int m, int source)
{
    switch (at->scene->lattice.shape) {
#define NB_DO(number, law, ...)                                                          \
    case number:                                                                         \
        return law == NB_LAW_EDGE && nb_spot_is_lit_of(at, h, m, source, number);
        NB_SHAPES(NB_DO)
#undef NB_DO
    default:
        return 0;
    }
}

/** True if a step lies in a top-hat spot. Near its edge the scalar renderer's arithmetic
 * decides. entry: number of the source in the run. */
NB_HD int nb_spot_tophat_lit(const nb_spot_pair *pair, const nb_spot_ray *at, int entry,
                             double R2)
{
    if (fabs(R2 - pair->spot->reach2) > 0.1 * NB_SPOT_ROOM)
        return R2 < pair->spot->reach2;
    return nb_spot_is_lit(at, pair->spot->h, pair->m,
                          at->sources[pair->run->first + (size_t)entry]);
}

/** Index of the run's first entry (source) whose offset is at least x. */
NB_HD int nb_spot_entry(const nb_spot_pair *pair, double x)
{
    const int n = pair->run->n;
    const double *offset = pair->offset;
    double guess = (x - offset[0]) * pair->run->per;
    int a = guess > 0 ? guess < n ? (int)guess : n : 0; /* NaN: 0 */
    while (a > 0 && offset[a - 1] >= x)
        a--;
    while (offset[a] < x)
        a++;
    return a;
}

/** True if entry i of the run lies in the top-hat spot and -dmin does not cull it. */
NB_HD int nb_spot_entry_lit(const nb_spot_pair *pair, const nb_spot_ray *at,
                            const nb_spot_line *line, int i)
{
    const double off = pair->offset[i] + line->shift;
    return pair->offset[i] <= line->last &&
           nb_spot_tophat_lit(pair, at, i, line->across2 + line->slope2 * off * off);
}

/** Sum of the weights of the sources that light a top-hat spot. */
NB_HD double nb_spot_tophat_weights(const nb_spot_pair *pair, const nb_spot_ray *at,
                                    const nb_spot_line *line)
{
    const int n = pair->run->n;
    double reach = sqrt(fmax(0.0, (pair->spot->reach2 - line->across2) / line->slope2));
    int a = nb_spot_entry(pair, -line->shift - reach), b = a;
    while (b < n && pair->offset[b] <= -line->shift + reach)
        b++;
    while (b > a && !nb_spot_entry_lit(pair, at, line, b - 1))
        b--;
    while (a < b && !nb_spot_entry_lit(pair, at, line, a))
        a++;
    while (b < n && nb_spot_entry_lit(pair, at, line, b))
        b++;
    while (a > 0 && a < b && nb_spot_entry_lit(pair, at, line, a - 1))
        a--;
    if (a == b && a > 0 && nb_spot_entry_lit(pair, at, line, a - 1))
        a--;
    return pair->below[b] - pair->below[a];
}

/** 2^x for -1000 < x <= 0; relative error 2e-10, a hundredth of a float's rounding. */
NB_TERM vd nb_spot_exp2(vd x)
{
    vd power;
    const vd f = x - vd_whole(x, &power);
    vd sum = vd_fma(vd_set(NB_SPOT_EXP_8), f, vd_set(NB_SPOT_EXP_7));
    sum = vd_fma(sum, f, vd_set(NB_SPOT_EXP_6));
    sum = vd_fma(sum, f, vd_set(NB_SPOT_EXP_5));
    sum = vd_fma(sum, f, vd_set(NB_SPOT_EXP_4));
    sum = vd_fma(sum, f, vd_set(NB_SPOT_EXP_3));
    sum = vd_fma(sum, f, vd_set(NB_SPOT_EXP_2));
    sum = vd_fma(sum, f, vd_set(NB_SPOT_LN2));
    return vd_fma(sum, f, vd_set(1)) * power;
}

/** Weight times F_latt^2/cells2 by the law of decay, for a run of one source. near: mask
 * of the lanes with R^2 up to the pair's R2_max. */
NB_TERM vd nb_spot_decay_term(const nb_spots *sp, const nb_spot_pair *pair, vd R2,
                              vd_mask near)
{
    const vd_mask lit = near & (vd_mask)(R2 <= pair->spot->reach2);
    return vd_where(lit, nb_spot_exp2(vd_where(near, R2) * sp->fall)) * pair->weight[0];
}

/** Rays relative to a pair, by lanes. */
typedef struct nb_spot_aim {
    /* A q and kappa A q - L hkl, with q = d - i and the kappa in the middle of the run */
    vd G[3], U[3];
    vd last; /* largest offset that -dmin does not cull */
} nb_spot_aim;

NB_TERM vd nb_spot_last_offset(const nb_spot_pair *pair, double dmin, const vd q[3])
{
    vd q2;
    if (!(dmin > 0))
        return vd_set(1e100);
    q2 = vd_fma(q[0], q[0], vd_fma(q[1], q[1], q[2] * q[2]));
    return vd_pick((vd_mask)(q2 > 0.0),
                   vd_set(1 / dmin) / vd_sqrt(q2) - pair->run->middle, vd_set(1e100));
}

NB_TERM nb_spot_aim nb_spot_aim_of(const nb_spot_pair *pair, double dmin, const vd q[3])
{
    nb_spot_aim aim;
    aim.last = nb_spot_last_offset(pair, dmin, q);
    for (int i = 0; i < 3; i++) {
        const double *A = pair->A[i];
        aim.G[i] = vd_fma(q[0], vd_set(A[0]), vd_fma(q[1], vd_set(A[1]), q[2] * A[2]));
        aim.U[i] = vd_fma(aim.G[i], vd_set(pair->run->middle), vd_set(-pair->Lh[i]));
    }
    return aim;
}

/** R^2 for kappa in the middle of the run. */
NB_TERM vd nb_spot_radius2(const nb_spot_aim *aim)
{
    const vd *U = aim->U;
    return vd_fma(U[0], U[0], vd_fma(U[1], U[1], U[2] * U[2]));
}

/** nb_spot_line by lanes, one for each ray. */
typedef struct nb_spot_lines {
    vd across2, slope2, shift, last;
    vd_divisor by_slope2;
} nb_spot_lines;

/** The lines of a run of several sources. */
NB_TERM nb_spot_lines nb_spot_lines_of(const nb_spot_aim *aim)
{
    const vd *G = aim->G, *U = aim->U;
    nb_spot_aim across;
    nb_spot_lines line;
    line.last = aim->last;
    line.slope2 =
        vd_fma(G[0], G[0], vd_fma(G[1], G[1], vd_fma(G[2], G[2], vd_set(1e-60))));
    line.by_slope2 = vd_divisor_of(line.slope2);
    line.shift =
        vd_divided(vd_fma(U[0], G[0], vd_fma(U[1], G[1], U[2] * G[2])), line.by_slope2);
    /* The distance across the line is small. Its sum has full relative precision. */
    for (int i = 0; i < 3; i++)
        across.U[i] = vd_fnma(line.shift, G[i], U[i]);
    line.across2 = nb_spot_radius2(&across);
    return line;
}

/* Boxes of sub-pixels that a reflection in an orientation may light (../plan/spots.h);
 * sub-pixels outside need no test. A lane is an orientation. Mathematics: plans/paths.md,
 * section 3. */

/** A layer of a panel for a run of sources, in some orientations. */
typedef struct nb_spot_view {
    const nb_spot_plane *plane;
    double depth[2];     /* smallest and largest depth of the layer's rays, m */
    double axis_E[2][3]; /* axis . E of the plane's axes and a cell's semi-axes */
    double n_E[3];       /* n . E of the plane's normal */
    double spread;       /* largest change of axis_E, n_E among cells, per unit length */
    double axis_length[2], incident[3], incident_n, incident_axis[2];
    double shortest, longest; /* wavelengths */
} nb_spot_view;

/** The view of a layer for a run of sources. cell: one of the group's orientations;
 * spread: member of nb_spot_view. */
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

/** Largest distance of d.axis/d.n from `ratio`, for rays d at R = 1, times d.n/lambda. */
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

/** Range of pixels along an axis that rays with d.axis/d.n from ratio[0] to ratio[1] hit. */
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

/** Set to[0] .. to[1] to the sub-pixels, counted from the first of the field, whose
 * middles are in this range of pixels. There are no such sub-pixels if to[0] > to[1]. */
NB_TERM void nb_spot_clip(const vd range[2], const nb_spot_field *field, vd to[2])
{
    const double start = (double)field->first + 0.5, os = field->oversample;
    const vd low = range[0] * os - (start + NB_SPOT_ROOM),
             high = range[1] * os - (start - NB_SPOT_ROOM);
    to[0] = vd_max(-vd_floor(-low), vd_set(0));
    to[1] = vd_min(vd_floor(high), vd_set(field->n - 1));
}

/** Set l[0] .. l[1] to the wavelengths of the view that may excite g; e = incident.g. */
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

/** Set box[axis][0] .. box[axis][1] to the sub-pixels of field[axis] that the reflection
 * may light; g: its reciprocal-lattice vector in each orientation. Returns the mask of
 * lanes whose box has sub-pixels. */
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
