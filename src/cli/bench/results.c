/* SPDX-License-Identifier: MIT */
#include "results.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../json_memory.h"
#include "../common.h"
#include "json.h"
#include "machine.h"

static void add_job(cJSON *to, const nb_bench_job *job)
{
    cJSON_AddStringToObject(to, "case", nb_bench_case_name(job->which));
    nb_bench_add(to, "size", job->size);
    nb_bench_add(to, "pixels", (double)job->size * job->size);
    if (job->oversample)
        nb_bench_add(to, "oversample", job->oversample);
    if (job->domains)
        nb_bench_add(to, "domains", job->domains);
}

static void add_engine(cJSON *to, const nb_bench_job *job)
{
    cJSON_AddStringToObject(to, "device", job->device);
    cJSON_AddStringToObject(to, "isa", nb_bench_isa_name(job->isa));
    cJSON_AddStringToObject(to, "precision", nb_bench_precision_name(job->precision));
    nb_bench_add(to, "threads", job->threads);
}

static void add_point(cJSON *list, const nb_bench_point *p)
{
    cJSON *o = cJSON_CreateObject();
    double warm = nb_bench_summarize(&p->warm).median;
    double pixels = (double)p->job.size * p->job.size;
    cJSON_AddItemToArray(list, o);
    cJSON_AddStringToObject(o, "sweep", p->sweep);
    cJSON_AddStringToObject(o, "program", p->program);
    add_job(o, &p->job);
    nb_bench_add(o, "steps_per_pixel", p->steps);
    if (p->peer < 0) {
        add_engine(o, &p->job);
        cJSON_AddStringToObject(o, "backend", p->backend);
    }
    if (p->cold.count) {
        nb_bench_add_times(o, "cold", &p->cold);
        nb_bench_add(o, "peak_mib", p->peak_mib);
    }
    if (p->warm.count) {
        nb_bench_add_times(o, "warm", &p->warm);
        nb_bench_add(o, "pixels_per_s", pixels / warm);
        nb_bench_add(o, "steps_per_s", pixels * p->steps / warm);
    }
    if (p->resident.count)
        nb_bench_add_times(o, "resident", &p->resident);
    nb_bench_add_check(o, &p->worst, p->images, p->rows, p->of_rows);
}

static void add_left_out(cJSON *list, const char *sweep, const nb_bench_job *job,
                         const char *program, const char *why)
{
    char text[200];
    cJSON *o = cJSON_CreateObject();
    cJSON_AddItemToArray(list, o);
    if (strcmp(program, "nanobragg"))
        snprintf(text, sizeof text, "%s %dx%d", nb_bench_case_name(job->which), job->size,
                 job->size);
    else
        nb_bench_job_text(job, text, sizeof text);
    cJSON_AddStringToObject(o, "sweep", sweep);
    cJSON_AddStringToObject(o, "program", program);
    cJSON_AddStringToObject(o, "what", text);
    cJSON_AddStringToObject(o, "why", why);
}

static void add_batch(cJSON *list, const nb_bench_batch *batch)
{
    cJSON *o = cJSON_CreateObject();
    double median = nb_bench_summarize(&batch->seconds).median;
    cJSON_AddItemToArray(list, o);
    add_job(o, &batch->job);
    add_engine(o, &batch->job);
    nb_bench_add(o, "frames", batch->frames);
    nb_bench_add_times(o, "seconds", &batch->seconds);
    nb_bench_add(o, "frames_per_s", batch->frames / median);
    nb_bench_add_check(o, &batch->worst, batch->images, batch->rows, batch->job.size);
}

static void add_breakdown(cJSON *list, const nb_bench_breakdown *d)
{
    cJSON *o = cJSON_CreateObject(), *stages;
    cJSON_AddItemToArray(list, o);
    add_job(o, &d->job);
    add_engine(o, &d->job);
    stages = cJSON_AddArrayToObject(o, "stages");
    for (int i = 0; i < d->stages; i++) {
        cJSON *one = cJSON_CreateObject();
        cJSON_AddItemToArray(stages, one);
        cJSON_AddStringToObject(one, "name", d->names[i]);
        nb_bench_add_times(one, "seconds", &d->seconds[i]);
    }
    nb_bench_add_check(o, &d->figures, d->seconds[0].count, d->job.size, d->job.size);
}

static void add_part(cJSON *to, const nb_bench_part *part, const nb_bench_gain *g)
{
    nb_bench_add(to, "rows", part->rows);
    nb_bench_add(to, "seconds", part->seconds);
    nb_bench_add(to, "steps_per_s", g->steps * part->rows * g->job.size / part->seconds);
}

static void add_gain(cJSON *list, const nb_bench *b, const nb_bench_gain *g)
{
    cJSON *o = cJSON_CreateObject(), *others;
    double whole = nb_bench_summarize(&g->whole).median;
    cJSON_AddItemToArray(list, o);
    add_job(o, &g->job);
    add_engine(o, &g->job);
    cJSON_AddStringToObject(o, "shape", g->job.shape);
    cJSON_AddStringToObject(o, "tolerance", g->job.tolerance ? g->job.tolerance : "");
    cJSON_AddStringToObject(o, "backend", g->backend);
    cJSON_AddStringToObject(o, "every_step_backend", g->every_backend);
    nb_bench_add(o, "steps_per_pixel", g->steps);
    nb_bench_add_times(o, "whole", &g->whole);
    add_part(cJSON_AddObjectToObject(o, "every_step"), &g->every, g);
    nb_bench_add(o, "gain", g->every.seconds * g->job.size / g->every.rows / whole);
    nb_bench_add(o, "too_dark", g->dark);
    nb_bench_add(o, "too_bright", g->bright);
    others = cJSON_AddArrayToObject(o, "others");
    for (int i = 0; i < b->opt->peer_count; i++)
        if (g->peers[i].rows) {
            cJSON *one = cJSON_CreateObject();
            cJSON_AddItemToArray(others, one);
            cJSON_AddStringToObject(one, "program", b->peer_names[i]);
            add_part(one, &g->peers[i], g);
        }
}

static void add_cases(const nb_bench *b, cJSON *root)
{
    cJSON *cases = cJSON_AddObjectToObject(root, "cases");
    char text[2048];
    for (int i = 0; i < b->opt->cases.count; i++) {
        nb_bench_case which = (nb_bench_case)b->opt->cases.v[i];
        nb_bench_case_text(which, &b->opt->own, text, sizeof text);
        cJSON_AddStringToObject(cases, nb_bench_case_name(which), text);
    }
}

static cJSON *results_of(const nb_bench *b)
{
    cJSON *root = cJSON_CreateObject(), *points, *list, *left_out;
    cJSON_AddStringToObject(root, "format", "nanobragg-bench-1");
    cJSON_AddStringToObject(root, "name", b->opt->name);
    cJSON_AddStringToObject(root, "command", b->command);
    nb_bench_add_machine(root);
    add_cases(b, root);
    points = cJSON_AddArrayToObject(root, "points");
    left_out = cJSON_AddArrayToObject(root, "left_out");
    for (int i = 0; i < b->point_count; i++) {
        const nb_bench_point *p = &b->points[i];
        if (p->left_out[0])
            add_left_out(left_out, p->sweep, &p->job, p->program, p->left_out);
        else
            add_point(points, p);
    }
    list = cJSON_AddArrayToObject(root, "batches");
    for (int i = 0; i < b->batch_count; i++) {
        const nb_bench_batch *batch = &b->batches[i];
        if (batch->left_out[0])
            add_left_out(left_out, "batch", &batch->job, "nanobragg", batch->left_out);
        else
            add_batch(list, batch);
    }
    if (b->gain_count)
        list = cJSON_AddArrayToObject(root, "gains");
    for (int i = 0; i < b->gain_count; i++) {
        const nb_bench_gain *g = &b->gains[i];
        if (g->left_out[0])
            add_left_out(left_out, "gain", &g->job, "nanobragg", g->left_out);
        else
            add_gain(list, b, g);
    }
    list = cJSON_AddArrayToObject(root, "breakdowns");
    for (int i = 0; i < b->breakdown_count; i++)
        add_breakdown(list, &b->breakdowns[i]);
    return root;
}

nb_status nb_bench_write_results(const nb_bench *b, nb_error *err)
{
    cJSON *root = results_of(b);
    char *text = cJSON_Print(root);
    nb_status st = nb_json_memory("results.json", err);
    cJSON_Delete(root);
    if (!st)
        st = text ? nb_bench_write_text(&b->folder, "results.json", text, err)
                  : nb_bench_no_memory(err);
    free(text);
    return st;
}

/** Milliseconds of a series of repeats; nothing without one. */
static void print_ms(const char *name, const nb_bench_series *s)
{
    if (s->count)
        printf(", %s %.3g ms", name, 1e3 * nb_bench_summarize(s).median);
}

void nb_bench_print_plain(const nb_bench *b)
{
    char text[200];
    for (int i = 0; i < b->point_count; i++) {
        const nb_bench_point *p = &b->points[i];
        nb_bench_job_text(&p->job, text, sizeof text);
        printf("%-11s %s: %s", p->sweep, p->program, text);
        print_ms("cold", &p->cold);
        print_ms("warm", &p->warm);
        print_ms("left there", &p->resident);
        printf("%s%s\n", p->left_out[0] ? ", left out: " : "", p->left_out);
    }
    for (int i = 0; i < b->batch_count; i++) {
        const nb_bench_batch *batch = &b->batches[i];
        nb_bench_job_text(&batch->job, text, sizeof text);
        printf("batch       %d frames: %s", batch->frames, text);
        print_ms("in all", &batch->seconds);
        printf("%s%s\n", batch->left_out[0] ? ", left out: " : "", batch->left_out);
    }
}
