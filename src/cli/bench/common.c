/* SPDX-License-Identifier: MIT */
/* Functions for all kinds of measurement. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../progress.h"
#include "bench.h"

nb_status nb_bench_no_memory(nb_error *err)
{
    memset(err, 0, sizeof *err);
    err->code = NB_ERR_NOMEM;
    snprintf(err->message, sizeof err->message, "out of memory (benchmark)");
    return NB_ERR_NOMEM;
}

nb_status nb_bench_stopped(nb_error *err)
{
    if (!nb_stop_requested())
        return NB_OK;
    memset(err, 0, sizeof *err);
    err->code = NB_ERR_CANCELLED;
    snprintf(err->message, sizeof err->message, "interrupted; no report was written");
    return NB_ERR_CANCELLED;
}

static int ask_to_stop(void *user, double fraction)
{
    (void)user;
    (void)fraction;
    return nb_stop_requested();
}

nb_hooks nb_bench_hooks(void)
{
    return (nb_hooks){NULL, NULL, ask_to_stop};
}

void nb_bench_show(const nb_bench *b, const char *what)
{
    if (!isatty(STDERR_FILENO))
        return;
    fputs("\r\033[K", stderr);
    if (what)
        fprintf(stderr, "[%d/%d] %.100s", b->done, b->total, what);
    fflush(stderr);
}

nb_status nb_bench_judge(nb_bench *b, const char *what, nb_bench_bounds bounds,
                         const nb_bench_figures *figures, nb_bench_figures *worst,
                         nb_error *err)
{
    *worst = nb_bench_worse(*worst, *figures);
    if (nb_bench_is_right(figures, &bounds))
        return NB_OK;
    b->wrong = 1;
    memset(err, 0, sizeof *err);
    err->code = NB_ERR_INTERNAL;
    snprintf(
        err->message, sizeof err->message,
        "wrong image, no time is reported: %.200s: correlation %.12g with the "
        "scalar renderer (at least 1 - %g), largest difference %.3g of the brightest "
        "pixel (at most %g)",
        what, figures->correlation, bounds.correlation, figures->max_error,
        bounds.max_error);
    return NB_ERR_INTERNAL;
}

static int same_engine(const nb_bench_point *a, const nb_bench_point *b)
{
    return a->peer == b->peer && a->job.which == b->job.which &&
           a->job.isa == b->job.isa && a->job.precision == b->job.precision &&
           a->job.threads == b->job.threads && !strcmp(a->job.device, b->job.device);
}

static double work(const nb_bench_point *p)
{
    double side = p->job.size * (p->job.oversample ? p->job.oversample : 1.0);
    return side * side * (p->job.domains ? p->job.domains / 100.0 : 1);
}

/** Seconds of a measured render, or of a single run; 0: neither. */
static double known(const nb_bench_point *p, int cold)
{
    nb_bench_summary m = nb_bench_summarize(cold ? &p->cold : &p->warm);
    return m.count ? m.median : cold ? p->tried_cold : p->tried_warm;
}

double nb_bench_expected(const nb_bench *b, const nb_bench_point *p, int cold)
{
    double expected = 0, nearest = INFINITY;
    for (const nb_bench_point *q = b->points; q < p; q++) {
        double seconds = known(q, cold), ratio = work(p) / work(q);
        if (seconds > 0 && same_engine(p, q) && fabs(log(ratio)) < nearest) {
            nearest = fabs(log(ratio));
            expected = seconds * ratio;
        }
    }
    return expected;
}
