/* SPDX-License-Identifier: MIT */
/* Which flags go together: a single image or a series, and flags that contradict each other. */
#include "common.h"
#include "options.h"

int nb_cli_is_series(const nb_cli *cli)
{
    return cli->series.frames > 0 || cli->series.stills > 0 || cli->jobs_file[0] ||
           cli->series.output[0] || cli->series.hdf5_file[0];
}

/** Two flags that exclude each other. */
typedef struct contradiction {
    const char *a, *b, *why;
} contradiction;

static const contradiction contradictions[] = {
    {"-show_config", "-trace_pixel", "each prints and stops"},
    {"-printout", "-trace_pixel", "-trace_pixel makes no image"},
    {"-printout", "-show_config", "-show_config makes no image"},
};

/** The value behind the flag at argv[at], "" for a flag without one. */
static const char *value_at(char **argv, int at)
{
    return !nb_flag_is_switch(nb_flag_find(argv[at])) && argv[at + 1] ? argv[at + 1] : "";
}

static nb_status check_contradictions(const nb_cli *cli, char **argv, nb_error *err)
{
    for (size_t i = 0; i < sizeof contradictions / sizeof *contradictions; i++) {
        const contradiction *c = &contradictions[i];
        int a = cli->typed[nb_flag_index(nb_flag_find(c->a))];
        int b = cli->typed[nb_flag_index(nb_flag_find(c->b))];
        if (!a || !b)
            continue;
        return nb_cli_fail(err,
                           "%.40s %.60s contradicts %.40s %.60s: %s; give one of them",
                           argv[a], value_at(argv, a), argv[b], value_at(argv, b), c->why);
    }
    return NB_OK;
}

static int names_a_file(const nb_cli *cli)
{
    for (const nb_flag *f = NULL; (f = nb_flag_next(f));)
        if (cli->typed[nb_flag_index(f)] && f->kind == NB_KIND_FILE)
            return 1;
    return 0;
}

nb_status nb_cli_check_files(const nb_cli *cli, nb_error *err)
{
    /* A series makes this check itself. A run that writes no file needs no check. */
    if (nb_cli_is_series(cli) || cli->show_config || cli->trace)
        return NB_OK;
    return nb_check_files(&cli->cfg, NULL, 0, err);
}

nb_status nb_cli_check_saturation(const nb_cli *cli, nb_error *err)
{
    nb_config plain;
    double most;
    nb_config_defaults(&plain);
    most = nb_noise_largest(&plain, NB_NOISE_U16) - 1;
    if (nb_cli_is_series(cli) || !cli->cfg.write_noise || !(cli->cfg.saturation > most))
        return NB_OK;
    return nb_cli_fail(
        err,
        "-saturation %.9g contradicts -noisefile: its largest trusted value "
        "is %.0f, at most",
        cli->cfg.saturation, most);
}

nb_status nb_cli_check_pairs(const nb_cli *cli, char **argv, nb_error *err)
{
    nb_status status = check_contradictions(cli, argv, err);
    if (!status)
        status = nb_config_check(&cli->cfg, err);
    return status || !names_a_file(cli) ? status : nb_cli_check_files(cli, err);
}
