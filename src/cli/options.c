/* SPDX-License-Identifier: MIT */
/* Parser of the command line, with suggestions for unknown flags. */
#include "options.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "../base/text.h"
#include "../params/params.h"
#include "common.h"

/* Words that other programs use, and our flags: the first flag is suggested for an
 * unknown flag, and -help WORD prints all. */
static const struct {
    const char *words, *flags;
} meanings[] = {
    {"adu_per_photon quantum_gain", "gain"},
    {"offset pedestal bias", "adc"},
    {"wavelength wave", "lambda"},
    {"size image_size npix npixels xpixels nx ny", "detpixels"},
    {"pixelsize pixel_size psize", "pixel"},
    {"detector_distance dist clen camera_length", "distance"},
    {"beam_center beam_centre beamcenter centre center", "Xbeam Ybeam ORGX ORGY"},
    {"space_group symmetry", "sg"},
    {"photons nphotons n_photons intensity", "fluence flux"},
    {"orientation matrix_file umat", "mat"},
    {"rotation oscillation osc_range osc_width", "osc frames phi phisteps spindle_axis"},
    {"start_angle osc_start", "phi"},
    {"images n_images nframes num_frames n_frames", "frames stills"},
    {"exposure_time", "exposure"},
    {"photon_energy energy_eV", "energy"},
    {"ndomains n_domains num_domains", "mosaic_domains"},
    {"hit hits hit_rate", "hitrate vary crystals"},
    {"xfel sfx fel", "stills orientations vary crystals spectrum pulse_length streamout"},
    {"laue pink polychromatic", "spectrum bandwidth sourcefile dispersion"},
    {"saxs swaxs small_angle", "F000 ksol stol stolout"},
    {"capillary loop glass", "background absorb absorb_mu transmission"},
    {"jungfrau eiger eiger2 pilatus agipd cspad", "detector geom expt nxmx"},
    {"bandwidth dispersion_percent", "dispersion"},
    {"sensor_thickness thickness", "detector_thick"},
    {"sensor_material material", "sensor"},
    {"resolution d_min res", "dmin"},
    {"nthreads num_threads cores jobs_n j", "threads"},
    {"gpu", "device"},
    {"out o outfile", "floatfile"},
    {"mmcif model_file coordinates", "pdb"},
    {"labels columns columnlabel", "mtzlabel"},
    {"kmask bulk_solvent solvent", "ksol"},
    {"fp fdp f_prime", "fprime"},
};

/** Find the flag of a mistyped name: up to one wrong letter in four.  0 if not found. */
static int nearest_letters(const char *name, char *nearest, size_t size)
{
    int best = 1 + ((int)strlen(name) + 2) / 4, found = 0;

    for (const nb_flag *f = NULL; (f = nb_flag_next(f));) {
        char word[64], all[256];
        const char *cursor = all;
        snprintf(all, sizeof all, "%s %s", f->name, f->synonyms ? f->synonyms : "");
        while (nb_text_word(&cursor, word)) {
            int distance = nb_text_edits(name, word);
            if (distance >= best || distance >= (int)strlen(name))
                continue;
            best = distance;
            found = 1;
            snprintf(nearest, size, "%s", word);
        }
    }
    return found;
}

const char *nb_flags_meant(const char *name)
{
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
        const char *cursor = meanings[i].words;
        char word[64];
        while (nb_text_word(&cursor, word))
            if (!strcasecmp(word, name))
                return meanings[i].flags;
    }
    return NULL;
}

/* Write a suggestion for an unknown flag, without dashes, into nearest[size]: a flag of
 * the same meaning, or else the flag of nearest_letters. Returns 0 if not found. */
static int flag_nearest(const char *argument, char *nearest, size_t size)
{
    const char *name = nb_bare_name(argument), *meant = name ? nb_flags_meant(name) : NULL;
    return nb_text_word(&meant, nearest) || (name && nearest_letters(name, nearest, size));
}

/* --- Contradictions between flags of a command line --- */

int nb_cli_is_series(const nb_cli *cli)
{
    return cli->series.frames > 0 || cli->series.stills > 0 || cli->jobs_file[0] ||
           cli->series.output[0] || cli->series.hdf5_file[0];
}

static nb_status check_contradictions(const nb_cli *cli, nb_error *err)
{
    const int all = cli->printout && !cli->printout_one;
    const struct {
        int both;
        const char *text;
    } pairs[] = {
        {cli->show_config && cli->trace,
         "-show_config contradicts -trace_pixel: each prints and stops"},
        {all && cli->trace,
         "-printout contradicts -trace_pixel: -trace_pixel makes no image"},
        {all && cli->show_config,
         "-printout contradicts -show_config: -show_config makes no image"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i].both)
            return nb_cli_fail(err, "%s; give one of them", pairs[i].text);
    return NB_OK;
}

nb_status nb_cli_check_files(const nb_cli *cli, nb_error *err)
{
    /* A series makes this check in its run. A run without output files needs no check. */
    if (nb_cli_is_series(cli) || cli->show_config || cli->trace)
        return NB_OK;
    return nb_check_files(&cli->cfg, NULL, 0, err);
}

/* Refuse flags that contradict each other although each is valid. */
static nb_status cli_check_pairs(const nb_cli *cli, nb_error *err)
{
    nb_status st = check_contradictions(cli, err);
    NB_TRY(nb_config_check(&cli->cfg, err));
    NB_TRY(nb_cli_check_files(cli, err));
    return st;
}

/** State of the parser: argv[at] is the next argument. */
typedef struct parser {
    nb_cli *cli;
    nb_error *err;
    char **argv;
    int argc, at;
    const nb_flag *flag;
    const char *typed; /* the flag as typed */
} parser;

/** Take the next argument of a flag that has `got` of `needed`; NULL on failure. */
static const char *take(parser *p, int needed, int got)
{
    const char *next = p->at < p->argc ? p->argv[p->at] : NULL;
    char many[48], form[200];
    size_t used;

    if (next && !nb_flag_find(next)) {
        p->at++;
        return next;
    }
    if (needed == 1)
        snprintf(many, sizeof many, "a value");
    else
        snprintf(many, sizeof many, "%d values (%d given)", needed, got);
    used = strlen(nb_param_value(p->flag, form, sizeof form)); /* "x y z (mm)" */
    if (p->flag->unit)
        snprintf(form + used, sizeof form - used, " (%s)", p->flag->unit);
    if (next)
        nb_cli_fail(p->err, "%.40s needs %s, but the flag %.40s follows; write %.40s %s",
                    p->typed, many, next, p->typed, form);
    else
        nb_cli_fail(p->err, "%.40s needs %s; write %.40s %s", p->typed, many, p->typed,
                    form);
    return NULL;
}

int nb_flag_words(const nb_flag *flag, int argc, char *const *argv)
{
    int least, limit = nb_param_words(flag, &least), n = 0;
    double x;

    if (argc > 0 && limit > 1 && strchr(argv[0], ','))
        return 1;
    if (flag->kind == NB_KIND_MISSET)
        return argc > 0 && nb_read_number(argv[0], &x) ? limit : least;
    if (flag->kind != NB_KIND_CELL && !(flag->flags & NB_PARAM_EACH))
        return least;
    while (n < limit && n < argc && nb_read_number(argv[n], &x))
        n++;
    return n ? n : least;
}

static nb_status parse_value(parser *p)
{
    const char *words[NB_PARAM_WORDS];
    nb_flag as_typed = *p->flag;
    const int needed = nb_flag_words(p->flag, p->argc - p->at, p->argv + p->at);
    int n = 0;

    as_typed.name = p->typed + 1;
    for (; n < needed; n++)
        if (!(words[n] = take(p, needed, n)))
            return NB_ERR_INPUT;
    return nb_param_set(&as_typed, nb_flag_base(p->flag, p->cli), words, n, p->err);
}

static nb_status parse_flag(parser *p)
{
    nb_cli *cli = p->cli;
    const char *next = p->at < p->argc ? p->argv[p->at] : NULL;

    switch (nb_flag_special_of(p->flag)) {
    case NB_FLAG_TIME:
        cli->time = next && !strcmp(next, "json") ? NB_TIME_JSON : NB_TIME_TABLE;
        p->at += cli->time == NB_TIME_JSON;
        return NB_OK;
    case NB_FLAG_HELP:
        cli->topic = next;
        cli->action = next ? NB_DO_HELP_TOPIC : NB_DO_HELP;
        return NB_OK;
    case NB_FLAG_PLAIN:
        break;
    }
    return parse_value(p);
}

/** Refuse an unknown argument, and suggest a flag. */
static nb_status unknown(nb_error *err, const char *argument, const char *previous)
{
    char near[64], head[64];
    size_t length = strcspn(argument, "=");
    double number;

    if (argument[0] != '-' || nb_read_number(argument, &number))
        return nb_cli_fail(err,
                           "'%.60s' is neither a flag nor the value of a "
                           "flag%s%.40s; flags start with a dash%s",
                           argument, previous ? ", after " : "", previous ? previous : "",
                           access(argument, F_OK) ? ""
                                                  : ", as -pdb or -hkl before a file");
    if (length < sizeof head && argument[length]) {
        snprintf(head, sizeof head, "%.*s", (int)length, argument);
        if (nb_flag_find(head))
            return nb_cli_fail(err, "unknown flag '%.60s'; write %s %.60s, with a blank",
                               argument, head, argument + length + 1);
    }
    if (flag_nearest(argument, near, sizeof near))
        return nb_cli_fail(err, "unknown flag '%.60s'; did you mean -%s?", argument, near);
    if (nb_bare_name(argument) && nb_flag_is_about(nb_bare_name(argument)))
        return nb_cli_fail(err, "unknown flag '%.60s'; see nanobragg -help %.40s",
                           argument, nb_bare_name(argument));
    return nb_cli_fail(err, "unknown flag '%.60s'; nanobragg -help lists all", argument);
}

static void quote(char *line, size_t size, const char *argument)
{
    size_t used = strlen(line);
    int plain =
        *argument && !argument[strcspn(argument, " \t\n\r\v\f\"'\\$`*?;&|<>(){}[]#~")];

    used += (size_t)snprintf(line + used, size - used, plain ? " %s" : " '%s'", argument);
    if (used >= size)
        memcpy(line + size - 5, " ...", 5);
}

nb_status nb_cli_join(int argc, char **argv, nb_text *to, nb_error *err)
{
    char line[2048] = "nanobragg";
    for (int i = 1; i < argc && strlen(line) + 1 < sizeof line; i++)
        quote(line, sizeof line, argv[i]);
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = ' ';
    return nb_text_put(to, line, err);
}

void nb_cli_begin(nb_cli *cli, const nb_config *cfg)
{
    memset(cli, 0, sizeof *cli);
    nb_config_defaults(&cli->cfg);
    if (cfg)
        nb_config_copy(&cli->cfg, cfg);
    nb_series_defaults(&cli->series);
    (void)nb_text_put(&cli->jobs_file, "", NULL);
    cli->text = stdout;
    cli->progress = 1;
}

void nb_cli_free(nb_cli *cli)
{
    nb_config_drop(&cli->cfg);
    nb_series_drop(&cli->series);
    (void)nb_text_put(&cli->jobs_file, "", NULL);
    nb_crystals_free(&cli->frame);
}

nb_status nb_cli_apply(int argc, char **argv, nb_cli *cli, nb_error *err)
{
    parser p = {cli, err, argv, argc, 1, NULL, NULL};

    while (p.at < argc) {
        const char *argument = argv[p.at];
        nb_status st;
        p.flag = nb_flag_find(argument);
        if (!p.flag)
            return unknown(err, argument, p.typed);
        p.typed = argument;
        cli->typed[nb_flag_index(p.flag)] = p.at++;
        st = parse_flag(&p);
        if (st)
            return st;
        if (cli->action != NB_DO_RUN)
            return NB_OK;
    }
    return NB_OK;
}

nb_status nb_cli_parse(int argc, char **argv, nb_cli *cli, nb_error *err)
{
    nb_status st;

    nb_cli_begin(cli, NULL);
    st = nb_cli_join(argc, argv, &cli->cfg.command_line, err);
    NB_TRY(nb_cli_apply(argc, argv, cli, err));
    if (st || cli->action != NB_DO_RUN)
        return st;
    return cli_check_pairs(cli, err);
}
