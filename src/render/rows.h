/* SPDX-License-Identifier: MIT */
/** Rows of an image shared out over threads, with progress and a way to stop. */
#ifndef NB_RENDER_ROWS_H
#define NB_RENDER_ROWS_H

#include "backend.h"

/** Threads that a request of `asked` (0: all that there are) gives. */
int nb_thread_count(int asked);

/** Start the threads that later calls from this thread will use. */
void nb_threads_start(int threads);

typedef struct nb_row_job {
    void *context;
    /** Fill the rendered pixels of row s of a panel; row points at its first pixel; those that
     * are not rendered are zero before. */
    void (*row)(void *context, int panel, int s, float *row);
    float *image; /* the stack */
    int threads;
    const nb_hooks *hooks; /* progress is called by the calling thread only */
} nb_row_job;

/** Zero the image, then run job->row for every row of the ROI.  NB_ERR_CANCELLED when the
 * progress hook asked to stop. */
nb_status nb_render_rows(const nb_row_job *job, const nb_scene *scene, nb_error *err);

#endif
