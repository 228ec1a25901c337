/* SPDX-License-Identifier: MIT */
/** Sums over the terms of a ray (source, orientation) of which every derivative is a contraction
 * (docs/derivatives.md), NB_W pixels at once: lattice in single precision from fixed-point indices, as
 * kernel_fixed.h has it, sums in float of NB_VECTOR_SUM_RUN terms, then in double.
 *
 * Terms go through two loops, some at a time: the first makes gradients by h, k, l, the second the
 * outer products.  One loop would need more registers than there are. */
#ifndef NB_DERIVE_KERNEL_TERMS_H
#define NB_DERIVE_KERNEL_TERMS_H

#include "../physics/lattice.h"
#include "../render/kernel_fixed.h"
#include "slope_sine.h"
#include "vector_slopes.h"

enum {
    SLOPE_TERMS = 16, /* between the two loops */
    SLOPE_BATCH = 16  /* blocks of a row that a kernel gets at once */
};

/** What the compiler is to specialise for. */
typedef struct slope_case {
    int shape; /* NB_LATTICE_SQUARE or _GAUSS */
    int phase; /* nb_slope_phase */
    int table; /* F^2 from a table */
    int sums;  /* nb_slope_level */
} slope_case;

/** By the negative Miller indices, as fixed point has them: g h keeps its sign, g alone turns it. */
typedef struct slope_term {
    vf g[3]; /* d(F^2 L^2)/d(-h) */
    vf h[3]; /* -h */
} slope_term;

NB_INLINE vf vf_select(vi mask, vf yes, vf no)
{
    return (vf)((mask & (vi)yes) | (~mask & (vi)no));
}

/** P of sin(pi x) = x P(z), z = x^2, and 2 z P'(z).  The latter matters where z is large for u alone: there the
 * slope by d is small beside it. */
NB_INLINE vf slope_sine(vf z, vf *twice, const int of_u)
{
    static const float sine[] = {NB_PI, NB_SINE4_1, NB_SINE4_2, NB_SINE4_3, NB_SINE4_4};
    static const float u[] = {NB_SINE_SLOPE4_0, NB_SINE_SLOPE4_1, NB_SINE_SLOPE4_2,
                              NB_SINE_SLOPE4_3, NB_SINE_SLOPE4_4};
    static const float d[] = {NB_SINE_SLOPE3_0, NB_SINE_SLOPE3_1, NB_SINE_SLOPE3_2,
                              NB_SINE_SLOPE3_3};
    vf p = vf_set(sine[4]), by = vf_set(of_u ? u[4] : d[3]);
    int k;
    for (k = 3; k >= 0; k--)
        p = vf_fma(p, z, vf_set(sine[k]));
    for (k = of_u ? 3 : 2; k >= 0; k--)
        by = vf_fma(by, z, vf_set(of_u ? u[k] : d[k]));
    *twice = by * z;
    return p;
}

/** With sin(pi x) = x P and pi cos(pi x) = P + 2 z P', z = x^2:
 *   s = top/below,   s' = (N slope - s tilt)/below,   ds/dN = by_N/below.
 * N slope - s tilt is N (P_u + 2 z_u P_u') - s (P_d + 2 z_d P_d'). Where N d = u, N P_u and s P_d are equal and
 * are left out: their difference would be rounding alone, and large beside what is left. */
typedef struct slope_parts {
    vf top, below, slope, tilt, by_N;
} slope_parts;

NB_INLINE slope_parts slope_parts_of(vf d, vf u, vf half_fringe)
{
    slope_parts x;
    vf zd = d * d, zu = u * u, by_zd, by_zu;
    vf Pd = slope_sine(zd, &by_zd, 0), Pu = slope_sine(zu, &by_zu, 1);
    vi outside = (vi)(zd >= half_fringe);
    x.top = u * Pu;
    x.below = d * Pd;
    x.slope = by_zu + (vf)(outside & (vi)Pu);
    x.tilt = by_zd + (vf)(outside & (vi)Pd);
    x.by_N = d * (Pu + by_zu);
    return x;
}

/** Constants of a scene. */
typedef struct slope_constants {
    fixed_constants fixed;
    vf N[3];
    vf half_fringe[3]; /* (1/(2 N))^2 */
    vf varies[3];      /* 1, or 0: nb_slope_varies; the sums get it, not each term */
    double fall;       /* Gaussian: log2 of L^2 by R^2 */
} slope_constants;

NB_INLINE slope_constants slope_constants_of(const nb_scene *sc)
{
    slope_constants c;
    int i;
    c.fixed = fixed_constants_of(sc);
    c.fall = -2.0 * sc->lattice.fudge / NB_GAUSS_WIDTH * NB_LOG2_E;
    for (i = 0; i < 3; i++) {
        c.N[i] = vf_set((float)sc->lattice.N[i]);
        c.varies[i] = vf_set((float)nb_slope_varies(&sc->lattice, i));
        c.half_fringe[i] = vf_set((float)(0.25 / (sc->lattice.N[i] * sc->lattice.N[i])));
    }
    return c;
}

/** A term's three indices (kernel_fixed.h) taken apart: -d, the fraction of -N d, -h, and the high word that
 * counts whole numbers. */
typedef struct slope_index {
    vf d[3], u[3], h[3];
    vi high[3];
    vf power, R2; /* Gaussian: exp(-2 g/0.63 R^2), R^2 */
} slope_index;

/** Indices that start at nb_fixed_start(1): the high word counts nearest whole numbers.  parts: N is not whole. */
NB_INLINE void index_phase(const slope_constants *c, const vd2 t[3], const int parts,
                           slope_index *x)
{
    sine_args args;
    vi w[3];
    int i;
    for (i = 0; i < 3; i++) {
        x->high[i] = high_words(t[i].a, t[i].b);
        w[i] = low_words(t[i].a, t[i].b) ^ INT32_MIN;
    }
    args = parts ? args_of_parts(w, &c->fixed) : args_of_words(w, &c->fixed);
    for (i = 0; i < 3; i++) {
        x->u[i] = args.x[i];
        x->d[i] = args.x[3 + i];
    }
}

/** Indices that start at 0, here and below. */
NB_INLINE void fringe_phase(const slope_constants *c, const vd2 t[3], slope_index *x)
{
    const vd2 start = vd2_set(nb_fixed_start(1));
    sine_args args;
    int i;
    for (i = 0; i < 3; i++) {
        vd2 from = vd2_add(t[i], start);
        x->high[i] = high_words(from.a, from.b);
        args_of_fringes(t[i], x->high[i], &c->fixed, i, &args);
    }
    for (i = 0; i < 3; i++) {
        x->u[i] = args.x[i];
        x->d[i] = args.x[3 + i];
    }
}

/** t less its nearest whole number, as the high words have it. */
NB_INLINE vd2 from_nearest(vd2 t)
{
    return (vd2){t.a - vd_floor(t.a + 0.5), t.b - vd_floor(t.b + 0.5)};
}

/** N d of any N, reduced in double. */
NB_INLINE void real_phase(const slope_constants *c, const vd2 t[3], slope_index *x)
{
    const vd2 start = vd2_set(nb_fixed_start(1));
    int i;
    for (i = 0; i < 3; i++) {
        const double N = c->fixed.cells[i];
        vd2 from = vd2_add(t[i], start);
        vd2 d = from_nearest(t[i]), u = vd2_scale(d, N);
        u = (vd2){u.a - vd_round(u.a), u.b - vd_round(u.b)};
        x->high[i] = high_words(from.a, from.b);
        x->d[i] = vf_pack(d.a, d.b) + vf_set(NB_TINY);
        x->u[i] = vf_pack(u.a, u.b) + c->fixed.tiny[i];
    }
}

/** 2^(whole + part), |part| <= 1/2; below the normal floats 0. */
NB_INLINE vf slope_exp2(vf whole, vf part)
{
    static const float c[7] = {1.0f,           0.693147181f,   0.240226507f,
                               0.0555041087f,  0.00961812911f, 0.00133335581f,
                               0.000154035304f};
    vi scale =
        vi_add((vi)(whole + vf_set(NB_ROUND_FLOAT)), vi_set(127 - NB_ROUND_FLOAT_BITS))
        << 23;
    vf power = vf_set(c[6]);
    int k;
    for (k = 5; k >= 0; k--)
        power = vf_fma(power, part, vf_set(c[k]));
    return vf_select((vi)(whole < vf_set(-125.0f)), vf_set(0.0f), power * (vf)scale);
}

/** For the Gaussian: d, and what is left of a peak.  Its exponent is made in double, since far from a peak a
 * rounding of it would be many of the value's. */
NB_INLINE void gauss_phase(const slope_constants *c, const vd2 t[3], slope_index *x)
{
    const vd2 start = vd2_set(nb_fixed_start(1));
    vd2 R2 = vd2_set(0), y, whole;
    int i;
    for (i = 0; i < 3; i++) {
        vd2 from = vd2_add(t[i], start), d = from_nearest(t[i]);
        vd2 u = vd2_scale(d, c->fixed.cells[i]);
        R2 = vd2_fma(u, u, R2);
        x->high[i] = high_words(from.a, from.b);
        x->d[i] = vf_pack(d.a, d.b);
    }
    y = vd2_scale(R2, c->fall);
    y = (vd2){vd_max(y.a, vd_set(-126.0)), vd_max(y.b, vd_set(-126.0))};
    whole = (vd2){vd_round(y.a), vd_round(y.b)};
    x->power =
        slope_exp2(vf_pack(whole.a, whole.b), vf_pack(y.a - whole.a, y.b - whole.b));
    x->R2 = vf_pack(R2.a, R2.b);
}

NB_INLINE slope_index slope_index_of(const slope_constants *c, const vd2 t[3],
                                     const slope_case how)
{
    slope_index x;
    int i;
    if (how.shape == NB_LATTICE_GAUSS)
        gauss_phase(c, t, &x);
    else if (how.phase == NB_PHASE_INDEX || how.phase == NB_PHASE_PARTS)
        index_phase(c, t, how.phase == NB_PHASE_PARTS, &x);
    else if (how.phase == NB_PHASE_FRINGES)
        fringe_phase(c, t, &x);
    else
        real_phase(c, t, &x);
    for (i = 0; i < 3; i++)
        x.h[i] = vf_from_int(vi_sub(x.high[i], vi_set(NB_FIXED_HIGH))) + x.d[i];
    return x;
}

NB_INLINE const float *squares_of_source(const nb_vector_plan *p,
                                         const nb_vector_source *b)
{
    return nb_has_tables(p->table.kind) ? b->F2 : p->table.F2;
}

/** F^2 of a term times its weight. */
NB_INLINE vf slope_square(const nb_vector_plan *p, const float *F2, const slope_index *x,
                          vf weight, const slope_case how)
{
    const nb_factor_squares *table = &p->table;
    vi index;
    if (!how.table)
        return weight;
    index = vi_add(vi_add(table_axis(table, 0, x->high[0], table->kind),
                          table_axis(table, 1, x->high[1], table->kind)),
                   table_axis(table, 2, x->high[2], table->kind));
    if (table->kind == NB_F_BOX || table->kind == NB_F_TABLES)
        index = vi_add(index, vi_set(table->offset));
    if (table->kind == NB_F_TABLES)
        index = index & vi_set(table->mask);
    return weight * vf_gather(F2, index);
}

/** F^2 L^2 and its slopes for the parallelepiped, added to run. */
NB_INLINE void square_term(const slope_constants *c, const slope_index *x, vf F2, vf *run,
                           slope_term *term, const slope_case how)
{
    slope_parts y[3];
    vf s[3], one[3], L, twice, inverse;
    int i;
    for (i = 0; i < 3; i++)
        y[i] = slope_parts_of(x->d[i], x->u[i], c->half_fringe[i]);
    inverse = vf_set(1.0f) / (y[0].below * y[1].below * y[2].below);
    one[0] = inverse * (y[1].below * y[2].below);
    one[1] = inverse * (y[0].below * y[2].below);
    one[2] = inverse * (y[0].below * y[1].below);
    for (i = 0; i < 3; i++)
        s[i] = y[i].top * one[i];
    L = s[0] * s[1] * s[2];
    twice = (F2 + F2) * L;
    run[SLOPE_IMAGE] = vf_fma(F2 * L, L, run[SLOPE_IMAGE]);
    for (i = 0; i < 3; i++) {
        vf others = twice * (s[(i + 1) % 3] * s[(i + 2) % 3]) * one[i];
        term->g[i] = others * vf_fma(c->N[i], y[i].slope, -(s[i] * y[i].tilt));
        if (how.sums >= NB_SLOPES_N)
            run[SLOPE_N + i] = vf_fma(others, y[i].by_N, run[SLOPE_N + i]);
    }
}

/** The same for the Gaussian, L^2 = exp(-2 g/0.63 sum (N d)^2) in units of the cells' square. */
NB_INLINE void gauss_term(const slope_constants *c, double fudge, const slope_index *x,
                          vf F2, vf *run, slope_term *term, const slope_case how)
{
    const float steep = (float)(-4.0 * fudge / NB_GAUSS_WIDTH);
    const vf image = F2 * x->power;
    int i;
    run[SLOPE_IMAGE] += image;
    for (i = 0; i < 3; i++) {
        vf slope = image * (x->d[i] * (steep * c->N[i]));
        term->g[i] = slope * c->N[i];
        if (how.sums >= NB_SLOPES_N)
            run[SLOPE_N + i] += vf_fma(slope, x->d[i], image * (2.0f / c->N[i]));
    }
    if (how.sums >= NB_SLOPES_ALL)
        run[SLOPE_FUDGE] = vf_fma(image, x->R2, run[SLOPE_FUDGE]);
}

/** What a ray has of a source, in units of the first one's wavenumber. */
typedef struct slope_source {
    vf weight;
    vf q[3], wavenumber;
    vf about_spindle[3]; /* q x spindle */
} slope_source;

/** What the second loop needs of a term beside slope_term. */
typedef struct slope_owner {
    int orientation, source;
} slope_owner;

NB_INLINE void outer_products(const slope_term *terms, int n, vf *run)
{
    vf H[9];
    int i, k;
    for (i = 0; i < 9; i++)
        H[i] = run[SLOPE_H + i];
    for (k = 0; k < n; k++)
        for (i = 0; i < 9; i++)
            H[i] = vf_fma(terms[k].g[i / 3], terms[k].h[i % 3], H[i]);
    for (i = 0; i < 9; i++)
        run[SLOPE_H + i] = H[i];
}

/** Gradients by q (v), and what the other sums need of them. */
NB_INLINE void gradients_by_q(const nb_vector_slopes *t, const slope_source *q,
                              const slope_term *terms, const slope_owner *owners, int n,
                              vf (*v)[3], vf *run)
{
    vf V[3] = {run[SLOPE_V], run[SLOPE_V + 1], run[SLOPE_V + 2]};
    int k, i;
    for (k = 0; k < n; k++) {
        const float *a = t->cells[owners[k].orientation];
        const vf wavenumber = q[owners[k].source].wavenumber;
        for (i = 0; i < 3; i++) {
            v[k][i] =
                vf_fma(terms[k].g[0], vf_set(a[i]),
                       vf_fma(terms[k].g[1], vf_set(a[3 + i]), terms[k].g[2] * a[6 + i]));
            V[i] = vf_fma(v[k][i], wavenumber, V[i]);
        }
    }
    for (i = 0; i < 3; i++)
        run[SLOPE_V + i] = V[i];
}

NB_INLINE vf slope_dot(const vf x[3], const vf y[3])
{
    return vf_fma(x[0], y[0], vf_fma(x[1], y[1], x[2] * y[2]));
}

/** A turn of the crystal about the unit axis n changes a term by v.(q x n). */
NB_INLINE void spindle_turns(const nb_vector_slopes *t, const slope_source *q,
                             const slope_owner *owners, int n, const vf (*v)[3], vf *run)
{
    vf phi = run[SLOPE_PHI], osc = run[SLOPE_OSC];
    int k;
    for (k = 0; k < n; k++) {
        vf about = slope_dot(v[k], q[owners[k].source].about_spindle);
        phi += about;
        osc = vf_fma(about, vf_set(t->turned[owners[k].orientation]), osc);
    }
    run[SLOPE_PHI] = phi;
    run[SLOPE_OSC] = osc;
}

NB_INLINE void mosaic_turns(const nb_vector_slopes *t, const slope_source *q,
                            const slope_owner *owners, int n, const vf (*v)[3], vf *run)
{
    vf sum = run[SLOPE_MOSAIC];
    int k, i;
    for (k = 0; k < n; k++) {
        const float *e = t->axes[owners[k].orientation];
        const vf *Q = q[owners[k].source].q;
        for (i = 0; i < 3; i++) {
            const int j = (i + 1) % 3, l = (i + 2) % 3;
            sum = vf_fma(v[k][i], vf_fma(Q[j], vf_set(e[l]), -(Q[l] * e[j])), sum);
        }
    }
    run[SLOPE_MOSAIC] = sum;
}

NB_INLINE void dispersion_terms(const nb_vector_slopes *t, const slope_constants *c,
                                const slope_term *terms, const slope_owner *owners, int n,
                                vf *run)
{
    int k, i;
    for (k = 0; k < n; k++) {
        vf g[3];
        for (i = 0; i < 3; i++)
            g[i] = terms[k].g[i] * c->varies[i];
        run[SLOPE_DISPERSION] =
            vf_fma(slope_dot(g, terms[k].h), vf_set(t->spectrum[owners[k].source]),
                   run[SLOPE_DISPERSION]);
    }
}

/** The block at fast[], in the order of lanes. */
NB_INLINE vd2 block_of(const double *fast)
{
    vd2 f;
    int i;
    for (i = 0; i < NB_H; i++) {
        f.a[i] = fast[(int)nb_lane[0][i]];
        f.b[i] = fast[(int)nb_lane[1][i]];
    }
    return f;
}

NB_INLINE int slope_sums_of(int level)
{
    return level == NB_SLOPES_ALL ? SLOPE_SUMS : SLOPE_V;
}

/** The state of one block of pixels' sums. */
typedef struct slope_run {
    slope_term terms[SLOPE_TERMS];
    slope_owner owners[SLOPE_TERMS];
    vf run[SLOPE_SUMS];
    vd2 total[SLOPE_SUMS];
    int n, added;
} slope_run;

/** The sums of floats into the totals. */
NB_INLINE void slope_flush(const slope_constants *c, slope_run *r, const slope_case how)
{
    int i;
    for (i = 0; i < 9 && how.sums >= NB_SLOPES_H; i++)
        r->run[SLOPE_H + i] = r->run[SLOPE_H + i] * c->varies[i / 3];
    for (i = 0; i < slope_sums_of(how.sums); i++)
        flush(&r->total[i], &r->run[i]);
    r->added = 0;
}

/** The second loop over the terms at hand; into the totals when the floats have had enough. */
NB_INLINE void slope_second(const nb_vector_slopes *t, const slope_constants *c,
                            const slope_source *q, slope_run *r, int last,
                            const slope_case how)
{
    vf v[SLOPE_TERMS][3];
    if (how.sums >= NB_SLOPES_H)
        outer_products(r->terms, r->n, r->run);
    if (how.sums >= NB_SLOPES_ALL) {
        gradients_by_q(t, q, r->terms, r->owners, r->n, v, r->run);
        if (t->turned)
            spindle_turns(t, q, r->owners, r->n, (const vf(*)[3])v, r->run);
        if (t->axes)
            mosaic_turns(t, q, r->owners, r->n, (const vf(*)[3])v, r->run);
        if (t->spectrum)
            dispersion_terms(t, c, r->terms, r->owners, r->n, r->run);
    }
    r->added += r->n;
    r->n = 0;
    if (last || r->added + SLOPE_TERMS > NB_VECTOR_SUM_RUN)
        slope_flush(c, r, how);
}

/** Sums of the first loop: to[] is from[]. */
NB_INLINE void copy_first(const vf *from, vf *to)
{
    int i;
    for (i = 0; i < SLOPE_H; i++)
        to[i] = from[i];
    to[SLOPE_FUDGE] = from[SLOPE_FUDGE];
}

/** Everything of a ray's block: q[source]. */
NB_INLINE void slope_sums(const nb_vector_slopes *t, const nb_vector_plan *p,
                          const rays *ray, const slope_source *q, slope_run *r,
                          const slope_case how)
{
    const nb_scene *sc = &p->scene;
    const slope_constants c = slope_constants_of(sc);
    const double *offset = t->offsets;
    vf first[SLOPE_SUMS]; /* in registers between two second loops */
    int m, s, i;
    for (i = 0; i < SLOPE_SUMS; i++) {
        r->run[i] = vf_set(0.0f);
        r->total[i] = vd2_set(0);
    }
    r->n = r->added = 0;
    copy_first(r->run, first);
    for (m = 0; m < sc->lattice.n_orientations; m++) {
        const nb_orientation *o = &sc->lattice.orientations[m];
        const vd2 A[3] = {dot_ray(ray, o->a), dot_ray(ray, o->b), dot_ray(ray, o->c)};
        for (s = 0; s < sc->beam.n_sources; s++, offset += 3) {
            const nb_vector_source *b = &p->sources[s];
            slope_term *term = &r->terms[r->n];
            slope_index x;
            vf F2;
            vd2 index[3];
            for (i = 0; i < 3; i++)
                index[i] = vd2_scale_add(A[i], -b->inv_lambda, vd2_set(offset[i]));
            x = slope_index_of(&c, index, how);
            F2 = slope_square(p, squares_of_source(p, b), &x, q[s].weight, how);
            for (i = 0; i < 3; i++)
                term->h[i] = x.h[i];
            if (how.shape == NB_LATTICE_GAUSS)
                gauss_term(&c, sc->lattice.fudge, &x, F2, first, term, how);
            else
                square_term(&c, &x, F2, first, term, how);
            r->owners[r->n] = (slope_owner){m, s};
            if (++r->n == SLOPE_TERMS) {
                copy_first(first, r->run);
                slope_second(t, &c, q, r, 0, how);
                copy_first(r->run, first);
            }
        }
    }
    copy_first(first, r->run);
    slope_second(t, &c, q, r, 1, how);
}

#endif
