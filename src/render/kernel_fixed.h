/* SPDX-License-Identifier: MIT */
/** Sum over sources and orientations for SQUARE crystals in fixed point (vector_plan.h:
 * FIXED).
 *
 * t = magic - h in double, with magic = 1.5 2^20, so that the last bit of t is 2^-32. The
 * low word w of t is the fraction of -h times 2^32. The integer product w N is N times
 * this fraction modulo 1, exactly. With a table of F, 1/2 is added to t, so that the high
 * word counts reflections.
 *
 * An N that is not whole (NB_FIXED_REAL) is split into a whole number and a fraction,
 * which floats multiply. For many cells (NB_FIXED_FRINGES) a step of 2^-32 of h is too
 * large a part of a fringe. Then N h is also split into words, and N (h - h0) is the
 * whole part of N h minus N h0, plus the fraction. */
#ifndef NB_RENDER_KERNEL_FIXED_H
#define NB_RENDER_KERNEL_FIXED_H

#include "kernel_rays.h"

#include "../terms/interference.h"

/** Constants for which the compiler makes separate loops. */
typedef struct fixed_case {
    int kind; /* nb_f_kind */
    int mode; /* nb_fixed_mode */
} fixed_case;

/** All cases with separate loops: DO(kind, mode). */
#define NB_FIXED_CASES_OF(DO, kind)                                                      \
    DO(kind, NB_FIXED_INDEX)                                                             \
    DO(kind, NB_FIXED_FRINGES)                                                           \
    DO(kind, NB_FIXED_REAL)
#define NB_FIXED_CASES(DO)                                                               \
    NB_FIXED_CASES_OF(DO, NB_F_CONST)                                                    \
    NB_FIXED_CASES_OF(DO, NB_F_BOX)                                                      \
    NB_FIXED_CASES_OF(DO, NB_F_CLAMPED)
#define NB_FIXED_CASES_OF_SOURCES(DO)                                                    \
    NB_FIXED_CASES(DO)                                                                   \
    NB_FIXED_CASES_OF(DO, NB_F_TABLES)                                                   \
    NB_FIXED_CASES_OF(DO, NB_F_TABLES_CLAMPED)
#define NB_CASE_NUMBER(kind, mode) ((int)(kind)*NB_FIXED_MODES + (int)(mode))

typedef struct fixed_constants {
    vi N[3];    /* N, rounded to a whole number */
    vf part[3]; /* N less the rounded N */
    vf tiny[3]; /* N NB_FIXED_TINY */
    vf inv_N[3];
    double cells[3]; /* N */
} fixed_constants;

NB_INLINE fixed_constants fixed_constants_of(const nb_scene *sc)
{
    fixed_constants c;
    int i;
    for (i = 0; i < 3; i++) {
        const double whole = floor(sc->lattice.N[i] + 0.5);
        c.N[i] = vi_set((int32_t)whole);
        c.part[i] = vf_set((float)(sc->lattice.N[i] - whole));
        c.tiny[i] = vf_set((float)sc->lattice.N[i] * NB_FIXED_TINY);
        c.inv_N[i] = vf_set((float)(1.0 / sc->lattice.N[i]));
        c.cells[i] = sc->lattice.N[i];
    }
    return c;
}

/** Arguments of the sines from the fractions w of the indices, for whole N. */
NB_INLINE nb_sine_args args_of_words(const vi w[3], const fixed_constants *c)
{
    nb_sine_args s;
    int i;
    for (i = 0; i < 3; i++)
        s.x[3 + i] = nb_fraction(w[i], vf_set(NB_FIXED_TINY));
    for (i = 0; i < 3; i++)
        s.x[i] = nb_turns(w[i], c->N[i], c->tiny[i]);
    return s;
}

/** Arguments of the sines from the fractions w of the indices, for any N. */
NB_INLINE nb_sine_args args_of_parts(const vi w[3], const fixed_constants *c)
{
    nb_sine_args s;
    int i;
    for (i = 0; i < 3; i++)
        s.x[3 + i] = nb_fraction(w[i], vf_set(NB_FIXED_TINY));
    for (i = 0; i < 3; i++)
        s.x[i] = nb_turns_of_parts(w[i], c->N[i], c->part[i], c->tiny[i]);
    return s;
}

/** Arguments of the sines of one axis from N h: high words count whole fringes, low words
 * are the fraction of a fringe. */
NB_INLINE void args_of_fringes(vd2 h, vi high, const fixed_constants *c, int axis,
                               nb_sine_args *s)
{
    const vd N = vd_set(c->cells[axis]), start = vd_set(nb_fixed_start(1));
    const int32_t shift =
        (int32_t)((uint32_t)NB_FIXED_HIGH * ((uint32_t)c->cells[axis] - 1u));
    vd t0 = vd_fma(h.a, N, start), t1 = vd_fma(h.b, N, start);
    vi fringe =
        vi_add(vi_sub(high_words(t0, t1), vi_mul(high, c->N[axis])), vi_set(shift));
    vf u = nb_fraction(low_words(t0, t1) ^ INT32_MIN, c->tiny[axis]);
    s->x[axis] = u;
    s->x[3 + axis] = (vf_from_int(fringe) + u) * c->inv_N[axis];
}

/** Contribution of one axis to the index in the table of F^2, from the high words. */
NB_INLINE vi table_axis(const nb_factor_squares *t, int axis, vi high, const int kind)
{
    if (kind == NB_F_CLAMPED || kind == NB_F_TABLES_CLAMPED)
        high = vi_clamp(vi_sub(high, vi_set(NB_FIXED_HIGH + t->box.low[axis])),
                        t->box.n[axis] - 1);
    return axis < 2 || nb_has_tables(kind) ? vi_shl(high, t->shift[axis]) : high;
}

/** F^2 F_latt^2 of one step for the pixels of a block. h[axis]: magic - h, or -h in mode
 * FRINGES. F2: table of F^2 of the step's source. */
NB_INLINE vf fixed_step(const nb_factor_squares *table, const float *F2,
                        const fixed_constants *c, const vd2 h[3], const fixed_case how)
{
    const vd start = vd_set(nb_fixed_start(1));
    nb_sine_args args;
    vi w[3], high[3], index = {0};
    vf latt, latt2;
    int i;
    for (i = 0; i < 3; i++)
        if (how.mode == NB_FIXED_FRINGES)
            high[i] = high_words(h[i].a + start, h[i].b + start);
        else if (how.kind != NB_F_CONST)
            high[i] = high_words(h[i].a, h[i].b);
    for (i = 0; i < 3; i++)
        if (how.mode == NB_FIXED_FRINGES)
            args_of_fringes(h[i], high[i], c, i, &args);
        else if (how.kind == NB_F_CONST)
            w[i] = low_words(h[i].a, h[i].b);
        else
            /* removes the 1/2 that was added to t */
            w[i] = low_words(h[i].a, h[i].b) ^ INT32_MIN;
    if (how.mode == NB_FIXED_INDEX)
        args = args_of_words(w, c);
    else if (how.mode == NB_FIXED_REAL)
        args = args_of_parts(w, c);
    if (how.kind != NB_F_CONST)
        index = vi_add(vi_add(table_axis(table, 0, high[0], how.kind),
                              table_axis(table, 1, high[1], how.kind)),
                       table_axis(table, 2, high[2], how.kind));
    if (how.kind == NB_F_BOX || how.kind == NB_F_TABLES)
        index = vi_add(index, vi_set(table->offset));
    if (how.kind == NB_F_TABLES)
        index = index & vi_set(table->mask);
    latt = nb_interference_of(args);
    latt2 = latt * latt;
    return how.kind == NB_F_CONST ? latt2 : latt2 * vf_gather(F2, index);
}

/** The table of F^2 of a source. */
NB_INLINE const float *squares_of(const nb_vector_plan *p, const nb_vector_source *source,
                                  const fixed_case how)
{
    return nb_has_tables(how.kind) ? source->F2 : p->table.F2;
}

NB_INLINE void flush(vd2 *total, vf *run)
{
    total->a += vf_unpack(*run, 0);
    total->b += vf_unpack(*run, 1);
    *run = vf_set(0.0f);
}

/** Sum over sources and orientations: h = a.d/lambda - a.i/lambda. a.d is calculated once
 * for all sources, and p->offsets has a.i/lambda. factors: factor of each source, or
 * NULL. */
NB_INLINE vd2 fixed_structured(const nb_vector_plan *p, const rays *r, const vf *factors,
                               const fixed_case how)
{
    const nb_scene *sc = &p->scene;
    const fixed_constants c = fixed_constants_of(sc);
    const double *offset = p->offsets;
    vd2 total = vd2_set(0);
    vf run = {0};
    int m, s, i, terms = 0, n = sc->beam.n_sources;
    for (m = 0; m < sc->lattice.n_orientations; m++) {
        const nb_orientation *u = &sc->lattice.orientations[m];
        const vd2 A[3] = {dot_ray(r, u->a), dot_ray(r, u->b), dot_ray(r, u->c)};
        for (s = 0; s < n; s++, offset += 3) {
            double kappa = -p->sources[s].inv_lambda;
            vd2 t[3];
            vf term;
            for (i = 0; i < 3; i++)
                t[i] = vd2_scale_add(A[i], kappa, vd2_set(offset[i]));
            term = fixed_step(&p->table, squares_of(p, &p->sources[s], how), &c, t, how);
            run = factors ? vf_fma(term, factors[s], run) : run + term;
            if (++terms == NB_VECTOR_SUM_RUN) {
                flush(&total, &run);
                terms = 0;
            }
        }
    }
    flush(&total, &run);
    return total;
}

/** Sum over the orientations for one source: h = a.q. sum[i]: result of block i of n. */
NB_INLINE void fixed_direct(const nb_vector_plan *p, const rays *r, int n,
                            const nb_vector_source *source, const fixed_case how, vd2 *sum)
{
    const fixed_constants c = fixed_constants_of(&p->scene);
    const nb_orientation *cells = p->scene.lattice.orientations;
    const int n_cells = p->scene.lattice.n_orientations;
    const double k = source->inv_lambda;
    const vd2 start = vd2_set(nb_vector_start(how.kind, how.mode));
    const nb_vec3 beam = nb_scale(k, source->incident);
    const float *F2 = squares_of(p, source, how);
    int block, m, i;
    for (block = 0; block < n; block++, r++) {
        const vd2 x = vd2_scale_add(r->x, -k, vd2_set(beam.x)); /* x, y, z are -q */
        const vd2 y = vd2_scale_add(r->y, -k, vd2_set(beam.y));
        const vd2 z = vd2_scale_add(r->z, -k, vd2_set(beam.z));
        vd2 total = vd2_set(0);
        vf run = {0};
        int terms = 0;
        for (m = 0; m < n_cells; m++) {
            const nb_vec3 cell[3] = {cells[m].a, cells[m].b, cells[m].c};
            vd2 t[3];
            for (i = 0; i < 3; i++)
                t[i] = vd2_scale_add(
                    x, cell[i].x,
                    vd2_scale_add(y, cell[i].y, vd2_scale_add(z, cell[i].z, start)));
            run += fixed_step(&p->table, F2, &c, t, how);
            if (++terms == NB_VECTOR_SUM_RUN) {
                flush(&total, &run);
                terms = 0;
            }
        }
        flush(&total, &run);
        sum[block] = total;
    }
}

#endif
