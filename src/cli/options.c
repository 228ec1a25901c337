/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "effects.h"
#include "help.h"
#include "values.h"

/** State of the parser: argv[at] is the next argument. */
typedef struct parser {
    nb_cli *cli;
    nb_error *err;
    char **argv;
    int argc, at;
    const nb_option *option;
    const char *flag; /* as typed */
} parser;

static void *destination(const parser *p)
{
    return (char *)p->cli + p->option->offset;
}

/* Enumerations of the configuration are ints in every supported ABI. */
_Static_assert(sizeof(nb_convention) == sizeof(int), "enum size");

static void store_int(const parser *p, int index, int value)
{
    memcpy((char *)destination(p) + (size_t)index * sizeof value, &value, sizeof value);
}

static const char *unit_text(const parser *p, char *text, size_t size)
{
    if (p->option->unit)
        snprintf(text, size, " (%s)", p->option->unit);
    else
        text[0] = '\0';
    return text;
}

/** Is this probably the next flag and not a value? */
static int is_flag(const char *argument)
{
    return argument[0] == '-' && !nb_value_is_numeric(argument) &&
           nb_option_find(argument);
}

/** The next of `needed` arguments of the option, `got` of them taken so far; NULL: failed. */
static const char *take(parser *p, int needed, int got)
{
    const char *next = p->at < p->argc ? p->argv[p->at] : NULL;
    char many[48], unit[64];

    if (next && !is_flag(next)) {
        p->at++;
        return next;
    }
    if (needed == 1)
        snprintf(many, sizeof many, "a value");
    else
        snprintf(many, sizeof many, "%d values (%d given)", needed, got);
    unit_text(p, unit, sizeof unit);
    if (next)
        nb_cli_fail(p->err, "%.40s needs %s, but the flag %.40s follows; write %.40s %s%s",
                    p->flag, many, next, p->flag, p->option->value, unit);
    else
        nb_cli_fail(p->err, "%.40s needs %s; write %.40s %s%s", p->flag, many, p->flag,
                    p->option->value, unit);
    return NULL;
}

static nb_status bad_number(parser *p, const char *text, const char *what)
{
    char unit[64];
    return nb_cli_fail(p->err, "%.40s '%.60s': not %s; write %.40s %s%s", p->flag, text,
                       what, p->flag, p->option->value, unit_text(p, unit, sizeof unit));
}

static nb_status bad_range(parser *p, const char *text, const nb_option_range *range)
{
    char limits[96], unit[64];
    nb_value_range_text(range, limits, sizeof limits);
    return nb_cli_fail(p->err, "%.40s %.60s: the value must be %s%s", p->flag, text,
                       limits, unit_text(p, unit, sizeof unit));
}

static nb_status check_number(parser *p, const char *text, const nb_option_range *range,
                              double *out)
{
    switch (nb_value_number(text, out)) {
    case NB_VALUE_OK:
        break;
    case NB_VALUE_TOO_LARGE:
        return nb_cli_fail(p->err, "%.40s %.60s: the number is too large", p->flag, text);
    default:
        return bad_number(p, text, "a number");
    }
    return nb_value_in_range(*out, range) ? NB_OK : bad_range(p, text, range);
}

static nb_status parse_numbers(parser *p, double *out, int count)
{
    for (int i = 0; i < count; i++) {
        const char *text = take(p, count, i);
        nb_status status;
        if (!text)
            return NB_ERR_INPUT;
        status = check_number(p, text, &p->option->range, &out[i]);
        if (status)
            return status;
    }
    return NB_OK;
}

static nb_status parse_number(parser *p)
{
    double *out = destination(p);
    int count = p->option->count ? p->option->count : 1;
    nb_status status = parse_numbers(p, out, count);
    if (status)
        return status;
    for (int i = 1; i < p->option->copies; i++)
        out[i] = out[0];
    return NB_OK;
}

static nb_status parse_whole(parser *p, int64_t *out, int needed, int got)
{
    const char *text = take(p, needed, got);

    if (!text)
        return NB_ERR_INPUT;
    switch (nb_value_whole(text, out)) {
    case NB_VALUE_OK:
        return NB_OK;
    case NB_VALUE_TOO_LARGE:
        return nb_cli_fail(p->err, "%.40s %.60s: the number is too large", p->flag, text);
    default:
        return bad_number(p, text, "a whole number");
    }
}

static nb_status parse_int(parser *p)
{
    int count = p->option->count ? p->option->count : 1;

    for (int i = 0; i < count; i++) {
        int64_t n = 0;
        nb_status status = parse_whole(p, &n, count, i);
        if (status)
            return status;
        if (!nb_value_in_range((double)n, &p->option->range))
            return bad_range(p, p->argv[p->at - 1], &p->option->range);
        for (int j = i; j < i + 1 || j < p->option->copies; j++)
            store_int(p, j, (int)n);
    }
    return NB_OK;
}

static nb_status parse_seed(parser *p)
{
    nb_seed *seed = destination(p);
    int64_t n = 0;
    nb_status status = parse_whole(p, &n, 1, 0);
    if (status)
        return status;
    seed->set = 1;
    seed->value = n;
    return NB_OK;
}

static nb_status parse_three(parser *p)
{
    static const nb_option_range any = {-1e100, 1e100, 0, 0};
    nb_opt3 *three = destination(p);

    for (int i = 0; i < 3; i++) {
        const char *text = take(p, 3, i);
        nb_status status;
        if (!text)
            return NB_ERR_INPUT;
        status = check_number(p, text, &any, &three->v[i]);
        if (status)
            return status;
    }
    if (p->option->kind == NB_OPT_VECTOR && three->v[0] == 0.0 && three->v[1] == 0.0 &&
        three->v[2] == 0.0)
        return nb_cli_fail(p->err,
                           "%.40s 0 0 0: a zero vector has no direction; give one "
                           "with a length",
                           p->flag);
    three->set = 1;
    return NB_OK;
}

static nb_status parse_path(parser *p)
{
    const char *text = take(p, 1, 0);

    if (!text)
        return NB_ERR_INPUT;
    if (!*text)
        return nb_cli_fail(p->err, "%.40s '': the file name is empty", p->flag);
    if (strlen(text) >= NB_PATH_MAX)
        return nb_cli_fail(p->err, "%.40s %.60s...: the file name is longer than %d bytes",
                           p->flag, text, NB_PATH_MAX - 1);
    memcpy(destination(p), text, strlen(text) + 1);
    return NB_OK;
}

static nb_status bad_word(parser *p, const char *text)
{
    char list[128] = "";
    for (const nb_option_word *w = p->option->words; w && w->text; w++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", w->text);
    }
    return nb_cli_fail(p->err, "%.40s '%.60s': must be one of %s", p->flag, text,
                       p->option->words ? list : p->option->value);
}

static nb_status parse_word(parser *p)
{
    const char *text = take(p, 1, 0);

    if (!text)
        return NB_ERR_INPUT;
    for (const nb_option_word *w = p->option->words; w->text; w++)
        if (!strcasecmp(text, w->text)) {
            store_int(p, 0, w->value);
            return NB_OK;
        }
    return bad_word(p, text);
}

/** One to six numbers; stops at the first argument that is not a number. */
static nb_status parse_cell(parser *p)
{
    static const nb_option_range length = {0, 1e9, 1, 0}, angle = {0, 180, 0, 1};
    nb_config *cfg = &p->cli->cfg;
    int n = 0;

    if (p->at >= p->argc || !nb_value_is_numeric(p->argv[p->at])) {
        const char *text = take(p, 1, 0);
        return text ? bad_number(p, text, "a number") : NB_ERR_INPUT;
    }
    while (n < 6 && p->at < p->argc && nb_value_is_numeric(p->argv[p->at])) {
        nb_status status =
            check_number(p, p->argv[p->at++], n < 3 ? &length : &angle, &cfg->cell[n]);
        if (status)
            return status;
        if (n >= 3 && cfg->cell[n] == 0.0)
            cfg->cell[n] = 90.0;
        n++;
    }
    cfg->cell_count = n;
    return NB_OK;
}

static nb_status parse_misset(parser *p)
{
    nb_config *cfg = &p->cli->cfg;
    nb_status status;

    if (p->at < p->argc && p->argv[p->at][0] != '-' && strstr(p->argv[p->at], "rand")) {
        p->at++;
        cfg->misset_mode = NB_MISSET_RANDOM;
        return NB_OK;
    }
    status = parse_numbers(p, cfg->misset_deg, 3);
    if (!status)
        cfg->misset_mode = NB_MISSET_FIXED;
    return status;
}

/** An attenuation depth; inf and 0 both mean that nothing is absorbed. */
static nb_status parse_depth(parser *p)
{
    double *out = destination(p);

    if (p->at < p->argc && p->argv[p->at][0] != '-' && strstr(p->argv[p->at], "inf")) {
        p->at++;
        *out = 0.0;
        return NB_OK;
    }
    return parse_numbers(p, out, 1);
}

static nb_status parse_device(parser *p)
{
    const char *text = take(p, 1, 0);

    if (!text)
        return NB_ERR_INPUT;
    if (!text[0] || nb_device_check(text, NULL))
        return bad_word(p, text);
    snprintf(p->cli->cfg.device, sizeof p->cli->cfg.device, "%s", text);
    return NB_OK;
}

static nb_status parse_time(parser *p)
{
    int json = p->at < p->argc && !strcmp(p->argv[p->at], "json");
    p->at += json;
    store_int(p, 0, json ? NB_TIME_JSON : NB_TIME_TABLE);
    return NB_OK;
}

static nb_status parse_help(parser *p)
{
    int topic = p->at < p->argc;
    if (topic)
        p->cli->topic = p->argv[p->at++];
    store_int(p, 0, topic ? NB_DO_HELP_TOPIC : NB_DO_HELP);
    return NB_OK;
}

static nb_status parse_text(parser *p)
{
    const char *text = take(p, 1, 0);
    char unit[64];

    if (!text)
        return NB_ERR_INPUT;
    if (p->option->convert(p->cli, text))
        return NB_OK;
    return nb_cli_fail(p->err, "%.40s '%.60s': must be %s%s", p->flag, text,
                       p->option->value, unit_text(p, unit, sizeof unit));
}

static nb_status parse_option(parser *p)
{
    switch (p->option->kind) {
    case NB_OPT_FLAG:
        store_int(p, 0, p->option->constant);
        return NB_OK;
    case NB_OPT_INT:
        return parse_int(p);
    case NB_OPT_NUMBER:
        return parse_number(p);
    case NB_OPT_VECTOR:
    case NB_OPT_POINT:
        return parse_three(p);
    case NB_OPT_SEED:
        return parse_seed(p);
    case NB_OPT_PATH:
        return parse_path(p);
    case NB_OPT_WORD:
        return parse_word(p);
    case NB_OPT_CELL:
        return parse_cell(p);
    case NB_OPT_MISSET:
        return parse_misset(p);
    case NB_OPT_DEPTH:
        return parse_depth(p);
    case NB_OPT_DEVICE:
        return parse_device(p);
    case NB_OPT_TIME:
        return parse_time(p);
    case NB_OPT_HELP:
        return parse_help(p);
    case NB_OPT_TEXT:
        return parse_text(p);
    case NB_OPT_REFUSED:
    case NB_OPT_GROUP:
        break;
    }
    return nb_cli_fail(p->err, "%.40s %s", p->flag, p->option->note);
}

/** An argument that is not a known flag: suggest a flag. */
static nb_status unknown(nb_error *err, const char *argument, const char *previous)
{
    char near[64], head[64];
    size_t length = strcspn(argument, "=");

    if (argument[0] != '-' || nb_value_is_numeric(argument))
        return nb_cli_fail(err,
                           "'%.60s' is neither a flag nor the value of a "
                           "flag%s%.40s; flags start with a dash",
                           argument, previous ? ", after " : "", previous ? previous : "");
    if (length < sizeof head && argument[length]) {
        snprintf(head, sizeof head, "%.*s", (int)length, argument);
        if (nb_option_find(head))
            return nb_cli_fail(err, "unknown flag '%.60s'; write %s %.60s, with a blank",
                               argument, head, argument + length + 1);
    }
    if (nb_option_nearest(argument, near, sizeof near))
        return nb_cli_fail(err, "unknown flag '%.60s'; did you mean -%s?", argument, near);
    if (nb_bare_name(argument) && nb_help_knows(nb_bare_name(argument)))
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

/** argv as one line, for the headers of files. */
static void join(int argc, char **argv, char *line, size_t size)
{
    snprintf(line, size, "nanobragg");
    for (int i = 1; i < argc && strlen(line) + 1 < size; i++)
        quote(line, size, argv[i]);
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = ' ';
}

static void defaults(nb_cli *cli)
{
    memset(cli, 0, sizeof *cli);
    nb_config_defaults(&cli->cfg);
    cli->text = stdout;
    cli->progress = 1;
}

nb_status nb_cli_apply(int argc, char **argv, nb_cli *cli, nb_error *err)
{
    parser p = {cli, err, argv, argc, 1, NULL, NULL};

    while (p.at < argc) {
        const char *argument = argv[p.at];
        nb_status status;
        p.option = nb_option_find(argument);
        if (!p.option)
            return unknown(err, argument, p.flag);
        p.flag = argument;
        cli->typed[nb_option_index(p.option)] = p.at++;
        status = parse_option(&p);
        if (status)
            return status;
        if (p.option->effect)
            p.option->effect(cli);
        if (cli->action != NB_DO_RUN)
            return NB_OK;
    }
    return NB_OK;
}

nb_status nb_cli_parse(int argc, char **argv, nb_cli *cli, nb_error *err)
{
    nb_status status;

    defaults(cli);
    join(argc, argv, cli->cfg.command_line, sizeof cli->cfg.command_line);
    status = nb_cli_apply(argc, argv, cli, err);
    if (status || cli->action != NB_DO_RUN)
        return status;
    return nb_cli_check_pairs(cli, argv, err);
}
