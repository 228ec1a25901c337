/* SPDX-License-Identifier: MIT */
/** Structure factors of an atomic model. The sums of each element are made once, and then
 * combined for each wavelength (docs/physics.md, "Structure factors of a model"). */
#ifndef NB_FACTORS_MODEL_H
#define NB_FACTORS_MODEL_H

#include "../io/structure/gemmi.h"
#include "../io/table/factor_file.h"
#include "../io/table/hkl.h"
#include "factors.h"

typedef enum { NB_SUM_AUTO, NB_SUM_DIRECT, NB_SUM_FFT } nb_sum_method;

/** Settings of a sum over a model. */
typedef struct nb_model_options {
    double dmin;         /* A; > 0 */
    double k_sol, B_sol; /* e/A^3, A^2; k_sol = 0 leaves out the solvent */
    int drop_hydrogens;
    int model; /* number of a model, from 1; 0 averages all models */
    int apply_ncs;
    int with_000; /* 1 calculates F(000) */
    nb_sum_method method;
    int threads; /* >= 1; any number gives the same results */
    nb_isa isa;  /* every instruction set gives the same results */
} nb_model_options;

typedef struct nb_element_sum {
    int Z;
    size_t atoms;  /* number of atoms in the sum, before symmetry */
    double *P;     /* owned; [2 n]: re, im of P_e = sum of q T exp(2 pi i h x) */
    double abc[9]; /* coefficients of f0 */
} nb_element_sum;

/** P_e and M (solvent) of the n unique reflections, and figures for the report. */
typedef struct nb_partials {
    double cell[6], G[6], dmin;
    nb_symmetry symmetry;
    size_t n;
    int (*hkl)[3];            /* owned; [n]; nb_unique_reflections */
    nb_element_sum *elements; /* owned, in order of Z */
    int n_elements;
    /* owned; [2 n]: sum of f0 P_e + solvent: this is F without f' and f'' */
    double *steady;
    double *M; /* owned; [2 n], or NULL without solvent */
    double k_sol, B_sol;
    double solvent_fraction; /* fraction of the volume of the cell; NaN without solvent */
    int solvent_grid[3], density_grid[3]; /* points; 0 without a grid */
    nb_sum_method method;                 /* method that was used */
    size_t special;                       /* number of atoms on special positions */
    size_t alternates;                    /* atoms of alternative conformations */
    size_t atoms;                         /* number of atoms of all elements */
} nb_partials;

/** f' and f'' of an element, electrons. */
typedef struct nb_anomalous {
    double f1, f2;
} nb_anomalous;

/** Sum a model. Notices go to hooks. The caller sets cell and symmetry of the structure
 * (from file, -cell, -sg), and frees *out (nb_partials_free), which is zero after an
 * error. Errors: NB_ERR_INPUT (unknown element, occupancy, B, model number, limits),
 * NB_ERR_UNSUPPORTED (method FFT without FFTW), NB_ERR_NOMEM. */
nb_status nb_partials_make(const nb_structure *structure, const nb_model_options *options,
                           const char *name, const nb_hooks *hooks, nb_partials *out,
                           nb_error *err);
void nb_partials_free(nb_partials *partials);

/** Write F of P1 with d >= dmin into the box of a grid (nb_factor_grid_new), and phases
 * if the grid has them (nb_factor_grid_add_phases). Absences are 0. Other voxels are
 * unchanged, also 0 0 0 if the partials lack F(000). f: [n_elements]; B_add in A^2; scale
 * multiplies F. */
void nb_partials_combine(const nb_partials *partials, const nb_anomalous *f, double B_add,
                         double scale, int threads, nb_factor_grid *grid);

/** Map for many wavelengths: the unique reflection of each voxel. */
typedef struct nb_orbit_map {
    const nb_partials *partials; /* not owned */
    double B_add, scale;
    uint32_t *from; /* owned; [voxels]: index in F */
    double *F;      /* owned; [2 n + 2]: F(h), F(-h) of each; F of absences; missing F */
} nb_orbit_map;

/** Make the map of the box |h| <= H[0] ... The partials outlive the map. The caller frees
 * *out (nb_orbit_map_free). Errors: NB_ERR_NOMEM; NB_ERR_INPUT (too many reflections). */
nb_status nb_orbit_map_make(const nb_partials *partials, const int H[3], double B_add,
                            double scale, nb_orbit_map *out, nb_error *err);
void nb_orbit_map_free(nb_orbit_map *map);
/** Make the amplitudes of a wavelength, f: [n_elements]. Voxels with d < dmin get the
 * value `missing`; so does 0 0 0 if the partials lack F(000). */
void nb_orbit_map_combine(nb_orbit_map *map, const nb_anomalous *f, double missing,
                          int threads);
/** Write F of voxels first ... first + n - 1, with the bytes of nb_partials_combine. */
void nb_orbit_map_write(const nb_orbit_map *map, size_t first, size_t n, double *F);

/* Amplitudes of P1 from a reflection file or a list: choice of columns, expansion, fills,
 * scale and dumps. docs/formats.md, "Reflection files", has the rules. */

/** Indices of the columns of a file that are used; -1 without such a column. */
typedef struct nb_column_choice {
    int plus;        /* type F, G, J or K: value of +h, or of both mates if minus is -1 */
    int minus;       /* type G or K: value of -h */
    int difference;  /* type D: F(+) - F(-) */
    int phase;       /* type P */
    int mean;        /* type F or J: value of both mates in rows without plus and minus */
    int intensities; /* 1 for intensities: F = sqrt(max(I, 0)) */
} nb_column_choice;

/** Find the columns of labels ("A" or "A,B"; "" finds the best). Errors: NB_ERR_INPUT;
 * the message lists the columns. */
nb_status nb_columns_choose(const nb_reflection_file *file, const char *labels,
                            const char *name, nb_column_choice *out, nb_error *err);

/** Write the labels of the columns for notices and reports, as "F(+) and F(-)". */
void nb_columns_describe(const nb_reflection_file *file, const nb_column_choice *choice,
                         char *text, size_t size);

/** A request to expand a file or a list. */
typedef struct nb_expansion_request {
    const nb_reflection_file *file; /* file, or NULL with a list */
    nb_column_choice columns;       /* columns of the file */
    const nb_hkl_list *list;        /* list of -hkl, or NULL with a file */
    double cell[6];                 /* A, deg; cell of the file or of -cell */
    const nb_symmetry *sg;          /* count 0: a file is in P1, a list is copied */
    double dmin; /* A; limit of the reflections; 0 takes the limit of the data */
    /* 1: the box holds all d >= dmin, for fills and absences; 0: only the values */
    int whole_sphere;
    const char *name; /* name of the file, for messages */
    const nb_hooks *hooks;
} nb_expansion_request;

typedef struct nb_expansion {
    size_t given;             /* rows with a value in the data set in use */
    size_t other_sets;        /* rows with a value in another data set, ignored */
    int set;                  /* data set in use: set of the first value, or -1 */
    size_t absent_with_value; /* rows of absences with a value, ignored */
    size_t negative;          /* amplitudes below 0 */
    /* reflections of P1 inside the limit: with F, and without F */
    size_t present, missing;
    size_t conflicts; /* reflections of P1 with values that differ by > 1 % */
    size_t replaced;  /* rows of a list replaced by a value that differs by > 1 % */
    double dmin;      /* A; smallest d of the reflections with a value */
    double limit;     /* A; limit of the table: dmin of the request, or the dmin above */
} nb_expansion;

/** Expand every reflection by every operator into *out (nb_factor_grid_free): amplitudes
 * unchanged, phases if the columns have phases, absences 0 and marked up to the limit. In
 * a list, a listed value has precedence over a generated value, the last of several
 * values counts, and F keeps its sign. With sg->count 0 a list is not expanded, not even
 * by Friedel mates. Errors: NB_ERR_INPUT, NB_ERR_NOMEM. */
nb_status nb_expand(const nb_expansion_request *request, nb_factor_grid *out,
                    nb_expansion *about, nb_error *err);

/** Set missing F with d >= dmin to the rms F of the shell. Returns their number. */
size_t nb_fill_shell(nb_factor_grid *grid, double dmin);

/** Fit k and B (A^2) of Fo = k exp(-B s^2/4) Fm by a weighted line through 20 shells.
 * Errors: NB_ERR_INPUT (no reflection in both). */
nb_status nb_scale_to_model(const nb_factor_grid *observed, const nb_factor_grid *model,
                            double dmin, double *k, double *B, nb_error *err);

/** Set missing F with d >= dmin to k exp(-B s^2/4) F_model. Returns their number. */
size_t nb_fill_model(nb_factor_grid *grid, const nb_factor_grid *model, double dmin,
                     double k, double B);

/** Write F of a box times the weight to `to`, [voxels of the box]. If the box is the
 * whole grid, to may be grid->F. Any number of threads gives the same bytes. */
void nb_factor_grid_weigh(const nb_factor_grid *grid, nb_factor_weight weight,
                          const nb_factor_box *box, int threads, double *to);

/** Make the rows of -dump_mtz (docs/formats.md) for nb_mtz_write. The caller frees *out
 * (nb_reflection_file_free). Errors: NB_ERR_NOMEM. */
nb_status nb_dump_rows(const nb_factor_grid *grid, nb_reflection_file *out, nb_error *err);

/** Write each reflection of P1 with a value as text `h k l F`, *size characters. The
 * caller frees *text (nb_free). Errors: NB_ERR_NOMEM. */
nb_status nb_dump_text(const nb_factor_grid *grid, char **text, size_t *size,
                       nb_error *err);

/** Make the table of a scene, with default_F for missing values. F moves from the grid to
 * *out, and grid->F is NULL afterwards. The caller frees *out (nb_factor_file_free). */
void nb_factor_grid_table(nb_factor_grid *grid, double default_F, nb_factor_file *out);

/* --- Gather values of the reflections of P1 and take means --- */

/** Space group P 1, which has the identity alone. */
extern const nb_symmetry nb_P1;

/** Running sums of each voxel of the grid. */
typedef struct nb_gather {
    nb_factor_grid *grid;   /* F is overwritten by the sum of real parts */
    uint32_t *count;        /* owned; number of values; the high bits are marks */
    float *first;           /* owned; real part of the first value */
    double *imaginary;      /* owned; sum of imaginary parts; NULL without phases */
    float *first_imaginary; /* owned; imaginary part of the first value, or NULL */
    int intensities;        /* 1: values are I, F is the root of the mean, no phases */
} nb_gather;

/** Real and imaginary part of F(h) and of F(-h). Amplitudes without a phase are real. */
typedef struct nb_mates {
    double plus[2], minus[2];
    int has_plus,
        has_minus; /* 1: the file has this mate; 0: the value comes from the other mate */
    int with_phase;
} nb_mates;

/** Begin sums for a grid, which outlives *out (nb_gather_free). Errors: NB_ERR_NOMEM. */
nb_status nb_gather_new(nb_factor_grid *grid, nb_gather *out, nb_error *err);
void nb_gather_free(nb_gather *g);

/** For each operator, add F(h R) = F(h) exp(-2 pi i h t) and F(-h R). With lent = 0, add
 * mates that the file has; with lent = 1, mates that the file lacks. h R must be in the
 * grid. */
void nb_gather_add(nb_gather *g, const nb_symmetry *sg, const int h[3],
                   const nb_mates *mates, int lent);

/** Make F the only and final value of h. Returns 0 if h has a final value. */
int nb_gather_set(nb_gather *g, const int h[3], double F);

/** Write the means into the grid, and with_phase also the phases. Means are final: later
 * values are ignored. Returns the number of means whose values differ by more than 1
 * %. */
size_t nb_gather_finish(nb_gather *g, int with_phase);

/** Enlarge the box |h| <= H so that it contains every h R. Returns 0 if an index exceeds
 * +-10000. */
int nb_gather_reach(const nb_symmetry *sg, const int h[3], int H[3]);

/** Set systematic absences with s^2 <= limit and without a mean to 0 and mark them. Add
 * the number of reflections with a mean to *present, and the number of the others
 * (without 0 0 0) to *missing. A group of one operator has no absences. Errors:
 * NB_ERR_NOMEM. */
nb_status nb_gather_absences(nb_gather *g, const nb_symmetry *sg, double limit,
                             size_t *present, size_t *missing, nb_error *err);

#endif
