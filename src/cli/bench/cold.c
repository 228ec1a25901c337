/* SPDX-License-Identifier: MIT */
/* New processes: ours and others in turns, so that a change of the machine affects all. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../progress.h"
#include "bench.h"

enum { GROUP_MAX = NB_BENCH_PEERS_MAX + NB_BENCH_DEVICES_MAX };

static int same_streams(FILE *a, FILE *b)
{
    char x[65536], y[65536];
    size_t n, m;
    do {
        n = fread(x, 1, sizeof x, a);
        m = fread(y, 1, sizeof y, b);
        if (n != m || memcmp(x, y, n))
            return 0;
    } while (n);
    return !ferror(a) && !ferror(b);
}

static int same_file(const char *a, const char *b)
{
    FILE *x = fopen(a, "rb"), *y = fopen(b, "rb");
    int same = x && y && same_streams(x, y);
    if (x)
        fclose(x);
    if (y)
        fclose(y);
    return same;
}

void nb_bench_last_line(const char *path, char *line, size_t size)
{
    char text[1024];
    FILE *file = fopen(path, "r");
    line[0] = 0;
    while (file && fgets(text, sizeof text, file)) {
        text[strcspn(text, "\r\n")] = 0;
        if (text[0])
            snprintf(line, size, "%.*s", (int)size - 1, text);
    }
    if (file)
        fclose(file);
}

nb_status nb_bench_ended_well(const char *name, const char *log, const nb_child_end *end,
                              nb_error *err)
{
    char last[160] = "";
    if (!end->missing && !end->signal && !end->exit_status)
        return NB_OK;
    if (nb_stop_requested())
        return nb_bench_stopped(err);
    if (end->missing)
        return nb_bench_fail(err, NB_ERR_INPUT, "%.200s cannot be run: %s", name,
                             strerror(end->missing));
    nb_bench_last_line(log, last, sizeof last);
    return nb_bench_fail(err, NB_ERR_IO, "%.200s ended with %s %d%s%s", name,
                         end->signal ? "signal" : "status",
                         end->signal ? end->signal : end->exit_status,
                         last[0] ? ": " : "", last);
}

nb_status nb_bench_process(const nb_bench *b, const nb_bench_job *job, int peer,
                           char folder[NB_PATH_MAX], nb_child_end *end, nb_error *err)
{
    const char *program = peer < 0 ? b->program : b->peers[peer];
    char log[NB_PATH_MAX], errors[NB_PATH_MAX];
    nb_run_flags flags;
    nb_status st = nb_bench_scratch(&b->folder, folder, err);
    if (!st)
        st = nb_bench_command(job, program, peer < 0, &flags, err);
    if (st)
        return st;
    nb_bench_path(folder, "log.txt", log);
    nb_bench_path(folder, job->reports ? "errors.txt" : "log.txt", errors);
#ifdef __GLIBC__
    malloc_trim(
        0); /* the peak memory of a child includes the memory of its parent at the start */
#endif
    st = nb_child_run(flags.argv, folder, log, errors, end, err);
    nb_run_flags_free(&flags);
    if (st)
        return st;
    st = nb_bench_ended_well(peer < 0 ? "nanobragg" : b->peer_names[peer], errors, end,
                             err);
    return st ? st : nb_bench_stopped(err);
}

void nb_bench_cold_image(const nb_bench *b, const nb_bench_point *p, int variant,
                         char *path)
{
    char name[64];
    snprintf(name, sizeof name, "image-%d-%d.bin", (int)(p - b->points), variant);
    nb_bench_path(b->folder.scratch, name, path);
}

/** Keep the image unless an equal one is already kept. */
static nb_status keep_image(const nb_bench *b, const nb_bench_point *p, const char *image,
                            nb_error *err)
{
    char kept[NB_PATH_MAX];
    for (int variant = 0;; variant++) {
        nb_bench_cold_image(b, p, variant, kept);
        if (access(kept, F_OK))
            break;
        if (same_file(kept, image))
            return NB_OK;
    }
    return !rename(image, kept)
               ? NB_OK
               : nb_bench_fail(err, NB_ERR_IO, "%.200s wrote no image: %s",
                               nb_bench_program(b, p), strerror(errno));
}

static nb_status run_once(nb_bench *b, nb_bench_point *p, nb_error *err)
{
    char folder[NB_PATH_MAX], image[NB_PATH_MAX];
    nb_child_end end;
    nb_status st = nb_bench_process(b, &p->job, p->peer, folder, &end, err);
    nb_bench_path(folder, "floatimage.bin", image);
    if (!st)
        st = keep_image(b, p, image, err);
    if (st)
        return st;
    nb_bench_series_add(&p->cold, end.seconds);
    p->peak_mib = end.peak_mib > p->peak_mib ? end.peak_mib : p->peak_mib;
    p->images++;
    return NB_OK;
}

/** Remove the files of a point that is left out. */
static void drop(nb_bench *b, nb_bench_point *p)
{
    char kept[NB_PATH_MAX];
    for (int v = 0; v < p->images; v++) {
        nb_bench_cold_image(b, p, v, kept);
        unlink(kept);
    }
    p->cold.count = p->images = 0;
}

/** If a program rendered before but fails at this image, the image is left out with the
 * reason. */
static int forgive(nb_bench *b, nb_bench_point *p, nb_status st, const nb_error *err)
{
    int rendered = 0;
    for (const nb_bench_point *q = b->points; q < p; q++)
        rendered |= q->peer == p->peer && q->cold.count > 0;
    if (st != NB_ERR_IO || p->peer < 0 || !rendered)
        return 0;
    drop(b, p);
    snprintf(p->left_out, sizeof p->left_out, "%.150s", err->message);
    return 1;
}

static int same_engine(const nb_bench_point *a, const nb_bench_point *b)
{
    return a->peer == b->peer && a->job.which == b->job.which &&
           a->job.isa == b->job.isa && a->job.precision == b->job.precision &&
           a->job.threads == b->job.threads && !strcmp(a->job.device, b->job.device) &&
           a->sweep < NB_SWEEP_BATCH && b->sweep < NB_SWEEP_BATCH;
}

static double work(const nb_bench_point *p)
{
    double side = p->job.size * (p->job.oversample ? p->job.oversample : 1.0);
    return side * side * (p->job.domains ? p->job.domains / 100.0 : 1);
}

double nb_bench_expected(const nb_bench *b, const nb_bench_point *p, int cold)
{
    double expected = 0, nearest = INFINITY;
    for (const nb_bench_point *q = b->points; q < p; q++) {
        const nb_bench_series *times = cold ? &q->cold : &q->warm;
        double seconds = times->count ? nb_bench_median(times) : q->tried[cold];
        double ratio = work(p) / work(q);
        if (seconds > 0 && same_engine(p, q) && fabs(log(ratio)) < nearest) {
            nearest = fabs(log(ratio));
            expected = seconds * ratio;
        }
    }
    return expected;
}

static nb_status run_group(nb_bench *b, nb_bench_point **group, int count, nb_error *err)
{
    const char *what = "fresh processes";
    nb_status st = NB_OK;
    for (int i = 0; i < count; i++)
        nb_bench_leave_out(b, group[i], what, nb_bench_expected(b, group[i], 1));
    for (int k = 0; k < b->opt->repeats; k++)
        for (int i = 0; i < count; i++) {
            nb_bench_point *p = group[i];
            if (p->left_out[0])
                continue;
            nb_bench_show(b, p, "fresh process");
            st = run_once(b, p, err);
            if (st && !forgive(b, p, st, err))
                return st;
            if (!st && k == 0 && nb_bench_leave_out(b, p, what, p->cold.v[0])) {
                p->tried[1] = p->cold.v[0];
                drop(b, p);
            }
        }
    return NB_OK;
}

nb_status nb_bench_run_cold(nb_bench *b, nb_error *err)
{
    nb_status st = NB_OK;
    for (int i = 0; i < b->count && !st;) {
        const nb_bench_point *first = &b->points[i];
        nb_bench_point *group[GROUP_MAX];
        int count = 0;
        for (; i < b->count && b->points[i].job.which == first->job.which &&
               b->points[i].job.size == first->job.size &&
               b->points[i].sweep == first->sweep;
             i++)
            if (b->points[i].wants_cold && count < GROUP_MAX)
                group[count++] = &b->points[i];
        st = run_group(b, group, count, err);
        b->done += count;
    }
    return st;
}
