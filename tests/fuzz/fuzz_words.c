/* SPDX-License-Identifier: MIT */
/* Words of the command line, one per line, for the parser and the checks of flags against
 * each other. Accepted words make a small image without files. The last line is also set
 * as the value of every parameter; an accepted value must be returned unchanged. */
#include <math.h>
#include <string.h>

#include "../../src/cli/options.h"
#include "fuzz.h"

enum { MAX_WORDS = 200, EDGE = 4 };

static int split(char *text, char *argv[MAX_WORDS + 1])
{
    int argc = 1;
    argv[0] = (char *)"nanobragg";
    while (argc < MAX_WORDS) {
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
    nb_text *const files[] = {&cfg->mat_file,    &cfg->hkl_file,  &cfg->dump_file,
                              &cfg->source_file, &cfg->mask_file, &cfg->img_file,
                              &cfg->png_file,    &cfg->tiff_file};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        *counts[i] = *counts[i] > 3 ? 3 : *counts[i];
    cfg->hdiv_step_mrad = cfg->vdiv_step_mrad = cfg->dispersion_step_pct = NAN;
    cfg->phistep_deg = cfg->detsize_mm[0] = cfg->detsize_mm[1] = NAN;
    cfg->detpixels[0] = cfg->detpixels[1] = EDGE;
    cfg->roi_set = 0;
    cfg->oversample = cfg->threads = 1;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        (void)nb_text_put(files[i], "", NULL);
    if (isnan(cfg->default_F))
        cfg->default_F = 1;
    NB_FUZZ_CHECK(nb_text_put(&cfg->device, "cpu", NULL) == NB_OK);
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

/** An accepted value can be read, and set again to the same bytes. */
static void try_parameter(const nb_param *p, const char *text)
{
    static nb_config first, again;
    char got[4096], same[4096];
    nb_error err = {0};
    nb_config_defaults(&first);
    again = first;
    if (nb_config_set(&first, p->name, text, &err)) {
        NB_FUZZ_CHECK(err.code == NB_ERR_INPUT && err.message[0] &&
                      !strchr(err.message, '\n'));
        NB_FUZZ_CHECK(memcmp(&first, &again, sizeof first) == 0);
        return;
    }
    NB_FUZZ_CHECK(nb_config_get(&first, p->name, got, sizeof got, &err) == NB_OK);
    nb_config_drop(&first);
    if (!got[0]) /* the value that stands for unset */
        return;
    NB_FUZZ_CHECK(nb_config_set(&again, p->name, got, &err) == NB_OK &&
                  nb_config_get(&again, p->name, same, sizeof same, &err) == NB_OK &&
                  strcmp(got, same) == 0);
    NB_FUZZ_CHECK(nb_config_check(&again, &err) != NB_ERR_INTERNAL);
    nb_config_drop(&again);
}

static void try_parameters(const char *text)
{
    size_t count;
    const nb_param *table = nb_params(&count);
    for (size_t i = 0; i < count; i++)
        if (!(table[i].flags & NB_PARAM_SERIES))
            try_parameter(&table[i], text);
}

int nb_fuzz_accepts(const uint8_t *data, size_t size)
{
    static nb_cli cli;
    char *text = malloc(size + 1), *argv[MAX_WORDS + 1];
    nb_error err = {0};
    nb_status st;
    int argc;
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    argc = split(text, argv);
    try_parameters(argv[argc - 1]);
    st = nb_cli_parse(argc, argv, &cli, &err);
    if (st)
        NB_FUZZ_CHECK(err.code == st && err.message[0] && !strchr(err.message, '\n'));
    else if (cli.action == NB_DO_RUN)
        simulate(&cli.cfg);
    nb_cli_free(&cli);
    free(text);
    return !st;
}

NB_FUZZ_ENTRY
