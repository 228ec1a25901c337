/* SPDX-License-Identifier: MIT */
/* nanobragg sf: structure factors without an image. */
#include <stdio.h>

#include "common.h"
#include "options.h"
#include "subcommands.h"

static const nb_sub_option options[] = {NB_SUB_END};

static void print_times(const nb_cli *cli, FILE *out, const nb_times *t)
{
    const char *const names[] = {"load", "factors", "write"};
    const double seconds[] = {t->load, t->factors, t->write};
    double total = t->load + t->factors + t->write;
    int json = cli->time == NB_TIME_JSON;
    if (cli->time == NB_TIME_BRIEF)
        return;
    fputs(json ? "{" : "stage          seconds\n", out);
    for (int i = 0; i < 3; i++)
        fprintf(out, json ? "\"%s\": %.6f, " : "  %-12s %.6f\n", names[i], seconds[i]);
    fprintf(out, json ? "\"total\": %.6f}\n" : "  total        %.6f\n", total);
}

/** Check folders and names of the dumps. */
static nb_status check_dumps(const nb_config *cfg, int *to_stdout, nb_error *err)
{
    const char *const names[] = {cfg->dump_mtz_file, cfg->dump_hkl_file, cfg->dump_file};
    nb_status st = NB_OK;
    *to_stdout = 0;
    for (int i = 0; i < 3 && !st; i++)
        if (names[i][0]) {
            st = nb_check_output(names[i], err);
            *to_stdout |= nb_is_stdout(names[i]);
        }
    return st;
}

static int run(void *target, nb_sub_line *line)
{
    const nb_cli *cli = &line->cli;
    const nb_hooks hooks = {.notice = nb_cli_notice};
    char *report = NULL;
    nb_times times;
    nb_error err = {0};
    int to_stdout;
    /* this check comes before any work */
    nb_status st = check_dumps(&cli->cfg, &to_stdout, &err);
    FILE *out = to_stdout ? stderr : stdout;

    (void)target;
    if (to_stdout)
        nb_ignore_broken_pipes();
    NB_TRY(nb_config_dump_factors(&cli->cfg, &hooks, &report, &times, &err));
    if (st)
        return nb_cli_end(st, &err);
    if (!cli->quiet)
        fputs(report, out);
    print_times(cli, out, &times);
    nb_free(report);
    return 0;
}

const nb_sub_command nb_command_sf = {
    .name = "sf",
    .usage = "-pdb file -dmin d [flags], or -mtz file [flags]",
    .what = "Calculates structure factors and writes them, without an image",
    .see = "guide.md",
    .options = options,
    .borrowed =
        "pdb cif mtz mtzlabel sg anomalous anomalous_tol fprime fprime_table ksol "
        "bsol hydrogens model ncs Badd Fscale F000 fill sf_method dump_mtz dump_hkl "
        "dmin hkl dump default_F cell lambda energy threads isa time quiet",
    .operands = 0,
    .statuses = "0 done, 2 bad input, 1 a file cannot be written, or no memory",
    .run = run,
};
