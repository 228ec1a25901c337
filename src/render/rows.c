/* SPDX-License-Identifier: MIT */
#include "rows.h"

#include <stdatomic.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "../base/error.h"

int nb_thread_count(int asked)
{
#ifdef _OPENMP
    return asked > 0 ? asked : omp_get_max_threads();
#else
    (void)asked;
    return 1;
#endif
}

static int first_thread(void)
{
#ifdef _OPENMP
    return omp_get_thread_num() == 0;
#else
    return 1;
#endif
}

nb_status nb_render_rows(const nb_row_job *job, const nb_detector *det, nb_error *err)
{
    int first = det->roi_smin, last = det->roi_smax, s;
    const size_t row_bytes = (size_t)det->fpixels * sizeof *job->image;
    atomic_int done = 0, stop = 0;
    /* the rows that are rendered are cleared by the thread that fills them, into its cache */
    memset(job->image, 0, (size_t)first * row_bytes);
    memset(job->image + (size_t)(last + 1) * det->fpixels, 0,
           (size_t)(det->spixels - 1 - last) * row_bytes);
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 1) num_threads(job->threads)
#endif
    for (s = first; s <= last; s++) {
        float *row = job->image + (size_t)s * det->fpixels;
        int count;
        if (atomic_load_explicit(&stop, memory_order_relaxed))
            continue;
        memset(row, 0, row_bytes);
        job->row(job->context, s, row);
        count = atomic_fetch_add_explicit(&done, 1, memory_order_relaxed) + 1;
        if (first_thread() && job->hooks->progress &&
            job->hooks->progress(job->hooks->user, (double)count / (last - first + 1)))
            atomic_store(&stop, 1);
    }
    if (atomic_load(&stop))
        return nb_fail(err, NB_ERR_CANCELLED, "stopped before the image was finished");
    return NB_OK;
}
