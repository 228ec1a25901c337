/* SPDX-License-Identifier: MIT */
/** Bounds of a scene's numbers. They decide whether floats suffice, and give an upper
 * bound of the brightest pixel. Host code. */
#ifndef NB_PHYSICS_LIMITS_H
#define NB_PHYSICS_LIMITS_H

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "scene.h"

/* Sums in single precision stay between these limits. The upper one is a factor of 100
 * below FLT_MAX; the lower one is 1e6 above FLT_MIN, so that a weak term keeps its
 * digits. */
#define NB_FLOAT_TOP 1e36
#define NB_FLOAT_LOW 1e-32

/** Number of tables of F, at least 1. */
static inline int nb_table_count(const nb_factor_table *box)
{
    return box->n_tables > 1 ? box->n_tables : 1;
}

/** Number of entries in all tables. */
static inline size_t nb_table_values(const nb_factor_table *box)
{
    return (size_t)box->nh * (size_t)box->nk * (size_t)box->nl *
           (size_t)nb_table_count(box);
}

#define NB_TABLE_SPREAD UINT64_C(6364136223846793005) /* Knuth's multiplier */

/** Number of entries that are measured together, to stay in the CPU's cache. */
#define NB_TABLE_RUN ((size_t)4096)

/** Statistics of a run (NB_TABLE_RUN consecutive entries) or of several runs. `dimmest`
 * is INFINITY if all F are 0. */
typedef struct nb_table_run {
    double largest, least, dimmest; /* largest, smallest, smallest nonzero |F| */
    uint64_t hash;
} nb_table_run;

static inline nb_table_run nb_table_run_none(void)
{
    const nb_table_run none = {0, INFINITY, INFINITY, 0};
    return none;
}

/** Measure the run of n values at F, and with with_hash also calculate their hash. */
static inline nb_table_run nb_table_run_of(const double *F, size_t n, int with_hash)
{
    uint64_t hash[4] = {n, 1, 2, 3}; /* four chains of operations */
    nb_table_run run = nb_table_run_none();
    size_t i;
    union {
        double F;
        uint64_t bits;
    } x;
    for (i = 0; i < n; i++) {
        double value = fabs(F[i]), lit = value > 0 ? value : INFINITY;
        run.largest = value > run.largest ? value : run.largest;
        run.least = value < run.least ? value : run.least;
        run.dimmest = lit < run.dimmest ? lit : run.dimmest;
    }
    for (i = 0; with_hash && i < n; i++) {
        x.F = F[i];
        hash[i & 3] = (hash[i & 3] ^ x.bits) * NB_TABLE_SPREAD + (x.bits >> 29);
    }
    run.hash = hash[0] ^ (hash[1] << 1) ^ (hash[2] << 2) ^ (hash[3] << 3);
    return run;
}

/** Add the statistics of the next run to `all`. */
static inline void nb_table_run_add(nb_table_run *all, const nb_table_run *next)
{
    all->largest = fmax(all->largest, next->largest);
    all->least = fmin(all->least, next->least);
    all->dimmest = fmin(all->dimmest, next->dimmest);
    all->hash = (all->hash ^ next->hash) * NB_TABLE_SPREAD + 1;
}

/** Set the members of a box that describe the entries of its tables. */
static inline void nb_factor_table_take(nb_factor_table *box, const nb_table_run *all)
{
    int is_empty = nb_table_values(box) == 0;
    box->largest = all->largest;
    box->least = is_empty ? 0 : all->least;
    box->dimmest = isinf(all->dimmest) ? 0 : all->dimmest;
    box->hash = box->n_tables > 1 ? all->hash : 0;
    box->measured = 1;
}

/** Index of h k l in the first table; h k l is in the box. */
static inline size_t nb_factor_table_at(const nb_factor_table *box, int h, int k, int l)
{
    return ((size_t)(h - box->hmin) * (size_t)box->nk + (size_t)(k - box->kmin)) *
               (size_t)box->nl +
           (size_t)(l - box->lmin);
}

/** Fill box->largest, least and dimmest, and box->hash of several tables. */
static inline void nb_factor_table_measure(nb_factor_table *box)
{
    const size_t n = nb_table_values(box) / (size_t)nb_table_count(box);
    nb_table_run all = nb_table_run_none();
    size_t i;
    int table;
    for (table = 0; table < nb_table_count(box); table++)
        for (i = 0; i < n; i += NB_TABLE_RUN) {
            nb_table_run run = nb_table_run_of(box->F + (size_t)table * n + i,
                                               n - i < NB_TABLE_RUN ? n - i : NB_TABLE_RUN,
                                               box->n_tables > 1);
            nb_table_run_add(&all, &run);
        }
    nb_factor_table_take(box, &all);
}

/** Largest |F| of all tables and default_F. */
static inline double nb_largest_F(const nb_factor_table *box)
{
    return box->nh > 0 ? fmax(fabs(box->default_F), box->largest) : fabs(box->default_F);
}

/** Smallest |F| other than 0 of all tables and default_F, or 0 if all are 0. */
static inline double nb_dimmest_F(const nb_factor_table *box)
{
    double F = fabs(box->default_F);
    if (box->nh == 0 || box->dimmest == 0)
        return F;
    return F > 0 ? fmin(F, box->dimmest) : box->dimmest;
}

/** Largest F_latt^2. */
static inline double nb_largest_lattice(const nb_lattice *lattice)
{
    double cells = lattice->N[0] * lattice->N[1] * lattice->N[2];
    return nb_shape_is_scaled(lattice->shape) && !(lattice->fudge > 0) ? INFINITY
                                                                       : cells * cells;
}

/** True if single precision can sum the scene; otherwise use double precision. A sum has
 * `terms` terms with weights up to `weight`. F^2 is in units of `unit`, electrons^2; 0 if
 * nothing scatters. */
static inline int nb_floats_carry(const nb_scene *sc, double unit, double terms,
                                  double weight)
{
    double largest = nb_largest_F(&sc->factors.table),
           dimmest = nb_dimmest_F(&sc->factors.table);
    if (largest == 0 || !(unit > 0))
        return largest == 0;
    return largest * largest / unit * nb_largest_lattice(&sc->lattice) * terms * weight <
               NB_FLOAT_TOP &&
           dimmest / sqrt(unit) * (dimmest / sqrt(unit)) > NB_FLOAT_LOW;
}

/** Largest solid angle of a pixel of the panel. */
static inline double nb_largest_solid_angle(const nb_panel *panel)
{
    double nearest = panel->curved ? panel->distance : panel->close_distance;
    return nearest > 0 ? panel->pixel_area / (nearest * nearest) : INFINITY;
}

/** Largest scattering of the materials, electrons^2 per sample. */
static inline double nb_largest_amorphous(const nb_amorphous *a)
{
    double sum = 0;
    for (int i = 0; a && i < a->n; i++) {
        const nb_scatterer *m = &a->materials[i];
        sum += m->molecules * m->largest * m->largest;
    }
    return sum;
}

/** Upper bound of the photons of a pixel; infinite or NaN if no bound is known. */
static inline double nb_photon_bound(const nb_scene *sc)
{
    const double between = 4; /* a tricubic overshoots its points by at most 1.25^3 */
    const nb_factor_table *table = &sc->factors.table;
    double F = nb_largest_F(table), weights = 0, brightest = 0, crystal;
    const double background = sc->background + nb_largest_amorphous(sc->amorphous);
    int i;
    for (i = 0; i < sc->beam.n_sources; i++)
        weights += fabs(sc->beam.sources[i].weight);
    crystal =
        F * F * nb_largest_lattice(&sc->lattice) * (table->interpolate ? between : 1);
    for (i = 0; i < sc->n_panels; i++) {
        const nb_panel *panel = &sc->panels[i];
        const nb_sensor *sensor = &sc->sensors[panel->sensor];
        double layers = sensor->absorb ? 1 : sensor->layers; /* absorbed at most once */
        double photons = sc->intensity_scale * layers * sc->oversample * sc->oversample *
                         weights * sc->lattice.n_orientations * (crystal + background) *
                         nb_largest_solid_angle(panel);
        if (!isfinite(photons))
            return photons;
        brightest = fmax(brightest, photons);
    }
    return brightest;
}

#endif
