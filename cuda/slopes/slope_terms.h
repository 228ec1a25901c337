/* SPDX-License-Identifier: MIT */
/** The sums of a ray's terms (source, orientation) by one thread: lattice factor in
 * single precision from fixed-point indices (fixed_point.h). Plain C, for host tests.
 *
 * All sums, except for slopes by numbers of cells, are linear in a term's gradient by h,
 * k, l times the wavenumber. For sources of one direction, h is proportional to the
 * wavenumber. So these gradients are first added over such sources. Outer products with
 * h, and slopes by turns, are then made once per orientation. */
#ifndef NB_CUDA_SLOPE_TERMS_H
#define NB_CUDA_SLOPE_TERMS_H

#include <limits.h>
#include <string.h>

#include "../../src/plan/fixed_point.h"
#include "../../src/render/pixel_sums.h"
#include "../../src/render/ray_sums.h"

#ifdef NB_GPU
#include "../backend/vendor.h"
#endif

#include "../../src/terms/interference.h"

#ifdef NB_GPU_DEVICE_PASS
#define NB_TERM_UNROLL _Pragma("unroll 4")
#else
#define NB_TERM_UNROLL
#endif

NB_TERM int nb_low_word(double x)
{
#ifdef NB_GPU_DEVICE_PASS
    return __double2loint(x);
#else
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (int)(uint32_t)bits;
#endif
}

NB_TERM int nb_high_word(double x)
{
#ifdef NB_GPU_DEVICE_PASS
    return __double2hiint(x);
#else
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (int)(uint32_t)(bits >> 32);
#endif
}

/** 1/sqrt(x) in double precision, as in depth.cuh. */
NB_TERM double nb_term_inverse_root(double x)
{
#ifdef NB_GPU_DEVICE_PASS
    const double r = gpuRoughRoot(x), e = fma(-x, r * r, 1.0);
    return fma(r * e, fma(e, 0.375, 0.5), r);
#else
    return 1.0 / sqrt(x);
#endif
}

NB_TERM float nb_term_load(const float *at)
{
#ifdef NB_GPU_DEVICE_PASS
    return __ldg(at);
#else
    return *at;
#endif
}

enum {
    NB_TERM_RUN = 64,        /* float terms that are added before a sum goes to doubles */
    NB_TERM_CELLS_MAX = 4000 /* limit of N: steps of 2^-32 shift a flank by 4e-10 N */
};

/** Levels of the sums. */
typedef enum nb_term_level {
    NB_TERMS_IMAGE,
    NB_TERMS_CRYSTAL, /* gradient times index, and slopes by the numbers of cells */
    NB_TERMS_ALL
} nb_term_level;

/** Constants for which the compiler makes separate code. */
typedef struct nb_term_case {
    int gauss;   /* 1: a Gaussian; 0: a parallelepiped */
    int general; /* 1: a number of cells is not whole, or -dmin is used */
    int table;   /* 1: F^2 is from a table */
    int level;   /* nb_term_level */
    int one;     /* 1: each ray has one term */
} nb_term_case;

typedef struct nb_term_source {
    double wavenumber; /* 1/m */
    /* weight: twice the weight of the source; relative: wavenumber / wavenumber of the
     * first source */
    float weight, relative;
    float spectrum; /* relative times nb_slope_job.spectrum */
    int table, unused[2];
} __attribute__((aligned(16))) nb_term_source;

/** Consecutive sources of one direction. */
typedef struct nb_term_group {
    nb_vec3 incident;
    int first, end;
    double largest; /* largest wavenumber */
} nb_term_group;

typedef struct nb_term_orientation {
    double exact[9], unused; /* a b c, m */
    float cell[9];           /* the same as floats */
    float turn[3];           /* turn of nb_slope_job.turns */
    float place, unused2[3]; /* place: position in the oscillation, 0 .. 1 */
} __attribute__((aligned(16))) nb_term_orientation;

/** A scene for these sums; its arrays belong to the caller. Each axis's factor of F_latt
 * is relative to its peak, and gradients are relative to N times the peak. */
typedef struct nb_term_tables {
    const nb_term_orientation *orientations;
    const nb_term_source *sources;
    const nb_term_group *groups;
    int n_orientations, n_groups;
    int cells[3];              /* N, rounded to whole numbers */
    float part[3];             /* N minus cells */
    float step[3], tiny[3];    /* N 2^-32; N NB_FIXED_TINY */
    float part_of[3], edge[3]; /* 1/N; nb_slope_edge */
    float lift[3];             /* N; 0 if N = 1, so that slopes are exactly 0 */
    float fall, steep;         /* law of decay: slope of log2 L^2 by R^2; -2 g/width */
    double width;              /* width of the law */
    double inverse[3];         /* unit of nb_term_run.cells: 1; law of decay: 1/N */
    const float *F2;           /* indexed as by nb_F2_index; NULL: constant */
    int stride[3], offset;
    double unit;  /* unit of the sums, electrons^2 */
    double start; /* number that is added to -h: nb_fixed_start */
    nb_vec3 spindle;
    double wavenumber; /* wavenumber of the first source */
    double weights;    /* sum of the weights of all terms */
    /* if a ray has one term: start + a.i/lambda; the rounding error of this sum, and N
     * times the error, which are never 0 */
    double constant[3];
    float aside[3], aside_turns[3];
    double dmin;
    /* turns: 1 if the job has turns; spectrum: 1 if it has a spectrum */
    int turns, spectrum;
} nb_term_tables;

/** Sums in single precision. Slopes are by -h, so gradients have the opposite sign. */
typedef struct nb_term_run {
    float image, fudge, cells[3];
    float index[9], ray[3], mosaic, phi, osc, spectrum;
} nb_term_run;

/** Sums over sources of one direction, for one orientation: of gradients times relative
 * wavenumbers (by), and of gradients times nb_term_source.spectrum (spectrum). */
typedef struct nb_term_gradient {
    float by[3], spectrum[3];
} nb_term_gradient;

/** One axis, s = sin(pi N d)/sin(pi d): value = s/N, over_N = 1/(N sin(pi d)), s'/N^2 =
 * (slope - s/N tilt) over_N, ds/dN = by_N over_N. */
typedef struct nb_term_axis {
    float value, over_N, slope, tilt, by_N;
} nb_term_axis;

NB_TERM nb_term_axis nb_term_axis_of(const nb_term_tables *t, int i, int w,
                                     const nb_term_case how)
{
    const float least = how.one ? t->aside_turns[i] : t->tiny[i];
    const nb_slope_parts x = nb_slope_parts_of(
        nb_fraction(w, how.one ? t->aside[i] : NB_FIXED_TINY),
        how.general ? nb_turns_of_parts(w, t->cells[i], t->part[i], least)
                    : nb_turns(w, t->cells[i], least),
        t->edge[i], 3);
    nb_term_axis a;
    a.over_N = vf_over(t->part_of[i], x.below);
    a.value = x.top * a.over_N;
    a.slope = x.slope;
    a.tilt = x.tilt;
    a.by_N = x.by_N;
    return a;
}

/** Add twice F^2 L^2 and slopes by N to run; set the gradient g. F2: F^2 times twice
 * the weight. */
NB_TERM void nb_term_square(const nb_term_tables *t, const int w[3], float F2,
                            nb_term_run *run, float g[3], const nb_term_case how)
{
    const nb_term_axis x = nb_term_axis_of(t, 0, w[0], how),
                       y = nb_term_axis_of(t, 1, w[1], how),
                       z = nb_term_axis_of(t, 2, w[2], how);
    float ab = x.value * y.value, L = ab * z.value, twice = F2 * L, by_x, by_y, by_z;
    run->image = fmaf(twice, L, run->image);
    if (how.level == NB_TERMS_IMAGE)
        return;
    by_x = x.over_N * (twice * (y.value * z.value));
    by_y = y.over_N * (twice * (x.value * z.value));
    by_z = z.over_N * (twice * ab);
    g[0] = by_x * fmaf(-x.value, x.tilt, x.slope);
    g[1] = by_y * fmaf(-y.value, y.tilt, y.slope);
    g[2] = by_z * fmaf(-z.value, z.tilt, z.slope);
    run->cells[0] = fmaf(by_x, x.by_N, run->cells[0]);
    run->cells[1] = fmaf(by_y, y.by_N, run->cells[1]);
    run->cells[2] = fmaf(by_z, z.by_N, run->cells[2]);
}

/** nb_term_square for a Gaussian; L^2 = exp(-2 g/width sum (N d)^2) relative to its peak. */
NB_TERM void nb_term_gauss(const nb_term_tables *t, const int w[3], float F2,
                           nb_term_run *run, float g[3], const nb_term_case how)
{
    float x[3], R2 = 0, image;
    int i;
    NB_TERM_EACH
    for (i = 0; i < 3; i++) {
        x[i] = how.one ? fmaf((float)w[i], t->step[i], t->aside_turns[i])
                       : (float)w[i] * t->step[i];
        R2 = fmaf(x[i], x[i], R2);
    }
    image = F2 * exp2f(t->fall * R2);
    run->image += image;
    if (how.level == NB_TERMS_IMAGE)
        return;
    NB_TERM_EACH
    for (i = 0; i < 3; i++) {
        g[i] = image * (x[i] * t->steep);
        run->cells[i] += fmaf(g[i], x[i], image);
    }
    run->fudge = fmaf(image, R2, run->fudge);
}

/** Add sources first .. end - 1 of a group for one orientation. scale: factor of all
 * terms; D: dot products of a, b, c and (ray - incident direction), m. reach: -dmin
 * removes the crystal at wavenumbers above 1/reach; if it is 0, never. */
NB_TERM void nb_term_sources(const nb_term_tables *t, const double D[3], int first,
                             int end, double reach, float scale, nb_term_run *run,
                             nb_term_gradient *to, const nb_term_case how)
{
    int s, i;
    NB_TERM_UNROLL
    for (s = first; s < end; s++) {
        const nb_term_source *b = &t->sources[s];
        const double wavenumber = b->wavenumber;
        float F2 = scale * b->weight, g[3] = {0, 0, 0};
        int w[3], at = 0;
        NB_TERM_EACH
        for (i = 0; i < 3; i++) {
            double h = fma(D[i], -wavenumber, t->start);
            w[i] = how.table ? nb_low_word(h) ^ INT_MIN : nb_low_word(h);
            if (how.table)
                at = (int)((uint32_t)at +
                           (uint32_t)nb_high_word(h) * (uint32_t)t->stride[i]);
        }
        if ((how.gauss || how.general) && wavenumber * reach > 1)
            F2 = 0;
        if (how.table)
            F2 *= nb_term_load(
                t->F2 + (int)((uint32_t)at + (uint32_t)t->offset + (uint32_t)b->table));
        if (how.gauss)
            nb_term_gauss(t, w, F2, run, g, how);
        else
            nb_term_square(t, w, F2, run, g, how);
        if (how.level >= NB_TERMS_CRYSTAL)
            NB_TERM_EACH
        for (i = 0; i < 3; i++)
            to->by[i] = fmaf(g[i], b->relative, to->by[i]);
        if (how.level >= NB_TERMS_ALL && t->spectrum)
            NB_TERM_EACH
        for (i = 0; i < 3; i++)
            to->spectrum[i] = fmaf(g[i], b->spectrum, to->spectrum[i]);
    }
}

/** A ray relative to the direction of a group of sources. */
typedef struct nb_term_ray_group {
    nb_vec3 delta;  /* direction of the ray minus the incident direction */
    float q[3];     /* delta as floats */
    float about[3]; /* q x spindle */
    double reach;   /* argument of nb_term_sources */
} nb_term_ray_group;

NB_TERM void nb_term_aim(const nb_term_tables *t, const nb_ray *ray,
                         const nb_term_group *group, nb_term_ray_group *to,
                         const nb_term_case how)
{
    const nb_vec3 q = nb_sub(ray->direction, group->incident);
    const nb_vec3 about = nb_cross(q, t->spindle);
    double length = (how.gauss || how.general) && t->dmin > 0 ? t->dmin * nb_norm(q) : 0;
    to->delta = q;
    to->q[0] = (float)q.x;
    to->q[1] = (float)q.y;
    to->q[2] = (float)q.z;
    to->about[0] = (float)about.x;
    to->about[1] = (float)about.y;
    to->about[2] = (float)about.z;
    to->reach = length * group->largest > 1 ? length : 0;
}

/** Add the outer products of an orientation's gradients with D, and slopes by turns, to
 * run. nb_term_finish multiplies by the wavenumber. */
NB_TERM void nb_term_contract(const nb_term_tables *t, int m, const nb_term_ray_group *ray,
                              const double D[3], nb_term_gradient *G, nb_term_run *run,
                              const nb_term_case how)
{
    const nb_term_orientation *u = &t->orientations[m];
    float h[3], v[3];
    int i;
    NB_TERM_EACH
    for (i = 0; i < 3; i++) {
        h[i] = (float)D[i];
        G->by[i] *= t->lift[i];
    }
    NB_TERM_EACH
    for (i = 0; i < 9; i++)
        run->index[i] = fmaf(G->by[i / 3], h[i % 3], run->index[i]);
    if (how.level < NB_TERMS_ALL)
        return;
    NB_TERM_EACH
    for (i = 0; i < 3; i++) {
        v[i] = fmaf(G->by[0], u->cell[i],
                    fmaf(G->by[1], u->cell[3 + i], G->by[2] * u->cell[6 + i]));
        run->ray[i] += v[i];
    }
    if (t->spectrum)
        NB_TERM_EACH
    for (i = 0; i < 3; i++)
        run->spectrum = fmaf(G->spectrum[i] * t->lift[i], h[i], run->spectrum);
    {
        float turn =
            fmaf(v[0], ray->about[0], fmaf(v[1], ray->about[1], v[2] * ray->about[2]));
        run->phi += turn;
        run->osc = fmaf(turn, u->place, run->osc);
    }
    if (t->turns) {
        const float *q = ray->q;
        float x = fmaf(v[1], q[2], -(v[2] * q[1])), y = fmaf(v[2], q[0], -(v[0] * q[2])),
              z = fmaf(v[0], q[1], -(v[1] * q[0])); /* v x q */
        run->mosaic =
            fmaf(x, u->turn[0], fmaf(y, u->turn[1], fmaf(z, u->turn[2], run->mosaic)));
    }
}

/** Add the sums in single precision to the doubles. A call with a copy keeps the doubles
 * out of the registers. */
NB_HD_CALL void nb_term_join(const nb_term_run run, int level, nb_slope_sums *to)
{
    int i;
    to->crystal += run.image;
    if (level < NB_TERMS_CRYSTAL)
        return;
    NB_TERM_EACH
    for (i = 0; i < 9; i++)
        to->index[i] += run.index[i];
    for (i = 0; i < 3; i++)
        to->cells[i] += run.cells[i];
    to->fudge += run.fudge;
    if (level < NB_TERMS_ALL)
        return;
    to->ray = nb_add(to->ray, nb_v3(run.ray[0], run.ray[1], run.ray[2]));
    to->mosaic[0] += run.mosaic;
    to->phi += run.phi;
    to->osc += run.osc;
    to->spectrum += run.spectrum;
}

NB_TERM void nb_term_flush(nb_term_run *run, nb_slope_sums *to, const nb_term_case how)
{
    nb_term_join(*run, how.level, to);
    memset(run, 0, sizeof *run);
}

/** Multiply the sums by units and signs, and set sums that follow from other sums. */
NB_TERM void nb_term_finish(const nb_term_tables *t, const nb_scene *sc, nb_slope_sums *to)
{
    const double F = sc->factors.table.default_F, unit = t->unit,
                 slope = unit * t->wavenumber;
    int i;
    to->crystal *= 0.5 * unit;
    for (i = 0; i < 9; i++)
        to->index[i] *= -slope;
    for (i = 0; i < 3; i++)
        to->cells[i] *= unit * t->inverse[i];
    to->ray = nb_scale(-slope, to->ray);
    to->mosaic[0] *= -slope;
    to->phi *= -slope;
    to->osc *= -slope;
    to->fudge *= -unit / t->width;
    to->spectrum *= slope;
    to->wave = -(to->index[0] + to->index[4] + to->index[8]);
    if (F != 0) /* table without entries: every F is default_F */
        to->default_F = 2 * to->crystal / F;
    to->background = t->weights;
    to->image = to->crystal + sc->background * t->weights;
}

/** Add the materials of a ray: nb_run_source without the crystal and the water. */
NB_HD_CALL void nb_term_materials(const nb_slope_job *job, const nb_ray *ray,
                                  nb_slope_sums *to)
{
    const nb_scene *sc = job->scene;
    nb_source_run run;
    int j;
    run.job = job;
    for (j = 0; j < sc->beam.n_sources; j++) {
        const nb_source *source = &sc->beam.sources[j];
        double wave = 0;
        run.source = source;
        run.q = nb_scattering_vector(source, ray->direction);
        run.v = nb_v3(0, 0, 0);
        to->image += source->weight * nb_run_materials(&run, &wave);
        to->ray = nb_add(to->ray, nb_scale(source->weight / source->lambda, run.v));
        wave *= -source->weight;
        to->wave += wave;
        if (job->spectrum)
            to->spectrum += wave * job->spectrum[j];
    }
}

/** Set D to the dot products of a, b, c of orientation m and ray->delta, m. */
NB_TERM void nb_term_index(const nb_term_tables *t, int m, const nb_term_ray_group *ray,
                           double D[3])
{
    const double *a = t->orientations[m].exact;
    const nb_vec3 q = ray->delta;
    D[0] = fma(a[0], q.x, fma(a[1], q.y, a[2] * q.z));
    D[1] = fma(a[3], q.x, fma(a[4], q.y, a[5] * q.z));
    D[2] = fma(a[6], q.x, fma(a[7], q.y, a[8] * q.z));
}

/** Add all sources of a group for one orientation. *added: terms since the last flush. */
NB_TERM void nb_term_orientation_sum(const nb_term_tables *t, int m,
                                     const nb_term_group *group,
                                     const nb_term_ray_group *ray, nb_term_run *run,
                                     int *added, nb_slope_sums *to, const nb_term_case how)
{
    double D[3];
    int first;
    nb_term_index(t, m, ray, D);
    for (first = group->first; first < group->end; first += NB_TERM_RUN) {
        const int end =
            group->end - first > NB_TERM_RUN ? first + NB_TERM_RUN : group->end;
        nb_term_gradient G = {{0, 0, 0}, {0, 0, 0}};
        nb_term_sources(t, D, first, end, ray->reach, 1, run, &G, how);
        if (how.level >= NB_TERMS_CRYSTAL)
            nb_term_contract(t, m, ray, D, &G, run, how);
        *added += end - first;
        if (*added >= NB_TERM_RUN) {
            nb_term_flush(run, to, how);
            *added = 0;
        }
    }
}

/** nb_sum_ray in single precision. */
NB_TERM void nb_term_ray(const nb_term_tables *t, const nb_slope_job *job,
                         const nb_ray *ray, nb_slope_sums *to, const nb_term_case how)
{
    nb_term_ray_group aim;
    nb_term_run run;
    int m, g, added = 0;
    memset(to, 0, offsetof(nb_slope_sums, entry));
    memset(&run, 0, sizeof run);
    for (g = 0; g < t->n_groups; g++) {
        nb_term_aim(t, ray, &t->groups[g], &aim, how);
        for (m = 0; m < t->n_orientations; m++)
            nb_term_orientation_sum(t, m, &t->groups[g], &aim, &run, &added, to, how);
    }
    nb_term_flush(&run, to, how);
    nb_term_finish(t, job->scene, to);
    if (job->scene->amorphous)
        nb_term_materials(job, ray, to);
}

/** Make the totals of a pixel with terms in single precision. */
NB_TERM void nb_pixel_fast(const nb_term_tables *tables, const nb_slope_job *job,
                           const nb_pixel_place *pixel, nb_pixel_totals *t,
                           const nb_term_case how)
{
    const int rays = nb_pixel_rays(job->scene, pixel);
    nb_slope_sums sums;
    nb_pull_point at, first;
    int i;
    nb_clear_totals(job, t);
    for (i = 0; i < rays; i++) {
        nb_pixel_aim(job->scene, pixel, i, &at);
        if (i == 0)
            first = at;
        nb_term_ray(tables, job, &at.ray, &sums, how);
        nb_pixel_take(job, pixel, &at, &sums, t);
    }
    nb_pixel_finish(job, pixel, &first, t);
}

/** Contract the totals of a pixel for one row of nb_contraction: plane p of panel k. */
NB_TERM double nb_contract(const int *first, const nb_contraction_term *terms, int row,
                           const nb_pixel_totals *t)
{
    const double *number = (const double *)t;
    double sum = 0;
    int i;
    for (i = first[row]; i < first[row + 1]; i++)
        sum += terms[i].weight * number[terms[i].total];
    return sum;
}

#endif
