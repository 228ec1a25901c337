/* SPDX-License-Identifier: MIT */
/* Which flags go together: a single image or a series, and flags that contradict each other. */
#include <string.h>

#include "options.h"
#include "values.h"

int nb_cli_is_series(const nb_cli *cli)
{
    return cli->series.frames > 0 || cli->series.stills > 0 || cli->jobs_file[0] ||
           cli->series.output[0] || cli->series.hdf5_file[0];
}

int nb_cli_single_image_flag(const char *name)
{
    static const char *const names[] = {
        "floatfile", "nofloat",  "intfile",        "noint",   "noisefile",
        "pgmfile",   "nopgm",    "pgmscale",       "pngfile", "tifffile",
        "truthfile", "printout", "printout_pixel", "time"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return 1;
    return 0;
}

/** Two flags (canonical names) that set the same thing in two ways. */
typedef struct contradiction {
    const char *a, *b, *why;
} contradiction;

static const char pixels_or_mm[] = "both set the detector's size";
static const char cells_or_mm[] = "both set the crystal's size";

static const contradiction contradictions[] = {
    {"detpixels", "detsize", pixels_or_mm},
    {"detpixels", "detsize_f", pixels_or_mm},
    {"detpixels", "detsize_s", pixels_or_mm},
    {"detpixels_f", "detsize", pixels_or_mm},
    {"detpixels_s", "detsize", pixels_or_mm},
    {"detpixels_f", "detsize_f", pixels_or_mm},
    {"detpixels_s", "detsize_s", pixels_or_mm},
    {"N", "samplesize", cells_or_mm},
    {"N", "sample_x", cells_or_mm},
    {"N", "sample_y", cells_or_mm},
    {"N", "sample_z", cells_or_mm},
    {"Na", "samplesize", cells_or_mm},
    {"Nb", "samplesize", cells_or_mm},
    {"Nc", "samplesize", cells_or_mm},
    {"Na", "sample_x", cells_or_mm},
    {"Nb", "sample_y", cells_or_mm},
    {"Nc", "sample_z", cells_or_mm},
    {"crystal_volume", "blocks", "both set the number of blocks"},
    {"distance", "close_distance", "both set the detector's position"},
    {"fluence", "flux", "both set the fluence"},
    {"pnggamma", "pnglog", "both set how values become colours"},
    {"show_config", "trace_pixel", "each prints and stops"},
    {"printout", "trace_pixel", "-trace_pixel makes no image"},
    {"printout", "show_config", "-show_config makes no image"},
};

/** Where the option of this canonical name was typed, 0 = not. */
static int place(const nb_cli *cli, const char *name)
{
    size_t count;
    const nb_option *table = nb_option_table(&count);
    for (size_t i = 0; i < count; i++)
        if (table[i].kind != NB_OPT_GROUP && !strcmp(table[i].name, name))
            return cli->typed[i];
    return 0;
}

/** The value behind the flag at argv[at], "" for a flag without one. */
static const char *value_at(char **argv, int at)
{
    return nb_option_find(argv[at])->value && argv[at + 1] ? argv[at + 1] : "";
}

static nb_status check_contradictions(const nb_cli *cli, char **argv, nb_error *err)
{
    for (size_t i = 0; i < sizeof contradictions / sizeof *contradictions; i++) {
        const contradiction *c = &contradictions[i];
        int a = place(cli, c->a), b = place(cli, c->b);
        if (!a || !b || (!strcmp(c->b, "flux") && cli->cfg.flux == 0.0))
            continue;
        return nb_cli_fail(err,
                           "%.40s %.60s contradicts %.40s %.60s: %s; give one of them",
                           argv[a], value_at(argv, a), argv[b], value_at(argv, b), c->why);
    }
    return NB_OK;
}

static int names_a_file(const nb_cli *cli)
{
    size_t count;
    const nb_option *table = nb_option_table(&count);
    for (size_t i = 0; i < count; i++)
        if (cli->typed[i] && table[i].kind == NB_OPT_PATH)
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

static nb_status check_roi(const nb_cli *cli, nb_error *err)
{
    const int *roi = cli->cfg.roi;

    if (cli->cfg.roi_set && (roi[0] > roi[1] || roi[2] > roi[3]))
        return nb_cli_fail(err,
                           "-roi %d %d %d %d: a minimum is larger than its maximum; "
                           "give xmin xmax ymin ymax",
                           roi[0], roi[1], roi[2], roi[3]);
    return NB_OK;
}

nb_status nb_cli_check_pairs(const nb_cli *cli, char **argv, nb_error *err)
{
    nb_status status = check_contradictions(cli, argv, err);
    if (!status)
        status = check_roi(cli, err);
    return status || !names_a_file(cli) ? status : nb_cli_check_files(cli, err);
}
