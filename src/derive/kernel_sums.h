/* SPDX-License-Identifier: MIT */
/** Sums over the terms of a ray (source, orientation) of which every derivative is a contraction
 * (docs/derivatives.md), NB_W pixels at once: in float over NB_VECTOR_SUM_RUN terms, then in double.
 *
 * The sources of one incident direction differ in their wavenumbers alone, so gradients times wavenumbers are summed over
 * some of them first.  These parts go through two loops, some at a time: the first makes them (kernel_terms.h), the
 * second the outer products.  One loop would need more registers than there are. */
#ifndef NB_DERIVE_KERNEL_SUMS_H
#define NB_DERIVE_KERNEL_SUMS_H

#include "kernel_terms.h"

enum { SLOPE_PARTS = 16 }; /* between the two loops */

/** What a ray has of the sources of one direction: q, and q x spindle, at the first source's wavenumber and in its unit. */
typedef struct slope_aim {
    vf q[3], about_spindle[3];
} slope_aim;

/** What a ray has of its sources. */
typedef struct slope_sources {
    vf weight[NB_VECTOR_MAX_FACTORS];
    slope_aim aim[NB_VECTOR_MAX_FACTORS]; /* [direction] */
} slope_sources;

/** Of one orientation and some sources of one direction: the sums of g times the relative wavenumber, and of that times
 * nb_vector_slopes.spectrum; -h at the first source's wavenumber. */
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

/** Gradients by q (v), and what the other sums need of them. */
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

/** A turn of the crystal about the unit axis n changes a term by v.(q x n). */
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

NB_INLINE void mosaic_turns(const nb_vector_slopes *t, const slope_aim *aim,
                            const slope_owner *owners, int n, const vf (*v)[3], vf *run)
{
    vf sum = run[SLOPE_MOSAIC];
    int k, i;
    for (k = 0; k < n; k++) {
        const float *e = t->axes[owners[k].orientation];
        const vf *Q = aim[owners[k].direction].q;
        for (i = 0; i < 3; i++) {
            const int j = (i + 1) % 3, l = (i + 2) % 3;
            sum = vf_fma(v[k][i], vf_fma(Q[j], vf_set(e[l]), -(Q[l] * e[j])), sum);
        }
    }
    run[SLOPE_MOSAIC] = sum;
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

/** The state of one block of pixels' sums. */
typedef struct slope_run {
    slope_part parts[SLOPE_PARTS];
    slope_owner owners[SLOPE_PARTS];
    vf run[SLOPE_SUMS];
    vd2 total[SLOPE_SUMS];
    int n, added; /* parts at hand; terms since the last flush */
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

/** The second loop over the parts at hand; into the totals when the floats have had enough. */
NB_INLINE void slope_second(const nb_vector_slopes *t, const slope_constants *c,
                            const slope_aim *aim, slope_run *r, int enough,
                            const slope_case how)
{
    vf v[SLOPE_PARTS][3];
    if (how.sums >= NB_SLOPES_H)
        outer_products(r->parts, r->n, r->run);
    if (how.sums >= NB_SLOPES_ALL) {
        gradients_by_q(t, r->parts, r->owners, r->n, v, r->run);
        if (t->turned)
            spindle_turns(t, aim, r->owners, r->n, (const vf(*)[3])v, r->run);
        if (t->axes)
            mosaic_turns(t, aim, r->owners, r->n, (const vf(*)[3])v, r->run);
        if (t->spectrum)
            dispersion_terms(c, r->parts, r->n, r->run);
    }
    r->n = 0;
    if (enough)
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

/** The second loop when there is no room for another part, or floats have had enough terms. */
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

/** A term's index and F^2 times its weight. */
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

/** A term's gradient to its part. */
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

/** A term is begun before the one before it is finished: a processor sees little more than one term ahead, and would
 * wait for the division. */
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

/** Everything of a ray's block. */
NB_INLINE void slope_sums(const nb_vector_slopes *t, const nb_vector_plan *p,
                          const rays *ray, const slope_sources *q, slope_run *r,
                          const slope_case how)
{
    const nb_scene *sc = &p->scene;
    const slope_constants c = slope_constants_of(sc, t->width);
    vf first[SLOPE_SUMS]; /* in registers between two second loops */
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
            slope_part part; /* in registers */
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
