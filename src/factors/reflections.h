/* SPDX-License-Identifier: MIT */
/** Amplitudes of P1 from a reflection file: choice of columns, expansion, fills and scale. */
#ifndef NB_FACTORS_REFLECTIONS_H
#define NB_FACTORS_REFLECTIONS_H

#include "../io/gemmi.h"
#include "factors.h"

/** Which columns of a file are used; -1: none. */
typedef struct nb_column_choice {
    int plus;        /* F G J K: of +h, or of both mates */
    int minus;       /* G K of -h; -1: as plus */
    int difference;  /* D */
    int phase;       /* P */
    int intensities; /* F = sqrt(max(I, 0)) */
} nb_column_choice;

/** The columns that labels ("A" or "A,B"; "": the best there is) name.  Errors: NB_ERR_INPUT, with the
 * columns that there are. */
nb_status nb_columns_choose(const nb_reflection_file *file, const char *labels,
                            const char *name, nb_column_choice *out, nb_error *err);

typedef struct nb_expansion {
    size_t given, absent_with_value, negative, conflicts;
    double dmin; /* of the file's reflections, A */
} nb_expansion;

/** Every reflection of the file by every operator of sg into *out (owned by the caller): amplitudes as
 * they stand, phases if the choice has them; absences are 0 and marked up to the file's limit.
 * dmin: reflections beyond it are left out; 0: none.  Errors: NB_ERR_INPUT, NB_ERR_NOMEM. */
nb_status nb_expand(const nb_reflection_file *file, const nb_column_choice *choice,
                    const nb_symmetry *sg, double dmin, const char *name,
                    const nb_hooks *hooks, nb_factor_grid *out, nb_expansion *about,
                    nb_error *err);

/** Give missing reflections with d >= dmin the rms F of their shell; returns how many. */
size_t nb_fill_shell(nb_factor_grid *grid, double dmin);

/** k and B of Fo = k exp(-B s^2/4) Fm by a weighted line through 20 shells.  Errors: NB_ERR_INPUT (no
 * reflection in both). */
nb_status nb_scale_to_model(const nb_factor_grid *observed, const nb_factor_grid *model,
                            double dmin, double *k, double *B, nb_error *err);

/** Give missing reflections k exp(-B s^2/4) F_model; returns how many. */
size_t nb_fill_model(nb_factor_grid *grid, const nb_factor_grid *model, double dmin,
                     double k, double B);

/** The rows of -dump_mtz (docs/formats.md), for nb_mtz_write; *out is the caller's. */
nb_status nb_dump_rows(const nb_factor_grid *grid, nb_reflection_file *out, nb_error *err);

/** Every reflection of P1 that has a value as text `h k l F`; *text (nb_free) of *size. */
nb_status nb_dump_text(const nb_factor_grid *grid, char **text, size_t *size,
                       nb_error *err);

#endif
