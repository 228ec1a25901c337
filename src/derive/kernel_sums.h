/* SPDX-License-Identifier: MIT */
/** Sums over the terms of a ray (source, orientation) of which every derivative is a contraction
 * (docs/derivatives.md), NB_W pixels at once: in float over NB_VECTOR_SUM_RUN terms, then in double.
 *
 * Terms go through two loops, some at a time: the first makes gradients by h, k, l (kernel_terms.h), the
 * second the outer products.  One loop would need more registers than there are. */
#ifndef NB_DERIVE_KERNEL_SUMS_H
#define NB_DERIVE_KERNEL_SUMS_H

#include "kernel_terms.h"

enum { SLOPE_TERMS = 16 }; /* between the two loops */

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
