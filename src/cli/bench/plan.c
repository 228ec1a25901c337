/* SPDX-License-Identifier: MIT */
/* The planned measurements. The size sweep compares devices and programs. Each other sweep
 * changes one quantity at one size. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

/* Steps of one reference: a second or less. */
#define REFERENCE_STEPS 2e7
#define REFERENCE_STEPS_QUICK 3e6
/* Structure factors of the case xfel to this resolution, in A; of breakdowns a box of all
 * reflections that the detectors of the cases can see. */
#define FINEST 2.0
enum { BOX = 24 };

static int is_cpu(const char *device)
{
    return !strcmp(device, "cpu");
}

/** The next point: a case on a device, with defaults for everything else.  NULL: no memory. */
static nb_bench_point *add(nb_bench *b, nb_bench_sweep sweep, int which,
                           const char *device)
{
    const nb_bench_options *o = b->opt;
    nb_bench_point *grown = realloc(b->points, (size_t)(b->count + 1) * sizeof *grown), *p;
    if (!grown)
        return NULL;
    b->points = grown;
    p = &grown[b->count++];
    memset(p, 0, sizeof *p);
    p->sweep = sweep;
    p->peer = -1;
    p->worst = (nb_bench_figures){1, 0, 0};
    p->job.which = (nb_bench_case)which;
    p->job.own = &o->own;
    p->job.size = o->at;
    p->job.threads = o->threads.v[o->threads.count - 1];
    p->job.isa = NB_ISA_AUTO;
    p->job.precision = NB_PRECISION_MIXED;
    snprintf(p->job.device, sizeof p->job.device, "%s", device);
    p->found = cJSON_CreateObject();
    return p;
}

static int plan_size(nb_bench *b, int which, int size)
{
    int has_cpu = 0;
    for (int i = 0; i < b->device_count + b->opt->peer_count; i++) {
        const int peer = i - b->device_count;
        nb_bench_point *p = add(b, NB_SWEEP_SIZE, which, peer < 0 ? b->devices[i] : "cpu");
        if (!p)
            return 0;
        p->job.size = size;
        p->peer = peer < 0 ? -1 : peer;
        p->wants_cold = 1;
        has_cpu |= peer < 0 && is_cpu(b->devices[i]);
    }
    if (has_cpu) { /* the reference renderer, for comparison */
        nb_bench_point *p = add(b, NB_SWEEP_SIZE, which, "cpu");
        if (!p)
            return 0;
        p->job.size = size;
        p->job.isa = NB_ISA_SCALAR;
        p->job.precision = NB_PRECISION_DOUBLE;
    }
    return 1;
}

static int plan_precision(nb_bench *b, int which, const char *device)
{
    const nb_bench_list *precisions = &b->opt->precisions;
    int isas = is_cpu(device) ? b->isa_count : 1;
    for (int i = 0; i < isas; i++)
        for (int k = 0; k < precisions->count; k++) {
            const nb_isa isa = is_cpu(device) ? b->isas[i] : NB_ISA_AUTO;
            nb_bench_point *p;
            if (isa == NB_ISA_SCALAR && precisions->v[k] != NB_PRECISION_DOUBLE)
                continue;
            if (!(p = add(b, NB_SWEEP_PRECISION, which, device)))
                return 0;
            p->job.isa = isa;
            p->job.precision = (nb_precision)precisions->v[k];
        }
    return 1;
}

/** A point for each number of a list. */
static int plan_list(nb_bench *b, nb_bench_sweep sweep, int which, const char *device,
                     const nb_bench_list *list)
{
    for (int i = 0; i < list->count; i++) {
        nb_bench_point *p = add(b, sweep, which, device);
        if (!p)
            return 0;
        if (sweep == NB_SWEEP_THREADS)
            p->job.threads = list->v[i];
        else if (sweep == NB_SWEEP_OVERSAMPLE)
            p->job.oversample = list->v[i];
        else if (sweep == NB_SWEEP_DOMAINS)
            p->job.domains = list->v[i];
        else { /* frames of a rotation */
            p->frames = list->v[i];
            p->job.osc = 0.1;
        }
    }
    return 1;
}

/** The case xfel has one size, and its own comparisons. */
static int plan_gains(nb_bench *b, const char *device)
{
    for (int i = 0; i < NB_BENCH_GAINS; i++) {
        nb_bench_point *p = add(b, NB_SWEEP_GAIN, NB_BENCH_XFEL, device);
        if (!p)
            return 0;
        for (int k = 0; k < b->opt->sizes.count; k++)
            if (!k || b->opt->sizes.v[k] > p->job.size)
                p->job.size = b->opt->sizes.v[k];
        p->job.hkl = b->hkl[1];
        nb_bench_gain_kind(i, &p->job);
    }
    return 1;
}

static int plan_breakdown(nb_bench *b, int which, const char *device)
{
    nb_bench_point *p = add(b, NB_SWEEP_BREAKDOWN, which, device);
    if (!p)
        return 0;
    p->job.hkl = which == NB_BENCH_OWN ? NULL : b->hkl[0];
    p->job.reports = 1;
    return 1;
}

/** The sweeps of a case on a device, but for the sizes. */
static int plan_device(nb_bench *b, int which, const char *device, int is_first)
{
    const nb_bench_options *o = b->opt;
    const int heavy = which == NB_BENCH_HEAVY;
    if (which == NB_BENCH_XFEL)
        return plan_gains(b, device);
    return (!nb_bench_wants(o, NB_SWEEP_PRECISION) || plan_precision(b, which, device)) &&
           (!nb_bench_wants(o, NB_SWEEP_THREADS) || !is_cpu(device) ||
            plan_list(b, NB_SWEEP_THREADS, which, device, &o->threads)) &&
           (!nb_bench_wants(o, NB_SWEEP_OVERSAMPLE) || heavy ||
            plan_list(b, NB_SWEEP_OVERSAMPLE, which, device, &o->oversamples)) &&
           (!nb_bench_wants(o, NB_SWEEP_DOMAINS) || !heavy ||
            plan_list(b, NB_SWEEP_DOMAINS, which, device, &o->domains)) &&
           (!nb_bench_wants(o, NB_SWEEP_BATCH) || !is_first ||
            plan_list(b, NB_SWEEP_BATCH, which, device, &o->batches)) &&
           (!nb_bench_wants(o, NB_SWEEP_BREAKDOWN) || plan_breakdown(b, which, device));
}

/** Arbitrary amplitudes, the same in every run: a box for the breakdowns, a sphere for the case xfel. */
static nb_status write_factors(const char *path, int is_sphere, nb_error *err)
{
    const double cell[3] = {79.1, 79.1, 37.9};
    uint32_t random = 1;
    int most[3], ok;
    FILE *file = fopen(path, "w");
    for (int i = 0; i < 3; i++)
        most[i] = is_sphere ? (int)(cell[i] / FINEST) : BOX;
    for (int h = -most[0]; file && h <= most[0]; h++)
        for (int k = -most[1]; k <= most[1]; k++)
            for (int l = -most[2]; l <= most[2]; l++) {
                double q = hypot(hypot(h / cell[0], k / cell[1]), l / cell[2]);
                random = random * 1664525u + 1013904223u; /* 10 to 1000 */
                if (!is_sphere)
                    fprintf(file, "%d %d %d %d\n", h, k, l,
                            20 + (h * h * 31 + k * k * 17 + l * l * 7 + h * k) % 300);
                else if (q > 0 && q < 1 / FINEST)
                    fprintf(file, "%d %d %d %.1f\n", h, k, l,
                            10 * pow(10, 2.0 * (random >> 8) / (1 << 24)));
            }
    ok = file && !ferror(file);
    ok = (!file || !fclose(file)) && ok;
    return ok ? NB_OK : nb_bench_fail(err, NB_ERR_IO, "%.300s cannot be written", path);
}

nb_status nb_bench_plan(nb_bench *b, nb_error *err)
{
    const nb_bench_options *o = b->opt;
    int first = -1, ok = 1, needs[2] = {0, 0};
    nb_status st = NB_OK;
    b->reference_steps = o->quick ? REFERENCE_STEPS_QUICK : REFERENCE_STEPS;
    nb_bench_path(b->folder.scratch, "reflections.hkl", b->hkl[0]);
    nb_bench_path(b->folder.scratch, "xfel.hkl", b->hkl[1]);
    for (int i = 0; i < o->cases.count && ok; i++) {
        const int which = o->cases.v[i], sized = which != NB_BENCH_XFEL;
        first = first < 0 && sized ? i : first; /* frames are of the first case but xfel */
        for (int k = 0; sized && nb_bench_wants(o, NB_SWEEP_SIZE) && k < o->sizes.count;
             k++)
            ok = ok && plan_size(b, which, o->sizes.v[k]);
        for (int d = 0; d < b->device_count; d++)
            ok = ok && plan_device(b, which, b->devices[d], i == first);
    }
    for (int i = 0; i < b->count; i++) {
        b->total += 1 + b->points[i].wants_cold;
        needs[0] |= b->points[i].job.hkl == b->hkl[0];
        needs[1] |= b->points[i].job.hkl == b->hkl[1];
    }
    for (int k = 0; k < 2 && ok && !st; k++)
        if (needs[k])
            st = write_factors(b->hkl[k], k, err);
    return ok ? st : nb_bench_no_memory(err);
}
