/* SPDX-License-Identifier: MIT */
/* Words of the command line, one per line: the parser, the checks of flags against each
 * other, and for accepted words a small image without files. */
#include <math.h>
#include <string.h>

#include "../../src/cli/options.h"
#include "fuzz.h"

enum { MOST_WORDS = 200, EDGE = 4 };

static int split(char *text, char *argv[MOST_WORDS + 1])
{
    int argc = 1;
    argv[0] = (char *)"nanobragg";
    while (argc < MOST_WORDS) {
        char *end = strchr(text, '\n');
        if (!end && !*text)
            break;
        argv[argc++] = text;
        if (!end)
            break;
        *end = 0;
        text = end + 1;
    }
    argv[argc] = NULL;
    return argc;
}

/** Few steps and no files, so that a run is quick and writes nothing. */
static void make_small(nb_config *cfg)
{
    int *const counts[] = {&cfg->mosaic_domains,   &cfg->hdiv_steps, &cfg->vdiv_steps,
                           &cfg->dispersion_steps, &cfg->phi_steps,  &cfg->thick_steps};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        *counts[i] = *counts[i] > 3 ? 3 : *counts[i];
    cfg->hdiv_step_mrad = cfg->vdiv_step_mrad = cfg->dispersion_step_pct = NAN;
    cfg->phistep_deg = cfg->detsize_mm[0] = cfg->detsize_mm[1] = NAN;
    cfg->detpixels[0] = cfg->detpixels[1] = EDGE;
    cfg->roi_set = 0;
    cfg->oversample = cfg->threads = 1;
    cfg->mat_file[0] = cfg->hkl_file[0] = cfg->dump_file[0] = cfg->source_file[0] = 0;
    cfg->mask_file[0] = cfg->img_file[0] = cfg->png_file[0] = cfg->tiff_file[0] = 0;
    if (isnan(cfg->default_F))
        cfg->default_F = 1;
    strcpy(cfg->device, "cpu");
}

static void simulate(nb_config *cfg)
{
    float image[EDGE * EDGE];
    nb_stats stats;
    nb_error err = {0};
    nb_sim *sim;
    nb_status st;
    make_small(cfg);
    st = nb_sim_create(cfg, NULL, &sim, &err);
    NB_FUZZ_CHECK(!st == !!sim);
    if (!st && !(st = nb_sim_render(sim, image, &stats, &err)))
        for (int i = 0; i < EDGE * EDGE; i++)
            NB_FUZZ_CHECK(isfinite(image[i]));
    NB_FUZZ_CHECK(st != NB_ERR_INTERNAL);
    NB_FUZZ_CHECK(!st || (err.code == st && err.message[0] && !strchr(err.message, '\n')));
    nb_sim_free(sim);
}

int nb_fuzz_accepts(const uint8_t *data, size_t size)
{
    static nb_cli cli;
    char *text = malloc(size + 1), *argv[MOST_WORDS + 1];
    nb_error err = {0};
    nb_status st;
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    st = nb_cli_parse(split(text, argv), argv, &cli, &err);
    if (st)
        NB_FUZZ_CHECK(err.code == st && err.message[0] && !strchr(err.message, '\n'));
    else if (cli.action == NB_DO_RUN)
        simulate(&cli.cfg);
    free(text);
    return !st;
}

NB_FUZZ_ENTRY
