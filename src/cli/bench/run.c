/* SPDX-License-Identifier: MIT */
/* One benchmark from its options to the folder of its report. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common.h"
#include "../progress.h"
#include "bench.h"

/** The program's whole path, or its bare name to be looked up in PATH. */
static nb_status find_program(const char *flag, const char *name, char *path,
                              nb_error *err)
{
    char *whole = strchr(name, '/') ? realpath(name, NULL) : strdup(name);
    int ok = whole && strlen(whole) < NB_PATH_MAX &&
             (!strchr(name, '/') || !access(whole, X_OK));
    snprintf(path, NB_PATH_MAX, "%s", ok ? whole : "");
    free(whole);
    return ok ? NB_OK
              : nb_cli_fail(err, "%s: the program %.300s cannot be run: %s", flag, name,
                            strerror(errno ? errno : ENAMETOOLONG));
}

static nb_status find_programs(nb_bench *b, nb_error *err)
{
    const nb_bench_options *o = b->opt;
    nb_status st = find_program("bench", "/proc/self/exe", b->program, err);
    for (int i = 0; i < o->peer_count && !st; i++) {
        const char *equals = strchr(o->peers[i], '=');
        snprintf(b->peer_names[i], sizeof *b->peer_names, "%.*s",
                 (int)(equals - o->peers[i]), o->peers[i]);
        st = find_program("-vs", equals + 1, b->peers[i], err);
    }
    return st;
}

/** Eight pixels of a device. */
static nb_bench_job probe(const char *device)
{
    nb_bench_job job = {.size = 8, .isa = NB_ISA_AUTO, .precision = NB_PRECISION_MIXED};
    snprintf(job.device, sizeof job.device, "%s", device);
    return job;
}

/** Can it render? This runs in another process, so that this process opens no device yet. */
static int renders(const nb_bench *b, const char *device, char *why, size_t size)
{
    nb_bench_job job = probe(device);
    char folder[NB_PATH_MAX], log[NB_PATH_MAX];
    nb_child_end end;
    nb_error err;
    int ok = !nb_bench_process(b, &job, -1, folder, &end, &err);
    nb_bench_path(folder, "log.txt", log);
    nb_bench_last_line(log, why, size);
    return ok;
}

static nb_status find_devices(nb_bench *b, nb_error *err)
{
    const nb_bench_options *o = b->opt;
    const char *word;
    char why[300];
    for (int i = 0; i < o->device_count; i++) {
        memcpy(b->devices[b->device_count++], o->devices[i], sizeof *b->devices);
        if (!renders(b, o->devices[i], why, sizeof why))
            return nb_cli_fail(err, "-devices %s: %s", o->devices[i], why);
    }
    for (int i = 0; !o->device_count && (word = nb_device_word(i)); i++) {
        int plain = nb_bench_names_device(word) && !strchr(word, ':');
        if (plain && b->device_count < NB_BENCH_DEVICES_MAX &&
            (!strcmp(word, "cpu") || renders(b, word, why, sizeof why)))
            snprintf(b->devices[b->device_count++], sizeof *b->devices, "%s", word);
    }
    return NB_OK;
}

/** The requested instruction sets, or all that run here. */
static nb_status find_isas(nb_bench *b, nb_error *err)
{
    const nb_bench_list *asked = &b->opt->isas;
    for (int i = 0; i < NB_BENCH_ISAS_MAX; i++) {
        nb_bench_job job = probe("cpu");
        nb_sim *sim;
        nb_error why;
        int wanted = !asked->count && i != NB_ISA_AUTO, ok;
        for (int k = 0; k < asked->count; k++)
            wanted |= asked->v[k] == i;
        if (!wanted)
            continue;
        job.isa = (nb_isa)i;
        ok = !nb_bench_sim(&job, &sim, &why);
        nb_sim_free(sim);
        if (ok)
            b->isas[b->isa_count++] = (nb_isa)i;
        else if (asked->count)
            return nb_cli_fail(err, "-isas %s: %.300s", nb_bench_isa_name(i), why.message);
    }
    return NB_OK;
}

static nb_status run_point(nb_bench *b, nb_bench_point *p, nb_error *err)
{
    nb_bench_show(b, p, nb_bench_sweep_name(p->sweep));
    b->done++;
    switch (p->sweep) {
    case NB_SWEEP_BATCH:
        return nb_bench_run_batch(b, p, err);
    case NB_SWEEP_BREAKDOWN:
        return nb_bench_run_breakdown(b, p, err);
    case NB_SWEEP_GAIN:
        return nb_bench_run_gain(b, p, err);
    default:
        return p->left_out[0] ? NB_OK : nb_bench_run_warm(b, p, err);
    }
}

static nb_status measure(nb_bench *b, nb_error *err)
{
    nb_status st = find_devices(b, err);
    if (!st)
        st = find_isas(b, err);
    if (!st)
        st = nb_bench_plan(b, err);
    if (!st)
        st = nb_bench_run_cold(b, err);
    for (int i = 0; i < b->count && !st; i++) {
        st = run_point(b, &b->points[i], err);
        if (!st)
            st = nb_bench_stopped(err);
    }
    nb_bench_show(b, NULL, NULL);
    return st ? st : nb_bench_write_results(b, err);
}

static nb_status fill_folder(nb_bench *b, int *plain, nb_error *err)
{
    nb_status st = nb_bench_check_others(&b->folder, b->opt, err);
    if (!st && !b->opt->from)
        st = measure(b, err);
    if (!st)
        st = nb_bench_report(&b->folder, b->opt, plain, err);
    return st ? st : nb_bench_stopped(err);
}

static nb_status make_report(nb_bench *b, nb_error *err)
{
    const nb_bench_options *o = b->opt;
    char path[NB_PATH_MAX], date[16];
    int plain = 0;
    nb_status st;
    nb_bench_date(date);
    if (o->outdir)
        snprintf(path, sizeof path, "%s", o->outdir);
    else
        snprintf(path, sizeof path, "reports/benchmarks/%s-%s", date, o->name);
    st = nb_bench_folder_open(&b->folder, path, err);
    if (st)
        return st;
    st = fill_folder(b, &plain, err);
    if (!st)
        st = nb_bench_folder_commit(&b->folder, err);
    else
        nb_bench_folder_abort(&b->folder);
    if (!st && plain)
        nb_bench_print_plain(b);
    if (!st)
        printf("report      %s\n", b->folder.path);
    return st;
}

/** The user's own flags are checked before any measurement. */
static nb_status check_own(const nb_bench_options *o, nb_error *err)
{
    nb_bench_job job = probe("cpu");
    nb_config cfg;
    job.which = NB_BENCH_OWN;
    job.own = &o->own;
    return o->own.count ? nb_bench_config(&job, &cfg, err) : NB_OK;
}

int nb_bench_run(nb_bench_options *o, const char *command, nb_error *err)
{
    nb_bench *b = calloc(1, sizeof *b);
    nb_status st =
        b ? nb_bench_resolve(o, nb_bench_cores(), err) : nb_bench_no_memory(err);
    int status;
    nb_stop_on_signals();
    if (!st)
        st = check_own(o, err);
    if (!st) {
        b->opt = o;
        snprintf(b->command, sizeof b->command, "%s", command);
        st = find_programs(b, err);
    }
    if (!st)
        st = make_report(b, err);
    status = b && b->wrong ? NB_BENCH_WRONG_IMAGE : nb_cli_exit_status(st);
    for (int i = 0; b && i < b->count; i++)
        cJSON_Delete(b->points[i].found);
    if (b) {
        nb_bench_reference_free(&b->reference);
        free(b->points);
    }
    free(b);
    return status;
}
