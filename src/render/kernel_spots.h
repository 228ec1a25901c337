/* SPDX-License-Identifier: MIT */
/** The terms of a tile's reflections (spot_tile.h), for the instruction set that this file is compiled
 * for.  Everything is in double.  What a ray gets depends on its own tests alone: boxes, windows of
 * orientations and of sources only save work. */
#ifndef NB_RENDER_KERNEL_SPOTS_H
#define NB_RENDER_KERNEL_SPOTS_H

#include "kernel_rays.h"
#include "spot_tile.h"

#define NB_SPOT_PASTE2(a, b) a##b
#define NB_SPOT_PASTE(a, b) NB_SPOT_PASTE2(a, b)
#define NB_SPOT_KERNEL NB_SPOT_PASTE(nb_spots_, NB_KERNEL_ISA)

#define NB_SPOT_ROOM 1e-6 /* for rounding, in R, R^2 and sub-pixels */

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

/** ln(2)^k/k! */
#define NB_SPOT_LN2 (NB_LN2_HIGH + NB_LN2_LOW)
static const double nb_spot_exp2[9] = {
    1.0,
    NB_SPOT_LN2,
    NB_SPOT_LN2 *NB_SPOT_LN2 / 2,
    NB_SPOT_LN2 *NB_SPOT_LN2 *NB_SPOT_LN2 / 6,
    NB_SPOT_LN2 *NB_SPOT_LN2 *NB_SPOT_LN2 *NB_SPOT_LN2 / 24,
    NB_SPOT_LN2 *NB_SPOT_LN2 *NB_SPOT_LN2 *NB_SPOT_LN2 *NB_SPOT_LN2 / 120,
    NB_SPOT_LN2 *NB_SPOT_LN2 *NB_SPOT_LN2 *NB_SPOT_LN2 *NB_SPOT_LN2 *NB_SPOT_LN2 / 720,
    NB_SPOT_LN2 *NB_SPOT_LN2 *NB_SPOT_LN2 *NB_SPOT_LN2 *NB_SPOT_LN2 *NB_SPOT_LN2 *NB_SPOT_LN2 /
        5040,
    NB_SPOT_LN2 *NB_SPOT_LN2 *NB_SPOT_LN2 *NB_SPOT_LN2 *NB_SPOT_LN2 *NB_SPOT_LN2
            *NB_SPOT_LN2 *NB_SPOT_LN2 /
        40320};

/** exp(-2 R^2/width) is 2 to the power of this times R^2. */
#define NB_SPOT_FALL (-2.0 / NB_GAUSS_WIDTH * NB_LOG2_E)

/** 2^x for -1000 < x <= 0: relative error 2e-10, a hundredth of a float's. */
NB_INLINE vd spot_exp2(vd x)
{
    const vd n = vd_round(x);
    return vd_horner(nb_spot_exp2, 8, x - n) * vd_exp2_whole(n);
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

/** A reflection of an orientation, as the sources of a run see it. */
typedef struct spot_pair {
    const nb_spot *spot;
    const nb_spot_run *run;
    int m; /* orientation */
    double A[3][3], Lh[3];
    double F2;   /* F^2 (Na Nb Nc)^2 */
    double most; /* R^2 of what is looked at */
    const double *offset, *weight, *below;
} spot_pair;

/** Is the source's step lit?  The reference decides where rounding could. */
static int tophat_lit(const nb_spot_tile *t, const spot_pair *pair, int source, double R2,
                      int u, int v)
{
    if (fabs(R2 - pair->spot->reach2) > 0.1 * NB_SPOT_ROOM)
        return R2 < pair->spot->reach2;
    return nb_spot_lit(t, pair->spot, pair->m,
                       t->spots->source[pair->run->first + (size_t)source], u, v);
}

/** First entry whose offset is at least x. */
NB_INLINE int spot_entry(const spot_pair *pair, double x)
{
    const int n = pair->run->n;
    const double *offset = pair->offset;
    double guess = (x - offset[0]) / (offset[n - 1] - offset[0]) * (n - 1);
    int a = guess > 0 ? guess < n ? (int)guess : n : 0; /* NaN: 0 */
    while (a > 0 && offset[a - 1] >= x)
        a--;
    while (offset[a] < x)
        a++;
    return a;
}

/** Line of R^2 against kappa of one ray: across2 + slope2 (offset + shift)^2. */
typedef struct spot_line {
    double across2, slope2, shift, last; /* last: largest offset, beyond it -dmin culls */
} spot_line;

/** Weights of the lit sources of a top hat. */
static double tophat_weights(const nb_spot_tile *t, const spot_pair *pair, spot_line line,
                             int u, int v)
{
    const int n = pair->run->n;
    double reach = sqrt(fmax(0, (pair->spot->reach2 - line.across2) / line.slope2));
    int a = spot_entry(pair, -line.shift - reach), b = a;
    while (b < n && pair->offset[b] <= -line.shift + reach)
        b++;
#define NB_LIT(i)                                                                        \
    (pair->offset[i] <= line.last &&                                                     \
     tophat_lit(t, pair, i,                                                              \
                line.across2 + line.slope2 * (pair->offset[i] + line.shift) *            \
                                   (pair->offset[i] + line.shift),                       \
                u, v))
    while (b > a && !NB_LIT(b - 1))
        b--;
    while (a < b && !NB_LIT(a))
        a++;
    while (b < n && NB_LIT(b))
        b++;
    while (a > 0 && a < b && NB_LIT(a - 1))
        a--;
    if (a == b && a > 0 && NB_LIT(a - 1))
        a--;
#undef NB_LIT
    return pair->below[b] - pair->below[a];
}

/** Sum of weight exp(-2 R^2/width) over the sources within reach. */
NB_INLINE double gauss_weights(const spot_pair *pair, spot_line line)
{
    const double reach = sqrt(fmax(0, (pair->spot->reach2 - line.across2) / line.slope2));
    const double high = fmin(-line.shift + reach, line.last);
    const vd slope = vd_set(line.slope2 * NB_SPOT_FALL),
             across = vd_set(line.across2 * NB_SPOT_FALL);
    vd sum = {0};
    for (int a = spot_entry(pair, -line.shift - reach); pair->offset[a] <= high;
         a += NB_H) {
        const vd offset = vd_load(pair->offset + a), k = offset + line.shift;
        const vl in = (vl)(offset <= vd_set(high));
        const vd power = vd_and(in, vd_fma(k * k, slope, across));
        sum = vd_fma(spot_exp2(power), vd_and(in, vd_load(pair->weight + a)), sum);
    }
    return vd_sum(sum);
}

/** Largest offset that -dmin leaves, for each ray; q: d - i. */
NB_INLINE vd last_offsets(const nb_spot_tile *t, const spot_pair *pair, const vd q[3])
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
static vd one_source(const nb_spot_tile *t, const spot_pair *pair, vd R2, vd last, int u,
                     int v)
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
        if (near[i] && u + i < t->nu && tophat_lit(t, pair, 0, R2[i], u + i, v))
            sum[i] = pair->weight[0];
    return sum;
}

/** Weighted F_latt^2/cells^2 of NB_H rays. */
static vd pair_terms(const nb_spot_tile *t, const spot_pair *pair, const vd q[3], int u,
                     int v)
{
    const double kappa = pair->run->middle;
    vd G[3], U[3], sum = {0}, GG, shift, across2, last = last_offsets(t, pair, q);
    vl near;
    for (int i = 0; i < 3; i++) {
        const double *A = pair->A[i];
        G[i] = vd_fma(q[0], vd_set(A[0]), vd_fma(q[1], vd_set(A[1]), q[2] * A[2]));
        U[i] = vd_fma(G[i], vd_set(kappa), vd_set(-pair->Lh[i]));
    }
    if (pair->run->n == 1)
        return one_source(t, pair, vd_fma(U[0], U[0], vd_fma(U[1], U[1], U[2] * U[2])),
                          last, u, v);
    GG = vd_fma(G[0], G[0], vd_fma(G[1], G[1], vd_fma(G[2], G[2], vd_set(1e-60))));
    shift = vd_fma(U[0], G[0], vd_fma(U[1], G[1], U[2] * G[2])) / GG;
    for (int i = 0; i < 3; i++) /* across the line: small, and exact to its own digits */
        U[i] = vd_fnma(shift, G[i], U[i]);
    across2 = vd_fma(U[0], U[0], vd_fma(U[1], U[1], U[2] * U[2]));
    near = (vl)(across2 <= pair->most);
    if (!vl_any(near))
        return sum;
    for (int i = 0; i < NB_H; i++) {
        const spot_line line = {across2[i], GG[i], shift[i], last[i]};
        if (!near[i] || u + i >= t->nu)
            continue;
        sum[i] = t->tophat ? tophat_weights(t, pair, line, u + i, v)
                           : gauss_weights(pair, line);
    }
    return sum;
}

/** Add a pair's terms to a box of sub-pixels. */
static void add_pair(nb_spot_tile *t, const spot_pair *pair, int box[2][2])
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

/** A pair: its box, then its terms. */
static void draw_pair(nb_spot_tile *t, spot_pair *pair, const double g[3])
{
    const nb_spots *sp = t->spots;
    const nb_spot_cell *cell = &sp->cells[pair->m];
    const int32_t *h = pair->spot->h;
    int box[2][2];
    double F;
    if (!nb_spot_box(t, pair->spot, cell, pair->run, g, box))
        return;
    F = nb_F_nearest(&sp->scene->factors.table, pair->run->table, h[0], h[1], h[2]);
    pair->F2 = F * F * sp->cells2;
    pair->offset = sp->offset + pair->run->first;
    pair->weight = sp->weight + pair->run->first;
    pair->below = sp->below + pair->run->first;
    memcpy(pair->A, cell->A, sizeof pair->A);
    for (int i = 0; i < 3; i++)
        pair->Lh[i] = sp->L[i][0] * h[0] + sp->L[i][1] * h[1] + sp->L[i][2] * h[2];
    if (pair->F2 > 0)
        add_pair(t, pair, box);
}

static void draw_orientation(nb_spot_tile *t, const nb_spot *spot, int m)
{
    const nb_spots *sp = t->spots;
    const nb_spot_cell *cell = &sp->cells[m];
    spot_pair pair = {.spot = spot, .m = m};
    double g[3];
    pair.most = spot->reach2 * (1 + NB_SPOT_ROOM);
    for (int x = 0; x < 3; x++)
        g[x] = spot->h[0] * cell->b[0][x] + spot->h[1] * cell->b[1][x] +
               spot->h[2] * cell->b[2][x];
    for (int k = 0; k < sp->n_runs; k++) {
        pair.run = &sp->runs[k];
        draw_pair(t, &pair, g);
    }
}

/** Every orientation in which a source may light the reflection. */
static void draw_spot(nb_spot_tile *t, const nb_spot *spot)
{
    const nb_spots *sp = t->spots;
    const nb_spot_group *group = &sp->groups[spot->group];
    const double *a = sp->along, *b = a + sp->stride, *c = b + sp->stride;
    const double h = spot->h[0], k = spot->h[1], l = spot->h[2];
    const double middle = 0.25 * (sp->shortest + sp->longest) * spot->g2;
    const double most = nb_spot_slack(sp, spot) + sp->stray * sqrt(spot->g2) +
                        0.25 * (sp->longest - sp->shortest) * spot->g2;
    for (int m = group->first; m < group->end; m += NB_H) {
        vd e = vd_fma(vd_load(a + m), vd_set(h),
                      vd_fma(vd_load(b + m), vd_set(k), vd_load(c + m) * l)) +
               middle;
        const vl lit = (vl)(vd_max(e, -e) <= most);
        if (!vl_any(lit))
            continue;
        for (int i = 0; i < NB_H; i++)
            if (lit[i] && m + i < group->end)
                draw_orientation(t, spot, m + i);
    }
}

void NB_SPOT_KERNEL(nb_spot_tile *t)
{
    const nb_spot_list *list = t->list;
    const size_t rows = (size_t)t->nv;
    memset(t->touched, 0, rows);
    for (t->layer = 0; t->layer < t->plan->sensor.layers; t->layer++) {
        memset(t->aimed, 0, rows);
        for (size_t i = list->first[t->tile]; i < list->first[t->tile + 1]; i++)
            draw_spot(t, &list->spots[list->of[i]]);
    }
}

#endif
