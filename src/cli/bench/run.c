/* SPDX-License-Identifier: MIT */
/* One benchmark from its options to the folder of its report. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common.h"
#include "../progress.h"
#include "bench.h"
#include "json.h"
#include "machine.h"
#include "process.h"
#include "report.h"
#include "results.h"

static nb_status find_programs(nb_bench *b, nb_error *err)
{
    const nb_bench_options *o = b->opt;
    nb_status st = nb_bench_find_program("bench", "/proc/self/exe", b->program, err);
    for (int i = 0; i < o->peer_count && !st; i++) {
        const char *equals = strchr(o->peers[i], '=');
        char *name = strndup(o->peers[i], (size_t)(equals - o->peers[i]));
        b->peer_names[i] = name;
        st = name ? nb_bench_find_program("-vs", equals + 1, b->peers[i], err)
                  : nb_bench_no_memory(err);
    }
    return st;
}

/** Can it render eight pixels? This runs in another process, so that this process opens no
 * device yet. */
static int renders(const nb_bench *b, const char *device, char *why, size_t size)
{
    nb_bench_job job = {.size = 8, .isa = NB_ISA_AUTO, .precision = NB_PRECISION_MIXED};
    char folder[NB_PATH_MAX], log[NB_PATH_MAX];
    nb_run_flags flags;
    nb_child_end end;
    nb_error err;
    int ok = 0;
    snprintf(job.device, sizeof job.device, "%s", device);
    if (nb_bench_scratch(&b->folder, "probe", folder, &err) ||
        nb_bench_command(&job, b->program, 1, &flags, &err))
        return 0;
    nb_bench_path(folder, "log.txt", log);
    ok = !nb_child_run(flags.argv, folder, log, log, &end, &err) && !end.missing &&
         !end.signal && !end.exit_status;
    nb_bench_last_line(log, why, size);
    nb_run_flags_free(&flags);
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
    if (o->device_count)
        return NB_OK;
    for (int i = 0; (word = nb_device_word(i)); i++) {
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
        nb_bench_job job = {.size = 8,
                            .threads = 1,
                            .device = "cpu",
                            .isa = (nb_isa)i,
                            .precision = NB_PRECISION_DOUBLE};
        nb_sim *sim = NULL;
        nb_config cfg;
        nb_error why;
        int wanted = !asked->count && i != NB_ISA_AUTO, ok;
        for (int k = 0; k < asked->count; k++)
            wanted |= asked->v[k] == i;
        if (!wanted)
            continue;
        ok = !nb_bench_config(&job, &cfg, &why) && !nb_sim_create(&cfg, NULL, &sim, &why);
        nb_sim_free(sim);
        if (ok)
            b->isas[b->isa_count++] = (nb_isa)i;
        else if (asked->count)
            return nb_cli_fail(err, "-isas %s: %.300s", nb_bench_isa_name((nb_isa)i),
                               why.message);
    }
    return NB_OK;
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
    if (!st)
        st = nb_bench_run_breakdowns(b, err);
    if (!st)
        st = nb_bench_run_warm(b, err);
    if (!st)
        st = nb_bench_run_batches(b, err);
    if (!st)
        st = nb_bench_run_gains(b, err);
    nb_bench_show(b, NULL);
    return st;
}

/** The requested folder, or one with date and name. */
static void place_report(const nb_bench_options *o, char *path)
{
    char date[16];
    nb_bench_date(date);
    if (o->outdir)
        snprintf(path, NB_PATH_MAX, "%s", o->outdir);
    else
        snprintf(path, NB_PATH_MAX, "reports/benchmarks/%s-%s", date, o->name);
}

static nb_status fill_folder(nb_bench *b, int *plain, nb_error *err)
{
    nb_status st = nb_bench_check_others(&b->folder, b->opt, err);
    if (!st && !b->opt->from)
        st = measure(b, err);
    if (!st && !b->opt->from)
        st = nb_bench_write_results(b, err);
    if (!st)
        st = nb_bench_report(&b->folder, b->opt, plain, err);
    return st ? st : nb_bench_stopped(err);
}

static nb_status make_report(nb_bench *b, nb_error *err)
{
    char path[NB_PATH_MAX];
    int plain = 0;
    nb_status st;
    place_report(b->opt, path);
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
    nb_bench_job job = {.which = NB_BENCH_OWN,
                        .own = &o->own,
                        .size = 8,
                        .device = "cpu",
                        .isa = NB_ISA_AUTO,
                        .precision = NB_PRECISION_MIXED};
    nb_config cfg;
    return o->own.count ? nb_bench_config(&job, &cfg, err) : NB_OK;
}

static nb_status run(nb_bench *b, nb_bench_options *o, const char *command, nb_error *err)
{
    nb_status st;
    b->opt = o;
    snprintf(b->command, sizeof b->command, "%s", command);
    st = nb_bench_resolve(o, nb_bench_cores(), err);
    if (!st)
        st = check_own(o, err);
    if (!st)
        st = find_programs(b, err);
    return st ? st : make_report(b, err);
}

int nb_bench_run(nb_bench_options *o, const char *command, nb_error *err)
{
    nb_bench *b = calloc(1, sizeof *b);
    int status;
    if (!b)
        return nb_cli_exit_status(nb_bench_no_memory(err));
    nb_stop_on_signals();
    status = nb_cli_exit_status(run(b, o, command, err));
    if (status && b->wrong)
        status = NB_BENCH_WRONG_IMAGE;
    for (int i = 0; i < NB_BENCH_PEERS_MAX; i++)
        free((char *)b->peer_names[i]);
    nb_bench_free(b);
    free(b);
    return status;
}
