/* SPDX-License-Identifier: MIT */
/** Structure factors of an atomic model: partial sums of each element, then one cheap combination for
 * each wavelength.  Sources: docs/physics.md, "Structure factors of a model". */
#ifndef NB_FACTORS_MODEL_H
#define NB_FACTORS_MODEL_H

#include "../io/structure/gemmi.h"
#include "factors.h"

typedef enum { NB_SUM_AUTO, NB_SUM_DIRECT, NB_SUM_FFT } nb_sum_method;

/** Settings of a sum over a model. */
typedef struct nb_model_options {
    double dmin;         /* A; > 0 */
    double k_sol, B_sol; /* e/A^3, A^2; k_sol 0: no solvent */
    int drop_hydrogens;
    int model; /* from 1; 0: the average of all */
    int apply_ncs;
    int with_000; /* F(000) is calculated */
    nb_sum_method method;
    int threads; /* threads, >= 1; the results do not depend on it */
    nb_isa isa;  /* the results do not depend on it */
} nb_model_options;

typedef struct nb_element_sum {
    int Z;
    size_t atoms;  /* that count, before symmetry */
    double *P;     /* owned; [2 n]: re, im of P_e of each unique reflection */
    double abc[9]; /* f0 */
} nb_element_sum;

/** P_e and the solvent's M of the unique reflections, and facts for the report. */
typedef struct nb_partials {
    double cell[6], G[6], dmin;
    nb_symmetry symmetry;
    size_t n;
    int (*hkl)[3];            /* owned; each stands for its orbit only if nb_group_fits */
    nb_element_sum *elements; /* owned, in order of Z */
    int n_elements;
    double *steady; /* owned; [2 n]: the part that does not depend on the wavelength, f0 P_e of all elements and solvent */
    double *M;      /* owned; [2 n], or NULL without solvent */
    double k_sol, B_sol;
    double solvent_fraction;              /* of the cell's volume; NaN without solvent */
    int solvent_grid[3], density_grid[3]; /* 0: none */
    nb_sum_method method;                 /* that was used */
    size_t special;                       /* atoms on special positions */
    size_t alternates;                    /* atoms of alternative conformations */
    size_t atoms;                         /* that count */
} nb_partials;

/** f' and f'' of each element of a nb_partials, electrons. */
typedef struct nb_anomalous {
    double f1, f2;
} nb_anomalous;

/** Sum a model.  Notices go to hooks.  The structure's cell and symmetry must be set (a typed cell or
 * -sg is put in by the caller).  *out is the caller's (nb_partials_free), zero on error.
 * Errors: NB_ERR_INPUT (unknown element, occupancy, B, model number, limits), NB_ERR_UNSUPPORTED
 * (method FFT without FFTW), NB_ERR_NOMEM. */
nb_status nb_partials_make(const nb_structure *structure, const nb_model_options *options,
                           const char *name, const nb_hooks *hooks, nb_partials *out,
                           nb_error *err);
void nb_partials_free(nb_partials *partials);

/** F of every reflection of P1 with d >= dmin into grid, whose box is at least that large
 * (nb_factor_grid_new; other voxels stay), and phases if the grid has them
 * (nb_factor_grid_add_phases).  f: [n_elements].  B_add in A^2, scale multiplies F; 0 0 0 is written
 * only if the partials have it.  Absences are 0. */
void nb_partials_combine(const nb_partials *partials, const nb_anomalous *f, double B_add,
                         double scale, int threads, nb_factor_grid *grid);

/** Map for many wavelengths: the unique reflection of each voxel, found once. */
typedef struct nb_orbit_map {
    const nb_partials *partials; /* not owned */
    double B_add, scale;
    uint32_t *from; /* owned; [voxels]: into F */
    double *F;      /* owned; amplitudes of each unique reflection and of its mate */
} nb_orbit_map;

/** For a box |h| <= H[0] ...  The partials must outlive the map; *out is the caller's
 * (nb_orbit_map_free), zero on error.  Errors: NB_ERR_NOMEM; NB_ERR_INPUT, too many reflections. */
nb_status nb_orbit_map_make(const nb_partials *partials, const int H[3], double B_add,
                            double scale, nb_orbit_map *out, nb_error *err);
void nb_orbit_map_free(nb_orbit_map *map);
/** Amplitudes at a wavelength, f: [n_elements]; `missing`: the value beyond dmin, and of 0 0 0 if
 * the partials do not have it. */
void nb_orbit_map_combine(nb_orbit_map *map, const nb_anomalous *f, double missing,
                          int threads);
/** F of the voxels first ... first + n - 1: the bytes of nb_partials_combine. */
void nb_orbit_map_write(const nb_orbit_map *map, size_t first, size_t n, double *F);

#endif
