/* SPDX-License-Identifier: MIT */
#include "sub.h"

#include <stdint.h>
#include <string.h>

#include "common.h"
#include "options.h"
#include "values.h"

enum { BORROWED_MAX = 128 };

/** Where the parser stands. */
typedef struct parser {
    const nb_sub_command *command;
    int argc, at;
    char **argv;
    void *target;
    nb_sub_line *line;
    nb_error *err;
    char *borrowed[BORROWED_MAX + 1]; /* an argv of the borrowed flags */
    int borrowed_count;
} parser;

nb_status nb_sub_number(const char *flag, const char *text, double low, double high,
                        double *out, nb_error *err)
{
    if (nb_value_number(text, out) != NB_VALUE_OK)
        return nb_cli_fail(err, "%s '%.60s': not a number", flag, text);
    if (!(*out >= low && *out <= high))
        return nb_cli_fail(err, "%s %.60s: must be at least %g and at most %g", flag,
                           text, low, high);
    return NB_OK;
}

nb_status nb_sub_whole(const char *flag, const char *text, int low, int high, int *out,
                       nb_error *err)
{
    int64_t n;

    if (nb_value_whole(text, &n) != NB_VALUE_OK)
        return nb_cli_fail(err, "%s '%.60s': not a whole number", flag, text);
    if (n < low || n > high)
        return nb_cli_fail(err, "%s %.60s: must be at least %d and at most %d", flag,
                           text, low, high);
    *out = (int)n;
    return NB_OK;
}

static const nb_sub_option *find_own(const nb_sub_command *command, const char *name)
{
    for (const nb_sub_option *o = command->options; o->name; o++)
        if (!strcmp(o->name, name))
            return o;
    return NULL;
}

static int lends(const nb_sub_command *command, const nb_option *option)
{
    const char *cursor = command->borrowed;
    char word[64];

    while (nb_next_word(&cursor, word, sizeof word))
        if (!strcmp(word, option->name))
            return 1;
    return 0;
}

/** The number of arguments of a flag of the main table. */
static int arguments_of(const nb_option *option)
{
    switch (option->kind) {
    case NB_OPT_FLAG:
        return 0;
    case NB_OPT_VECTOR:
    case NB_OPT_POINT:
        return 3;
    default:
        return option->count ? option->count : 1;
    }
}

static nb_status needs(parser *p, const char *flag, int values, const char *shown)
{
    if (p->argc - p->at > values)
        return NB_OK;
    return nb_cli_fail(p->err, "%.40s needs %s; write %.40s %s", flag,
                       values == 1 ? "a value" : "more values", flag, shown);
}

static nb_status take_own(parser *p, const nb_sub_option *option)
{
    char *flag = p->argv[p->at];
    nb_status status = needs(p, flag, option->values, option->value ? option->value : "");

    if (!status)
        status = option->take(p->target, p->argv + p->at + 1, p->err);
    p->at += 1 + option->values;
    return status;
}

/** Pass a flag of the main table with its arguments to the main parser. */
static nb_status take_borrowed(parser *p, const nb_option *option)
{
    int values = arguments_of(option);
    nb_status status =
        needs(p, p->argv[p->at], values, option->value ? option->value : "");

    if (status)
        return status;
    if (p->borrowed_count + values >= BORROWED_MAX)
        return nb_cli_fail(p->err, "too many flags");
    for (int i = 0; i <= values; i++)
        p->borrowed[p->borrowed_count++] = p->argv[p->at++];
    return NB_OK;
}

static nb_status take_flag(parser *p, int *help)
{
    const char *flag = p->argv[p->at];
    const char *name = flag + (flag[1] == '-' ? 2 : 1);
    const nb_sub_option *own = find_own(p->command, name);
    const nb_option *option = nb_option_find(flag);

    if (own)
        return take_own(p, own);
    if (option && lends(p->command, option))
        return take_borrowed(p, option);
    if (!strcmp(name, "help") || !strcmp(name, "h")) {
        *help = 1;
        return NB_OK;
    }
    return nb_cli_fail(p->err,
                       "unknown flag '%.60s' of nanobragg %s; nanobragg %s -help "
                       "lists them",
                       flag, p->command->name, p->command->name);
}

static nb_status take_operand(parser *p)
{
    nb_sub_line *line = p->line;

    if (line->operand_count >= p->command->operands)
        return nb_cli_fail(p->err,
                           "'%.60s' is one operand too many; usage: nanobragg %s %s",
                           p->argv[p->at], p->command->name, p->command->usage);
    line->operands[line->operand_count++] = p->argv[p->at++];
    return NB_OK;
}

nb_status nb_sub_parse(const nb_sub_command *command, int argc, char **argv, void *target,
                       nb_sub_line *line, int *help, nb_error *err)
{
    parser p = {command, argc, 2, argv, target, line, err, {argv[0]}, 1};
    nb_status status = NB_OK;

    memset(line, 0, sizeof *line);
    line->words = argv + 2;
    line->word_count = argc - 2;
    *help = 0;
    command->defaults(target);
    while (p.at < argc && !status && !*help) {
        const char *argument = argv[p.at];
        if (command->takes_rest && !strcmp(argument, "--")) {
            line->rest = argv + p.at + 1;
            line->rest_count = argc - p.at - 1;
            p.at = argc;
        } else {
            status = argument[0] == '-' && argument[1] ? take_flag(&p, help)
                                                       : take_operand(&p);
        }
    }
    if (status || *help)
        return status;
    if (line->operand_count < command->operands)
        return nb_cli_fail(err, "an operand is missing; usage: nanobragg %s %s",
                           command->name, command->usage);
    return nb_cli_parse(p.borrowed_count, p.borrowed, &line->cli, err);
}
