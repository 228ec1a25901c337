/* SPDX-License-Identifier: MIT */
/* Flags of the program, and functions that list and find all flags. */
#include "options.h"

#include "../params/params.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/** Flag of the program, unknown to the library. */
typedef struct own_flag {
    nb_flag row;
    nb_flag_special special;
    const char *note;
} own_flag;

static void after_trace(void *base)
{
    ((nb_cli *)base)->trace = 1;
}

static void after_printout_pixel(void *base)
{
    nb_cli *cli = base;
    cli->printout = 1;
    cli->printout_one = 1;
}

#define IN(member)                                                                       \
    .offset = offsetof(nb_cli, member), .size = sizeof(((nb_cli *)0)->member)
#define ROW(what, marks, member)                                                         \
    .group = GROUP, .kind = NB_KIND_##what, .flags = marks, IN(member)
#define ACTION(number) ROW(PRESET, 0, action), .low = number, .high = number
#define PIXEL .low = 0, .high = 1e6, .unit = "pixels", .value = "f s"

/* clang-format off */
static const own_flag own[] = {
#define GROUP "Beam"
{.row = {"coherent", NULL, ROW(SWITCH, 0, no_effect_flag), .help = "for old command lines"},
    .note = "has no effect: sources are summed as intensities"},
#undef GROUP
#define GROUP "Series"
{.row = {"jobs", NULL, ROW(FILE, 0, jobs_file), .high = NB_PATH_MAX,
    .help = "one JSON object a line and frame; its members are flags of that frame"}},
#undef GROUP
#define GROUP "Running"
{.row = {"show_config", "echo_config", ROW(SWITCH, 0, show_config),
    .help = "print the resolved configuration as JSON and stop"}},
{.row = {"trace_pixel", NULL, ROW(INTEGER, 0, trace_pixel), PIXEL, .after = after_trace,
    .help = "print every intermediate quantity of one pixel and stop"}},
{.row = {"printout", NULL, ROW(SWITCH, NB_PARAM_SINGLE, printout),
    .help = "print the last sample of every pixel"}},
{.row = {"printout_pixel", NULL, ROW(INTEGER, NB_PARAM_SINGLE, printout_pixel), PIXEL,
    .after = after_printout_pixel, .help = "as -printout, of one pixel"}},
{.row = {"progress", NULL, ROW(SWITCH, NB_PARAM_RUNNING, progress), .fallback = "on",
    .help = "progress bar on a terminal, elsewhere a line each 30 s"}},
{.row = {"noprogress", NULL, ROW(PRESET, NB_PARAM_RUNNING, progress), .help = "no progress bar, and no such lines"}},
{.row = {"quiet", NULL, ROW(SWITCH, NB_PARAM_RUNNING, quiet), .help = "no report"}},
{.row = {"time", NULL, ROW(TEXT, NB_PARAM_RUNNING, time), .value = "[json]",
    .help = "print the time of each stage, as a table or as JSON"}, .special = NB_FLAG_TIME},
#undef GROUP
#define GROUP "Help"
{.row = {"help", "h", ROW(TEXT, 0, action), .value = "[group | flag | word]",
    .help = "print this, or only a group (-help detector), a flag or what has a word in it"},
    .special = NB_FLAG_HELP},
{.row = {"help-json", NULL, ACTION(NB_DO_HELP_JSON), .help = "print all flags and subcommands as JSON"}},
{.row = {"version", NULL, ACTION(NB_DO_VERSION), .help = "print the version and the optional parts"}},
};
/* clang-format on */

enum { OWN = sizeof own / sizeof *own };

/** Row of a flag of the program, or NULL for a flag of the library. */
static const own_flag *own_of(const nb_flag *flag)
{
    for (int i = 0; i < OWN; i++)
        if (flag == &own[i].row)
            return &own[i];
    return NULL;
}

const nb_flag *nb_flag_next(const nb_flag *flag)
{
    size_t count;
    const nb_param *table = nb_params(&count);
    const own_flag *mine = flag ? own_of(flag) : NULL;
    if (mine)
        return mine + 1 < own + OWN ? &mine[1].row : NULL;
    for (flag = flag ? flag + 1 : table; flag < table + count; flag++)
        if (!(flag->flags & NB_PARAM_INNER))
            return flag;
    return &own[0].row;
}

size_t nb_flag_index(const nb_flag *flag)
{
    size_t count;
    const nb_param *table = nb_params(&count);
    const own_flag *mine = own_of(flag);
    size_t index = mine ? count + (size_t)(mine - own) : (size_t)(flag - table);
    return index < NB_FLAG_MAX ? index
                               : NB_FLAG_MAX - 1; /* a test checks the number of rows */
}

int nb_flag_begins_group(const nb_flag *flag)
{
    for (const nb_flag *f = NULL; (f = nb_flag_next(f)) != flag;)
        if (!strcmp(f->group, flag->group))
            return 0;
    return 1;
}

const char *nb_bare_name(const char *argument)
{
    if (argument[0] != '-')
        return NULL;
    argument += argument[1] == '-' ? 2 : 1;
    return *argument ? argument : NULL;
}

const nb_flag *nb_flag_find(const char *argument)
{
    const char *name = nb_bare_name(argument);
    const nb_param *param = nb_param_find(name);

    if (param)
        return param->flags & NB_PARAM_INNER ? NULL : param;
    for (int i = 0; name && i < OWN; i++)
        if (nb_param_is_named(&own[i].row, name))
            return &own[i].row;
    return NULL;
}

void *nb_flag_base(const nb_flag *flag, nb_cli *cli)
{
    if (own_of(flag))
        return cli;
    return flag->flags & NB_PARAM_SERIES ? (void *)&cli->series : (void *)&cli->cfg;
}

nb_flag_special nb_flag_special_of(const nb_flag *flag)
{
    const own_flag *mine = own_of(flag);
    return mine ? mine->special : NB_FLAG_PLAIN;
}

const char *nb_flag_note(const nb_flag *flag)
{
    const own_flag *mine = own_of(flag);
    return mine ? mine->note : NULL;
}

int nb_flag_is_switch(const nb_flag *flag)
{
    return flag->kind == NB_KIND_SWITCH || flag->kind == NB_KIND_PRESET;
}

int nb_flag_text_has(const char *text, const char *word)
{
    for (const char *at = text; text && *at; at++)
        if ((at == text || !isalnum((unsigned char)at[-1])) &&
            !strncasecmp(at, word, strlen(word)))
            return 1;
    return 0;
}

int nb_flag_speaks_of(const nb_flag *flag, const char *topic)
{
    char value[200];

    return nb_flag_text_has(flag->name, topic) ||
           nb_flag_text_has(flag->synonyms, topic) ||
           nb_flag_text_has(nb_param_value(flag, value, sizeof value), topic) ||
           nb_flag_text_has(flag->help, topic);
}

int nb_flag_is_about(const char *word)
{
    for (const nb_flag *f = NULL; *word && (f = nb_flag_next(f));)
        if (nb_flag_text_has(f->group, word) || nb_flag_speaks_of(f, word))
            return 1;
    return 0;
}
