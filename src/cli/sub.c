/* SPDX-License-Identifier: MIT */
#include "sub.h"

#include <stdint.h>
#include <string.h>

#include "../base/text.h"
#include "common.h"
#include "options.h"

enum { BORROWED_MAX = 512 };

/** State of the parser. */
typedef struct parser {
    const nb_sub_command *command;
    int argc, at;
    char **argv;
    void *target;
    nb_sub_line *line;
    nb_error *err;
    /* arguments of the borrowed flags, in the form of argv */
    char *borrowed[BORROWED_MAX + 1];
    int borrowed_count;
} parser;

static nb_status take_word(const char *flag, const char *word, const char *const *words,
                           int *out, nb_error *err)
{
    char all[200] = "";
    for (int i = 0; words[i]; i++) {
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", words[i]);
        if (!strcmp(word, words[i])) {
            *out = i;
            return NB_OK;
        }
    }
    return nb_cli_fail(err, "%s '%.60s': must be one of %s", flag, word, all);
}

/** Store the k-th value of a flag at its place. */
static nb_status store(const nb_sub_option *option, void *target, const char *text, int k,
                       nb_error *err)
{
    const nb_sub_place *place = &option->place;
    const int whole = place->kind == NB_SUB_IS_WHOLE;
    const size_t size = whole ? sizeof(int) : sizeof(double);
    const nb_param row = {.name = option->name,
                          .kind = whole ? NB_KIND_INTEGER : NB_KIND_NUMBER,
                          .size = size,
                          .low = place->low,
                          .high = place->high};
    char *to = (char *)target + place->offset, flag[64];
    snprintf(flag, sizeof flag, "-%s", option->name);
    switch (place->kind) {
    case NB_SUB_IS_SET:
        *(int *)to = 1;
        return NB_OK;
    case NB_SUB_IS_NAME:
        memcpy(to, &text, sizeof text);
        return *text ? NB_OK : nb_cli_fail(err, "%s '': it is empty", flag);
    case NB_SUB_IS_WORD:
        return take_word(flag, text, place->words, (int *)to, err);
    default:
        return nb_param_set(&row, to + (size_t)k * size, &text, 1, err);
    }
}

static const nb_sub_option *find_own(const nb_sub_command *command, const char *name)
{
    for (const nb_sub_option *o = command->options; o->name; o++)
        if (!strcmp(o->name, name))
            return o;
    return NULL;
}

/** True for a flag that describes a simulation, not a written file. */
static int describes(const nb_flag *option)
{
    const unsigned others = NB_PARAM_OUTPUT | NB_PARAM_SERIES | NB_PARAM_SINGLE |
                            NB_PARAM_PNG | NB_PARAM_TIFF;
    return nb_param_find(option->name) == option && !(option->flags & others);
}

static int lends(const nb_sub_command *command, const nb_flag *option)
{
    const char *cursor = command->borrowed;
    char word[64];

    while (nb_text_word(&cursor, word))
        if (!strcmp(word, option->name) || (!strcmp(word, "*") && describes(option)))
            return 1;
    return 0;
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
    nb_status st = needs(p, flag, option->values, option->value ? option->value : "");

    if (!st && option->take)
        st = option->take(p->target, p->argv + p->at + 1, p->err);
    else
        for (int k = 0; !st && k < (option->values ? option->values : 1); k++)
            st = store(option, p->target, p->argv[p->at + 1 + k], k, p->err);
    p->at += 1 + option->values;
    return st;
}

/** Pass a flag of the main table with its arguments to the main parser. */
static nb_status take_borrowed(parser *p, const nb_flag *flag)
{
    const int there = p->argc - p->at - 1;
    int values = nb_flag_words(flag, there, p->argv + p->at + 1);

    if (nb_flag_special_of(flag) == NB_FLAG_TIME) /* `json` is optional */
        values = p->at + 1 < p->argc && !strcmp(p->argv[p->at + 1], "json");
    values = values < there ? values : there; /* the main parser refuses too few words */
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
    const nb_flag *option = nb_flag_find(flag);

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

    int limit = p->command->more_operands ? NB_OPERANDS_MAX : p->command->operands;

    if (line->operand_count >= limit)
        return nb_cli_fail(p->err,
                           "'%.60s' is one operand too many; usage: nanobragg %s %s",
                           p->argv[p->at], p->command->name, p->command->usage);
    line->operands[line->operand_count++] = p->argv[p->at++];
    return NB_OK;
}

/** Add a word to the words of borrowed flags. */
static void lend(parser *p, const char *word)
{
    if (p->borrowed_count < BORROWED_MAX)
        p->borrowed[p->borrowed_count++] = (char *)(uintptr_t)word;
}

/** Pass operands to the main parser, as values of the flags that as_flags lists. */
static void lend_operands(parser *p)
{
    const char *const *flag = p->command->as_flags;
    for (int i = 0; flag && flag[i] && i < p->line->operand_count; i++) {
        lend(p, flag[i]);
        lend(p, p->line->operands[i]);
    }
}

nb_status nb_sub_parse(const nb_sub_command *command, int argc, char **argv, void *target,
                       nb_sub_line *line, int *help, nb_error *err)
{
    parser p = {command, argc, 2, argv, target, line, err, {argv[0]}, 1};
    nb_status st = NB_OK;

    memset(line, 0, sizeof *line);
    line->words = argv + 2;
    line->word_count = argc - 2;
    *help = 0;
    if (command->defaults)
        command->defaults(target);
    for (const char *const *word = command->presets; word && *word; word++)
        lend(&p, *word);
    while (p.at < argc && !st && !*help) {
        const char *argument = argv[p.at];
        if (command->takes_rest && !strcmp(argument, "--")) {
            line->rest = argv + p.at + 1;
            line->rest_count = argc - p.at - 1;
            p.at = argc;
        } else {
            st = argument[0] == '-' && argument[1] ? take_flag(&p, help)
                                                   : take_operand(&p);
        }
    }
    if (st || *help)
        return st;
    if (line->operand_count < command->operands)
        return nb_cli_fail(err, "an operand is missing; usage: nanobragg %s %s",
                           command->name, command->usage);
    lend_operands(&p);
    return nb_cli_parse(p.borrowed_count, p.borrowed, &line->cli, err);
}
