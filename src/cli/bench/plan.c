/* SPDX-License-Identifier: MIT */
/* The planned measurements. The size sweep compares devices and programs. Each other sweep
 * changes one quantity at one size. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

/* Steps of one reference: a second or less. */
#define REFERENCE_STEPS 2e7
#define REFERENCE_STEPS_QUICK 3e6

/** A job of a case on a device, with defaults for everything else. */
static nb_bench_job job_of(const nb_bench *b, int which, int size, const char *device)
{
    const nb_bench_options *o = b->opt;
    nb_bench_job job;
    memset(&job, 0, sizeof job);
    job.which = (nb_bench_case)which;
    job.own = &o->own;
    job.size = size;
    job.threads = o->threads.v[o->threads.count - 1];
    job.isa = NB_ISA_AUTO;
    job.precision = NB_PRECISION_MIXED;
    snprintf(job.device, sizeof job.device, "%s", device);
    return job;
}

static int is_cpu(const char *device)
{
    return !strcmp(device, "cpu");
}

/** The next point; its memory is allocated. */
static nb_bench_point *add(nb_bench *b, nb_bench_sweep sweep, nb_bench_job job)
{
    nb_bench_point *p = &b->points[b->point_count++];
    p->sweep = nb_bench_sweep_name(sweep);
    p->program = "nanobragg";
    p->peer = -1;
    p->job = job;
    return p;
}

static void plan_size(nb_bench *b, int which, int size)
{
    const nb_bench_options *o = b->opt;
    int has_cpu = 0;
    for (int d = 0; d < b->device_count; d++) {
        add(b, NB_SWEEP_SIZE, job_of(b, which, size, b->devices[d]))->wants_cold = 1;
        has_cpu |= is_cpu(b->devices[d]);
    }
    for (int i = 0; i < o->peer_count; i++) {
        nb_bench_point *p = add(b, NB_SWEEP_SIZE, job_of(b, which, size, "cpu"));
        p->program = b->peer_names[i];
        p->peer = i;
        p->wants_cold = 1;
    }
    if (has_cpu) { /* the reference renderer, for comparison */
        nb_bench_point *p = add(b, NB_SWEEP_SIZE, job_of(b, which, size, "cpu"));
        p->job.isa = NB_ISA_SCALAR;
        p->job.precision = NB_PRECISION_DOUBLE;
    }
}

static void plan_precision(nb_bench *b, int which, const char *device)
{
    const nb_bench_list *precisions = &b->opt->precisions;
    int isas = is_cpu(device) ? b->isa_count : 1;
    for (int i = 0; i < isas; i++)
        for (int k = 0; k < precisions->count; k++) {
            nb_bench_job job = job_of(b, which, b->opt->at, device);
            job.isa = is_cpu(device) ? b->isas[i] : NB_ISA_AUTO;
            job.precision = (nb_precision)precisions->v[k];
            if (job.isa != NB_ISA_SCALAR || job.precision == NB_PRECISION_DOUBLE)
                add(b, NB_SWEEP_PRECISION, job);
        }
}

static void plan_list(nb_bench *b, nb_bench_sweep sweep, int which, const char *device,
                      const nb_bench_list *list)
{
    for (int i = 0; i < list->count; i++) {
        nb_bench_job job = job_of(b, which, b->opt->at, device);
        if (sweep == NB_SWEEP_THREADS)
            job.threads = list->v[i];
        else if (sweep == NB_SWEEP_OVERSAMPLE)
            job.oversample = list->v[i];
        else
            job.domains = list->v[i];
        add(b, sweep, job);
    }
}

/** The case xfel has one size, and its own comparisons. */
static void plan_gains(nb_bench *b)
{
    const nb_bench_list *sizes = &b->opt->sizes;
    int size = 0;
    for (int i = 0; i < sizes->count; i++)
        size = sizes->v[i] > size ? sizes->v[i] : size;
    for (int d = 0; d < b->device_count; d++)
        nb_bench_plan_gains(b, job_of(b, NB_BENCH_XFEL, size, b->devices[d]));
}

static void plan_case(nb_bench *b, int which)
{
    const nb_bench_options *o = b->opt;
    if (which == NB_BENCH_XFEL) {
        plan_gains(b);
        return;
    }
    for (int i = 0; nb_bench_wants(o, NB_SWEEP_SIZE) && i < o->sizes.count; i++)
        plan_size(b, which, o->sizes.v[i]);
    for (int d = 0; d < b->device_count; d++) {
        const char *device = b->devices[d];
        if (nb_bench_wants(o, NB_SWEEP_PRECISION))
            plan_precision(b, which, device);
        if (nb_bench_wants(o, NB_SWEEP_THREADS) && is_cpu(device))
            plan_list(b, NB_SWEEP_THREADS, which, device, &o->threads);
        if (nb_bench_wants(o, NB_SWEEP_OVERSAMPLE) && which != NB_BENCH_HEAVY)
            plan_list(b, NB_SWEEP_OVERSAMPLE, which, device, &o->oversamples);
        if (nb_bench_wants(o, NB_SWEEP_DOMAINS) && which == NB_BENCH_HEAVY)
            plan_list(b, NB_SWEEP_DOMAINS, which, device, &o->domains);
    }
}

/** Frames of a rotation, of the first case but xfel. */
static void plan_batches(nb_bench *b)
{
    const nb_bench_list *list = &b->opt->batches;
    int which = 0;
    while (which < b->opt->cases.count && b->opt->cases.v[which] == NB_BENCH_XFEL)
        which++;
    for (int d = 0; which < b->opt->cases.count && d < b->device_count; d++)
        for (int i = 0; i < list->count; i++) {
            nb_bench_batch *batch = &b->batches[b->batch_count++];
            batch->job = job_of(b, b->opt->cases.v[which], b->opt->at, b->devices[d]);
            batch->job.osc = 0.1;
            batch->frames = list->v[i];
        }
}

static void plan_breakdowns(nb_bench *b)
{
    const nb_bench_options *o = b->opt;
    for (int d = 0; d < b->device_count; d++)
        for (int i = 0; i < o->cases.count; i++) {
            if (o->cases.v[i] == NB_BENCH_XFEL)
                continue;
            nb_bench_breakdown *one = &b->breakdowns[b->breakdown_count++];
            one->job = job_of(b, o->cases.v[i], o->at, b->devices[d]);
        }
}

nb_status nb_bench_plan(nb_bench *b, nb_error *err)
{
    const nb_bench_options *o = b->opt;
    const size_t sweeps = NB_BENCH_LIST_MAX * (NB_BENCH_PEERS_MAX + 2) +
                          NB_BENCH_LIST_MAX * NB_BENCH_LIST_MAX + 3 * NB_BENCH_LIST_MAX;
    b->points =
        calloc((size_t)o->cases.count * NB_BENCH_DEVICES_MAX * sweeps, sizeof *b->points);
    b->batches = calloc(NB_BENCH_DEVICES_MAX * NB_BENCH_LIST_MAX, sizeof *b->batches);
    b->breakdowns =
        calloc(NB_BENCH_DEVICES_MAX * NB_BENCH_LIST_MAX, sizeof *b->breakdowns);
    b->gains = calloc((size_t)NB_BENCH_DEVICES_MAX * NB_BENCH_GAINS * NB_BENCH_LIST_MAX,
                      sizeof *b->gains);
    if (!b->points || !b->batches || !b->breakdowns || !b->gains)
        return nb_bench_no_memory(err);
    b->reference_steps = o->quick ? REFERENCE_STEPS_QUICK : REFERENCE_STEPS;
    for (int i = 0; i < o->cases.count; i++)
        plan_case(b, o->cases.v[i]);
    if (nb_bench_wants(o, NB_SWEEP_BATCH))
        plan_batches(b);
    if (nb_bench_wants(o, NB_SWEEP_BREAKDOWN))
        plan_breakdowns(b);
    b->total = b->point_count + b->batch_count + b->breakdown_count + b->gain_count;
    for (int i = 0; i < b->point_count; i++)
        b->total += b->points[i].wants_cold && b->points[i].peer < 0;
    return NB_OK;
}

void nb_bench_free(nb_bench *b)
{
    free(b->points);
    free(b->batches);
    free(b->breakdowns);
    free(b->gains);
}
