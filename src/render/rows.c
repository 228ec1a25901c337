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
#include "../physics/panels.h"

enum { PAGES_AHEAD = 8 << 20 }; /* bytes a thread */

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

void nb_threads_start(int threads)
{
    atomic_int started = 0;
    (void)threads;
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
#endif
    atomic_fetch_add_explicit(&started, 1, memory_order_relaxed);
}

typedef struct row_run {
    const nb_row_job *job;
    const nb_scene *scene;
    atomic_int done, stop;
} row_run;

#ifdef MADV_POPULATE_WRITE
/** Are the pages of a piece there?  Asking takes a tenth of what bringing them again would. */
static int are_present(char *at, size_t bytes)
{
    unsigned char present[512]; /* a large page's small ones */
    size_t pages = bytes / (size_t)sysconf(_SC_PAGESIZE), i;
    int all = 1;
    if (pages > sizeof present || mincore(at, bytes, present) != 0)
        return 0;
    for (i = 0; i < pages; i++)
        all &= present[i];
    return all;
}
#endif

/** Called by every thread of a team, to share the pages of n rows of the stack out.  Pages that nobody has touched
 * come from the system zeroed: here a large one at a time, because left to the first touch two
 * threads in one large page would both zero it.  What cannot be brought so is touched later. */
static void bring_pages(const row_run *run, int row, int n)
{
#ifdef MADV_POPULATE_WRITE
    const uintptr_t large = (uintptr_t)2 << 20, page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const nb_scene *sc = run->scene;
    char *image = (char *)(run->job->image + nb_row_start(sc, row));
    uintptr_t first = ((uintptr_t)image + page - 1) / page * page;
    uintptr_t end = (uintptr_t)(run->job->image + nb_row_start(sc, row + n)) / page * page;
    int pieces = end > first ? (int)((end - 1) / large - first / large) + 1 : 0, i;
#ifdef _OPENMP
#pragma omp for schedule(static) nowait
#endif
    for (i = 0; i < pieces; i++) {
        uintptr_t from = (first / large + (uintptr_t)i) * large, to = from + large;
        char *at;
        from = from < first ? first : from;
        to = to < end ? to : end;
        at = image + (from - (uintptr_t)image);
        if (!are_present(at, to - from))
            (void)madvise(at, to - from, MADV_POPULATE_WRITE);
    }
#endif
    (void)run;
    (void)row;
    (void)n;
}

/** A row of the stack. */
static void run_row(row_run *run, int r)
{
    const nb_row_job *job = run->job;
    const nb_raster *raster = &run->scene->raster;
    const int k = nb_panel_of_row(run->scene, r);
    const nb_panel *panel = &run->scene->panels[k];
    float *row = job->image + nb_row_start(run->scene, r);
    int count, all = raster->roi.smax - raster->roi.smin + 1;
    if (atomic_load_explicit(&run->stop, memory_order_relaxed))
        return;
    if (raster->mask || raster->roi.fmin > 0 || raster->roi.fmax < panel->columns - 1)
        memset(row, 0, (size_t)panel->columns * sizeof *row); /* into this thread's cache */
    job->row(job->context, k, r - panel->first_row, row);
    count = atomic_fetch_add_explicit(&run->done, 1, memory_order_relaxed) + 1;
    if (first_thread() && job->hooks->progress &&
        job->hooks->progress(job->hooks->user, (double)count / all))
        atomic_store(&run->stop, 1);
}

/** Called by every thread of a team.  Pages are brought a few megabytes ahead of the rows, so that
 * they are still in the caches when they are filled; nobody waits for anybody. */
static void run_rows(row_run *run)
{
    const nb_raster *raster = &run->scene->raster;
    const int first = raster->roi.smin, last = raster->roi.smax;
    const size_t row_bytes = (size_t)raster->columns * sizeof *run->job->image;
    size_t ahead = (size_t)run->job->threads * PAGES_AHEAD / row_bytes + 1;
    int from, s;
    for (from = first; from <= last;) {
        int n = ahead < (size_t)(last - from + 1) ? (int)ahead : last - from + 1;
        bring_pages(run, from, n);
#ifdef _OPENMP
#pragma omp for schedule(dynamic, 1) nowait
#endif
        for (s = from; s < from + n; s++)
            run_row(run, s);
        from += n;
    }
}

nb_status nb_render_rows(const nb_row_job *job, const nb_scene *sc, nb_error *err)
{
    const size_t first = nb_row_start(sc, sc->raster.roi.smin),
                 end = nb_row_start(sc, sc->raster.roi.smax + 1);
    row_run run = {.job = job, .scene = sc};
    memset(job->image, 0, first * sizeof *job->image);
    memset(job->image + end, 0, (sc->raster.pixels - end) * sizeof *job->image);
#ifdef _OPENMP
#pragma omp parallel num_threads(job->threads)
#endif
    run_rows(&run);
    if (atomic_load(&run.stop))
        return nb_fail(err, NB_ERR_CANCELLED, "stopped before the image was finished");
    return NB_OK;
}
