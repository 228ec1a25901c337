/* SPDX-License-Identifier: MIT */
/** Rows of an image shared out over threads, with progress and a way to stop. */
#ifndef NB_RENDER_ROWS_H
#define NB_RENDER_ROWS_H

#include "../base/threads.h"
#include "backend.h"

/** Start the threads that later calls from this thread will use. */
void nb_threads_start(int threads);

typedef struct nb_row_job {
    const nb_scene *scene;
    const nb_request *request;
    const nb_planes *planes;
    void *context;
    /** Render n spans of one row.  row points at the first one's first pixel, and pixel f of the panel
     * is (f - spans->fast) behind it.  What lies between the spans may be written too. */
    void (*row)(void *context, const nb_span *spans, size_t n, float *row);
    int threads;
    const nb_hooks *hooks; /* progress is called by the calling thread only */
} nb_row_job;

/** Run job->row for every row of the request; what is outside the spans becomes 0.
 * Errors: NB_ERR_NOMEM; NB_ERR_CANCELLED when the progress hook asked to stop. */
nb_status nb_render_rows(const nb_row_job *job, nb_error *err);

/** The same with calls for `piece` pixels of a row, each of one span: where a row takes seconds, a stop
 * need not wait for its end.  piece 0: whole rows. */
nb_status nb_render_pieces(const nb_row_job *job, int piece, nb_error *err);

/** Make sums over the n spans of one row, by thread number `thread`.  Rows of one stripe come in order, by one thread. */
typedef void nb_row_sum(void *context, const nb_span *spans, size_t n, int stripe,
                        int thread);

/** Run `sum` instead of job->row, for rows in so many stripes at most.  Nothing goes to the planes: they may be NULL. */
nb_status nb_sum_rows(const nb_row_job *job, nb_row_sum *sum, int stripes, nb_error *err);

#endif
