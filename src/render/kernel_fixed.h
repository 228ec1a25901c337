/* SPDX-License-Identifier: MIT */
/** Sum over sources and orientations for SQUARE crystals in fixed point (plan.h: FIXED).
 *
 * t = magic - h in double, magic = 1.5 2^20, so that t's steps are 2^-32: the low word w of t is
 * (minus) the fractional index times 2^32 and wraps modulo 1 by itself; w*N as an int is N times
 * it, again modulo 1, exactly.  With a table, half is added and the high word is the reflection. */
#ifndef NB_RENDER_KERNEL_FIXED_H
#define NB_RENDER_KERNEL_FIXED_H

#include "kernel_rays.h"

/** What the compiler is to specialise for. */
typedef struct fixed_case {
    int kind;    /* nb_f_kind */
    int fastest; /* polynomials of degree 3 */
    int factors; /* per-source factors in an array (structured sum only) */
} fixed_case;

/** A 2^-40 that keeps sines off 0/0: at w = 0 the ratio is then N, elsewhere it changes
 * nothing that 2^-32 steps could see; its cube is still a normal float. */
#define NB_TINY 9.094947017729282e-13f
#define NB_ULP 2.3283064365386963e-10f /* 2^-32 */

typedef struct fixed_constants {
    vi N[3];
    vf tiny[3];  /* N 2^-40 */
} fixed_constants;

NB_INLINE fixed_constants fixed_constants_of(const nb_scene *sc)
{
    fixed_constants c;
    int i;
    for (i = 0; i < 3; i++) {
        c.N[i] = vi_set((int32_t)sc->N[i]);
        c.tiny[i] = vf_set((float)sc->N[i] * NB_TINY);
    }
    return c;
}

NB_INLINE vf sinpi_float(vf x, const int fastest)
{
    vf y = x * x;
    return x * (fastest ? vf_sinpi_over_x3(y) : vf_sinpi_over_x4(y));
}

/** Product over the axes of sin(pi N d)/sin(pi d), d = w 2^-32. */
NB_INLINE vf interference(const vi w[3], const fixed_constants *c, const int fastest)
{
    vf num[3], den[3];
    int i;
    for (i = 0; i < 3; i++) {
        vf d = vf_fma(vf_from_int(w[i]), vf_set(NB_ULP), vf_set(NB_TINY));
        vf u = vf_fma(vf_from_int(vi_mul(w[i], c->N[i])), vf_set(NB_ULP), c->tiny[i]);
        num[i] = sinpi_float(u, fastest);
        den[i] = sinpi_float(d, fastest);
    }
    return num[0] * num[1] * num[2] / (den[0] * den[1] * den[2]);
}

/** Index into the table along one axis, from the high words. */
NB_INLINE vi table_axis(const nb_f_table *t, int axis, vi high, const int kind)
{
    if (kind == NB_F_CLAMPED)
        high = vi_clamp(high - vi_set(NB_FIXED_HIGH + t->low[axis]), t->n[axis] - 1);
    return axis < 2 ? vi_shl(high, t->shift[axis]) : high;
}

NB_INLINE int32_t table_start(const nb_f_table *t)
{
    uint32_t start = 0;
    int axis;
    for (axis = 0; axis < 3; axis++)
        start -= (uint32_t)(NB_FIXED_HIGH + t->low[axis]) << t->shift[axis];
    return (int32_t)start;
}

/** F^2 F_latt^2 of one step; t[axis] holds magic - h for the block. */
NB_INLINE vf fixed_step(const nb_f_table *table, const fixed_constants *c, const pair t[3],
                        const fixed_case how)
{
    vi w[3], index = {0};
    vf g;
    int i;
    for (i = 0; i < 3; i++) {
        w[i] = low_words(t[i].v[0], t[i].v[1]);
        if (how.kind != NB_F_CONST) {
            vi high = high_words(t[i].v[0], t[i].v[1]);
            w[i] ^= INT32_MIN; /* takes the half back off */
            index += table_axis(table, i, high, how.kind);
        }
    }
    g = interference(w, c, how.fastest);
    if (how.kind == NB_F_CONST)
        return g * g;
    if (how.kind == NB_F_BOX)
        index += table_start(table);
    return g * g * vf_gather(table->F2, index);
}

NB_INLINE void flush(pair *total, vf *run)
{
    total->v[0] += vf_unpack(*run, 0);
    total->v[1] += vf_unpack(*run, 1);
    *run = vf_set(0.0f);
}

NB_INLINE pair plain_dot(const rays *r, nb_vec3 a)
{
    pair p;
    p.v[0] = dot_ray(r, 0, a);
    p.v[1] = dot_ray(r, 1, a);
    return p;
}

/** Many sources: h = a.d/lambda - a.i/lambda, the first part a product of what the pixel and
 * orientation have and what the source has, the second from the plan's table. */
NB_INLINE pair fixed_structured(const nb_plan *p, const rays *r, const vf *factors,
                                const fixed_case how)
{
    const nb_scene *sc = &p->scene;
    const fixed_constants c = fixed_constants_of(sc);
    const double *offset = p->offsets;
    pair total = {{{0}, {0}}};
    vf run = {0};
    int m, s, i, terms = 0, n = sc->n_sources;
    for (m = 0; m < sc->n_orientations; m++) {
        const nb_orientation *u = &sc->orientations[m];
        const pair A[3] = {plain_dot(r, u->a), plain_dot(r, u->b), plain_dot(r, u->c)};
        for (s = 0; s < n; s++, offset += 3) {
            vd kappa = vd_set(-p->sources[s].inv_lambda);
            pair t[3];
            vf term;
            for (i = 0; i < 3; i++) {
                t[i].v[0] = vd_fma(kappa, A[i].v[0], vd_set(offset[i]));
                t[i].v[1] = vd_fma(kappa, A[i].v[1], vd_set(offset[i]));
            }
            term = fixed_step(&p->table, &c, t, how);
            run = how.factors ? vf_fma(term, factors[s], run) : run + term;
            if (++terms == NB_PLAN_SUM_RUN) {
                flush(&total, &run);
                terms = 0;
            }
        }
    }
    flush(&total, &run);
    return total;
}

/** One source: h = a.q for each orientation. */
NB_INLINE pair fixed_direct(const nb_plan *p, const rays *r, const nb_plan_source *source,
                            const fixed_case how)
{
    const nb_scene *sc = &p->scene;
    const fixed_constants c = fixed_constants_of(sc);
    const vd start = vd_set(NB_FIXED_MAGIC + (how.kind == NB_F_CONST ? 0.0 : 0.5));
    const double k = source->inv_lambda;
    pair total = {{{0}, {0}}}, q[3]; /* -q */
    vf run = {0};
    int m, i, h, terms = 0;
    for (h = 0; h < 2; h++) {
        q[0].v[h] = (source->incident.x - r->x.v[h]) * k;
        q[1].v[h] = (source->incident.y - r->y.v[h]) * k;
        q[2].v[h] = (source->incident.z - r->z.v[h]) * k;
    }
    for (m = 0; m < sc->n_orientations; m++) {
        const nb_orientation *u = &sc->orientations[m];
        const nb_vec3 cell[3] = {u->a, u->b, u->c};
        pair t[3];
        for (i = 0; i < 3; i++)
            for (h = 0; h < 2; h++) /* the magic number last: one rounding to 2^-32 */
                t[i].v[h] = start + vd_fma(q[0].v[h], vd_set(cell[i].x),
                                           vd_fma(q[1].v[h], vd_set(cell[i].y),
                                                  q[2].v[h] * cell[i].z));
        run += fixed_step(&p->table, &c, t, how);
        if (++terms == NB_PLAN_SUM_RUN) {
            flush(&total, &run);
            terms = 0;
        }
    }
    flush(&total, &run);
    return total;
}

#endif
