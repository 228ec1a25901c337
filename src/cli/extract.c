/* SPDX-License-Identifier: MIT */
/* nanobragg extract FRAME OUT.stol: smooth background of a frame, a table for -stol; with
 * OUT.bin a map for -add, made in Python. */
#include <stdio.h>
#include <string.h>

#include "common.h"
#include "subcommands.h"

/* Default of -stolsmooth: a quarter of the width of the ring of water. */
static const char *const presets[] = {"-stolsmooth", "0.01", NULL};
static const char *const as_flags[] = {"-stolimage", "-stolout", NULL};
static const nb_sub_option options[] = {NB_SUB_END};

/** Switch off all images, so that only the table is written. */
static void no_images(nb_config *cfg)
{
    cfg->write_float = cfg->write_int = cfg->write_pgm = cfg->write_noise = 0;
    cfg->write_dump = 0;
}

static nb_status make(nb_config *cfg, nb_error *err)
{
    const nb_hooks hooks = {.notice = nb_cli_notice};
    nb_sim *sim = NULL;
    nb_status st;
    no_images(cfg);
    st = nb_check_files(cfg, NULL, 0, err);
    NB_TRY(nb_sim_create(cfg, &hooks, &sim, err));
    NB_TRY(nb_sim_write_stol(sim, err));
    nb_sim_free(sim);
    return st;
}

static int is_map(const char *name)
{
    const size_t n = strlen(name);
    return n > 4 && !strcmp(name + n - 4, ".bin");
}

static int run(void *target, nb_sub_line *line)
{
    nb_config cfg = line->cli.cfg;
    nb_error err = {0};
    nb_status st;
    if (is_map(line->operands[1])) {
        st = nb_check_output(line->operands[1], &err);
        NB_TRY(nb_check_files(&cfg, NULL, 0, &err));
        return st ? nb_cli_end(st, &err) : nb_python_verb(target, line);
    }
    st = make(&cfg, &err);
    if (!st && !line->cli.quiet)
        printf(
            "%s: a simulation scatters this background with -stol %s and the fluence and "
            "amount of material of this command\n",
            cfg.stolout_file, cfg.stolout_file);
    return nb_cli_end(st, &err);
}

const nb_sub_command nb_command_extract = {
    .name = "extract",
    .usage = "FRAME OUT.stol|MAP.bin [flags of detector and beam]",
    .what = "Writes the background of a frame: a table for -stol, or a map for -add",
    .see = "reality.md",
    .options = options,
    .borrowed = "* quiet",
    .presets = presets,
    .as_flags = as_flags,
    .operands = 2,
    .statuses = "0 done, 1 the table cannot be written, or no memory, 2 bad input",
    .run = run,
};
