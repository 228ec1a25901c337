/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE /* madvise */
#include "request.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "../base/error.h"
#include "../base/memory.h"
#include "../base/threads.h"

enum { PAGES_AHEAD = 8 << 20 }; /* bytes per thread */

void nb_threads_start(int threads)
{
    atomic_int started = 0;
    (void)threads;
#pragma omp parallel num_threads(threads)
    atomic_fetch_add_explicit(&started, 1, memory_order_relaxed);
}

typedef struct row_run {
    const nb_row_job *job;
    const size_t *first; /* [rows + 1]: the first span of each row */
    int rows, piece;
    /* number of groups of rows, each for one thread; for an image, every row is a stripe */
    int stripes;
    /* called instead of job->row, writes nothing to the planes; may be NULL */
    nb_row_sum *sum;
    atomic_int done, stop;
} row_run;

/** Index in the planes at which row r begins, or for r = rows at which the last row
 * ends. */
static size_t row_start(const row_run *run, int r)
{
    const nb_span *spans = run->job->request->spans;
    if (r < run->rows)
        return spans[run->first[r]].at;
    return r > 0 ? spans[run->first[r] - 1].at + (size_t)spans[run->first[r] - 1].n : 0;
}

#ifdef MADV_POPULATE_WRITE
/** True if all pages of `bytes` at `at` are in memory. This test takes a tenth of the
 * time of a second populate call. */
static int are_present(char *at, size_t bytes)
{
    unsigned char present[512]; /* one byte for each small page of a large page */
    size_t pages = bytes / (size_t)sysconf(_SC_PAGESIZE), i;
    int all = 1;
    if (pages > sizeof present || mincore(at, bytes, present) != 0)
        return 0;
    for (i = 0; i < pages; i++)
        all &= present[i];
    return all;
}
#endif

/** Bring the pages of n rows into memory. Every thread of a team calls this; each page
 * goes to one thread. The system zeroes a page at its first use, one large page at a
 * time: two threads that first use the same large page would both zero it. If a page
 * cannot be brought here, its first use brings it. */
static void bring_pages(const row_run *run, int row, int n)
{
#ifdef MADV_POPULATE_WRITE
    const uintptr_t large = (uintptr_t)2 << 20, page = (uintptr_t)sysconf(_SC_PAGESIZE);
    float *plane = run->job->planes->image;
    char *image = (char *)(plane + row_start(run, row));
    uintptr_t first = ((uintptr_t)image + page - 1) / page * page;
    uintptr_t end = (uintptr_t)(plane + row_start(run, row + n)) / page * page;
    int pieces = end > first ? (int)((end - 1) / large - first / large) + 1 : 0, i;
#pragma omp for schedule(static) nowait
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

/** Zero the pixels between span i - 1 and span i, or from the last span to the end of the
 * plane (i = n). The thread of span i does this, because its cache has these pixels. */
static void clear_before(const row_run *run, size_t i)
{
    const nb_request *request = run->job->request;
    const nb_planes *planes = run->job->planes;
    const nb_span *last = i > 0 ? &request->spans[i - 1] : NULL;
    size_t from = last ? last->at + (size_t)last->n : 0, to;
    if (run->sum)
        return;
    to = i < request->n ? request->spans[i].at : planes->pixels;
    if (to > from)
        memset(planes->image + from, 0, (to - from) * sizeof(float));
}

/** Report progress from the first thread; the hook may ask to stop. */
static void report(row_run *run, int rows_done)
{
    const nb_hooks *hooks = run->job->hooks;
    if (nb_thread_number() == 0 && hooks->progress &&
        hooks->progress(hooks->user,
                        rows_done < run->rows ? (double)rows_done / run->rows : 1))
        atomic_store(&run->stop, 1);
}

/** Render a row in pieces, so that a stop need not wait for the end of the row. */
static void run_pieces(row_run *run, const nb_span *spans, size_t n)
{
    const nb_row_job *job = run->job;
    for (size_t i = 0; i < n; i++)
        for (int at = 0; at < spans[i].n && !atomic_load(&run->stop); at += run->piece) {
            nb_span part = spans[i];
            part.fast += at;
            part.at += (size_t)at;
            part.n = part.n - at < run->piece ? part.n - at : run->piece;
            job->row(job->context, &part, 1, job->planes->image + part.at);
            report(run, atomic_load(&run->done));
        }
}

static void run_row(row_run *run, int stripe, int r)
{
    const nb_row_job *job = run->job;
    const size_t first = run->first[r], end = run->first[r + 1];
    const nb_span *spans = job->request->spans + first;
    int count;
    if (atomic_load_explicit(&run->stop, memory_order_relaxed))
        return;
    clear_before(run, first);
    if (run->sum)
        run->sum(job->context, spans, end - first, stripe, nb_thread_number());
    else if (run->piece)
        run_pieces(run, spans, end - first);
    else
        job->row(job->context, spans, end - first, job->planes->image + spans->at);
    for (size_t i = first + 1; i < end; i++)
        clear_before(run, i);
    count = atomic_fetch_add_explicit(&run->done, 1, memory_order_relaxed) + 1;
    report(run, count);
}

/** The first row of a stripe. */
static int stripe_start(const row_run *run, int s)
{
    if (run->stripes == run->rows)
        return s;
    return (int)((int64_t)run->rows * s / run->stripes);
}

/** Run stripes from .. to - 1, called by every thread of a team. */
static void run_stripes(row_run *run, int from, int to)
{
    int s;
#pragma omp for schedule(dynamic, 1) nowait
    for (s = from; s < to; s++) {
        const int end = stripe_start(run, s + 1);
        for (int r = stripe_start(run, s); r < end; r++)
            run_row(run, s, r);
    }
}

/** Render all rows; every thread of a team calls this. Pages are brought into memory a
 * few megabytes ahead of the rows, so that they are still in the caches when they are
 * filled. No thread waits for another one. */
static void run_rows(row_run *run)
{
    const size_t pixels = row_start(run, run->rows) - row_start(run, 0);
    const size_t row_bytes = pixels / (size_t)run->rows * sizeof(float) + 1;
    size_t ahead = (size_t)run->job->threads * PAGES_AHEAD / row_bytes + 1;
    int from;
    for (from = 0; from < run->rows;) {
        int n = ahead < (size_t)(run->rows - from) ? (int)ahead : run->rows - from;
        bring_pages(run, from, n);
        run_stripes(run, from, from + n);
        from += n;
    }
}

/** Run a request that has a list of spans. */
static nb_status run_spans(row_run *run, int stripes, nb_error *err)
{
    const nb_row_job *job = run->job;
    size_t *first;
    nb_status st;
    NB_FORWARD(nb_request_rows(job->request, &first, &run->rows, err));
    run->first = first;
    run->stripes = run->sum && stripes < run->rows ? stripes : run->rows;
    clear_before(run, job->request->n);
    if (run->rows > 0) {
#pragma omp parallel num_threads(job->threads)
        if (run->sum)
            run_stripes(run, 0, run->stripes);
        else
            run_rows(run);
    }
    nb_free(first);
    if (atomic_load(&run->stop))
        return nb_fail(err, NB_ERR_CANCELLED, "stopped before the %s finished",
                       run->sum ? "slopes were" : "image was");
    return NB_OK;
}

/** Run a request with or without a list of spans. This function sets the rows of *run. */
static nb_status run_request(row_run *run, int stripes, nb_error *err)
{
    nb_row_job whole = *run->job;
    nb_request request = *run->job->request;
    nb_span *spans;
    nb_status st;
    if (request.spans || request.n == 0)
        return run_spans(run, stripes, err);
    NB_FORWARD(nb_spans_build(whole.scene, &spans, &request.n, err));
    request.spans = spans;
    whole.request = &request;
    run->job = &whole;
    st = run_spans(run, stripes, err);
    run->job = NULL;
    nb_free(spans);
    return st;
}

nb_status nb_render_pieces(const nb_row_job *job, int piece, nb_error *err)
{
    row_run run = {.job = job, .piece = piece};
    return run_request(&run, 0, err);
}

nb_status nb_render_rows(const nb_row_job *job, nb_error *err)
{
    return nb_render_pieces(job, 0, err);
}

nb_status nb_sum_rows(const nb_row_job *job, nb_row_sum *sum, int stripes, nb_error *err)
{
    row_run run = {.job = job, .sum = sum};
    return run_request(&run, stripes, err);
}
