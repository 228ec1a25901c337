/* SPDX-License-Identifier: MIT */
/** The sums of a ray's terms by one thread: lattice in single precision from fixed-point indices
 * (fixed_point.h), as src/derive/kernel_terms.h has it for vectors.  Plain C, so that a test on the host runs it.
 *
 * All that parameters need beside the numbers of cells is linear in the gradient by h, k, l times the wavenumber.
 * Sources of one direction share h up to the wavenumber, so these gradients are added over them first, and the
 * outer products with h, and what turns make of them, are once for an orientation. */
#ifndef NB_CUDA_SLOPE_TERMS_H
#define NB_CUDA_SLOPE_TERMS_H

#include <limits.h>
#include <string.h>

#include "../src/base/coefficients.h"
#include "../src/derive/ray_sums.h"
#include "../src/plan/fixed_point.h"

#ifdef NB_GPU
#include "vendor.h"
#define NB_TERM static __device__ __forceinline__
#define NB_TERM_CALL static __device__ __noinline__
NB_TERM int nb_low_word(double x)
{
    return __double2loint(x);
}
NB_TERM int nb_high_word(double x)
{
    return __double2hiint(x);
}
NB_TERM int nb_high_product(int a, int b)
{
    return __mulhi(a, b);
}
NB_TERM float nb_term_inverse(float x)
{
    return gpuReciprocal(x);
}
NB_TERM float nb_term_load(const float *at)
{
    return __ldg(at);
}
#else
#define NB_TERM static inline
#define NB_TERM_CALL static inline
NB_TERM int nb_low_word(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (int)(uint32_t)bits;
}
NB_TERM int nb_high_word(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (int)(uint32_t)(bits >> 32);
}
NB_TERM int nb_high_product(int a, int b)
{
    return (int)(((int64_t)a * b) >> 32);
}
NB_TERM float nb_term_inverse(float x)
{
    return 1.0f / x;
}
NB_TERM float nb_term_load(const float *at)
{
    return *at;
}
#endif

enum {
    NB_TERM_RUN = 64,         /* terms in single precision before they join the doubles */
    NB_TERM_MOST_CELLS = 4000 /* steps of 2^-32 of an index shift a flank by 4e-10 N */
};

/** A 2^-40 that keeps sines off 0/0 (kernel_fixed.h). */
#define NB_TERM_TINY 9.094947017729282e-13f

/** Which sums are made. */
typedef enum nb_term_level {
    NB_TERMS_IMAGE,
    NB_TERMS_CRYSTAL, /* gradient times index, and by the numbers of cells */
    NB_TERMS_ALL
} nb_term_level;

/** What the compiler is to specialise for. */
typedef struct nb_term_case {
    int gauss; /* else a parallelepiped */
    int real;  /* numbers of cells that are not whole */
    int table; /* F^2 from a table */
    int level; /* nb_term_level */
} nb_term_case;

typedef struct nb_term_source {
    double wavenumber;                /* 1/m */
    float weight, relative, spectrum; /* relative: wavenumber, of the first source's */
    int table;
} nb_term_source;

/** Sources of one direction, one after the other. */
typedef struct nb_term_group {
    nb_vec3 incident;
    int first, end;
} nb_term_group;

typedef struct nb_term_orientation {
    float cell[9];   /* a b c, times the first source's wavenumber */
    float turn[3];   /* nb_slope_job.turns */
    float place;     /* in the oscillation, 0 .. 1 */
    float unused[3]; /* 64 bytes in all */
} nb_term_orientation;

/** A scene for these sums.  Arrays are another's. */
typedef struct nb_term_tables {
    const nb_orientation *exact; /* [n_orientations] */
    const nb_term_orientation *orientations;
    const nb_term_source *sources;
    const nb_term_group *groups;
    int n_orientations, n_groups;
    int cells[3], part[3]; /* whole numbers next to N, and what is left times 2^32 */
    float N[3], tiny[3];   /* tiny: N 2^-40 */
    float half_fringe[3];  /* (1/(2 N))^2 */
    float varies[3];       /* 0 where N = 1: exactly no slope, not a rounding */
    float fall, steep;     /* Gaussian: log2 of L^2 by R^2; -4 g/0.63 */
    const float *F2;       /* as nb_F2_index has it; NULL: constant */
    int stride[3], offset;
    double unit;  /* electrons^2 of 1 in the sums */
    double start; /* of an index */
    nb_vec3 spindle;
    double wavenumber; /* of the first source */
    double weights;    /* of all terms */
    double dmin;
    int turns, spectrum; /* are there any? */
} nb_term_tables;

/** Sums in single precision; by -h, so that gradients turn their sign. */
typedef struct nb_term_run {
    float image, fudge, cells[3];
    float index[9], ray[3], mosaic, phi, osc, spectrum;
} nb_term_run;

/** The sums over sources of one direction, at one orientation: by[i] of gradients times relative wavenumbers, and
 * the same times nb_term_source.spectrum. */
typedef struct nb_term_gradient {
    float by[3], spectrum[3];
} nb_term_gradient;

/** P of sin(pi x) = x P(z), z = x^2, and 2 z P'(z), so that pi cos(pi x) = P + 2 z P'. */
NB_TERM float nb_term_sine(float z, float *twice)
{
    const float c1 = (float)NB_SINE4_1, c2 = (float)NB_SINE4_2, c3 = (float)NB_SINE4_3,
                c4 = (float)NB_SINE4_4;
    *twice = z * fmaf(fmaf(fmaf(8 * c4, z, 6 * c3), z, 4 * c2), z, 2 * c1);
    return fmaf(fmaf(fmaf(fmaf(c4, z, c3), z, c2), z, c1), z, (float)NB_PI);
}

/** One axis: s = top/below, s' = (slope - s tilt)/below, ds/dN = by_N/below (kernel_terms.h: slope_parts). */
typedef struct nb_term_axis {
    float top, below, slope, tilt, by_N;
} nb_term_axis;

NB_TERM nb_term_axis nb_term_axis_of(const nb_term_tables *t, int i, int w,
                                     const nb_term_case how)
{
    const float ulp = (float)NB_FIXED_STEP;
    int turns = (int)((uint32_t)w * (uint32_t)t->cells[i]);
    float d = fmaf((float)w, ulp, NB_TERM_TINY), u, zd = d * d, zu, Pd, Pu, by_zd, by_zu;
    nb_term_axis x;
    int outside = zd >= t->half_fringe[i];
    if (how.real)
        turns = (int)((uint32_t)turns + (uint32_t)nb_high_product(w, t->part[i]));
    u = fmaf((float)turns, ulp, t->tiny[i]);
    zu = u * u;
    Pd = nb_term_sine(zd, &by_zd);
    Pu = nb_term_sine(zu, &by_zu);
    x.top = u * Pu;
    x.below = d * Pd;
    x.slope = t->N[i] * (outside ? by_zu + Pu : by_zu);
    x.tilt = outside ? by_zd + Pd : by_zd;
    x.by_N = d * (Pu + by_zu);
    return x;
}

/** F^2 L^2 of a parallelepiped and its slopes; F2 has the weight. */
NB_TERM void nb_term_square(const nb_term_tables *t, const int w[3], float F2,
                            nb_term_run *run, float g[3], const nb_term_case how)
{
    nb_term_axis x = nb_term_axis_of(t, 0, w[0], how),
                 y = nb_term_axis_of(t, 1, w[1], how),
                 z = nb_term_axis_of(t, 2, w[2], how);
    float by_x = nb_term_inverse(x.below), by_y = nb_term_inverse(y.below),
          by_z = nb_term_inverse(z.below);
    float a = x.top * by_x, b = y.top * by_y, c = z.top * by_z;
    float ab = a * b, L = ab * c, F2L = F2 * L, twice = F2L + F2L;
    run->image = fmaf(F2L, L, run->image);
    if (how.level == NB_TERMS_IMAGE)
        return;
    by_x *= twice * (b * c);
    by_y *= twice * (a * c);
    by_z *= twice * ab;
    g[0] = by_x * fmaf(-a, x.tilt, x.slope);
    g[1] = by_y * fmaf(-b, y.tilt, y.slope);
    g[2] = by_z * fmaf(-c, z.tilt, z.slope);
    run->cells[0] = fmaf(by_x, x.by_N, run->cells[0]);
    run->cells[1] = fmaf(by_y, y.by_N, run->cells[1]);
    run->cells[2] = fmaf(by_z, z.by_N, run->cells[2]);
}

/** The same of a Gaussian, L^2 = exp(-2 g/0.63 sum (N d)^2) in units of the cells' square. */
NB_TERM void nb_term_gauss(const nb_term_tables *t, const int w[3], float F2,
                           nb_term_run *run, float g[3], const nb_term_case how)
{
    float d[3], R2 = 0, image;
    int i;
    for (i = 0; i < 3; i++) {
        float u;
        d[i] = (float)w[i] * (float)NB_FIXED_STEP;
        u = d[i] * t->N[i];
        R2 = fmaf(u, u, R2);
    }
    image = F2 * exp2f(t->fall * R2);
    run->image += image;
    if (how.level == NB_TERMS_IMAGE)
        return;
    for (i = 0; i < 3; i++) {
        float slope = image * (d[i] * (t->steep * t->N[i]));
        g[i] = slope * t->N[i];
        run->cells[i] += fmaf(slope, d[i], image * (2.0f / t->N[i]));
    }
    run->fudge = fmaf(image, R2, run->fudge);
}

/** Sources first .. end - 1 of a group at one orientation; D: a, b, c times direction less incident, m. */
NB_TERM void nb_term_sources(const nb_term_tables *t, const double D[3], int first,
                             int end, double length, nb_term_run *run,
                             nb_term_gradient *to, const nb_term_case how)
{
    int s, i;
    for (s = first; s < end; s++) {
        const nb_term_source *b = &t->sources[s];
        float F2 = b->weight, g[3] = {0, 0, 0};
        int w[3], at = t->offset + b->table;
        for (i = 0; i < 3; i++) {
            double h = fma(D[i], -b->wavenumber, t->start);
            w[i] = how.table ? nb_low_word(h) ^ INT_MIN : nb_low_word(h);
            if (how.table)
                at = (int)((uint32_t)at +
                           (uint32_t)nb_high_word(h) * (uint32_t)t->stride[i]);
        }
        if (t->dmin > 0 && t->dmin * (length * b->wavenumber) > 1)
            F2 = 0;
        if (how.table)
            F2 *= nb_term_load(t->F2 + at);
        if (how.gauss)
            nb_term_gauss(t, w, F2, run, g, how);
        else
            nb_term_square(t, w, F2, run, g, how);
        if (how.level >= NB_TERMS_CRYSTAL)
            for (i = 0; i < 3; i++)
                to->by[i] = fmaf(g[i], b->relative, to->by[i]);
        if (how.level >= NB_TERMS_ALL && t->spectrum)
            for (i = 0; i < 3; i++)
                to->spectrum[i] = fmaf(g[i] * b->relative, b->spectrum, to->spectrum[i]);
    }
}

/** What an orientation makes of the gradients: h = -D, times the wavenumber. */
NB_TERM void nb_term_contract(const nb_term_tables *t, int m, nb_vec3 delta,
                              const double D[3], nb_term_gradient *G, nb_term_run *run,
                              const nb_term_case how)
{
    const nb_term_orientation *u = &t->orientations[m];
    float h[3], v[3], q[3];
    int i;
    for (i = 0; i < 3; i++) {
        h[i] = (float)(D[i] * t->wavenumber);
        G->by[i] *= t->varies[i];
        G->spectrum[i] *= t->varies[i];
    }
    for (i = 0; i < 9; i++)
        run->index[i] = fmaf(G->by[i / 3], h[i % 3], run->index[i]);
    if (how.level < NB_TERMS_ALL)
        return;
    q[0] = (float)delta.x;
    q[1] = (float)delta.y;
    q[2] = (float)delta.z;
    for (i = 0; i < 3; i++) {
        v[i] = fmaf(G->by[0], u->cell[i],
                    fmaf(G->by[1], u->cell[3 + i], G->by[2] * u->cell[6 + i]));
        run->ray[i] += v[i];
        run->spectrum = fmaf(G->spectrum[i], h[i], run->spectrum);
    }
    {
        float x = fmaf(v[1], q[2], -(v[2] * q[1])), y = fmaf(v[2], q[0], -(v[0] * q[2])),
              z = fmaf(v[0], q[1], -(v[1] * q[0])); /* v x q */
        float about = fmaf(x, (float)t->spindle.x,
                           fmaf(y, (float)t->spindle.y, z * (float)t->spindle.z));
        run->phi += about;
        run->osc = fmaf(about, u->place, run->osc);
        if (t->turns)
            run->mosaic = fmaf(x, u->turn[0],
                               fmaf(y, u->turn[1], fmaf(z, u->turn[2], run->mosaic)));
    }
}

/** Single precision joins the doubles. */
NB_TERM void nb_term_flush(nb_term_run *run, nb_slope_sums *to, const nb_term_case how)
{
    int i;
    to->crystal += run->image;
    if (how.level >= NB_TERMS_CRYSTAL) {
        for (i = 0; i < 9; i++)
            to->index[i] += run->index[i];
        for (i = 0; i < 3; i++)
            to->cells[i] += run->cells[i];
        to->fudge += run->fudge;
    }
    if (how.level >= NB_TERMS_ALL) {
        to->ray = nb_add(to->ray, nb_v3(run->ray[0], run->ray[1], run->ray[2]));
        to->mosaic += run->mosaic;
        to->phi += run->phi;
        to->osc += run->osc;
        to->spectrum += run->spectrum;
    }
    memset(run, 0, sizeof *run);
}

/** Units, signs, and what follows from other sums. */
NB_TERM void nb_term_finish(const nb_term_tables *t, const nb_scene *sc, nb_slope_sums *to)
{
    const double F = sc->factors.table.default_F, unit = t->unit;
    int i;
    to->crystal *= unit;
    for (i = 0; i < 9; i++)
        to->index[i] *= -unit;
    for (i = 0; i < 3; i++)
        to->cells[i] *= unit;
    to->ray = nb_scale(-unit, to->ray);
    to->mosaic *= -unit;
    to->phi *= -unit;
    to->osc *= -unit;
    to->fudge *= -2.0 / NB_GAUSS_WIDTH * unit;
    to->spectrum *= unit;
    to->wave = -(to->index[0] + to->index[4] + to->index[8]);
    if (F != 0) /* every F is it */
        to->default_F = 2 * to->crystal / F;
    to->background = t->weights;
    to->image = to->crystal + sc->background * t->weights;
}

/** The materials of a ray: all of nb_run_source but the crystal and the water. */
NB_TERM_CALL void nb_term_materials(const nb_slope_job *job, const nb_ray *ray,
                                    nb_slope_sums *to)
{
    const nb_scene *sc = job->scene;
    nb_source_run run;
    int j;
    run.job = job;
    for (j = 0; j < sc->beam.n_sources; j++) {
        const nb_source *source = &sc->beam.sources[j];
        double wave;
        run.source = source;
        run.q = nb_scattering_vector(source, ray->direction);
        run.v = nb_v3(0, 0, 0);
        to->image += source->weight * nb_run_materials(&run);
        to->ray = nb_add(to->ray, nb_scale(source->weight / source->lambda, run.v));
        wave = -source->weight * nb_dot(run.v, run.q);
        to->wave += wave;
        if (job->spectrum)
            to->spectrum += wave * job->spectrum[j];
    }
}

/** nb_sum_ray in single precision. */
NB_TERM void nb_term_ray(const nb_term_tables *t, const nb_slope_job *job,
                         const nb_ray *ray, nb_slope_sums *to, const nb_term_case how)
{
    nb_term_run run;
    int m, g, first, added = 0;
    memset(to, 0, offsetof(nb_slope_sums, entry));
    memset(&run, 0, sizeof run);
    for (m = 0; m < t->n_orientations; m++) {
        const nb_orientation *u = &t->exact[m];
        for (g = 0; g < t->n_groups; g++) {
            const nb_term_group *group = &t->groups[g];
            const nb_vec3 q = nb_sub(ray->direction, group->incident);
            const double D[3] = {fma(u->a.x, q.x, fma(u->a.y, q.y, u->a.z * q.z)),
                                 fma(u->b.x, q.x, fma(u->b.y, q.y, u->b.z * q.z)),
                                 fma(u->c.x, q.x, fma(u->c.y, q.y, u->c.z * q.z))};
            const double length = t->dmin > 0 ? nb_norm(q) : 0;
            for (first = group->first; first < group->end; first += NB_TERM_RUN) {
                const int end =
                    group->end - first > NB_TERM_RUN ? first + NB_TERM_RUN : group->end;
                nb_term_gradient G = {{0, 0, 0}, {0, 0, 0}};
                nb_term_sources(t, D, first, end, length, &run, &G, how);
                if (how.level >= NB_TERMS_CRYSTAL)
                    nb_term_contract(t, m, q, D, &G, &run, how);
                added += end - first;
                if (added >= NB_TERM_RUN) {
                    nb_term_flush(&run, to, how);
                    added = 0;
                }
            }
        }
    }
    nb_term_flush(&run, to, how);
    nb_term_finish(t, job->scene, to);
    if (job->scene->amorphous)
        nb_term_materials(job, ray, to);
}

#endif
