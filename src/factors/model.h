/* SPDX-License-Identifier: MIT */
/** Structure factors of an atomic model: partial sums of each element, then one cheap combination for
 * each wavelength.  Sources: docs/physics.md, "Structure factors of a model". */
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

/* Amplitudes of P1 from a reflection file or a list: choice of columns, expansion, fills, scale and
 * dumps.  Rules: docs/formats.md, "Reflection files". */

/** The columns of a file that are used; -1: none. */
typedef struct nb_column_choice {
    int plus;        /* F G J K: of +h, or of both mates */
    int minus;       /* G K of -h; -1: as plus */
    int difference;  /* D */
    int phase;       /* P */
    int mean;        /* F J: of both mates, where plus and minus have no value */
    int intensities; /* F = sqrt(max(I, 0)) */
} nb_column_choice;

/** Find the columns for labels ("A" or "A,B"; "": the best ones). Errors: NB_ERR_INPUT, with a
 * list of the columns. */
nb_status nb_columns_choose(const nb_reflection_file *file, const char *labels,
                            const char *name, nb_column_choice *out, nb_error *err);

/** Names of the columns for notices and reports: "F(+) and F(-)". */
void nb_columns_describe(const nb_reflection_file *file, const nb_column_choice *choice,
                         char *text, size_t size);

/** A request to expand a file or a list. */
typedef struct nb_expansion_request {
    const nb_reflection_file *file; /* its columns; or instead of both: */
    nb_column_choice columns;
    const nb_hkl_list *list; /* of -hkl */
    double cell[6];          /* A, deg: cell of the file, else the typed one */
    const nb_symmetry *sg;   /* count 0: P1 */
    double dmin; /* A; reflections beyond it are left out; 0: the file's limit */
    int whole_sphere; /* the box reaches to the limit, for fills and absences, and not only to the values */
    const char *name; /* the file, for messages */
    const nb_hooks *hooks;
} nb_expansion_request;

typedef struct nb_expansion {
    size_t given;             /* rows with a value */
    size_t other_sets;        /* rows with a value of other data sets than the first */
    int set;                  /* that is used; -1: none yet */
    size_t absent_with_value; /* of them, ignored */
    size_t negative;          /* amplitudes below 0 */
    size_t present,
        missing;      /* of P1 inside of the limit and the box; neither has absences */
    size_t conflicts; /* of P1: reached by values that differ by more than 1 % */
    size_t replaced; /* rows of a list that a later row replaces by a value that differs by more than 1 % */
    double dmin;  /* of the reflections with a value, A */
    double limit; /* of the table, A: the request's dmin, or this one */
} nb_expansion;

/** Expand every reflection of the file by every operator into *out (nb_factor_grid_free):
 * amplitudes unchanged, phases if the columns have them; absences are 0 and marked up to the
 * limit. In a list, a value for an index wins over a generated one, and the last of several wins;
 * signs are kept. With sg->count 0 nothing is generated, not even Friedel mates. Errors:
 * NB_ERR_INPUT, NB_ERR_NOMEM. */
nb_status nb_expand(const nb_expansion_request *request, nb_factor_grid *out,
                    nb_expansion *about, nb_error *err);

/** Give missing reflections with d >= dmin the rms F of their shell; returns how many. */
size_t nb_fill_shell(nb_factor_grid *grid, double dmin);

/** k and B of Fo = k exp(-B s^2/4) Fm by a weighted line through 20 shells.  Errors: NB_ERR_INPUT (no
 * reflection in both). */
nb_status nb_scale_to_model(const nb_factor_grid *observed, const nb_factor_grid *model,
                            double dmin, double *k, double *B, nb_error *err);

/** Give missing reflections k exp(-B s^2/4) F_model; returns how many. */
size_t nb_fill_model(nb_factor_grid *grid, const nb_factor_grid *model, double dmin,
                     double k, double B);

/** Multiply every F of a box in the grid into to[its voxels], which may be the grid's own F if the box is all of it.  The
 * same bytes for any number of threads. */
void nb_factor_grid_weigh(const nb_factor_grid *grid, nb_factor_weight weight,
                          const nb_factor_box *box, int threads, double *to);

/** The rows of -dump_mtz (docs/formats.md), for nb_mtz_write; *out is the caller's
 * (nb_reflection_file_free).  Errors: NB_ERR_NOMEM. */
nb_status nb_dump_rows(const nb_factor_grid *grid, nb_reflection_file *out, nb_error *err);

/** Every reflection of P1 that has a value as text `h k l F`; *text (nb_free) of *size.
 * Errors: NB_ERR_NOMEM. */
nb_status nb_dump_text(const nb_factor_grid *grid, char **text, size_t *size,
                       nb_error *err);

/** The table for a scene, default_F where there is no value. It takes F from the grid, which has none
 * afterwards.  *out is the caller's (nb_factor_file_free). */
void nb_factor_grid_table(nb_factor_grid *grid, double default_F, nb_factor_file *out);

/* --- Collects values for the reflections of P1 and takes their means --- */

/** P 1: the identity. */
extern const nb_symmetry nb_P1;

/** Running sums of each voxel of the grid. */
typedef struct nb_gather {
    nb_factor_grid *grid;   /* F: the sum of real parts */
    uint32_t *count;        /* owned; values so far, with marks in the high bits */
    float *first;           /* owned; the real part of the first */
    double *imaginary;      /* owned; the sum; NULL in a grid without phases */
    float *first_imaginary; /* owned; the sum of imaginary parts; NULL without phases */
    int intensities; /* values are I, and F is the root of their mean; without phases */
} nb_gather;

/** One reflection: real and imaginary part of F(h) and of F(-h); amplitudes without phase are
 * real. */
typedef struct nb_mates {
    double plus[2], minus[2];
    int has_plus,
        has_minus; /* 1: the file has this mate; 0: the value is that of the other mate */
    int with_phase;
} nb_mates;

/** grid: its values are overwritten, and it outlives *out (nb_gather_free).  Errors: NB_ERR_NOMEM. */
nb_status nb_gather_new(nb_factor_grid *grid, nb_gather *out, nb_error *err);
void nb_gather_free(nb_gather *g);

/** Add F(h R) = F(h) exp(-2 pi i h t) for every operator, and F(-h R) from the other mate. Only
 * mates that the file has count, or with `lent` only the others. h R must lie in the grid. */
void nb_gather_add(nb_gather *g, const nb_symmetry *sg, const int h[3],
                   const nb_mates *mates, int lent);

/** Make this the only value of h. Returns 0 if h has a value already. */
int nb_gather_set(nb_gather *g, const int h[3], double F);

/** Write the means into the grid, with_phase: also their phases. Later values of these reflections
 * are ignored. Returns the number of means over values that differ by more than 1 %. */
size_t nb_gather_finish(nb_gather *g, int with_phase);

/** Enlarge |h| <= H so that every h R is inside. Returns 0 if one is beyond +-10000. */
int nb_gather_reach(const nb_symmetry *sg, const int h[3], int H[3]);

/** Reflections with s^2 <= limit that have no mean are 0 and marked if they are systematically absent;
 * the others, but 0 0 0, are counted in *missing, those that have one in *present.  With one operator
 * none is absent.  Errors: NB_ERR_NOMEM. */
nb_status nb_gather_absences(nb_gather *g, const nb_symmetry *sg, double limit,
                             size_t *present, size_t *missing, nb_error *err);

#endif
