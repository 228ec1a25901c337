/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE /* madvise */
#include "rows.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
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

/** Pages that nobody has touched come from the system zeroed, in the render's time.  Each thread
 * has a share of them brought: left to the first touch, two threads in one large page would both
 * zero it.  What cannot be brought so is touched later. */
static void bring_pages(char *image, size_t bytes, int threads)
{
#ifdef MADV_POPULATE_WRITE
    const uintptr_t large = (uintptr_t)2 << 20, page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = ((uintptr_t)image + page - 1) / page * page;
    uintptr_t end = ((uintptr_t)image + bytes) / page * page;
    int pieces = end > first ? (int)((end - 1) / large - first / large) + 1 : 0, i;
#ifdef _OPENMP
#pragma omp parallel for schedule(static) num_threads(threads)
#endif
    for (i = 0; i < pieces; i++) {
        uintptr_t from = (first / large + (uintptr_t)i) * large, to = from + large;
        from = from < first ? first : from;
        to = to < end ? to : end;
        (void)madvise(image + (from - (uintptr_t)image), to - from, MADV_POPULATE_WRITE);
    }
#endif
    (void)image;
    (void)bytes;
    (void)threads;
}

nb_status nb_render_rows(const nb_row_job *job, const nb_detector *det, nb_error *err)
{
    int first = det->roi_smin, last = det->roi_smax, s;
    const size_t row_bytes = (size_t)det->fpixels * sizeof *job->image;
    const int whole =
        !det->mask && det->roi_fmin == 0 && det->roi_fmax == det->fpixels - 1;
    atomic_int done = 0, stop = 0;
    bring_pages((char *)job->image, (size_t)det->spixels * row_bytes, job->threads);
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
        if (!whole)
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
