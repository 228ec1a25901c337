/* SPDX-License-Identifier: MIT */
/** The sums of a ray in double, one term after the other. They are the reference on every
 * machine. */
#ifndef NB_RENDER_RAY_SUMS_H
#define NB_RENDER_RAY_SUMS_H

#include <string.h>

#include "../physics/pixel.h"
#include "../physics/slopes.h"
#include "pixel_sums.h"

/* --- the entries of the table from which a sample's F is made --- */

/** Derivative (weight) of a sample's F by entry `at` of the table. */
NB_HD double nb_F_share(const nb_factor_table *sf, const nb_F_slope *F, int64_t at)
{
    int64_t first = F->entry, i, j, m;
    if (!F->interpolated)
        return at >= 0 && at == first ? 1 : 0;
    if (at < first)
        return 0;
    m = (at - first) % sf->nl;
    j = (at - first) / sf->nl % sf->nk;
    i = (at - first) / sf->nl / sf->nk;
    return i < 4 && j < 4 && m < 4 ? F->w[0][i] * F->w[1][j] * F->w[2][m] : 0;
}

/** Weight of default_F in a sample's F: points outside table n, and entries of table n
 * that equal default_F. */
NB_HD double nb_F_share_of_default(const nb_factor_table *sf, int n, const nb_F_slope *F)
{
    const double *table = sf->nh > 0 ? nb_table_at(sf, n) : NULL;
    double share = 0;
    if (F->entry < 0)
        return 1;
    if (!F->interpolated)
        return table[F->entry] == sf->default_F ? 1 : 0;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int m = 0; m < 4; m++)
                if (table[F->entry + ((int64_t)i * sf->nk + j) * sf->nl + m] ==
                    sf->default_F)
                    share += F->w[0][i] * F->w[1][j] * F->w[2][m];
    return share;
}

/* --- sums --- */

/** Sums of one source along one ray, without the source's weight. */
typedef struct nb_source_run {
    const nb_slope_job *job;
    const nb_source *source;
    nb_vec3 q;
    nb_vec3 v;      /* sum of the gradients by q */
    double crystal; /* F^2 L^2 */
    nb_slope_sums sums;
} nb_source_run;

/** A term of one orientation. */
typedef struct nb_ray_term {
    double h[3], d[3];
    nb_lattice_slope lattice;
    nb_F_slope F;
    double g[3]; /* gradient of F^2 L^2 by h, k, l */
} nb_ray_term;

NB_HD void nb_run_entries(nb_source_run *run, const nb_ray_term *t)
{
    const nb_factor_table *sf = &run->job->scene->factors.table;
    double k = 2 * t->F.F * t->lattice.L * t->lattice.L;
    run->sums.default_F += k * nb_F_share_of_default(sf, run->source->table, &t->F);
    for (int i = 0; i < run->job->n_entries; i++)
        run->sums.entry[i] += k * nb_F_share(sf, &t->F, run->job->entries[i]);
}

/** Add a term's gradient by q, and the term's slopes by rotations of the crystal. */
NB_HD void nb_run_gradient(nb_source_run *run, const nb_orientation *u, int m,
                           const nb_ray_term *t)
{
    const nb_slope_job *job = run->job;
    const nb_lattice *lattice = &job->scene->lattice;
    nb_slope_sums *s = &run->sums;
    nb_vec3 v = nb_add(nb_scale(t->g[0], u->a),
                       nb_add(nb_scale(t->g[1], u->b), nb_scale(t->g[2], u->c)));
    nb_vec3 torque = nb_cross(v, run->q);
    run->v = nb_add(run->v, v);
    if (job->sums & NB_SLOPE_MOSAIC)
        for (int i = 0; i < job->n_turns; i++)
            s->mosaic[i] += nb_dot(job->turns[i * lattice->n_orientations + m], torque);
    if (job->sums & NB_SLOPE_SPINDLE) {
        double turn = nb_dot(job->spindle, torque);
        s->phi += turn;
        s->osc += turn * ((m / lattice->n_domains + 0.5) / lattice->n_phi);
    }
}

NB_HD void nb_run_term(nb_source_run *run, const nb_orientation *u, int m,
                       const nb_ray_term *t)
{
    const unsigned sums = run->job->sums;
    double F2 = t->F.F * t->F.F;
    int i, j;
    if (sums & NB_SLOPE_INDEX)
        for (i = 0; i < 3; i++)
            for (j = 0; j < 3; j++)
                run->sums.index[3 * i + j] += t->g[i] * t->h[j];
    if (sums & NB_SLOPE_CELLS)
        for (i = 0; i < 3; i++)
            run->sums.cells[i] += 2 * F2 * t->lattice.L * t->lattice.N[i];
    if (sums & NB_SLOPE_FUDGE)
        run->sums.fudge += 2 * F2 * t->lattice.L * t->lattice.fudge;
    if (sums & (NB_SLOPE_RAY | NB_SLOPE_MOSAIC | NB_SLOPE_SPINDLE | NB_SLOPE_WAVE |
                NB_SLOPE_BEAM))
        nb_run_gradient(run, u, m, t);
    if (sums & NB_SLOPE_F)
        nb_run_entries(run, t);
}

NB_HD void nb_run_orientation(nb_source_run *run, int m)
{
    const nb_scene *sc = run->job->scene;
    const nb_orientation *u = &sc->lattice.orientations[m];
    double h0[3];
    nb_ray_term t;
    int i;
    t.h[0] = nb_dot(u->a, run->q);
    t.h[1] = nb_dot(u->b, run->q);
    t.h[2] = nb_dot(u->c, run->q);
    for (i = 0; i < 3; i++) {
        h0[i] = nb_nearest_index(t.h[i]);
        t.d[i] = t.h[i] - h0[i];
    }
    t.lattice = nb_lattice_slope_at(&sc->lattice, t.d);
    if (t.lattice.L == 0)
        return;
    nb_F_slope_at(&sc->factors.table, run->source->table, t.h, h0, &t.F);
    for (i = 0; i < 3; i++)
        t.g[i] =
            2 * t.F.F * t.lattice.L * (t.F.F * t.lattice.d[i] + t.lattice.L * t.F.d[i]);
    run->crystal += t.F.F * t.F.F * t.lattice.L * t.lattice.L;
    nb_run_term(run, u, m, &t);
}

/** Sum of the amorphous materials at the source's q. Add the slope of this sum by log |q|
 * to *stretch, and its slope by the ray's direction to run->v. Materials depend only on
 * the angle between beam and ray. So run->v gets a vector along the beam (a part along
 * the ray has no effect). If rays turn about the beam, this vector gives exactly 0, but a
 * vector along q would give a rounding error of many photons. */
NB_HD double nb_run_materials(nb_source_run *run, double *stretch)
{
    const nb_scene *sc = run->job->scene;
    const nb_source *source = run->source;
    const double n = sc->lattice.n_orientations, length = nb_norm(run->q);
    if (length > 0) {
        double slope = 0.5 * n * nb_amorphous_slope(sc->amorphous, 0.5 * length);
        run->v = nb_add(run->v,
                        nb_scale(-slope / (source->lambda * length), source->incident));
        *stretch += slope * length;
    }
    return n * nb_amorphous_at(sc->amorphous, 0.5 * length);
}

#ifndef NB_GPU
/** Add the slopes by turns of source j's direction. v: slope by the scattering vector;
 * value: scattering without polarization; P: factor of the polarization, or 1. */
static inline void nb_run_beam(const nb_source_run *run, const nb_ray *ray, int j,
                               nb_vec3 v, double value, double P, nb_slope_sums *to)
{
    const nb_slope_job *job = run->job;
    const nb_beam *beam = &job->scene->beam;
    const nb_source *source = run->source;
    const int polar = job->scene->oversample_polar && !beam->nopolar;
    for (int a = 0; a < 2; a++)
        if (job->beam[a]) {
            const nb_vec3 by = job->beam[a][j];
            double sum = -P * nb_dot(v, by) / source->lambda;
            if (polar)
                sum += value * nb_polarization_turn(beam->polarization, source->incident,
                                                    ray->direction, beam->polar_axis, by);
            to->beam[a] += source->weight * sum;
        }
}
#endif

/** Add the sums of source j, with its weight, to the sums of the ray. */
NB_HD void nb_run_source(nb_source_run *run, const nb_ray *ray, int j, nb_slope_sums *to)
{
    const nb_slope_job *job = run->job;
    const nb_beam *beam = &job->scene->beam;
    const nb_source *source = run->source;
    nb_slope_sums *s = &run->sums;
    double n = job->scene->lattice.n_orientations, weight = source->weight;
    double value = job->scene->background * n + run->crystal,
           wave = nb_dot(run->v, run->q);
    int i, polar = job->scene->oversample_polar && !beam->nopolar;
#ifndef NB_GPU
    const double alone = wave, length = nb_norm(run->q);
    nb_vec3 v = run->v;
#endif
    if (job->scene->amorphous)
        value += nb_run_materials(run, &wave);
#ifndef NB_GPU
    /* in this function, the slope of the materials must be a vector along q */
    if (length > 0)
        v = nb_add(v, nb_scale((wave - alone) / (length * length), run->q));
#endif
    if (polar) {
        double P = nb_polarization(beam->polarization, source->incident, ray->direction,
                                   beam->polar_axis);
        nb_vec3 slope = nb_polarization_slope(beam->polarization, source->incident,
                                              ray->direction, beam->polar_axis);
        to->polarization +=
            weight * value *
            nb_polarization_by_K(source->incident, ray->direction, beam->polar_axis);
        to->ray = nb_add(to->ray, nb_scale(weight * value, slope));
        to->image += weight * (value * P);
        weight *= P;
    } else {
        to->image += weight * value;
    }
#ifndef NB_GPU
    if (job->sums & NB_SLOPE_BEAM)
        nb_run_beam(run, ray, j, v, value, polar ? weight / source->weight : 1, to);
#endif
    to->background += weight * n;
    to->crystal += weight * run->crystal;
    for (i = 0; i < 9; i++)
        to->index[i] += weight * s->index[i];
    for (i = 0; i < 3; i++)
        to->cells[i] += weight * s->cells[i];
    for (i = 0; i < job->n_turns; i++)
        to->mosaic[i] += weight * s->mosaic[i];
    to->phi += weight * s->phi;
    to->osc += weight * s->osc;
    to->fudge += weight * s->fudge;
    to->default_F += weight * s->default_F;
    for (i = 0; i < job->n_entries; i++)
        to->entry[i] += weight * s->entry[i];
    to->ray = nb_add(to->ray, nb_scale(weight / source->lambda, run->v));
    wave *= -weight;
    to->wave += wave;
    if (job->spectrum)
        to->spectrum += wave * job->spectrum[j];
}

NB_HD void nb_sum_ray(const nb_slope_job *job, const nb_ray *ray, nb_slope_sums *sums)
{
    const nb_scene *sc = job->scene;
    nb_source_run run;
    run.job = job;
    nb_clear_sums(job, sums);
    for (int j = 0; j < sc->beam.n_sources; j++) {
        run.source = &sc->beam.sources[j];
        run.q = nb_scattering_vector(run.source, ray->direction);
        run.v = nb_v3(0, 0, 0);
        run.crystal = 0;
        nb_clear_sums(job, &run.sums);
        for (int m = 0; m < sc->lattice.n_orientations && !nb_culled(&sc->factors, run.q);
             m++)
            nb_run_orientation(&run, m);
        nb_run_source(&run, ray, j, sums);
    }
}

/* --- the totals of a pixel --- */

/** Set *at to ray `ray` of a pixel. Not inlined on a GPU: many kernels would have copies. */
NB_HD_CALL void nb_pixel_aim(const nb_scene *sc, const nb_pixel_place *pixel, int ray,
                             nb_pull_point *at)
{
    const int os = sc->oversample;
    nb_pull_point_to(sc, pixel, ray % os, ray / os % os, ray / os / os, at);
}

NB_HD_CALL void nb_pixel_take(const nb_slope_job *job, const nb_pixel_place *pixel,
                              const nb_pull_point *at, const nb_slope_sums *ray,
                              nb_pixel_totals *to)
{
    nb_totals_add(job, pixel, at, ray, to);
}

NB_HD_CALL void nb_pixel_finish(const nb_slope_job *job, const nb_pixel_place *pixel,
                                const nb_pull_point *first, nb_pixel_totals *t)
{
    nb_totals_finish(job, pixel, first, t);
}

NB_HD int nb_pixel_rays(const nb_scene *sc, const nb_pixel_place *pixel)
{
    return sc->oversample * sc->oversample * pixel->sensor->layers;
}

/** Make the totals of a pixel with every operation in double. */
NB_HD void nb_pixel_exact(const nb_slope_job *job, const nb_pixel_place *pixel,
                          nb_pixel_totals *t)
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
        nb_sum_ray(job, &at.ray, &sums);
        nb_pixel_take(job, pixel, &at, &sums, t);
    }
    nb_pixel_finish(job, pixel, &first, t);
}

#endif
