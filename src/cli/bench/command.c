/* SPDX-License-Identifier: MIT */
/* nanobragg bench */
#include <stdio.h>
#include <string.h>

#include "../common.h"
#include "../subcommands.h"
#include "bench.h"

/** Remove the folders of full paths: a report must not show private folders. */
static void add_word(char *text, size_t size, const char *word)
{
    size_t used = strlen(text);
    const char *equals = strchr(word, '='), *path = equals ? equals + 1 : word;
    const char *slash = path[0] == '/' ? strrchr(path, '/') : NULL;
    const char *quote = strchr(word, ' ') || !*word ? "'" : "";
    if (slash)
        snprintf(text + used, size - used, " %s%.*s%s%s", quote, (int)(path - word), word,
                 slash + 1, quote);
    else
        snprintf(text + used, size - used, " %s%s%s", quote, word, quote);
}

static int start(void *target, const nb_sub_line *line)
{
    nb_bench_options *o = target;
    char command[2048] = "nanobragg bench";
    nb_error err;
    int status;
    memset(&err, 0, sizeof err);
    o->own.flags = line->rest;
    o->own.count = line->rest_count;
    for (int i = 0; i < line->word_count; i++)
        add_word(command, sizeof command, line->words[i]);
    status = nb_bench_run(o, command, &err);
    if (status)
        nb_cli_say("error", err.message);
    return status;
}

_Static_assert(sizeof(nb_bench_options) <= NB_SUB_TARGET, "raise NB_SUB_TARGET");

const nb_sub_command nb_command_bench = {
    .name = "bench",
    .usage = "[flags] [-- FLAGS OF A CASE OF YOUR OWN]",
    .what =
        "Times renderers and other programs, with every timed image checked, and writes "
        "a report",
    .see = "bench.md",
    .options = nb_bench_option_table,
    .operands = 0,
    .takes_rest = 1,
    .statuses = "0 done, 3 an image is wrong, 2 bad input, 1 a program failed, a file "
                "cannot be written, or no memory, 130 interrupted",
    .defaults = nb_bench_defaults,
    .run = start,
};
