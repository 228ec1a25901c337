/* SPDX-License-Identifier: MIT */
/** Structure factors from files and lists: docs/physics.md, "Structure factors". */
#ifndef NB_INPUTS_FACTORS_H
#define NB_INPUTS_FACTORS_H

#include "../factors/factors.h"
#include "../factors/model.h"
#include "../io/structure/fprime.h"
#include "../model/crystal.h"
#include "../nanobragg.h"
#include "../physics/scene.h"

/** f' and f'' of the elements of a model at one wavelength. */
typedef struct nb_wave {
    double wavelength; /* A */
    nb_anomalous *f;   /* [n_elements] */
} nb_wave;

/** The wavelengths of a beam in groups that share a table. */
typedef struct nb_waves {
    int n, n_elements;
    nb_wave *group;  /* owned; in order of wavelength */
    int *of_source;  /* owned; [n_sources] */
    nb_anomalous *f; /* owned; memory of all groups */
} nb_waves;

/** Statistics of one table; all but F000 leave out 0 0 0. */
typedef struct nb_factor_stats {
    size_t reflections; /* reflections of P1 with a value */
    double rms;         /* root mean square of F */
    double friedel;     /* mean |F(+) - F(-)| / mean F */
    double F000;        /* NaN: no value */
} nb_factor_stats;

/** Statistics of F[voxels of box], where NaN means no value; absent: 1 to skip, or
 * NULL. */
nb_factor_stats nb_factor_stats_of(const double *F, const uint8_t *absent,
                                   const nb_factor_box *box);

/** Contents of files of structure factors; constant and shared. */
typedef struct nb_factor_files {
    nb_settings settings; /* settings when the files were read */
    nb_config asked;      /* owned; configuration from which `settings` were made */
    /* texts in `asked`, or NULL */
    const char *model_flag, *model_path, *list_flag, *list_path;
    nb_structure model;      /* owned; zero if only a list was read */
    nb_reflection_file list; /* owned */
    nb_column_choice columns;
    nb_hkl_list hkl; /* owned; list of -hkl, whose name is list_path */
    nb_fprime_list typed, curves;
    double cell[6];       /* A, deg: cell of F; that of the crystal may differ */
    int cell_is_typed;    /* 1: the list has no cell and takes the cell of each crystal */
    int needs_cell;       /* 1: the files have no cell, and F depend on given_cell */
    double given_cell[6]; /* A, deg; cell of the crystal for which files were read */
    nb_symmetry symmetry;
    uint64_t hash; /* hash of the bytes of the files */
} nb_factor_files;

/** Sums of the model and expanded reflections to a limit, without -Badd and typed
 * -Fscale.  Tables of any wavelength and weight are made from constant, shared sums. */
typedef struct nb_factor_sums {
    const nb_factor_files *files; /* shared */
    double dmin, asked;           /* limit of the table, and requested limit, A */
    nb_partials partials;         /* owned; sums of the model */
    nb_factor_grid grid;      /* owned; F of reflections, or NULL without reflections */
    nb_factor_box filled_box; /* box of the entries of `grid` that have values */
    nb_expansion expansion;
    size_t filled;           /* number of reflections that -fill added */
    double scale_k, scale_B; /* Fo = k exp(-B s^2/4) Fm; NaN: not used */
} nb_factor_sums;

/** Read and check the files of cfg. crystal: the typed crystal, or NULL. *out is shared,
 * with the caller as its only holder (nb_shared_drop); it is NULL after an error. Errors:
 * NB_ERR_INPUT, NB_ERR_IO, NB_ERR_NOMEM, NB_ERR_UNSUPPORTED. */
nb_status nb_factor_files_load(const nb_config *cfg, const nb_crystal *crystal,
                               const nb_hooks *hooks, nb_factor_files **out,
                               nb_error *err);

/* A; finest spacing of the table of f0 */
#define NB_SHORTEST_D 0.25

/** True if F are the same at every wavelength. */
int nb_factor_files_are_constant(const nb_factor_files *files);

/** Cell of a crystal, A and deg. */
void nb_factor_cell_of(const nb_crystal *crystal, double cell[6]);

/** Cell of F for this crystal: the cell of the files, or for a list without a cell the
 * cell of the crystal before a dose. own[6]: memory for this cell. */
const double *nb_factor_files_cell(const nb_factor_files *files,
                                   const nb_crystal *crystal, double own[6]);

/** Put a note into text if the cell of a crystal differs from that of F by more than 1 %
 * or 1 deg. */
void nb_factor_files_odd_cell(const nb_factor_files *files, const nb_crystal *crystal,
                              char *text, size_t size);

/** Rotations of the space group; returns their number, 0 if unknown or without files. */
int nb_factor_files_rotations(const nb_factor_files *files, int8_t R[NB_SYMOPS_MAX][9]);

/** Scale and B from -Fscale and -Badd; crystal: the crystal of the image, or NULL. */
nb_factor_weight nb_factor_weight_of(const nb_factor_files *files,
                                     const nb_crystal *crystal, const nb_settings *all);

/** True if the tables may end at the resolution limit of the image. */
int nb_factor_files_have_limit(const nb_factor_files *files, const nb_config *cfg);

/** Limit d (A) for tables of an image up to q (1/A); 0: up to the limit of the files. */
double nb_factor_files_limit(const nb_factor_files *files, const nb_config *cfg, double q,
                             const nb_crystal *crystal);

/** Sum the model and expand the reflections up to dmin (A; for reflections 0 is their
 * limit). Reflections are filled in up to cfg.dmin_A. wavelength_A: wavelength for a
 * model that scales or fills reflections. *out is shared, with the caller as its only
 * holder (nb_shared_drop); it is NULL after an error. */
nb_status nb_factor_sums_make(const nb_factor_files *files, double dmin,
                              double wavelength_A, int threads, const nb_hooks *hooks,
                              nb_factor_sums **out, nb_error *err);

/** Whole box of the tables. sums->filled_box of a list is smaller, and has all entries
 * with values. */
nb_factor_box nb_factor_sums_box(const nb_factor_sums *sums);

/** Make the table at one wavelength in *out, with the known phases (nb_factor_grid_free).
 * wave: not used without a model. */
nb_status nb_factor_sums_grid(const nb_factor_sums *sums, nb_factor_weight weight,
                              const nb_wave *wave, int threads, nb_factor_grid *out,
                              nb_error *err);
/** Fill F[voxels of the box] of the table at one wavelength. box: nb_factor_sums_box or
 * filled_box. */
void nb_factor_sums_fill(const nb_factor_sums *sums, nb_factor_weight weight,
                         const nb_wave *wave, const nb_factor_box *box, int threads,
                         double *F);

/** Group the sources whose f' and f'' are equal within -anomalous_tol. hooks may be NULL.
 * The caller frees *out. */
nb_status nb_waves_group(const nb_factor_sums *sums, const nb_source *sources, int n,
                         const nb_hooks *hooks, nb_waves *out, nb_error *err);
/** Make one group at one wavelength. */
nb_status nb_waves_one(const nb_factor_sums *sums, double wavelength_A,
                       const nb_hooks *hooks, nb_waves *out, nb_error *err);
void nb_waves_free(nb_waves *waves);
/** True if a and b have the same groups, with equal f' and f''. */
int nb_waves_equal(const nb_waves *a, const nb_waves *b);

/** Weighted mean wavelength, A. */
double nb_mean_wavelength(const nb_source *sources, int n);

/** Approximate size of the files in memory, bytes. */
size_t nb_factor_files_bytes(const nb_factor_files *files);

/** True if the crystal has diffuse scattering. */
int nb_config_is_diffuse(const nb_config *cfg);

/** Resolve element symbols of f' and f'', and refuse unknown ones. */
nb_status nb_check_fprime(const nb_factor_files *files, nb_error *err);

/* --- limits of a detector in reciprocal space, and of its table of F --- */

/** Limit d (A) of a table of F over `cell` for an image up to |q| = q (1/A). The table
 * goes farther than q by 0.5 times the longest diagonal of the reciprocal cell, or 2.5
 * times if F is interpolated. */
double nb_table_limit(double q, const nb_crystal *crystal, const double cell[6],
                      int interpolated);

/** Largest ratio |h*| of cell b over |h*| of cell a, for any h. */
double nb_metric_ratio(const double a[6], const double b[6]);

#endif
