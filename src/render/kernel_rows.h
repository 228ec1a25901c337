/* SPDX-License-Identifier: MIT */
/** The pixel sum of src/physics/pixel.h, a row of the image at a time, for the instruction set
 * that this file is compiled for.  Defines that set's nb_row_kernel. */
#ifndef NB_RENDER_KERNEL_ROWS_H
#define NB_RENDER_KERNEL_ROWS_H

#include "../physics/pixel.h"
#include "kernel.h"
#include "kernel_double.h"
#include "kernel_fixed.h"

#define NB_PASTE2(a, b) a##b
#define NB_PASTE(a, b) NB_PASTE2(a, b)
#define NB_ROW_KERNEL NB_PASTE(nb_row_, NB_KERNEL_ISA)

enum { MAX_LINES = 64 };

/** -q of the rays for one source. */
NB_INLINE void scattering_vector(const nb_plan_source *b, const rays *r, int h, vd q[3])
{
    q[0] = (r->x.v[h] - b->incident.x) * b->inv_lambda;
    q[1] = (r->y.v[h] - b->incident.y) * b->inv_lambda;
    q[2] = (r->z.v[h] - b->incident.z) * b->inv_lambda;
}

/** w_source [polar] of one source. */
NB_INLINE vd source_factor(const nb_plan *p, const nb_plan_source *b, const rays *r, int h)
{
    const nb_scene *sc = &p->scene;
    vd factor = vd_set(b->weight);
    if (sc->oversample_polar && !sc->nopolar)
        factor = factor * polarization(sc->polarization, b, r, h);
    return factor;
}

/** The factor of the crystal's part: 0 where dmin culls it. */
NB_INLINE vd unculled(const nb_plan *p, const nb_plan_source *b, const rays *r, int h, vd factor)
{
    vd q[3], stol;
    if (!(p->scene.dmin > 0))
        return factor;
    scattering_vector(b, r, h, q);
    stol = 0.5 * vd_sqrt(vd_fma(q[0], q[0], vd_fma(q[1], q[1], q[2] * q[2])));
    return (vd)(~((vl)(stol > 0.0) & (vl)(p->scene.dmin > 0.5 / stol)) & (vl)factor);
}

NB_INLINE pair structured(const nb_plan *p, const rays *r, const vf *factors,
                          const fixed_case how)
{
    fixed_case with = how, without = how;
    with.factors = 1;
    without.factors = 0;
    return p->has_factors ? fixed_structured(p, r, factors, with)
                          : fixed_structured(p, r, factors, without);
}

/** All sources at once; the loops are compiled for each case. */
static pair fixed_all_sources(const nb_plan *p, const rays *r, const vf *factors)
{
    if (p->fastest)
        switch (p->table.kind) {
        case NB_F_BOX:
            return structured(p, r, factors, (fixed_case){NB_F_BOX, 1, 0});
        case NB_F_CLAMPED:
            return structured(p, r, factors, (fixed_case){NB_F_CLAMPED, 1, 0});
        default:
            return structured(p, r, factors, (fixed_case){NB_F_CONST, 1, 0});
        }
    switch (p->table.kind) {
    case NB_F_BOX:
        return structured(p, r, factors, (fixed_case){NB_F_BOX, 0, 0});
    case NB_F_CLAMPED:
        return structured(p, r, factors, (fixed_case){NB_F_CLAMPED, 0, 0});
    default:
        return structured(p, r, factors, (fixed_case){NB_F_CONST, 0, 0});
    }
}

static pair fixed_one_source(const nb_plan *p, const rays *r, const nb_plan_source *b)
{
    if (p->fastest)
        switch (p->table.kind) {
        case NB_F_BOX:
            return fixed_direct(p, r, b, (fixed_case){NB_F_BOX, 1, 0});
        case NB_F_CLAMPED:
            return fixed_direct(p, r, b, (fixed_case){NB_F_CLAMPED, 1, 0});
        default:
            return fixed_direct(p, r, b, (fixed_case){NB_F_CONST, 1, 0});
        }
    switch (p->table.kind) {
    case NB_F_BOX:
        return fixed_direct(p, r, b, (fixed_case){NB_F_BOX, 0, 0});
    case NB_F_CLAMPED:
        return fixed_direct(p, r, b, (fixed_case){NB_F_CLAMPED, 0, 0});
    default:
        return fixed_direct(p, r, b, (fixed_case){NB_F_CONST, 0, 0});
    }
}

static vd double_one_source(const nb_plan *p, const rays *r, const nb_plan_source *b, int h)
{
    const nb_scene *sc = &p->scene;
    vd q[3];
    scattering_vector(b, r, h, q);
    switch (sc->shape) {
    case NB_LATTICE_ROUND:
        return double_sum(sc, q, NB_LATTICE_ROUND);
    case NB_LATTICE_GAUSS:
        return double_sum(sc, q, NB_LATTICE_GAUSS);
    case NB_LATTICE_TOPHAT:
        return double_sum(sc, q, NB_LATTICE_TOPHAT);
    default:
        return double_sum(sc, q, NB_LATTICE_SQUARE);
    }
}

/** Crystal and background of one source after another. */
NB_INLINE pair source_by_source(const nb_plan *p, const rays *r)
{
    const nb_scene *sc = &p->scene;
    const int fixed = p->arithmetic == NB_ARITH_FIXED;
    const double background = sc->background * sc->n_orientations;
    pair sum = {{{0}, {0}}};
    int s, h;
    for (s = 0; s < sc->n_sources; s++) {
        const nb_plan_source *b = &p->sources[s];
        pair crystal = {{{0}, {0}}};
        if (fixed && p->table.kind != NB_F_ZERO)
            crystal = fixed_one_source(p, r, b);
        for (h = 0; h < 2; h++) {
            vd factor = source_factor(p, b, r, h);
            vd x = fixed ? crystal.v[h] * p->table.unit : double_one_source(p, r, b, h);
            x = x * unculled(p, b, r, h, factor);
            sum.v[h] = vd_fma(factor, vd_set(background), sum.v[h] + x);
        }
    }
    return sum;
}

/** Crystal and background of all sources, their factors in an array. */
static pair sources_together(const nb_plan *p, const rays *r)
{
    const nb_scene *sc = &p->scene;
    const double background = sc->background * sc->n_orientations;
    vf factors[NB_PLAN_MAX_FACTORS];
    pair sum, all = {{vd_set(sc->n_sources), vd_set(sc->n_sources)}};
    int s, h;
    if (p->has_factors) {
        all.v[0] = all.v[1] = vd_set(0.0);
        for (s = 0; s < sc->n_sources; s++) {
            const nb_plan_source *b = &p->sources[s];
            vd crystal[2];
            for (h = 0; h < 2; h++) {
                vd factor = source_factor(p, b, r, h);
                all.v[h] += factor;
                crystal[h] = unculled(p, b, r, h, factor);
            }
            factors[s] = vf_pack(crystal[0], crystal[1]);
        }
    }
    sum = fixed_all_sources(p, r, factors);
    for (h = 0; h < 2; h++)
        sum.v[h] = sum.v[h] * p->table.unit + all.v[h] * background;
    return sum;
}

/** Factors taken once a pixel, from its first ray. */
NB_INLINE pair cached_factors(const nb_plan *p, const rays *r)
{
    const nb_scene *sc = &p->scene;
    pair factor;
    int h;
    for (h = 0; h < 2; h++) {
        factor.v[h] = vd_set(sc->intensity_scale);
        if (!sc->nopolar && !sc->oversample_polar)
            factor.v[h] = factor.v[h] * polarization(sc->polarization, p->sources, r, h);
        if (!sc->oversample_omega)
            factor.v[h] = factor.v[h] * solid_angle(&sc->det, r, h);
    }
    return factor;
}

NB_INLINE pair one_ray(const nb_plan *p, const rays *r, int layer)
{
    const nb_scene *sc = &p->scene;
    pair sum;
    int h;
    if (p->offsets && p->table.kind != NB_F_ZERO)
        sum = sources_together(p, r);
    else
        sum = source_by_source(p, r);
    for (h = 0; h < 2; h++) {
        if (sc->det.absorb)
            sum.v[h] = sum.v[h] * capture(&sc->det, r, h, layer);
        if (sc->oversample_omega)
            sum.v[h] = sum.v[h] * solid_angle(&sc->det, r, h);
    }
    return sum;
}

/** Photons in the block of pixels that starts at f0. */
NB_INLINE vf block_intensity(const nb_plan *p, int f0, int s, const row_line *lines)
{
    const nb_scene *sc = &p->scene;
    const pair f = block_pixels(&sc->det, f0);
    pair total = {{{0}, {0}}}, cached = {{{0}, {0}}};
    int layer, subf, subs, h, os = sc->oversample;
    for (layer = 0; layer < sc->det.layers; layer++)
        for (subs = 0; subs < os; subs++) {
            int at = layer * os + subs;
            row_line line = at < MAX_LINES ? lines[at] : line_of(sc, s, subs, layer);
            for (subf = 0; subf < os; subf++) {
                rays r = rays_to(p, &f, &line, subf);
                pair sum = one_ray(p, &r, layer);
                if (at + subf == 0)
                    cached = cached_factors(p, &r);
                for (h = 0; h < 2; h++)
                    total.v[h] += sum.v[h];
            }
        }
    return vf_pack(total.v[0] * cached.v[0], total.v[1] * cached.v[1]);
}

static int any_rendered(const uint8_t *mask, int n)
{
    int i;
    for (i = 0; i < n; i++)
        if (mask[i])
            return 1;
    return 0;
}

void NB_ROW_KERNEL(const nb_plan *p, int s, float *row)
{
    const nb_scene *sc = &p->scene;
    const nb_detector *det = &sc->det;
    const uint8_t *mask = det->mask ? det->mask + (size_t)s * det->fpixels : NULL;
    row_line lines[MAX_LINES];
    int i, f0;
    for (i = 0; i < MAX_LINES && i < det->layers * sc->oversample; i++)
        lines[i] = line_of(sc, s, i % sc->oversample, i / sc->oversample);
    for (f0 = det->roi_fmin; f0 <= det->roi_fmax; f0 += NB_W) {
        int left = det->roi_fmax - f0 + 1, n = left < NB_W ? left : NB_W;
        float value[NB_W];
        vf v;
        if (mask && !any_rendered(mask + f0, n))
            continue;
        v = block_intensity(p, f0, s, lines);
        if (!mask && n == NB_W) {
            memcpy(row + f0, &v, sizeof v);
            continue;
        }
        memcpy(value, &v, sizeof value);
        for (i = 0; i < n; i++)
            if (!mask || mask[f0 + i])
                row[f0 + i] = value[i];
    }
}

#endif
