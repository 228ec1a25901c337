/* SPDX-License-Identifier: MIT */
/* nanobragg run-compare -ref PROGRAM -- flags: its command line; src/tools/run_compare.py does the rest. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"
#include "subcommands.h"
#include "compare.h"

/** The command line. */
typedef struct typed {
    const char *ref, *ours, *out, *threshold;
} typed;

static nb_status take_threshold(void *target, char **v, nb_error *err)
{
    nb_thresholds checked;
    ((typed *)target)->threshold = v[0];
    return nb_thresholds_parse(v[0], &checked, err);
}

static const nb_sub_option options[] = {
    {"ref", 1, "program", "the reference: a program of the same command line",
     NB_SUB_NAME(typed, ref)},
    {"ours", 1, "program", "program to compare (default: this program)",
     NB_SUB_NAME(typed, ours)},
    {"out", 1, "folder", "folder of the results (default: run-compare.out)",
     NB_SUB_NAME(typed, out)},
    {"threshold", 1, "key=x,...",
     "limits, as for compare (default: " NB_THRESHOLD_DEFAULT ")",
     NB_SUB_TAKE(take_threshold)},
    NB_SUB_END};

static void defaults(void *target)
{
    typed *t = target;
    memset(t, 0, sizeof *t);
    t->out = "run-compare.out";
    t->threshold = NB_THRESHOLD_DEFAULT;
}

/** Replace the process by python3; returns only if it cannot be started. */
static nb_status become(const typed *t, const char *ours, const nb_run_flags *flags,
                        nb_error *err)
{
    const char *const head[] = {"python3",
                                "-c",
                                nb_tool_run_compare,
                                "-program",
                                ours,
                                "-version",
                                nb_version(),
                                "-ref",
                                t->ref,
                                "-ours",
                                t->ours ? t->ours : ours,
                                "-out",
                                t->out,
                                "-threshold",
                                t->threshold,
                                "--"};
    const size_t n = sizeof head / sizeof *head;
    const char **words = calloc(n + (size_t)flags->count + 1, sizeof *words);
    if (!words)
        return nb_cli_fail(err, "out of memory (command line)"), err->code = NB_ERR_NOMEM;
    memcpy(words, head, sizeof head);
    for (int i = 1; i < flags->count; i++)
        words[n + (size_t)i - 1] = flags->argv[i];
    nb_wait_policy_forget();
    execvp(words[0], (char *const *)words);
    free(words);
    return nb_tool_missing("run-compare", err);
}

static nb_status run(const typed *t, const nb_sub_line *line, nb_error *err)
{
    nb_run_flags flags;
    char *ours;
    nb_status st;
    if (!t->ref)
        return nb_cli_fail(err, "-ref is missing: the program to compare with");
    if (!line->rest_count)
        return nb_cli_fail(err, "no flags to run with; write them behind --");
    st = nb_run_flags_make(line->rest, line->rest_count, &flags, err);
    if (st)
        return st;
    ours = realpath("/proc/self/exe", NULL);
    st = ours ? become(t, ours, &flags, err)
              : nb_cli_fail(err, "/proc/self/exe cannot be read");
    free(ours);
    nb_run_flags_free(&flags);
    return st;
}

static int start(void *target, const nb_sub_line *line)
{
    nb_error err;
    nb_status st;
    memset(&err, 0, sizeof err);
    st = run(target, line, &err);
    nb_cli_say("error", err.message);
    return nb_cli_exit_status(st);
}

const nb_sub_command nb_command_run_compare = {
    .name = "run-compare",
    .usage = "-ref PROGRAM [flags] -- FLAGS OF BOTH PROGRAMS",
    .what =
        "Runs another program and this one with the same flags and compares their images",
    .see = "compare.md",
    .options = options,
    .operands = 0,
    .takes_rest = 1,
    .statuses =
        "0 passed, 3 the images differ, 4 a program is missing, 5 a program crashed, 6 a "
        "program ended with an error or without an image, 7 the images differ in size, 2 "
        "bad input, 1 a file cannot be written, or no memory",
    .defaults = defaults,
    .run = start,
};
