/* SPDX-License-Identifier: MIT */
/* nanobragg run-compare -ref PROGRAM -- flags */
#include "run_compare.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "difference_report.h"
#include "subcommands.h"
#include "common.h"

static const char image_name[] = "floatimage.bin";

/** What was typed. */
typedef struct typed {
    const char *ref, *ours, *out;
    nb_thresholds thresholds;
} typed;

static nb_status take_name(const char **to, const char *flag, char **v, nb_error *err)
{
    *to = v[0];
    return *v[0] ? NB_OK : nb_cli_fail(err, "%s '': the name is empty", flag);
}

static nb_status take_ref(void *target, char **v, nb_error *err)
{
    return take_name(&((typed *)target)->ref, "-ref", v, err);
}

static nb_status take_ours(void *target, char **v, nb_error *err)
{
    return take_name(&((typed *)target)->ours, "-ours", v, err);
}

static nb_status take_out(void *target, char **v, nb_error *err)
{
    return take_name(&((typed *)target)->out, "-out", v, err);
}

static nb_status take_threshold(void *target, char **v, nb_error *err)
{
    return nb_thresholds_parse(v[0], &((typed *)target)->thresholds, err);
}

static const nb_sub_option options[] = {
    {"ref", 1, "program", "the reference: a program of the same command line", take_ref},
    {"ours", 1, "program", "the other one (default: this program)", take_ours},
    {"out", 1, "folder", "folder of the results (default: run-compare.out)", take_out},
    {"threshold", 1, "key=x,...",
     "as of nanobragg compare (default: " NB_THRESHOLD_DEFAULT ")", take_threshold},
    {NULL, 0, NULL, NULL, NULL}};

static void defaults(void *target)
{
    typed *t = target;
    nb_error err;
    memset(t, 0, sizeof *t);
    t->out = "run-compare.out";
    nb_thresholds_parse(NB_THRESHOLD_DEFAULT, &t->thresholds, &err);
}

/** End the run with this reason. */
static int end_with(nb_trial *trial, nb_trial_outcome outcome, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static int end_with(nb_trial *trial, nb_trial_outcome outcome, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(trial->message, sizeof trial->message, format, args);
    va_end(args);
    trial->outcome = outcome;
    return 0;
}

/** Make a name with a folder absolute, because the program starts in another folder. */
static int find_program(nb_trial *trial, nb_trial_side *side, const char *name)
{
    char *whole = strchr(name, '/') ? realpath(name, NULL) : NULL;
    if (strchr(name, '/') && (!whole || access(whole, X_OK))) {
        snprintf(side->program, sizeof side->program, "%s", name);
        end_with(trial, NB_TRIAL_MISSING, "the program %.300s cannot be run: %s", name,
                 strerror(errno));
        free(whole);
        return 0;
    }
    snprintf(side->program, sizeof side->program, "%s", whole ? whole : name);
    free(whole);
    return 1;
}

/** Make the folders, and remove the files of an earlier run. */
static nb_status make_folders(const nb_trial *trial, nb_error *err)
{
    static const char *const left[] = {"log.txt", image_name};
    const char *const folders[] = {NULL, trial->ref.name, trial->ours.name};
    char path[NB_PATH_MAX];
    for (int i = 0; i < 3; i++) {
        if (!nb_trial_path(trial, folders[i], "", path) ||
            (mkdir(path, 0777) && errno != EEXIST)) {
            memset(err, 0, sizeof *err);
            err->code = NB_ERR_IO;
            snprintf(err->message, sizeof err->message, "-out: cannot make %.300s: %s",
                     path, strerror(errno));
            return err->code;
        }
        for (int k = 0; i > 0 && k < 2; k++)
            if (nb_trial_path(trial, folders[i], left[k], path))
                unlink(path);
    }
    for (int k = 0; k < 4; k++) {
        static const char *const top[] = {"summary.json", "config.json", "comparison.txt",
                                          "difference.png"};
        if (nb_trial_path(trial, NULL, top[k], path))
            unlink(path);
    }
    return NB_OK;
}

/** Check the status; a failure ends the run. */
static int ended_well(nb_trial *trial, const nb_trial_side *side)
{
    const nb_child_end *e = &side->end;
    if (e->missing)
        return end_with(trial, NB_TRIAL_MISSING, "the program %.300s cannot be run: %s",
                        side->program, strerror(e->missing));
    if (e->signal)
        return end_with(trial, NB_TRIAL_CRASHED,
                        "%s crashed: %s (signal %d); see %s/log.txt", side->name,
                        strsignal(e->signal), e->signal, side->name);
    if (e->exit_status)
        return end_with(trial, NB_TRIAL_STATUS, "%s ended with status %d; see %s/log.txt",
                        side->name, e->exit_status, side->name);
    return 1;
}

/** Run one program; *ok 0: the run has ended. */
static nb_status run_side(nb_trial *trial, nb_trial_side *side, int *ok, nb_error *err)
{
    char folder[NB_PATH_MAX], log[NB_PATH_MAX], image[NB_PATH_MAX];
    struct stat there;
    nb_status st = nb_run_flags_set(&trial->flags, 0, side->program, err);
    nb_trial_path(trial, side->name, "", folder);
    nb_trial_path(trial, side->name, "log.txt", log);
    nb_trial_path(trial, side->name, image_name, image);
    if (!st)
        st = nb_child_run(trial->flags.argv, folder, log, log, &side->end, err);
    if (st)
        return st;
    side->ran = !side->end.missing;
    side->image_bytes = stat(image, &there) ? -1 : (int64_t)there.st_size;
    *ok = ended_well(trial, side);
    if (*ok && side->image_bytes < 0)
        *ok = end_with(trial, NB_TRIAL_STATUS, "%s wrote no %s; see %s/log.txt",
                       side->name, image_name, side->name);
    return NB_OK;
}

/** Our program prints its configuration, and with it the size of the image. */
static nb_status ask_size(nb_trial *trial, int *ok, nb_error *err)
{
    char folder[NB_PATH_MAX], config[NB_PATH_MAX], log[NB_PATH_MAX];
    nb_trial_side asked = trial->ours;
    int last = trial->flags.count;
    nb_status st = nb_run_flags_set(&trial->flags, last, "-show_config", err);
    nb_trial_path(trial, asked.name, "", folder);
    nb_trial_path(trial, NULL, "config.json", config);
    nb_trial_path(trial, asked.name, "log.txt", log);
    if (!st)
        st = nb_run_flags_set(&trial->flags, 0, asked.program, err);
    if (!st)
        st = nb_child_run(trial->flags.argv, folder, config, log, &asked.end, err);
    if (trial->flags.count > last) {
        free(trial->flags.argv[last]);
        trial->flags.argv[last] = NULL;
        trial->flags.count = last;
    }
    if (st)
        return st;
    *ok = ended_well(trial, &asked);
    if (*ok && !nb_trial_size(config, &trial->fast, &trial->slow))
        *ok = end_with(trial, NB_TRIAL_STATUS, "%s did not say the size of its image",
                       asked.name);
    if (*ok)
        unlink(log);
    return NB_OK;
}

static nb_status compare_images(nb_trial *trial, nb_error *err)
{
    nb_image a, b;
    char path[NB_PATH_MAX];
    nb_status st;
    memset(&b, 0, sizeof b);
    nb_trial_path(trial, trial->ours.name, image_name, path);
    st = nb_image_read(path, trial->fast, trial->slow, NULL, &a, err);
    nb_trial_path(trial, trial->ref.name, image_name, path);
    if (!st)
        st = nb_image_read(path, trial->fast, trial->slow, NULL, &b, err);
    if (!st)
        st = nb_image_compare(&a, &b, NULL, &trial->difference, err);
    trial->compared = !st;
    nb_trial_path(trial, NULL, "difference.png", path);
    if (!st)
        st = nb_difference_picture(&a, &b, NULL, NULL, path, err);
    nb_image_free(&a);
    nb_image_free(&b);
    if (st == NB_ERR_UNSUPPORTED && trial->compared) { /* no libpng: all but the picture */
        nb_cli_say("note", err->message);
        st = NB_OK;
    }
    if (!st && !nb_thresholds_passed(&trial->thresholds, &trial->difference))
        end_with(trial, NB_TRIAL_FAILED, "the images differ%s%s",
                 trial->difference.verdict[0] ? ": " : "", trial->difference.verdict);
    return st;
}

/** Everything up to the verdict; the outcome is in *trial. */
static nb_status carry_out(nb_trial *trial, const typed *t, nb_error *err)
{
    long long bytes;
    int ok = find_program(trial, &trial->ref, t->ref) &&
             find_program(trial, &trial->ours, t->ours ? t->ours : "/proc/self/exe");
    nb_status st = NB_OK;
    if (ok)
        st = ask_size(trial, &ok, err);
    if (!st && ok)
        st = run_side(trial, &trial->ref, &ok, err);
    if (!st && ok)
        st = run_side(trial, &trial->ours, &ok, err);
    if (st || !ok)
        return st;
    bytes = (long long)trial->fast * trial->slow * (long long)sizeof(float);
    if (trial->ref.image_bytes != bytes || trial->ours.image_bytes != bytes) {
        end_with(
            trial, NB_TRIAL_SIZE,
            "the images differ in size: %d x %d floats are %lld bytes, ref wrote %lld "
            "and ours %lld",
            trial->fast, trial->slow, bytes, (long long)trial->ref.image_bytes,
            (long long)trial->ours.image_bytes);
        return NB_OK;
    }
    return compare_images(trial, err);
}

static void print_times(FILE *out, const nb_trial *trial)
{
    const nb_trial_side *sides[] = {&trial->ref, &trial->ours};
    for (int i = 0; i < 2; i++)
        if (sides[i]->ran)
            fprintf(out, "%-11s %.3f s (%.3f s user, %.3f s system), %.0f MiB: %s\n",
                    sides[i]->name, sides[i]->end.seconds, sides[i]->end.user_seconds,
                    sides[i]->end.system_seconds, sides[i]->end.peak_mib,
                    sides[i]->program);
}

static void report(FILE *out, const nb_trial *trial)
{
    nb_compared what = {"ours/floatimage.bin",
                        "ref/floatimage.bin",
                        "float",
                        "float",
                        &trial->difference,
                        &trial->thresholds,
                        trial->outcome == NB_TRIAL_PASSED};
    print_times(out, trial);
    if (trial->compared)
        nb_difference_text(out, &what);
}

static nb_status leave_behind(const nb_trial *trial, nb_error *err)
{
    char path[NB_PATH_MAX];
    FILE *file;
    nb_trial_path(trial, NULL, "comparison.txt", path);
    file = fopen(path, "w");
    if (file) {
        report(file, trial);
        fclose(file);
    }
    report(stdout, trial);
    printf("folder      %s\n", trial->out);
    fflush(stdout);
    return nb_trial_summary(trial, err);
}

static nb_status prepare(nb_trial *trial, const typed *t, const nb_sub_line *line,
                         nb_error *err)
{
    nb_status st;
    trial->out = t->out;
    trial->thresholds = t->thresholds;
    trial->ref.name = "ref";
    trial->ours.name = "ours";
    trial->ref.image_bytes = trial->ours.image_bytes = -1;
    if (!t->ref)
        return nb_cli_fail(err, "-ref is missing: the program to compare with");
    if (!line->rest_count)
        return nb_cli_fail(err, "no flags to run with; write them behind --");
    if (strlen(t->out) > NB_PATH_MAX - 64)
        return nb_cli_fail(err, "-out %.60s...: the path is too long", t->out);
    st = nb_run_flags_make(line->rest, line->rest_count, &trial->flags, err);
    return st ? st : make_folders(trial, err);
}

static int start(void *target, const nb_sub_line *line)
{
    nb_trial trial;
    nb_error err;
    nb_status st;
    memset(&err, 0, sizeof err);
    memset(&trial, 0, sizeof trial);
    st = prepare(&trial, target, line, &err);
    if (!st)
        st = carry_out(&trial, target, &err);
    if (!st)
        st = leave_behind(&trial, &err);
    nb_run_flags_free(&trial.flags);
    if (st)
        nb_cli_say("error", err.message);
    else if (trial.outcome)
        nb_cli_say("error", trial.message);
    return st ? nb_cli_exit_status(st) : (int)trial.outcome;
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
