/* SPDX-License-Identifier: MIT */
/* nanobragg, the program: turns flags into library calls, text and an exit status. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../params/params.h"
#include "common.h"
#include "options.h"
#include "sub.h"

static void emit(void *user, const char *line)
{
    fprintf(user, "%s\n", line);
}

static nb_status stopped(nb_error *err)
{
    return nb_fail(err, NB_ERR_CANCELLED, "interrupted; no image was written");
}

/** True if this process prints messages. In a series under mpirun only rank 0 prints. A
 * single image always prints, since a rank of another program may have started it. */
static int speaks(const nb_cli *cli)
{
    const char *const flags[] = {"-frames", "-stills", "-only_frame"};
    int rank, typed[3];
    for (int i = 0; i < 3; i++)
        typed[i] = cli->typed[nb_flag_index(nb_flag_find(flags[i]))];
    nb_ranks_launched(&rank);
    return rank == 0 || !(nb_cli_is_series(cli) || ((typed[0] || typed[1]) && !typed[2]));
}

/** Print notes on typed flags without effect. */
static void notice_flags(const nb_cli *cli, char **argv)
{
    for (const nb_flag *f = NULL; speaks(cli) && (f = nb_flag_next(f));) {
        int at = cli->typed[nb_flag_index(f)];
        char line[256];
        if (!at || !nb_flag_note(f))
            continue;
        snprintf(line, sizeof line, "%.40s %s", argv[at], nb_flag_note(f));
        nb_cli_say("note", line);
    }
}

/** Print the text that text_of makes (configuration or report), then `end`. */
static nb_status print_text(const nb_sim *sim,
                            nb_status (*text_of)(const nb_sim *, char **, nb_error *),
                            FILE *out, const char *end, nb_error *err)
{
    char *text = NULL;
    nb_status st = text_of(sim, &text, err);
    if (!st)
        fprintf(out, "%s%s", text, end);
    fflush(out);
    nb_free(text);
    return st;
}

/** Print the text of nanoBragg for one pixel, or for all pixels of the ROI. */
static nb_status print_pixels(const nb_cli *cli, const nb_sim *sim, const float *image,
                              nb_error *err)
{
    const int *roi = cli->cfg.roi_set ? cli->cfg.roi : NULL;
    const int *one = cli->printout_pixel;
    int fast, slow, last_f, last_s;
    nb_status st = NB_OK;

    if (cli->printout_one)
        return nb_sim_printout(sim, image, one[0], one[1], emit, cli->text, err);
    if (nb_sim_panel(sim, 1, NULL))
        return nb_cli_fail(
            err, "-printout of a detector of several panels: type -printout_pixel f s, "
                 "and -panel");
    nb_sim_size(sim, &fast, &slow);
    last_f = roi && roi[1] < fast ? roi[1] : fast - 1;
    last_s = roi && roi[3] < slow ? roi[3] : slow - 1;
    for (int s = roi ? roi[2] : 0; s <= last_s && !st; s++)
        for (int f = roi ? roi[0] : 0; f <= last_f && !st; f++)
            st = nb_stop_requested()
                     ? stopped(err)
                     : nb_sim_printout(sim, image, f, s, emit, cli->text, err);
    return st;
}

static nb_status render(const nb_cli *cli, nb_sim *sim, nb_progress *progress,
                        nb_error *err)
{
    nb_stats stats;
    const float *image;
    nb_status st = nb_check_outputs(&cli->cfg, err);

    memset(&stats, 0, sizeof stats);
    if (!st && !cli->quiet)
        st = print_text(sim, nb_sim_report, cli->text, "", err);
    if (!st) {
        st = nb_sim_render(sim, NULL, &stats, err);
        nb_progress_end(progress);
    }
    if (!st && cli->printout && !(st = nb_sim_image(sim, &image, err)))
        st = print_pixels(cli, sim, image, err);
    if (nb_stop_requested() && (!st || st == NB_ERR_CANCELLED))
        st = stopped(err);
    NB_TRY(nb_sim_write(sim, NULL, &stats, err));
    nb_progress_end(progress);
    if (!st && !cli->quiet)
        nb_report_results(cli, sim, &stats);
    if (!st) {
        nb_times times;
        nb_sim_times(sim, &times);
        nb_report_times(cli, &times, 0);
    }
    return st;
}

/** If a file goes to standard output, send text to standard error. A closed pipe then
 * gives a write error (one line), not a signal, which would leave temporary files. */
static void share_stdout(nb_cli *cli)
{
    int used = nb_cli_is_series(cli) ? nb_is_stdout(cli->cfg.report_file)
                                     : nb_outputs_to_stdout(&cli->cfg);
    if (!used || cli->show_config || cli->trace)
        return;
    cli->text = stderr;
    nb_ignore_broken_pipes();
}

static nb_status run(const nb_cli *cli, nb_ranks **ranks, nb_error *err)
{
    nb_progress progress;
    nb_hooks hooks = {&progress, nb_cli_notice, nb_progress_hook};
    nb_sim *sim = NULL;
    nb_status st;
    int fast, slow;

    nb_progress_init(&progress, cli->progress && !cli->printout, cli->quiet);
    if (nb_cli_is_series(cli) && !cli->show_config && !cli->trace &&
        !cli->cfg.stolout_file[0]) {
        st = nb_ranks_join(ranks, err);
        return st ? st : nb_cli_run_series(cli, *ranks, &progress, err);
    }
    st = cli->cfg.write_noise && !nb_cli_is_series(cli)
             ? nb_saturation_check(&cli->cfg, 65534, "-noisefile", err)
             : NB_OK;
    if (!st && cli->cfg.sum_file[0])
        st = nb_cli_fail(err, "-sumfile %.200s: needs a series, as -frames n or -stills n",
                         cli->cfg.sum_file);
    NB_TRY(nb_cli_check_files(cli, err));
    NB_TRY(nb_sim_create(&cli->cfg, &hooks, &sim, err));
    if (st)
        return st;
    if (cli->frame.n > 1 && (st = nb_sim_set_crystals(sim, &cli->frame, err))) {
        nb_sim_free(sim);
        return st;
    }
    nb_sim_size(sim, &fast, &slow);
    progress.pixels = (double)fast * (double)slow;
    if (cli->show_config && (st = nb_sim_write_geometry(sim, err)))
        ;
    else if (cli->show_config)
        st = print_text(sim, nb_sim_config_json, stdout, "\n", err);
    else if (cli->cfg.stolout_file[0])
        st = nb_sim_write_stol(sim, err);
    else if (cli->trace)
        st = nb_sim_trace(sim, cli->trace_pixel[0], cli->trace_pixel[1], emit, stdout,
                          err);
    else
        st = render(cli, sim, &progress, err);
    nb_sim_free(sim);
    return st;
}

/** Print an error in rank 0. Other ranks have a message only if rank 0 was lost. */
static void say_error(nb_status st, const nb_cli *cli, const nb_ranks *ranks,
                      const nb_error *err)
{
    if (speaks(cli) || (ranks && err->message[0]))
        nb_cli_say("error", err->message[0] ? err->message : nb_status_name(st));
}

static int run_program(int argc, char **argv)
{
    nb_cli cli = {0};
    nb_ranks *ranks = NULL;
    nb_error err = {0};
    nb_status st;
    int exit_status, done;

    (void)setenv("HDF5_USE_FILE_LOCKING", "FALSE",
                 1); /* set, because some network file systems refuse locks */
    if (argc < 2) {
        nb_help_usage(stderr);
        return 2;
    }
    if (nb_sub_dispatch(argc, argv, &exit_status))
        return exit_status;
    nb_stop_on_signals();
    st = nb_cli_parse(argc, argv, &cli, &err);
    if (!st && cli.action == NB_DO_HELP_TOPIC)
        st = nb_help_topic(stdout, cli.topic, &err);
    else if (!st && cli.action != NB_DO_RUN)
        (cli.action == NB_DO_HELP_JSON ? nb_help_json
         : cli.action == NB_DO_VERSION ? nb_help_version
                                       : nb_help_options)(stdout);
    else if (!st) {
        notice_flags(&cli, argv);
        cli.cfg.device_alone = 1;
        share_stdout(&cli);
        st = nb_cli_take_frame(&cli, &done, &err);
        if (!st && !done)
            st = run(&cli, &ranks, &err);
    }
    NB_TRY(nb_cli_check_stdout(&err));
    if (st)
        say_error(st, &cli, ranks, &err);
    nb_ranks_leave(ranks);
    nb_cli_free(&cli);
    return nb_cli_exit_status(st);
}

int main(int argc, char **argv)
{
    int exit_status;
    /* libgomp calls exit if memory or threads are exhausted */
    atexit(nb_remove_temporary_files);
    exit_status = run_program(argc, argv);
    if (exit_status != 1)
        return exit_status;
    fflush(NULL);
    /* without clean-up: a file may be half closed, and libhdf5 1.10 would crash */
    _exit(1);
}
