/* SPDX-License-Identifier: MIT */
/* New processes: ours and others in turns, so that a change of the machine affects all. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "process.h"

enum { GROUP_MAX = NB_BENCH_PEERS_MAX + NB_BENCH_DEVICES_MAX };

static const char image_name[] = "floatimage.bin";

void nb_bench_cold_image(const nb_bench *b, const nb_bench_point *p, int variant,
                         char *path)
{
    char name[64];
    snprintf(name, sizeof name, "image-%d-%d.bin", (int)(p - b->points), variant);
    nb_bench_path(b->folder.scratch, name, path);
}

static const char *program_of(const nb_bench *b, const nb_bench_point *p)
{
    return p->peer < 0 ? b->program : b->peers[p->peer];
}

/** Keep the image unless an equal one is already kept. */
static nb_status keep_image(const nb_bench *b, const nb_bench_point *p, const char *image,
                            nb_error *err)
{
    char kept[NB_PATH_MAX];
    int variant = 0;
    for (;; variant++) {
        nb_bench_cold_image(b, p, variant, kept);
        if (access(kept, F_OK))
            break;
        if (nb_bench_same_file(kept, image))
            return NB_OK;
    }
    if (!rename(image, kept))
        return NB_OK;
    memset(err, 0, sizeof *err);
    err->code = NB_ERR_IO;
    snprintf(err->message, sizeof err->message, "%.200s wrote no image: %s", p->program,
             strerror(errno));
    return NB_ERR_IO;
}

/** One fresh process. */
static nb_status run_once(nb_bench *b, nb_bench_point *p, nb_error *err)
{
    char folder[NB_PATH_MAX], log[NB_PATH_MAX], image[NB_PATH_MAX];
    nb_run_flags flags;
    nb_child_end end;
    nb_status st = nb_bench_scratch(&b->folder, "run", folder, err);
    if (!st)
        st = nb_bench_command(&p->job, program_of(b, p), p->peer < 0, &flags, err);
    if (st)
        return st;
    nb_bench_path(folder, "log.txt", log);
    nb_bench_path(folder, image_name, image);
#ifdef __GLIBC__
    malloc_trim(
        0); /* the peak memory of a child includes the memory of its parent at the start */
#endif
    st = nb_child_run(flags.argv, folder, log, log, &end, err);
    if (!st)
        st = nb_bench_ended_well(p->program, log, &end, err);
    if (!st)
        st = keep_image(b, p, image, err);
    nb_run_flags_free(&flags);
    if (st)
        return st;
    nb_bench_series_add(&p->cold, end.seconds);
    p->peak_mib = end.peak_mib > p->peak_mib ? end.peak_mib : p->peak_mib;
    p->images++;
    return nb_bench_stopped(err);
}

/** Remove the files of a point that takes too long. */
static void leave_out(nb_bench *b, nb_bench_point *p, double seconds)
{
    char kept[NB_PATH_MAX];
    snprintf(p->left_out, sizeof p->left_out,
             "%d fresh processes of about %.3g s: above -limit %g s", b->opt->repeats,
             seconds, b->opt->limit);
    for (int v = 0; v < p->images; v++) {
        nb_bench_cold_image(b, p, v, kept);
        unlink(kept);
    }
    p->cold.count = p->images = 0;
}

static int too_long(const nb_bench *b, double seconds)
{
    return seconds * b->opt->repeats > b->opt->limit;
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
    leave_out(b, p, 0);
    snprintf(p->left_out, sizeof p->left_out, "%.150s", err->message);
    return 1;
}

static nb_status run_group(nb_bench *b, nb_bench_point **group, int count, nb_error *err)
{
    nb_status st = NB_OK;
    for (int i = 0; i < count; i++) {
        double expected = nb_bench_expected(b, group[i], 1);
        if (too_long(b, expected))
            leave_out(b, group[i], expected);
    }
    for (int k = 0; k < b->opt->repeats && !st; k++)
        for (int i = 0; i < count && !st; i++) {
            nb_bench_point *p = group[i];
            char text[200], what[240];
            if (p->left_out[0])
                continue;
            nb_bench_job_text(&p->job, text, sizeof text);
            snprintf(what, sizeof what, "%s, fresh process: %s", p->program, text);
            nb_bench_show(b, what);
            st = run_once(b, p, err);
            if (st && forgive(b, p, st, err))
                st = NB_OK;
            else if (!st && k == 0 && too_long(b, p->cold.v[0])) {
                p->tried_cold = p->cold.v[0];
                leave_out(b, p, p->tried_cold);
            }
        }
    return st;
}

static int same_picture(const nb_bench_point *a, const nb_bench_point *b)
{
    return a->job.which == b->job.which && a->job.size == b->job.size;
}

nb_status nb_bench_run_cold(nb_bench *b, nb_error *err)
{
    nb_status st = NB_OK;
    for (int i = 0; i < b->point_count && !st;) {
        nb_bench_point *group[GROUP_MAX];
        int count = 0, first = i;
        for (; i < b->point_count && same_picture(&b->points[first], &b->points[i]) &&
               !strcmp(b->points[i].sweep, b->points[first].sweep);
             i++)
            if (b->points[i].wants_cold && count < GROUP_MAX)
                group[count++] = &b->points[i];
        st = run_group(b, group, count, err);
        for (int k = 0; k < count; k++)
            b->done += group[k]->peer < 0;
    }
    return st;
}
