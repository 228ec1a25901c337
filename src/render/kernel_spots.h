/* SPDX-License-Identifier: MIT */
/** Add the terms of a tile's reflections (spot_tile.h) in double, for the instruction set
 * of the including file. A test of each ray decides which terms are added to it. Boxes
 * and ranges of orientations and sources only save work. */
#ifndef NB_RENDER_KERNEL_SPOTS_H
#define NB_RENDER_KERNEL_SPOTS_H

#include "kernel_rays.h"
#include "tile_rows.h"

#include "../terms/spot_terms.h"

/* ------------------------------------------------------------------ boxes of NB_H orientations at once */

/** View of a group of orientations, for one run of sources. */
typedef struct spot_view {
    int group; /* -1: not set */
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

/** Reciprocal-lattice vector g of a reflection in NB_H orientations m[], by lanes. */
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

/** nb_spot_box by lanes (orientations), for one run. Returns the mask of non-empty boxes. */
static vl boxes_of(const nb_spot_tile *t, const spot_view *view, const nb_spot *spot,
                   const int *m, vd box[2][2])
{
    const int os = t->plan->scene.oversample;
    const nb_spot_field field[2] = {{os, t->f0 * os, t->nu}, {os, t->s0 * os, t->nv}};
    vd g[3];
    points_of(t->spots, spot, m, g);
    return nb_spot_box_of(t->spots, &view->of, spot, g, field, box);
}

#define NB_SPOT_PASTE2(a, b) a##b
#define NB_SPOT_PASTE(a, b) NB_SPOT_PASTE2(a, b)
#define NB_SPOT_KERNEL NB_SPOT_PASTE(nb_spots_, NB_KERNEL_ISA)
#define NB_SPOT_DRAW NB_SPOT_PASTE(nb_draw_, NB_KERNEL_ISA)

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

NB_INLINE double vd_sum(vd x)
{
    double sum = 0;
    for (int i = 0; i < NB_H; i++)
        sum += x[i];
    return sum;
}

/* ------------------------------------------------------------------ rays of a tile */

/** Rays to NB_W sub-pixels in a row of a layer. factor: captured fraction, times solid
 * angle with -oversample_omega. */
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

/** Make the rays of row v of sub-pixels. If the row is new in this tile, clear its sums. */
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
    if (!t->touched[v]) {
        memset(t->sum + row, 0, t->pitch * sizeof *t->sum);
        if (t->phi) {
            memset(t->phi + row, 0, t->pitch * sizeof *t->phi);
            memset(t->lambda + row, 0, t->pitch * sizeof *t->lambda);
        }
    }
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

/** The lines of NB_H rays, and the smallest and largest offset of the sources within
 * reach of any of them. */
typedef struct spot_lines {
    nb_spot_lines of;
    vd low, high;
} spot_lines;

/** Sum of weight exp(-2 R^2/width) over sources in reach of ray i. *lambda, unless NULL,
 * is set to the same sum with each term times its wavelength. */
NB_INLINE double decay_weights(const nb_spot_tile *t, const nb_spot_pair *pair,
                               const spot_lines *lines, int i, double *lambda)
{
    const double *wave = t->spots->wave + pair->run->first;
    const vd across = vd_set(lines->of.across2[i] * t->spots->fall),
             slope = vd_set(lines->of.slope2[i] * t->spots->fall);
    const double shift = lines->of.shift[i], high = lines->high[i];
    vd sum = {0}, long_sum = {0};
    for (int a = nb_spot_entry(pair, lines->low[i]); pair->offset[a] <= high; a += NB_H) {
        const vd offset = vd_load(pair->offset + a), k = offset + shift;
        const vl in = (vl)(offset <= vd_set(high));
        const vd power = vd_where(in, vd_fma(k * k, slope, across));
        const vd weight = vd_where(in, vd_load(pair->weight + a)),
                 fall = nb_spot_exp2(power);
        sum = vd_fma(fall, weight, sum);
        if (lambda)
            long_sum = vd_fma(fall, vd_where(in, vd_load(wave + a)), long_sum);
    }
    if (lambda)
        *lambda = vd_sum(long_sum);
    return vd_sum(sum);
}

/** decay_weights for a top hat, for ray u + i of row v. */
NB_INLINE double tophat_weights(const nb_spot_tile *t, const nb_spot_pair *pair,
                                const spot_lines *lines, int i, int u, int v,
                                double *lambda)
{
    const double *wave = t->spots->wave + pair->run->first;
    const nb_spot_line line = {lines->of.across2[i], lines->of.slope2[i],
                               lines->of.shift[i], lines->of.last[i]};
    const nb_spot_ray at = spot_ray_at(t, u + i, v);
    if (lambda) {
        *lambda = 0;
        for (int a = nb_spot_entry(pair, lines->low[i]);
             a < pair->run->n && pair->offset[a] <= lines->high[i]; a++)
            *lambda += wave[a];
    }
    return nb_spot_tophat_weights(pair, &at, &line);
}

/** Sums of weights of the rays whose bits are set in `lanes`; 0 for other rays. lambda:
 * as in decay_weights. */
NB_INLINE vd weights_of(const nb_spot_tile *t, const nb_spot_pair *pair,
                        const spot_lines *lines, unsigned lanes, const int at[2],
                        vd *lambda)
{
    vd sum = {0};
    for (; lanes; lanes &= lanes - 1) {
        const int i = __builtin_ctz(lanes);
        double wave = 0, *to = lambda ? &wave : NULL;
        sum[i] = t->tophat ? tophat_weights(t, pair, lines, i, at[0], at[1], to)
                           : decay_weights(t, pair, lines, i, to);
        if (lambda)
            (*lambda)[i] = wave;
    }
    return sum;
}

/** Weights of a run of one source for a top hat; 0 for rays without light. */
static vd tophat_source(const nb_spot_tile *t, const nb_spot_pair *pair, vd R2,
                        unsigned lanes, int u, int v)
{
    vd sum = {0};
    for (; lanes; lanes &= lanes - 1) {
        const int i = __builtin_ctz(lanes);
        const nb_spot_ray at = spot_ray_at(t, u + i, v);
        if (u + i < t->nu && nb_spot_tophat_lit(pair, &at, 0, R2[i]))
            sum[i] = pair->weight[0];
    }
    return sum;
}

/** Terms of a run of one source, from R^2 of each ray. */
NB_INLINE vd one_source(const nb_spot_tile *t, const nb_spot_pair *pair, vd R2, vd last,
                        int u, int v)
{
    const vl near = (vl)(R2 <= pair->R2_max) & (vl)(last >= vd_set(pair->offset[0]));
    const unsigned lanes = vl_bits(near);
    if (!lanes)
        return vd_set(0);
    if (t->tophat)
        return tophat_source(t, pair, R2, lanes, u, v);
    return nb_spot_decay_term(t->spots, pair, R2, near);
}

/** Weighted F_latt^2/cells2 of NB_H rays from at[0] on in row at[1]. *lambda, unless
 * NULL, is set to the same with each term times its wavelength. */
NB_INLINE vd pair_terms(const nb_spot_tile *t, const nb_spot_pair *pair, const vd q[3],
                        const int at[2], vd *lambda)
{
    const int left = t->nu - at[0];
    const nb_spot_aim aim = nb_spot_aim_of(pair, t->plan->scene.factors.dmin, q);
    spot_lines lines;
    vd reach;
    unsigned near;
    if (pair->run->n == 1) {
        const vd term = one_source(t, pair, nb_spot_radius2(&aim), aim.last, at[0], at[1]);
        if (lambda)
            *lambda = term * (1 / (pair->offset[0] + pair->run->middle));
        return term;
    }
    if (lambda)
        *lambda = vd_set(0);
    lines.of = nb_spot_lines_of(&aim);
    near = vl_bits((vl)(lines.of.across2 <= pair->R2_max));
    if (left < NB_H)
        near &= (1u << left) - 1;
    if (!near)
        return vd_set(0);
    reach = vd_sqrt(
        vd_max(vd_set(0), (pair->spot->reach2 - lines.of.across2) / lines.of.slope2));
    lines.low = -lines.of.shift - reach;
    lines.high = vd_min(reach - lines.of.shift, lines.of.last);
    return weights_of(t, pair, &lines, near, at, lambda);
}

/** Add a pair's terms, times the number of the phi step and times the wavelengths, to the
 * sums at index `to`. */
NB_INLINE void add_moments(nb_spot_tile *t, const nb_spot_pair *pair, size_t to, vd terms,
                           vd lambda)
{
    const double phi = pair->m / t->plan->scene.lattice.n_domains;
    vd_store(t->phi + to, vd_fma(terms, vd_set(phi), vd_load(t->phi + to)));
    vd_store(t->lambda + to, vd_load(t->lambda + to) + lambda);
}

/** Add a pair's terms to sub-pixels across[0] .. across[1] of row v. moments: add their
 * products with phi step and wavelength, too. */
NB_INLINE void add_row(nb_spot_tile *t, const nb_spot_pair *pair, int v,
                       const int across[2], const int moments)
{
    const nb_scene *sc = &t->plan->scene;
    const nb_vec3 beam = pair->run->incident;
    const int polar = sc->oversample_polar && !sc->beam.nopolar;
    const nb_vector_source *source = &t->plan->sources[t->spots->source[pair->run->first]];
    const size_t row = (size_t)v * t->pitch;
    if (!t->aimed[v])
        aim_row(t, v);
    for (int u = across[0]; u <= across[1]; u += NB_H) {
        const size_t at = row + (size_t)u;
        const vd d[3] = {vd_load(t->x + at), vd_load(t->y + at), vd_load(t->z + at)};
        const vd q[3] = {d[0] - beam.x, d[1] - beam.y, d[2] - beam.z};
        const int place[2] = {u, v};
        vd lambda, terms = pair_terms(t, pair, q, place, moments ? &lambda : NULL);
        vd factor = vd_set(pair->F2);
        if (t->has_factor)
            factor *= vd_load(t->factor + at);
        if (polar) {
            const rays r = {{d[0], d[0]}, {d[1], d[1]}, {d[2], d[2]}, vd2_set(0)};
            factor *= polarization(sc->beam.polarization, source, &r).a;
        }
        terms *= factor;
        vd_store(t->sum + at, vd_load(t->sum + at) + terms);
        if (moments)
            add_moments(t, pair, at, terms, lambda * factor);
    }
}

static void add_picture(nb_spot_tile *t, const nb_spot_pair *pair, int box[2][2])
{
    for (int v = box[1][0]; v <= box[1][1]; v++)
        add_row(t, pair, v, box[0], 0);
}

/** Extend t->drawn to include sub-pixels across[0] .. across[1] of row v. */
NB_INLINE void extend_drawn(nb_spot_tile *t, int v, const int across[2])
{
    const int last = across[1] + NB_H - 1 < t->nu ? across[1] + NB_H - 1 : t->nu - 1;
    t->drawn[0][0] = across[0] < t->drawn[0][0] ? across[0] : t->drawn[0][0];
    t->drawn[0][1] = last > t->drawn[0][1] ? last : t->drawn[0][1];
    t->drawn[1][0] = v < t->drawn[1][0] ? v : t->drawn[1][0];
    t->drawn[1][1] = v > t->drawn[1][1] ? v : t->drawn[1][1];
}

static void add_share(nb_spot_tile *t, const nb_spot_pair *pair, int box[2][2])
{
    const int os = t->plan->scene.oversample;
    for (int v = box[1][0]; v <= box[1][1]; v++) {
        const int *wanted = t->wanted[v / os];
        const int across[2] = {box[0][0] > wanted[0] ? box[0][0] : wanted[0],
                               box[0][1] < wanted[1] ? box[0][1] : wanted[1]};
        if (across[0] > across[1])
            continue;
        add_row(t, pair, v, across, 1);
        extend_drawn(t, v, across);
    }
}

NB_INLINE void add_pair(nb_spot_tile *t, const nb_spot_pair *pair, int box[2][2])
{
    if (t->phi)
        add_share(t, pair, box);
    else
        add_picture(t, pair, box);
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

/** Draw a spot in orientations m[0] .. m[count - 1]; all NB_H numbers of m are valid. */
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

/** Draw a reflection in every orientation in which a source may light it. */
static void draw_spot(nb_spot_tile *t, spot_view *view, const nb_spot *spot)
{
    const nb_spots *sp = t->spots;
    const nb_spot_group *group = &sp->groups[spot->group];
    const double *a = sp->along, *b = a + sp->stride, *c = b + sp->stride;
    const double h = spot->h[0], k = spot->h[1], l = spot->h[2];
    int some[NB_H], n = 0;
    double limit;
    const double middle = nb_spot_excitation(sp, spot, &limit);
    if (view->group != spot->group)
        look_at_group(t, spot->group, view);
    for (int i = 0; i < NB_H; i++)
        some[i] = group->first;
    for (int m = group->first; m < group->end; m += NB_H) {
        vd e = vd_fma(vd_load(a + m), vd_set(h),
                      vd_fma(vd_load(b + m), vd_set(k), vd_load(c + m) * l)) +
               middle;
        unsigned lit = vl_bits((vl)(vd_max(e, -e) <= limit));
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
        view.group = -1; /* the view holds the layer's depth */
        for (size_t i = list->first[t->tile]; i < list->first[t->tile + 1]; i++)
            draw_spot(t, &view, &list->spots[list->of[i]]);
    }
}

void NB_SPOT_DRAW(nb_spot_tile *t, const nb_spot *spot)
{
    spot_view view = {.group = -1};
    for (int k = 0; k < 2; k++) {
        t->drawn[k][0] = k ? t->nv : t->nu;
        t->drawn[k][1] = -1;
    }
    draw_spot(t, &view, spot);
}

#endif
