/* SPDX-License-Identifier: MIT */
/* Functions for all kinds of measurement. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../progress.h"
#include "bench.h"

nb_status nb_bench_fail(nb_error *err, nb_status code, const char *format, ...)
{
    va_list args;
    memset(err, 0, sizeof *err);
    va_start(args, format);
    vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    return err->code = code;
}

nb_status nb_bench_no_memory(nb_error *err)
{
    return nb_bench_fail(err, NB_ERR_NOMEM, "out of memory (benchmark)");
}

nb_status nb_bench_stopped(nb_error *err)
{
    return nb_stop_requested()
               ? nb_bench_fail(err, NB_ERR_CANCELLED, "interrupted; no report was written")
               : NB_OK;
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

const char *nb_bench_program(const nb_bench *b, const nb_bench_point *p)
{
    return p->peer < 0 ? "nanobragg" : b->peer_names[p->peer];
}

int nb_bench_leave_out(const nb_bench *b, nb_bench_point *p, const char *what,
                       double seconds)
{
    if (p->left_out[0] || seconds * b->opt->repeats <= b->opt->limit)
        return p->left_out[0] != 0;
    snprintf(p->left_out, sizeof p->left_out, "%d %s of about %.3g s: above -limit %g s",
             b->opt->repeats, what, seconds, b->opt->limit);
    return 1;
}
