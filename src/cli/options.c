/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "help.h"

enum { MOST_WORDS = 6 }; /* of one flag */

/** State of the parser: argv[at] is the next argument. */
typedef struct parser {
    nb_cli *cli;
    nb_error *err;
    char **argv;
    int argc, at;
    const nb_flag *flag;
    const char *typed; /* the flag as typed */
} parser;

/** "x y z (mm)": how the value is written. */
static const char *form_of(const nb_flag *flag, char *text, size_t size)
{
    size_t used = strlen(nb_param_value(flag, text, size));

    if (flag->unit)
        snprintf(text + used, size - used, " (%s)", flag->unit);
    return text;
}

/** The next of `needed` arguments of the flag, `got` of them taken so far; NULL: failed. */
static const char *take(parser *p, int needed, int got)
{
    const char *next = p->at < p->argc ? p->argv[p->at] : NULL;
    char many[48], form[200];

    if (next && !nb_flag_find(next)) {
        p->at++;
        return next;
    }
    if (needed == 1)
        snprintf(many, sizeof many, "a value");
    else
        snprintf(many, sizeof many, "%d values (%d given)", needed, got);
    form_of(p->flag, form, sizeof form);
    if (next)
        nb_cli_fail(p->err, "%.40s needs %s, but the flag %.40s follows; write %.40s %s",
                    p->typed, many, next, p->typed, form);
    else
        nb_cli_fail(p->err, "%.40s needs %s; write %.40s %s", p->typed, many, p->typed,
                    form);
    return NULL;
}

/** How many words follow when the first one is known: of a cell as many as are numbers. */
static int more_words(const parser *p, const char *first)
{
    int least, most = nb_param_words(p->flag, &least), n = 0;
    double x;

    if (p->flag->kind == NB_KIND_MISSET)
        return nb_read_number(first, &x) ? most - 1 : 0;
    if (p->flag->kind != NB_KIND_CELL)
        return least - 1;
    while (n < most - 1 && p->at + n < p->argc && nb_read_number(p->argv[p->at + n], &x))
        n++;
    return nb_read_number(first, &x) ? n : 0;
}

static nb_status parse_value(parser *p)
{
    const char *words[MOST_WORDS];
    nb_flag as_typed = *p->flag;
    int least, n = 0, needed;

    nb_param_words(p->flag, &least);
    as_typed.name = p->typed + 1;
    if (least == 0)
        return nb_param_set(&as_typed, nb_flag_base(p->flag, p->cli), NULL, 0, p->err);
    needed = p->flag->kind == NB_KIND_MISSET ? nb_param_words(p->flag, NULL) : least;
    do {
        words[n] = take(p, needed, n);
        if (!words[n])
            return NB_ERR_INPUT;
        if (n == 0)
            needed = 1 + more_words(p, words[0]);
    } while (++n < needed);
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

/** An argument that is not a known flag: suggest a flag. */
static nb_status unknown(nb_error *err, const char *argument, const char *previous)
{
    char near[64], head[64];
    size_t length = strcspn(argument, "=");
    double number;

    if (argument[0] != '-' || nb_read_number(argument, &number))
        return nb_cli_fail(err,
                           "'%.60s' is neither a flag nor the value of a "
                           "flag%s%.40s; flags start with a dash",
                           argument, previous ? ", after " : "", previous ? previous : "");
    if (length < sizeof head && argument[length]) {
        snprintf(head, sizeof head, "%.*s", (int)length, argument);
        if (nb_flag_find(head))
            return nb_cli_fail(err, "unknown flag '%.60s'; write %s %.60s, with a blank",
                               argument, head, argument + length + 1);
    }
    if (nb_flag_nearest(argument, near, sizeof near))
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

/** argv as one line, for the headers of files. */
void nb_cli_join(int argc, char **argv, char *line, size_t size)
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
        p.flag = nb_flag_find(argument);
        if (!p.flag)
            return unknown(err, argument, p.typed);
        p.typed = argument;
        cli->typed[nb_flag_index(p.flag)] = p.at++;
        status = parse_flag(&p);
        if (status)
            return status;
        if (cli->action != NB_DO_RUN)
            return NB_OK;
    }
    return NB_OK;
}

nb_status nb_cli_parse(int argc, char **argv, nb_cli *cli, nb_error *err)
{
    nb_status status;

    defaults(cli);
    nb_cli_join(argc, argv, cli->cfg.command_line, sizeof cli->cfg.command_line);
    status = nb_cli_apply(argc, argv, cli, err);
    if (status || cli->action != NB_DO_RUN)
        return status;
    return nb_cli_check_pairs(cli, argv, err);
}
