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
    atomic_int done = 0, stop = 0;
    memset(job->image, 0, (size_t)det->fpixels * det->spixels * sizeof *job->image);
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 1) num_threads(job->threads)
#endif
    for (s = first; s <= last; s++) {
        int count;
        if (atomic_load_explicit(&stop, memory_order_relaxed))
            continue;
        job->row(job->context, s, job->image + (size_t)s * det->fpixels);
        count = atomic_fetch_add_explicit(&done, 1, memory_order_relaxed) + 1;
        if (first_thread() && job->hooks->progress &&
            job->hooks->progress(job->hooks->user, (double)count / (last - first + 1)))
            atomic_store(&stop, 1);
    }
    if (atomic_load(&stop))
        return nb_fail(err, NB_ERR_CANCELLED, "stopped before the image was finished");
    return NB_OK;
}
