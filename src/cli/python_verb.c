/* SPDX-License-Identifier: MIT */
/* Subcommands that are written in Python: their flags, and the start of python3 in place
 * of this program. Their code is in src/python/nanobragg (bench, run_compare.py). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"
#include "sub.h"
#include "subcommands.h"

/** Variable for the value of a flag while it is checked. Python reads the words again. */
typedef struct checked {
    int whole;
    double number;
    const char *text;
} checked;

#define SWITCH NB_SUB_SET(checked, whole)
#define TEXT NB_SUB_NAME(checked, text)
#define WHOLE(low, high) NB_SUB_WHOLE(checked, whole, low, high)

/* The program contains the start script, and so needs no folder for it. */
extern const char nb_python_start[];
__asm__(".pushsection .rodata\n.global nb_python_start\nnb_python_start:\n.incbin "
        "\"src/tools/start.py\"\n.byte 0\n.popsection\n");

/** Find the package near the program: in a build folder, in a wheel, or installed.
 * folder[NB_PATH_MAX] is "" if it is not found. */
static void find_package(const char *program, char *folder)
{
    static const char *const places[] = {"python", "../..",
                                         "../lib/python3/dist-packages"};
    char file[NB_PATH_MAX];
    const int n = (int)(strrchr(program, '/') - program);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(folder, NB_PATH_MAX, "%.*s/%s", n, program, places[i]);
        if (snprintf(file, sizeof file, "%s/nanobragg/__init__.py", folder) < NB_PATH_MAX &&
            !access(file, R_OK))
            return;
    }
    folder[0] = 0;
}

/** True if the verb starts programs that should choose how their threads wait. */
static int of_others(const char *verb)
{
    return strcmp(verb, "refine") != 0 && nb_wait_policy_is_ours();
}

/** Replace the process by python3; returns only if python3 cannot start. */
static nb_status become(const char *verb, const char *program, const nb_sub_line *line,
                        nb_error *err)
{
    char folder[NB_PATH_MAX];
    /* the script of the wheel sets this variable */
    const char *python = getenv("NANOBRAGG_PYTHON");
    const char *const head[] = {
        python ? python : "python3",      "-c",         nb_python_start, verb, folder,
        of_others(verb) ? "passive" : "", nb_version(), program};
    const size_t n = sizeof head / sizeof *head;
    const char **words = calloc(n + (size_t)line->word_count + 1, sizeof *words);
    if (!words)
        return nb_fail(err, NB_ERR_NOMEM, "out of memory (command line)");
    find_package(program, folder);
    memcpy(words, head, sizeof head);
    memcpy(words + n, line->words, (size_t)line->word_count * sizeof *words);
    execvp(words[0], (char *const *)words);
    free(words);
    return nb_fail(
        err, NB_ERR_UNSUPPORTED,
        "%s needs %s with numpy, which cannot be started (Debian packages python3 and "
        "python3-numpy)",
        verb, head[0]);
}

int nb_python_verb(void *target, nb_sub_line *line)
{
    char *program = realpath("/proc/self/exe", NULL);
    nb_error err;
    nb_status st = program ? become(line->words[-1], program, line, &err)
                           : nb_cli_fail(&err, "/proc/self/exe cannot be read");
    (void)target;
    free(program);
    return nb_cli_end(st, &err);
}

/* --- nanobragg bench --- */

static const nb_sub_option bench_options[] = {
    {"quick", 0, NULL, "a short sweep, well under a minute", SWITCH},
    {"sizes", 1, "n,...", "pixels along an edge (default: 256,512,1024,2048,4096)", TEXT},
    {"cases", 1, "name,...",
     "simple: one step per pixel; heavy: a thousand; own: the flags behind -- (default: "
     "simple,heavy; own if there are flags)",
     TEXT},
    {"sweeps", 1, "name,...",
     "size, precision, threads, oversample, domains, batch, breakdown (default: all)",
     TEXT},
    {"devices", 1, "name,...",
     "devices, as for -device (default: cpu, and a GPU if it starts)", TEXT},
    {"precisions", 1, "name,...", "precisions to time (default: double,mixed)", TEXT},
    {"isas", 1, "name,...", "instruction sets to time (default: all that run here)", TEXT},
    {"threads", 1, "n,...",
     "numbers of threads; other sweeps use the last one (default: 1,2,4,... all cores)",
     TEXT},
    {"oversamples", 1, "n,...", "sub-pixels along an edge (default: 1,2,3,4)", TEXT},
    {"domains", 1, "n,...", "mosaic domains of the heavy case (default: 1,10,100,1000)",
     TEXT},
    {"batches", 1, "n,...", "frames of a series (default: 1,2,4,8,16,32,64,128,256,512)",
     TEXT},
    {"at", 1, "n", "pixels along an edge of every sweep but size (default: 512)",
     WHOLE(8, 32768)},
    {"repeats", 1, "n", "repeats of each measurement, at least 5 (default: 5)",
     WHOLE(5, 256)},
    {"limit", 1, "s", "leave out measurements that take longer (default: 20)",
     NB_SUB_NUMBER(checked, number, 0.01, 1e6)},
    {"vs", 1, "name=program",
     "another program of the same command line, timed in turn; repeatable", TEXT},
    {"peer-results", 1, "file.json",
     "figures of a program with another command line; repeatable", TEXT},
    {"name", 1, "text", "name of the report's folder: DATE-text (default: bench)", TEXT},
    {"outdir", 1, "folder",
     "folder of the report (default: reports/benchmarks/DATE-NAME)", TEXT},
    {"o", 1, "folder", "as -outdir", TEXT},
    {"from", 1, "results.json", "tables and plots of an earlier run, without measuring",
     TEXT},
    NB_SUB_END};

const nb_sub_command nb_command_bench = {
    .name = "bench",
    .usage = "[flags] [-- FLAGS OF A CASE OF YOUR OWN]",
    .what =
        "Times renderers and other programs, with every timed image checked, and writes "
        "a report",
    .see = "performance.md",
    .options = bench_options,
    .operands = 0,
    .takes_rest = 1,
    .statuses = "0 done, 3 an image is wrong, 2 bad input, 1 a program failed, a file "
                "cannot be written, or no memory, 130 interrupted",
    .run = nb_python_verb,
};

/* --- nanobragg run-compare -ref PROGRAM -- flags --- */

static nb_status take_threshold(void *target, char **v, nb_error *err)
{
    nb_thresholds limits;
    (void)target;
    return nb_thresholds_parse(v[0], &limits, err);
}

static const nb_sub_option compare_options[] = {
    {"ref", 1, "program", "the reference: a program of the same command line", TEXT},
    {"ours", 1, "program", "program to compare (default: this program)", TEXT},
    {"out", 1, "folder", "folder of the results (default: run-compare.out)", TEXT},
    {"threshold", 1, "key=x,...",
     "limits, as for compare (default: " NB_THRESHOLD_DEFAULT ")",
     NB_SUB_TAKE(take_threshold)},
    NB_SUB_END};

const nb_sub_command nb_command_run_compare = {
    .name = "run-compare",
    .usage = "-ref PROGRAM [flags] -- FLAGS OF BOTH PROGRAMS",
    .what =
        "Runs another program and this one with the same flags and compares their images",
    .see = "compare.md",
    .options = compare_options,
    .operands = 0,
    .takes_rest = 1,
    .statuses =
        "0 passed, 3 the images differ, 4 a program is missing, 5 a program crashed, 6 a "
        "program ended with an error or without an image, 7 the images differ in size, 2 "
        "bad input, 1 a file cannot be written, or no memory",
    .run = nb_python_verb,
};
