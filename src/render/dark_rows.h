/* SPDX-License-Identifier: MIT */
/** Rows of the vector renderer to which the materials of an amorphous background are added, and rows whose dark pixels
 * (../plan/dark.h) get no step. */
#ifndef NB_RENDER_DARK_ROWS_H
#define NB_RENDER_DARK_ROWS_H

#include "../plan/dark.h"
#include "kernel.h"

typedef struct nb_background_rows {
    nb_row_kernel *kernel;
    nb_background_kernel *smooth; /* NULL: `kernel` for all pixels */
    nb_vector_plan *plans;        /* of each panel; owned; NULL: there is no material */
    nb_background_tiles *tiles;   /* owned; NULL: none is smooth */
} nb_background_rows;

/** plans: of each panel of the scene, nb_vector_plans_build; they must outlive the rows, which are zeroed but
 * for their kernels.  Errors: NB_ERR_NOMEM. */
nb_status nb_background_rows_build(const nb_scene *sc, const nb_vector_plan *plans,
                                   int threads, nb_background_rows *rows, nb_error *err);
void nb_background_rows_free(nb_background_rows *rows);

/** For nb_row_job; context: a nb_background_rows with plans. */
void nb_background_row(void *context, const nb_span *spans, size_t n, float *row);

typedef struct nb_dark_rows {
    nb_row_kernel *kernel;
    nb_background_kernel *background; /* NULL: kernel for all pixels */
    int threads;                      /* that prepare; 0: as 1 */
    const nb_vector_plan *plans;      /* of each panel */
    nb_lit_panel *lit;       /* of each panel, owned; NULL: every pixel may be lit */
    nb_vector_plan *without; /* of each panel, without the crystal; owned; NULL: what is dark
                                    is 0 */
    nb_background_rows materials;
} nb_dark_rows;

/** Plans must outlive the rows.  rows is zeroed but for kernels, threads and plans.  Errors: NB_ERR_NOMEM. */
nb_status nb_dark_rows_build(const nb_plan *plan, nb_dark_rows *rows, nb_error *err);
void nb_dark_rows_free(nb_dark_rows *rows);

/** For nb_row_job; context: a nb_dark_rows. */
void nb_dark_row(void *context, const nb_span *spans, size_t n, float *row);
/** Copies of plans that render the water alone: the bytes that the same plans give where every F is
 * 0.  The caller's (nb_free).  Errors: NB_ERR_NOMEM. */
nb_status nb_plans_without_crystal(const nb_vector_plan *plans, int n,
                                   nb_vector_plan **without, nb_error *err);

/** Is every pixel without crystal exactly 0? */
int nb_dark_is_zero(const nb_scene *scene);

#endif
