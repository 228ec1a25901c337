/* SPDX-License-Identifier: MIT */
/** Rows of the vector renderer to which the materials of an amorphous background are added. */
#ifndef NB_RENDER_BACKGROUND_ROWS_H
#define NB_RENDER_BACKGROUND_ROWS_H

#include "kernel.h"

typedef struct nb_background_rows {
    nb_row_kernel *kernel;
    nb_background_kernel *smooth; /* NULL: `kernel` for all pixels */
    nb_vector_plan *plans;        /* of each panel; owned; NULL: there is no material */
    nb_background_table *table;   /* owned; NULL: source by source */
    nb_background_tiles *tiles;   /* owned; NULL: none is smooth */
} nb_background_rows;

/** plans: of each panel of the scene, nb_vector_plans_build; they must outlive the rows, which are zeroed but
 * for their kernels.  Errors: NB_ERR_NOMEM. */
nb_status nb_background_rows_build(const nb_scene *sc, const nb_vector_plan *plans,
                                   int threads, nb_background_rows *rows, nb_error *err);
void nb_background_rows_free(nb_background_rows *rows);

/** For nb_row_job; context: a nb_background_rows with plans. */
void nb_background_row(void *context, const nb_span *spans, size_t n, float *row);

#endif
