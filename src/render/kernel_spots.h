/* SPDX-License-Identifier: MIT */
/** The terms of a tile's reflections (spot_tile.h), for the instruction set that this file is compiled
 * for.  Everything is in double.  What a ray gets depends on its own tests alone: boxes, windows of
 * orientations and of sources only save work. */
#ifndef NB_RENDER_KERNEL_SPOTS_H
#define NB_RENDER_KERNEL_SPOTS_H

#include "../plan/spot_terms.h"
#include "kernel_rays.h"
#include "spot_tile.h"

#define NB_SPOT_PASTE2(a, b) a##b
#define NB_SPOT_PASTE(a, b) NB_SPOT_PASTE2(a, b)
#define NB_SPOT_KERNEL NB_SPOT_PASTE(nb_spots_, NB_KERNEL_ISA)

NB_INLINE vd vd_load(const double *from)
{
    vd x;
    memcpy(&x, from, sizeof x);
    return x;
}

NB_INLINE void vd_store(double *to, vd x)
{
    memcpy(to, &x, sizeof x);
}

NB_INLINE vd vd_and(vl mask, vd x)
{
    return (vd)(mask & (vl)x);
}

NB_INLINE double vd_sum(vd x)
{
    double sum = 0;
    for (int i = 0; i < NB_H; i++)
        sum += x[i];
    return sum;
}

static const double nb_spot_exp2_terms[9] = {1.0,           NB_SPOT_LN2,   NB_SPOT_EXP_2,
                                             NB_SPOT_EXP_3, NB_SPOT_EXP_4, NB_SPOT_EXP_5,
                                             NB_SPOT_EXP_6, NB_SPOT_EXP_7, NB_SPOT_EXP_8};

/** 2^x for -1000 < x <= 0: relative error 2e-10, a hundredth of a float's. */
NB_INLINE vd spot_exp2(vd x)
{
    const vd n = vd_round(x);
    return vd_horner(nb_spot_exp2_terms, 8, x - n) * vd_exp2_whole(n);
}

/* ------------------------------------------------------------------ rays of a tile */

/** Rays to NB_W sub-pixels in a row of a layer, and what each counts. */
NB_INLINE rays spot_rays(const nb_spot_tile *t, const row_line *line,
                         const layer_row *deep, vd2 F, vd2 *factor)
{
    const nb_vector_plan *p = t->plan;
    rays r;
    r.x = vd2_scale_add(F, line->V.x, vd2_set(line->U.x));
    r.y = vd2_scale_add(F, line->V.y, vd2_set(line->U.y));
    r.z = vd2_scale_add(F, line->V.z, vd2_set(line->U.z));
    *factor = vd2_set(1);
    if (p->sensor.mean_depth) {
        vd2 r2 = square_of(&r), depth, captured;
        r.inv_r = vd2_rsqrt(r2);
        depth = depth_of(deep, F, vd2_mul(r2, r.inv_r), r.inv_r, &captured);
        go_deep(&r, deep, p->panel.normal, depth);
        if (p->sensor.absorb)
            *factor = captured;
    } else {
        aim(&r);
        if (p->sensor.absorb)
            *factor = capture(p, &r, t->layer);
    }
    if (p->scene.oversample_omega)
        *factor = vd2_mul(*factor, solid_angle(&p->panel, &r));
    return r;
}

/** Make the rays of row v of sub-pixels, if they are not there. */
NB_STAGE void aim_row(nb_spot_tile *t, int v)
{
    const nb_vector_plan *p = t->plan;
    const int os = p->scene.oversample, s = t->s0 + v / os;
    const row_line line = line_of(p, s, v % os, t->layer);
    const layer_row deep = layer_row_of(p, &line, t->layer);
    const size_t row = (size_t)v * t->pitch;
    vd lane = {0};
    for (int i = 0; i < NB_H; i++)
        lane[i] = i + 0.5;
    for (int u = 0; u < t->nu; u += NB_W) {
        const vd at = lane + ((double)t->f0 * os + u);
        const vd2 F = {at * p->edge, (at + (double)NB_H) * p->edge};
        vd2 factor;
        rays r = spot_rays(t, &line, &deep, F, &factor);
        double *to[] = {t->x + row + u, t->y + row + u, t->z + row + u,
                        t->factor + row + u};
        const vd2 from[] = {r.x, r.y, r.z, factor};
        for (int i = 0; i < 4; i++) {
            vd_store(to[i], from[i].a);
            vd_store(to[i] + NB_H, from[i].b);
        }
    }
    t->aimed[v] = 1;
    if (!t->touched[v])
        memset(t->sum + row, 0, t->pitch * sizeof *t->sum);
    t->touched[v] = 1;
}

/* ------------------------------------------------------------------ one reflection, one orientation */

/** The ray to sub-pixel (u, v) of a tile. */
NB_INLINE nb_spot_ray spot_ray_at(const nb_spot_tile *t, int u, int v)
{
    const int os = t->spots->scene->oversample;
    const nb_spot_ray at = {t->spots->scene,  &t->plan->panel, &t->plan->sensor,
                            t->spots->source, t->f0 * os + u,  t->s0 * os + v,
                            t->layer};
    return at;
}

/** nb_spot_line of NB_H rays, and their first and last offset within reach. */
typedef struct spot_lines {
    vd across2, slope2, shift, last, low, high;
} spot_lines;

/** Sum of weight exp(-2 R^2/width) over the sources within reach of ray i. */
NB_INLINE double gauss_weights(const nb_spot_pair *pair, const spot_lines *lines, int i)
{
    const vd across = vd_set(lines->across2[i] * NB_SPOT_FALL),
             slope = vd_set(lines->slope2[i] * NB_SPOT_FALL);
    const double shift = lines->shift[i], high = lines->high[i];
    vd sum = {0};
    for (int a = nb_spot_entry(pair, lines->low[i]); pair->offset[a] <= high; a += NB_H) {
        const vd offset = vd_load(pair->offset + a), k = offset + shift;
        const vl in = (vl)(offset <= vd_set(high));
        const vd power = vd_and(in, vd_fma(k * k, slope, across));
        sum = vd_fma(spot_exp2(power), vd_and(in, vd_load(pair->weight + a)), sum);
    }
    return vd_sum(sum);
}

NB_INLINE double tophat_weights(const nb_spot_tile *t, const nb_spot_pair *pair,
                                const spot_lines *lines, int i, int u, int v)
{
    const nb_spot_line line = {lines->across2[i], lines->slope2[i], lines->shift[i],
                               lines->last[i], 0};
    const nb_spot_ray at = spot_ray_at(t, u + i, v);
    return nb_spot_tophat_weights(pair, &at, &line);
}

/** Weights of the rays whose bits are set; 0 of the others. */
static vd weights_of(const nb_spot_tile *t, const nb_spot_pair *pair,
                     const spot_lines *lines, unsigned lanes, int u, int v)
{
    vd sum = {0};
    for (; lanes; lanes &= lanes - 1) {
        const int i = __builtin_ctz(lanes);
        sum[i] = t->tophat ? tophat_weights(t, pair, lines, i, u, v)
                           : gauss_weights(pair, lines, i);
    }
    return sum;
}

/** Largest offset that -dmin leaves, for each ray; q: d - i. */
NB_INLINE vd last_offsets(const nb_spot_tile *t, const nb_spot_pair *pair, const vd q[3])
{
    const double dmin = t->plan->scene.factors.dmin;
    vd q2;
    if (!(dmin > 0))
        return vd_set(1e100);
    q2 = vd_fma(q[0], q[0], vd_fma(q[1], q[1], q[2] * q[2]));
    return vd_pick((vl)(q2 > 0.0), vd_set(1 / dmin) / vd_sqrt(q2) - pair->run->middle,
                   vd_set(1e100));
}

/** One source: R^2 of each ray decides. */
static vd one_source(const nb_spot_tile *t, const nb_spot_pair *pair, vd R2, vd last,
                     int u, int v)
{
    const vl near = (vl)(R2 <= pair->most) & (vl)(last >= vd_set(pair->offset[0]));
    vd sum = {0};
    if (!vl_any(near))
        return sum;
    if (!t->tophat)
        return vd_and(near & (vl)(R2 <= pair->spot->reach2),
                      spot_exp2(vd_and(near, R2) * NB_SPOT_FALL)) *
               pair->weight[0];
    for (int i = 0; i < NB_H; i++)
        if (near[i] && u + i < t->nu) {
            const nb_spot_ray at = spot_ray_at(t, u + i, v);
            if (nb_spot_tophat_lit(pair, &at, 0, R2[i]))
                sum[i] = pair->weight[0];
        }
    return sum;
}

/** Weighted F_latt^2/cells^2 of NB_H rays. */
static vd pair_terms(const nb_spot_tile *t, const nb_spot_pair *pair, const vd q[3],
                     int u, int v)
{
    const double kappa = pair->run->middle;
    const int left = t->nu - u;
    spot_lines lines;
    vd G[3], U[3], reach;
    unsigned near;
    lines.last = last_offsets(t, pair, q);
    for (int i = 0; i < 3; i++) {
        const double *A = pair->A[i];
        G[i] = vd_fma(q[0], vd_set(A[0]), vd_fma(q[1], vd_set(A[1]), q[2] * A[2]));
        U[i] = vd_fma(G[i], vd_set(kappa), vd_set(-pair->Lh[i]));
    }
    if (pair->run->n == 1)
        return one_source(t, pair, vd_fma(U[0], U[0], vd_fma(U[1], U[1], U[2] * U[2])),
                          lines.last, u, v);
    lines.slope2 =
        vd_fma(G[0], G[0], vd_fma(G[1], G[1], vd_fma(G[2], G[2], vd_set(1e-60))));
    lines.shift = vd_fma(U[0], G[0], vd_fma(U[1], G[1], U[2] * G[2])) / lines.slope2;
    for (int i = 0; i < 3; i++) /* across the line: small, and exact to its own digits */
        U[i] = vd_fnma(lines.shift, G[i], U[i]);
    lines.across2 = vd_fma(U[0], U[0], vd_fma(U[1], U[1], U[2] * U[2]));
    near = vl_bits((vl)(lines.across2 <= pair->most));
    if (left < NB_H)
        near &= (1u << left) - 1;
    if (!near)
        return vd_set(0);
    reach =
        vd_sqrt(vd_max(vd_set(0), (pair->spot->reach2 - lines.across2) / lines.slope2));
    lines.low = -lines.shift - reach;
    lines.high = vd_min(reach - lines.shift, lines.last);
    return weights_of(t, pair, &lines, near, u, v);
}

/** Add a pair's terms to a box of sub-pixels. */
static void add_pair(nb_spot_tile *t, const nb_spot_pair *pair, int box[2][2])
{
    const nb_scene *sc = &t->plan->scene;
    const nb_vec3 beam = pair->run->incident;
    const int polar = sc->oversample_polar && !sc->beam.nopolar;
    const nb_vector_source *source = &t->plan->sources[t->spots->source[pair->run->first]];
    for (int v = box[1][0]; v <= box[1][1]; v++) {
        const size_t row = (size_t)v * t->pitch;
        if (!t->aimed[v])
            aim_row(t, v);
        for (int u = box[0][0]; u <= box[0][1]; u += NB_H) {
            const size_t at = row + (size_t)u;
            const vd d[3] = {vd_load(t->x + at), vd_load(t->y + at), vd_load(t->z + at)};
            const vd q[3] = {d[0] - beam.x, d[1] - beam.y, d[2] - beam.z};
            vd terms = pair_terms(t, pair, q, u, v) * pair->F2;
            if (t->has_factor)
                terms *= vd_load(t->factor + at);
            if (polar) {
                const rays r = {{d[0], d[0]}, {d[1], d[1]}, {d[2], d[2]}, vd2_set(0)};
                terms *= polarization(sc->beam.polarization, source, &r).a;
            }
            vd_store(t->sum + at, vd_load(t->sum + at) + terms);
        }
    }
}

static void draw_orientation(nb_spot_tile *t, const nb_spot *spot, int m)
{
    const nb_spots *sp = t->spots;
    const nb_spot_cell *cell = &sp->cells[m];
    double g[3];
    nb_spot_point(cell, spot->h, g);
    for (int k = 0; k < sp->n_runs; k++) {
        const nb_spot_run *run = &sp->runs[k];
        int box[2][2];
        if (!nb_spot_box(t, spot, cell, run, g, box))
            continue;
        const nb_spot_pair pair =
            nb_spot_pair_of(sp, &sp->scene->factors.table, spot, m, run);
        if (pair.F2 > 0)
            add_pair(t, &pair, box);
    }
}

/* ------------------------------------------------------------------ boxes of NB_H orientations */

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

/** The orientations m[0] .. m[count - 1]; m has NB_H valid ones. */
static void draw_some(nb_spot_tile *t, const spot_view *view, const nb_spot *spot,
                      const int *m, int count)
{
    const nb_spots *sp = t->spots;
    vd ends[2][2];
    vl lit;
    if (sp->n_runs > 1) {
        for (int i = 0; i < count; i++)
            draw_orientation(t, spot, m[i]);
        return;
    }
    lit = boxes_of(t, view, spot, m, ends);
    for (int i = 0; i < count; i++) {
        int box[2][2];
        if (!lit[i])
            continue;
        for (int k = 0; k < 4; k++)
            box[k / 2][k % 2] = (int)ends[k / 2][k % 2][i];
        const nb_spot_pair pair =
            nb_spot_pair_of(sp, &sp->scene->factors.table, spot, m[i], sp->runs);
        if (pair.F2 > 0)
            add_pair(t, &pair, box);
    }
}

/** Every orientation in which a source may light the reflection. */
static void draw_spot(nb_spot_tile *t, spot_view *view, const nb_spot *spot)
{
    const nb_spots *sp = t->spots;
    const nb_spot_group *group = &sp->groups[spot->group];
    const double *a = sp->along, *b = a + sp->stride, *c = b + sp->stride;
    const double h = spot->h[0], k = spot->h[1], l = spot->h[2];
    int some[NB_H], n = 0;
    double most;
    const double middle = nb_spot_excitation(sp, spot, &most);
    if (view->group != spot->group)
        look_at_group(t, spot->group, view);
    for (int i = 0; i < NB_H; i++)
        some[i] = group->first;
    for (int m = group->first; m < group->end; m += NB_H) {
        vd e = vd_fma(vd_load(a + m), vd_set(h),
                      vd_fma(vd_load(b + m), vd_set(k), vd_load(c + m) * l)) +
               middle;
        unsigned lit = vl_bits((vl)(vd_max(e, -e) <= most));
        if (group->end - m < NB_H)
            lit &= (1u << (group->end - m)) - 1;
        for (; lit; lit &= lit - 1) {
            some[n++] = m + __builtin_ctz(lit);
            if (n == NB_H) {
                draw_some(t, view, spot, some, n);
                n = 0;
            }
        }
    }
    if (n > 0)
        draw_some(t, view, spot, some, n);
}

void NB_SPOT_KERNEL(nb_spot_tile *t)
{
    const nb_spot_list *list = t->list;
    const size_t rows = (size_t)t->nv;
    spot_view view;
    memset(t->touched, 0, rows);
    for (t->layer = 0; t->layer < t->plan->sensor.layers; t->layer++) {
        memset(t->aimed, 0, rows);
        view.group = -1; /* it has the layer's depth */
        for (size_t i = list->first[t->tile]; i < list->first[t->tile + 1]; i++)
            draw_spot(t, &view, &list->spots[list->of[i]]);
    }
}

#endif
