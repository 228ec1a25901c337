/* SPDX-License-Identifier: MIT */
/** Structure factors that are made from the files of a configuration: atomic models, reflection files, and lists that are expanded or changed.  Rules: docs/physics.md, "Structure factors". */
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
    nb_anomalous *f; /* owned; of all groups */
} nb_waves;

/** Numbers of one table, 0 0 0 left out. */
typedef struct nb_factor_stats {
    size_t reflections; /* of P1, with a value */
    double rms;         /* of F */
    double friedel;     /* mean |F(+) - F(-)| / mean F */
    double F000;        /* NaN: no value */
} nb_factor_stats;

/** F[voxels of the box] is NaN where there is no value; absent: 1 for what does not count, NULL: none. */
nb_factor_stats nb_factor_stats_of(const double *F, const uint8_t *absent,
                                   const nb_factor_box *box);

/** What files of structure factors gave.  It does not change, and is shared. */
typedef struct nb_factor_files {
    nb_settings settings; /* when the files were read */
    nb_config asked;      /* owned; of which `settings` are */
    const char *model_flag, *model_path, *list_flag, *list_path; /* into cfg; NULL: none */
    nb_structure model;      /* owned; with list_path alone zero */
    nb_reflection_file list; /* owned */
    nb_column_choice columns;
    nb_hkl_list hkl; /* owned; of -hkl; its name is list_path */
    nb_fprime_list typed, curves;
    double cell[6];    /* A, deg: of F, whatever the crystal's is */
    int cell_is_typed; /* of a list without one, which has that of each crystal */
    int needs_cell; /* the files have no cell, and F depend on the crystal's: given_cell */
    double given_cell[6]; /* A, deg */
    nb_symmetry symmetry;
    uint64_t hash; /* of the bytes of the files */
} nb_factor_files;

/** Sums of the files' model and expanded reflections, to a limit, without -Badd and a typed -Fscale: what tables of any
 * wavelength and weight are made from.  They do not change, and are shared. */
typedef struct nb_factor_sums {
    const nb_factor_files *files; /* shared */
    double dmin, asked;   /* limit of the table, and the limit that was asked for, A */
    nb_partials partials; /* owned; of the model */
    nb_factor_grid grid;  /* owned; amplitudes of reflections; F NULL without them */
    nb_factor_box filled_box; /* of its values */
    nb_expansion expansion;
    size_t filled;
    double scale_k, scale_B; /* Fo = k exp(-B s^2/4) Fm; NaN: not used */
} nb_factor_sums;

/** Read and check the files of cfg.  crystal: the typed one, or NULL.  *out is shared, with one
 * holder (nb_shared_drop), NULL on error.  Errors: NB_ERR_INPUT, NB_ERR_IO, NB_ERR_NOMEM,
 * NB_ERR_UNSUPPORTED. */
nb_status nb_factor_files_load(const nb_config *cfg, const nb_crystal *crystal,
                               const nb_hooks *hooks, nb_factor_files **out,
                               nb_error *err);

/* A; the table of f0 ends there */
#define NB_SHORTEST_D 0.25

/** Is a table of F at every wavelength the same? */
int nb_factor_files_are_constant(const nb_factor_files *files);

/** The cell of a crystal as that of F: A, deg. */
void nb_factor_cell_of(const nb_crystal *crystal, double cell[6]);

/** The cell of F for this crystal: the files' own; of a list without one the crystal's before a dose, which may be put
 * into own[6]. */
const double *nb_factor_files_cell(const nb_factor_files *files,
                                   const nb_crystal *crystal, double own[6]);

/** A note in text if a crystal's cell differs by more than 1 % or 1 deg from that of F. */
void nb_factor_files_odd_cell(const nb_factor_files *files, const nb_crystal *crystal,
                              char *text, size_t size);

/** The rotations of the space group of these files; returns how many, 0: none is known, or files is NULL. */
int nb_factor_files_rotations(const nb_factor_files *files, int8_t R[NB_SYMOPS_MOST][9]);

/** -Fscale and -Badd of these settings; crystal: NULL, or that of the image. */
nb_factor_weight nb_factor_weight_of(const nb_factor_files *files,
                                     const nb_crystal *crystal, const nb_settings *all);

/** Does the table of an image end where the image does? */
int nb_factor_files_have_limit(const nb_factor_files *files, const nb_config *cfg);

/** The d (A) to which the tables of an image to q (1/A) must go; 0: as far as the files go. */
double nb_factor_files_limit(const nb_factor_files *files, const nb_config *cfg, double q,
                             const nb_crystal *crystal);

/** Sum the model and expand the reflections up to dmin (A, > 0; of reflections 0: their own limit).
 * Fills end at cfg.dmin_A.  wavelength_A: of the model that reflections are scaled to or filled with.  *out is shared,
 * with one holder (nb_shared_drop), NULL on error. */
nb_status nb_factor_sums_make(const nb_factor_files *files, double dmin,
                              double wavelength_A, int threads, const nb_hooks *hooks,
                              nb_factor_sums **out, nb_error *err);

/** The box of their tables; of a list a smaller one, filled_box, has every value. */
nb_factor_box nb_factor_sums_box(const nb_factor_sums *sums);

/** The table at one wavelength (wave: not used without a model) into *out (nb_factor_grid_free), with
 * phases where they are known. */
nb_status nb_factor_sums_grid(const nb_factor_sums *sums, nb_factor_weight weight,
                              const nb_wave *wave, int threads, nb_factor_grid *out,
                              nb_error *err);
/** Its F alone into F[voxels of the box], which is one of the two above. */
void nb_factor_sums_fill(const nb_factor_sums *sums, nb_factor_weight weight,
                         const nb_wave *wave, const nb_factor_box *box, int threads,
                         double *F);

/** Groups of sources.  hooks: for notices, or NULL.  *out is the caller's (nb_waves_free). */
nb_status nb_waves_group(const nb_factor_sums *sums, const nb_source *sources, int n,
                         const nb_hooks *hooks, nb_waves *out, nb_error *err);
/** One group at one wavelength. */
nb_status nb_waves_one(const nb_factor_sums *sums, double wavelength_A,
                       const nb_hooks *hooks, nb_waves *out, nb_error *err);
void nb_waves_free(nb_waves *waves);
/** True if both have the same groups, with equal f' and f''. */
int nb_waves_equal(const nb_waves *a, const nb_waves *b);

/** Weighted mean wavelength, A. */
double nb_mean_wavelength(const nb_source *sources, int n);

/** Approximate size of the files in memory, bytes. */
size_t nb_factor_files_bytes(const nb_factor_files *files);

/** True if the crystal has diffuse scattering. */
int nb_config_is_diffuse(const nb_config *cfg);

/** Which atoms' f' and f'' are which: resolve symbols, and refuse unknown ones. */
nb_status nb_check_fprime(const nb_factor_files *files, nb_error *err);

/* --- how far in reciprocal space a detector sees, and what a table of f then needs --- */

/** The d (A) to which a table of F over `cell` must go, for an image to q (1/A) of the crystal: half
 * of the longest diagonal of a reciprocal cell beyond it. interpolated: and two diagonals more. */
double nb_table_limit(double q, const nb_crystal *crystal, const double cell[6],
                      int interpolated);

/** Largest ratio |h*| of cell b over |h*| of cell a, of any h. */
double nb_metric_ratio(const double a[6], const double b[6]);

#endif
