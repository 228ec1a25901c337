/* SPDX-License-Identifier: MIT */
/** Terms of a ray (a source and an orientation each), their gradients by h, k, l, and
 * sums of both, for NB_W pixels at once. The lattice factor is in single precision from
 * fixed-point indices, as in kernel_fixed.h. */
#ifndef NB_RENDER_KERNEL_SLOPE_SUMS_H
#define NB_RENDER_KERNEL_SLOPE_SUMS_H

#include "../physics/lattice.h"
#include "kernel_fixed.h"
#include "vector_sums.h"

enum { SLOPE_BATCH = 16 }; /* blocks of a row that a kernel gets at once */

/** Constants for which the compiler makes separate loops. */
typedef struct slope_case {
    int law;   /* NB_LAW_FRINGES or _DECAY */
    int phase; /* nb_slope_phase */
    int sums;  /* nb_slope_level */
} slope_case;

/** Gradient of a term by the negative Miller indices of fixed point. The product g h has
 * the same sign as with h; g alone has the opposite sign. */
typedef struct slope_term {
    vf g[3]; /* d(F^2 L^2)/d(-h) */
    vf h[3]; /* -h */
} slope_term;

/** Constants of a scene. */
typedef struct slope_constants {
    fixed_constants fixed;
    vf N[3];
    vf half_fringe[3]; /* nb_slope_edge */
    /* 1 or 0 (nb_slope_varies): factor that is applied to the sums, not to each term */
    vf varies[3];
    double fall; /* law of decay: slope of log2 L^2 by R^2 */
    float steep; /* law of decay: twice the slope of ln L^2 by R^2 */
} slope_constants;

NB_INLINE slope_constants slope_constants_of(const nb_scene *sc, double width)
{
    slope_constants c;
    int i;
    c.fixed = fixed_constants_of(sc);
    c.fall = -2.0 * sc->lattice.fudge / width * NB_LOG2_E;
    c.steep = (float)(-4.0 * sc->lattice.fudge / width);
    for (i = 0; i < 3; i++) {
        c.N[i] = vf_set((float)sc->lattice.N[i]);
        c.varies[i] = vf_set((float)nb_slope_varies(&sc->lattice, i));
        c.half_fringe[i] = vf_set(nb_slope_edge(sc->lattice.N[i]));
    }
    return c;
}

/** A term's three indices in fixed point (kernel_fixed.h), in parts: d holds -d, u the
 * fraction of -N d, h holds -h, and `high` the high word, which counts whole numbers. */
typedef struct slope_index {
    vf d[3], u[3], h[3];
    vi high[3];
    vf power, R2; /* law of decay: exp(-2 g/width R^2) times 2^SLOPE_RAISED; R^2 */
} slope_index;

/** t: -h plus nb_fixed_start(1), so that the high word counts nearest whole numbers.
 * parts: N is not a whole number. */
NB_INLINE void index_phase(const slope_constants *c, const vd2 t[3], const int parts,
                           slope_index *x)
{
    nb_sine_args args;
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

/** t: -h without nb_fixed_start, also in the functions for the following phases. */
NB_INLINE void fringe_phase(const slope_constants *c, const vd2 t[3], slope_index *x)
{
    const vd2 start = vd2_set(nb_fixed_start(1));
    nb_sine_args args;
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

/** t minus its nearest whole number, which is the one that the high words count. */
NB_INLINE vd2 from_nearest(vd2 t)
{
    return (vd2){t.a - vd_floor(t.a + 0.5), t.b - vd_floor(t.b + 0.5)};
}

/** N d modulo 1 for any N, calculated in double. */
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
        x->d[i] = vf_pack(d.a, d.b) + vf_set(NB_FIXED_TINY);
        x->u[i] = vf_pack(u.a, u.b) + c->fixed.tiny[i];
    }
}

/** 2^(SLOPE_RAISED + whole + part), |part| <= 1/2; 0 if 2^whole is below normal floats. */
NB_INLINE vf slope_exp2(vf whole, vf part)
{
    static const float c[7] = {1.0f,           (float)(1 / NB_LOG2_E), 0.240226507f,
                               0.0555041087f,  0.00961812911f,         0.00133335581f,
                               0.000154035304f};
    vi scale = vi_add((vi)(whole + vf_set(NB_ROUND_FLOAT)),
                      vi_set(127 + SLOPE_RAISED - NB_ROUND_FLOAT_BITS))
               << 23;
    vf power = vf_set(c[6]);
    int k;
    for (k = 5; k >= 0; k--)
        power = vf_fma(power, part, vf_set(c[k]));
    return vf_pick((vf_mask)(whole < vf_set(-125.0f)), vf_set(0.0f), power * (vf)scale);
}

/** For the law of decay: d, R^2 and the power. The exponent is calculated in double: far
 * from a peak, its rounding in float would be many roundings of the power. */
NB_INLINE void decay_phase(const slope_constants *c, const vd2 t[3], slope_index *x)
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
    if (how.law == NB_LAW_DECAY)
        decay_phase(c, t, &x);
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

/** F^2 of a term times the term's weight. */
NB_INLINE vf slope_square(const nb_vector_plan *p, const float *F2, const slope_index *x,
                          vf weight)
{
    const nb_factor_squares *table = &p->table;
    vi index;
    if (table->kind == NB_F_CONST)
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

/** A term of the parallelepiped before its only division. */
typedef struct square_begun {
    nb_slope_parts of[3];
    vf inverse, F2;
} square_begun;

NB_INLINE void square_begin(const slope_constants *c, const slope_index *x, vf F2,
                            square_begun *to)
{
    int i;
    for (i = 0; i < 3; i++)
        to->of[i] = nb_slope_parts_of(x->d[i], x->u[i], c->half_fringe[i], 4);
    to->inverse = vf_set(1.0f) / (to->of[0].below * to->of[1].below * to->of[2].below);
    to->F2 = F2;
}

/** Add F^2 L^2 and its slopes by N to run, and set its gradient. */
NB_INLINE void square_finish(const slope_constants *c, const square_begun *from, vf *run,
                             slope_term *term, const slope_case how)
{
    const nb_slope_parts *y = from->of;
    const vf inverse = from->inverse, F2 = from->F2;
    vf s[3], one[3], L, twice;
    int i;
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

/** square_begin and square_finish of a term of the parallelepiped. */
NB_INLINE void square_term(const slope_constants *c, const slope_index *x, vf F2, vf *run,
                           slope_term *term, const slope_case how)
{
    square_begun square;
    square_begin(c, x, F2, &square);
    square_finish(c, &square, run, term, how);
}

/** Add F^2 L^2 and its slopes by N and fudge for the law of decay to run, and set the
 * gradient. L^2 = exp(-2 g/width sum (N d)^2), relative to its largest value. */
NB_INLINE void decay_term(const slope_constants *c, const slope_index *x, vf F2, vf *run,
                          slope_term *term, const slope_case how)
{
    const float steep = c->steep;
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

/** The columns fast[] of a block, in the order of lanes. */
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

/* --- sums over the terms of a ray; every derivative is a weighted sum of these sums
 * (docs/physics.md, section 26). They are in float over NB_VECTOR_SUM_RUN terms, then in
 * double ---
 *
 * The sources of one incident direction differ only in their wavenumbers. So gradients
 * times wavenumbers are first summed over a group of such sources (a part). The first
 * loop makes up to SLOPE_PARTS parts with the functions above; the second loop makes
 * their outer products. A single loop would need more registers than the CPU has. */

enum { SLOPE_PARTS = 16 }; /* parts from the first loop for the second */

/** For a ray and the sources of one direction: q and q x spindle of the first source,
 * divided by its wavenumber. */
typedef struct slope_aim {
    vf q[3], about_spindle[3];
} slope_aim;

/** A ray and its sources. */
typedef struct slope_sources {
    vf weight[NB_VECTOR_MAX_FACTORS];
    slope_aim aim[NB_VECTOR_MAX_FACTORS]; /* [direction] */
} slope_sources;

/** Sums over a group of sources for one orientation: g times the relative wavenumber, the
 * same times nb_vector_slopes.spectrum, and -h for the scene's first source. */
typedef struct slope_part {
    vf g[3], spectrum[3], h[3];
} slope_part;

typedef struct slope_owner {
    int orientation, direction;
} slope_owner;

NB_INLINE void outer_products(const slope_part *parts, int n, vf *run)
{
    vf H[9];
    int i, k;
    for (i = 0; i < 9; i++)
        H[i] = run[SLOPE_H + i];
    for (k = 0; k < n; k++)
        for (i = 0; i < 9; i++)
            H[i] = vf_fma(parts[k].g[i / 3], parts[k].h[i % 3], H[i]);
    for (i = 0; i < 9; i++)
        run[SLOPE_H + i] = H[i];
}

/** Set v to the gradient of each part by q, and add all to run. */
NB_INLINE void gradients_by_q(const nb_vector_slopes *t, const slope_part *parts,
                              const slope_owner *owners, int n, vf (*v)[3], vf *run)
{
    vf V[3] = {run[SLOPE_V], run[SLOPE_V + 1], run[SLOPE_V + 2]};
    int k, i;
    for (k = 0; k < n; k++) {
        const float *a = t->cells[owners[k].orientation];
        for (i = 0; i < 3; i++) {
            v[k][i] =
                vf_fma(parts[k].g[0], vf_set(a[i]),
                       vf_fma(parts[k].g[1], vf_set(a[3 + i]), parts[k].g[2] * a[6 + i]));
            V[i] += v[k][i];
        }
    }
    for (i = 0; i < 3; i++)
        run[SLOPE_V + i] = V[i];
}

NB_INLINE vf slope_pack(vd2 x, double scale)
{
    return vf_pack(x.a * scale, x.b * scale);
}

NB_INLINE vf slope_dot(const vf x[3], const vf y[3])
{
    return vf_fma(x[0], y[0], vf_fma(x[1], y[1], x[2] * y[2]));
}

/** Add turns about the spindle. A turn of the crystal about n changes a term by v.(q x
 * n). */
NB_INLINE void spindle_turns(const nb_vector_slopes *t, const slope_aim *aim,
                             const slope_owner *owners, int n, const vf (*v)[3], vf *run)
{
    vf phi = run[SLOPE_PHI], osc = run[SLOPE_OSC];
    int k;
    for (k = 0; k < n; k++) {
        vf about = slope_dot(v[k], aim[owners[k].direction].about_spindle);
        phi += about;
        osc = vf_fma(about, vf_set(t->turned[owners[k].orientation]), osc);
    }
    run[SLOPE_PHI] = phi;
    run[SLOPE_OSC] = osc;
}

/** Add turns number `turn` of the domains. */
NB_INLINE void mosaic_turns(const nb_vector_slopes *t, int turn, const slope_aim *aim,
                            const slope_owner *owners, int n, const vf (*v)[3], vf *run)
{
    const float(*axes)[3] =
        (const float(*)[3])t->axes + turn * t->job->scene->lattice.n_orientations;
    vf sum = run[nb_slope_turn(turn)];
    int k, i;
    for (k = 0; k < n; k++) {
        const float *e = axes[owners[k].orientation];
        const vf *Q = aim[owners[k].direction].q;
        for (i = 0; i < 3; i++) {
            const int j = (i + 1) % 3, l = (i + 2) % 3;
            sum = vf_fma(v[k][i], vf_fma(Q[j], vf_set(e[l]), -(Q[l] * e[j])), sum);
        }
    }
    run[nb_slope_turn(turn)] = sum;
}

/** Add turns of the beam. A turn of the incident direction changes q by -1/lambda times
 * the turn, and a term by v times the change of q. */
NB_INLINE void beam_turns(const nb_vector_slopes *t, const slope_owner *owners, int n,
                          const vf (*v)[3], vf *run)
{
    int k, a;
    for (a = 0; a < 2; a++) {
        vf sum = run[SLOPE_BEAM + a];
        for (k = 0; k < n; k++) {
            const float *by = t->beam[owners[k].direction][a];
            sum = vf_fma(
                v[k][0], vf_set(by[0]),
                vf_fma(v[k][1], vf_set(by[1]), vf_fma(v[k][2], vf_set(by[2]), sum)));
        }
        run[SLOPE_BEAM + a] = sum;
    }
}

NB_INLINE void dispersion_terms(const slope_constants *c, const slope_part *parts, int n,
                                vf *run)
{
    vf sum = run[SLOPE_DISPERSION];
    int k, i;
    for (k = 0; k < n; k++)
        for (i = 0; i < 3; i++)
            sum = vf_fma(parts[k].spectrum[i] * c->varies[i], parts[k].h[i], sum);
    run[SLOPE_DISPERSION] = sum;
}

NB_INLINE int slope_sums_of(int level)
{
    return level == NB_SLOPES_ALL ? SLOPE_SUMS : SLOPE_V;
}

/** The sums of one block of pixels while terms are added. */
typedef struct slope_run {
    slope_part parts[SLOPE_PARTS];
    slope_owner owners[SLOPE_PARTS];
    vf run[SLOPE_SUMS];
    vd2 total[SLOPE_SUMS];
    int n, added; /* number of parts; number of terms since the last flush */
} slope_run;

/** Add the sums of floats to the totals. */
NB_INLINE void slope_flush(const slope_constants *c, slope_run *r, const slope_case how)
{
    int i;
    for (i = 0; i < 9 && how.sums >= NB_SLOPES_H; i++)
        r->run[SLOPE_H + i] = r->run[SLOPE_H + i] * c->varies[i / 3];
    for (i = 0; i < slope_sums_of(how.sums); i++)
        flush(&r->total[i], &r->run[i]);
    r->added = 0;
}

/** Run the second loop over the r->n parts; with `enough`, add the floats to the totals. */
NB_INLINE void slope_second(const nb_vector_slopes *t, const slope_constants *c,
                            const slope_aim *aim, slope_run *r, int enough,
                            const slope_case how)
{
    vf v[SLOPE_PARTS][3];
    int i;
    if (how.sums >= NB_SLOPES_H)
        outer_products(r->parts, r->n, r->run);
    if (how.sums >= NB_SLOPES_ALL) {
        gradients_by_q(t, r->parts, r->owners, r->n, v, r->run);
        if (t->turned)
            spindle_turns(t, aim, r->owners, r->n, (const vf(*)[3])v, r->run);
        for (i = 0; t->axes && i < t->job->n_turns; i++)
            mosaic_turns(t, i, aim, r->owners, r->n, (const vf(*)[3])v, r->run);
        if (t->spectrum)
            dispersion_terms(c, r->parts, r->n, r->run);
        if (t->beam)
            beam_turns(t, r->owners, r->n, (const vf(*)[3])v, r->run);
    }
    r->n = 0;
    if (enough)
        slope_flush(c, r, how);
}

/** Copy the sums that the first loop makes. */
NB_INLINE void copy_first(const vf *from, vf *to)
{
    int i;
    for (i = 0; i < SLOPE_H; i++)
        to[i] = from[i];
    to[SLOPE_FUDGE] = from[SLOPE_FUDGE];
}

/** Count a part. Run the second loop if parts[] is full or floats have enough terms. */
NB_INLINE void slope_close(const nb_vector_slopes *t, const slope_constants *c,
                           const slope_aim *aim, slope_run *r, vf *first,
                           const slope_case how)
{
    const int enough = r->added + t->together > NB_VECTOR_SUM_RUN;
    if (++r->n < SLOPE_PARTS && !enough)
        return;
    copy_first(first, r->run);
    slope_second(t, c, aim, r, enough, how);
    copy_first(r->run, first);
}

/** Set the index (nb_slope_index) of a term, and return F^2 times the term's weight. */
NB_INLINE vf slope_aim_at(const nb_vector_slopes *t, const nb_vector_plan *p,
                          const slope_constants *c, const vd2 D[3], int s, vf weight,
                          slope_index *x, const slope_case how)
{
    const nb_vector_source *b = &p->sources[s];
    vd2 index[3];
    int i;
    for (i = 0; i < 3; i++)
        index[i] = vd2_scale_add(D[i], b->inv_lambda, vd2_set(t->start));
    *x = slope_index_of(c, index, how);
    return slope_square(p, squares_of_source(p, b), x, weight);
}

/** Add a term's gradient to its part. */
NB_INLINE void slope_put(const nb_vector_slopes *t, const slope_term *term, int s,
                         slope_part *part, const slope_case how)
{
    const vf wavenumber = vf_set(t->relative[s]);
    int i;
    for (i = 0; i < 3; i++)
        part->g[i] = vf_fma(term->g[i], wavenumber, part->g[i]);
    if (how.sums >= NB_SLOPES_ALL && t->spectrum)
        for (i = 0; i < 3; i++)
            part->spectrum[i] =
                vf_fma(term->g[i], vf_set(t->spectrum[s]), part->spectrum[i]);
}

NB_INLINE void decay_group(const nb_vector_slopes *t, const nb_vector_plan *p,
                           const slope_constants *c, const vd2 D[3],
                           const nb_slope_group *group, const vf *weight, vf *first,
                           slope_part *part, const slope_case how)
{
    int s;
    for (s = group->first; s < group->end; s++) {
        slope_term term;
        slope_index x;
        const vf F2 = slope_aim_at(t, p, c, D, s, weight[s], &x, how);
        decay_term(c, &x, F2, first, &term, how);
        slope_put(t, &term, s, part, how);
    }
}

/** Sum over a group. A term is begun before the previous term is finished: a processor
 * looks little more than one term ahead, and would wait for the division. */
NB_INLINE void square_group(const nb_vector_slopes *t, const nb_vector_plan *p,
                            const slope_constants *c, const vd2 D[3],
                            const nb_slope_group *group, const vf *weight, vf *first,
                            slope_part *part, const slope_case how)
{
    square_begun ahead[2];
    int s;
    for (s = group->first; s <= group->end; s++) {
        if (s < group->end) {
            slope_index x;
            const vf F2 = slope_aim_at(t, p, c, D, s, weight[s], &x, how);
            square_begin(c, &x, F2, &ahead[s % 2]);
        }
        if (s > group->first) {
            slope_term term;
            square_finish(c, &ahead[(s - 1) % 2], first, &term, how);
            slope_put(t, &term, s - 1, part, how);
        }
    }
}

/** Make all sums of a block of rays. */
NB_INLINE void slope_sums(const nb_vector_slopes *t, const nb_vector_plan *p,
                          const rays *ray, const slope_sources *q, slope_run *r,
                          const slope_case how)
{
    const nb_scene *sc = &p->scene;
    const slope_constants c = slope_constants_of(sc, t->width);
    vf first[SLOPE_SUMS]; /* kept in registers until the second loop runs */
    int m, k, i;
    for (i = 0; i < SLOPE_SUMS; i++) {
        r->run[i] = vf_set(0.0f);
        r->total[i] = vd2_set(0);
    }
    r->n = r->added = 0;
    copy_first(r->run, first);
    for (m = 0; m < sc->lattice.n_orientations; m++) {
        const nb_orientation *o = &sc->lattice.orientations[m];
        const vd2 A[3] = {dot_ray(ray, o->a), dot_ray(ray, o->b), dot_ray(ray, o->c)};
        for (k = 0; k < t->n_groups; k++) {
            const nb_slope_group *group = &t->groups[k];
            const double *incident = t->incident[m * t->n_directions + group->direction];
            slope_part part; /* kept in registers */
            vd2 D[3];        /* -h times the wavelength */
            for (i = 0; i < 3; i++) {
                D[i] = vd2_add(vd2_scale(A[i], -1), vd2_set(incident[i]));
                part.h[i] = slope_pack(D[i], t->wavenumber);
                part.g[i] = part.spectrum[i] = vf_set(0.0f);
            }
            if (how.law == NB_LAW_DECAY)
                decay_group(t, p, &c, D, group, q->weight, first, &part, how);
            else
                square_group(t, p, &c, D, group, q->weight, first, &part, how);
            r->parts[r->n] = part;
            r->owners[r->n] = (slope_owner){m, group->direction};
            r->added += group->end - group->first;
            slope_close(t, &c, q->aim, r, first, how);
        }
    }
    copy_first(first, r->run);
    slope_second(t, &c, q->aim, r, 1, how);
}

#endif
