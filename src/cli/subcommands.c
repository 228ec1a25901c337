/* SPDX-License-Identifier: MIT */
/* Table of subcommands, and the run of a subcommand. */
#include "subcommands.h"

#include <string.h>

#include "../base/text.h"
#include "common.h"
#include "options.h"

const nb_sub_command *const *nb_sub_commands(size_t *count)
{
    static const nb_sub_command *const all[] = {
        &nb_command_bench, &nb_command_compare, &nb_command_extract,
        &nb_command_noise, &nb_command_refine,  &nb_command_run_compare,
        &nb_command_sf,    &nb_command_view};
    *count = sizeof all / sizeof *all;
    return all;
}

/** Print the borrowed flags with dashes, in lines. */
static void print_borrowed(FILE *out, const nb_sub_command *c)
{
    const char *cursor = c->borrowed;
    char word[64], line[1024] = "";

    while (nb_text_word(&cursor, word)) {
        size_t used = strlen(line);
        if (!strcmp(word, "*"))
            snprintf(line + used, sizeof line - used,
                     "all flags that describe a simulation, and");
        else
            snprintf(line + used, sizeof line - used, "%s-%s", used ? " " : "", word);
    }
    fputs("  ", out);
    nb_help_wrap(out, line, 2, 2);
}

static void print_help(FILE *out, const nb_sub_command *c)
{
    fprintf(out, "usage: nanobragg %s %s\n%s.\n\n", c->name, c->usage, c->what);
    for (const nb_sub_option *o = c->options; o->name; o++) {
        char flag[200];
        snprintf(flag, sizeof flag, "-%s%s%s", o->name, o->value ? " " : "",
                 o->value ? o->value : "");
        nb_help_item(out, flag, o->help);
    }
    if (c->borrowed) {
        fputs(c->options->name ? "\nand of nanobragg -help:\n"
                               : "Flags, as in nanobragg -help:\n",
              out);
        print_borrowed(out, c);
    }
    fputs("\nExit status:", out);
    nb_help_wrap(out, c->statuses, 12, 2);
}

static int run(const nb_sub_command *command, int argc, char **argv)
{
    union {
        char bytes[NB_SUB_TARGET];
        double alignment;
        void *pointer;
    } target;
    nb_sub_line line;
    nb_error err = {0};
    nb_status parsed;
    int help, status;

    memset(&target, 0, sizeof target);
    parsed = nb_sub_parse(command, argc, argv, &target, &line, &help, &err);
    if (parsed) {
        nb_cli_free(&line.cli);
        return nb_cli_end(parsed, &err);
    }
    nb_end_on_signals();
    if (help)
        print_help(stdout, command);
    status = help ? 0 : command->run(&target, &line);
    nb_cli_free(&line.cli);
    parsed = nb_cli_check_stdout(&err);
    return parsed && status != 1 ? nb_cli_end(parsed, &err) : status;
}

/** True, with a message, if the first word is a mistyped command. */
static int is_misspelled(const char *word, const nb_sub_command *const *all, size_t count)
{
    char line[160];
    for (size_t i = 0; i < count; i++)
        if (nb_text_edits(word, all[i]->name) == 1) {
            snprintf(line, sizeof line,
                     "'%.60s' is no command; did you mean nanobragg %s?", word,
                     all[i]->name);
            nb_cli_say("error", line);
            return 1;
        }
    return 0;
}

int nb_sub_dispatch(int argc, char **argv, int *status)
{
    size_t count;
    const nb_sub_command *const *all = nb_sub_commands(&count);

    for (size_t i = 0; argc > 1 && i < count; i++)
        if (!strcmp(argv[1], all[i]->name)) {
            nb_json_watch();
            *status = run(all[i], argc, argv);
            return 1;
        }
    *status = 2;
    return argc > 1 && argv[1][0] != '-' && is_misspelled(argv[1], all, count);
}
