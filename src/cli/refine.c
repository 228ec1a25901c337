/* SPDX-License-Identifier: MIT */
/* nanobragg refine IMAGE flags -refine LIST */
#include "refine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"
#include "outputs.h"
#include "progress.h"
#include "subcommands.h"

enum { NOT_CONVERGED = 3 };

/** A run of the command. */
typedef struct run {
    nb_refine_typed *typed;
    const nb_sub_line *line;
    FILE *text;    /* NULL: quiet */
    char **images; /* owned */
    int count, lost;
} run;

static void notice(void *user, const char *line)
{
    (void)user;
    nb_cli_say("note", line);
}

static int progress(void *user, double fraction)
{
    (void)user;
    (void)fraction;
    return nb_stop_requested();
}

static const nb_hooks hooks = {NULL, notice, progress};

static void told(void *user, const nb_refine_stage *stage)
{
    const run *r = user;
    if (r->text)
        nb_refine_print_stage(r->text, stage);
}

static nb_status no_memory(nb_error *err)
{
    nb_cli_fail(err, "out of memory (names of images)");
    return err->code = NB_ERR_NOMEM;
}

/** "file.h5:a-b" into names file.h5:k behind those that are there. */
static nb_status add_series(run *r, const char *text, nb_error *err)
{
    const char *colon = text ? strrchr(text, ':') : NULL;
    const char *dash = colon ? strchr(colon, '-') : NULL;
    char first[24], path[NB_PATH_MAX];
    int a, b;
    if (!text)
        return NB_OK;
    if (!colon || !dash || dash - colon > 20)
        return nb_cli_fail(err, "-series '%.100s': write it as file.h5:0-99", text);
    snprintf(first, sizeof first, "%.*s", (int)(dash - colon - 1), colon + 1);
    if (!nb_read_whole(first, 0, 100000000, &a) ||
        !nb_read_whole(dash + 1, a, a + 999999, &b))
        return nb_cli_fail(err,
                           "-series '%.100s': the frames must be two whole numbers, the "
                           "first one the smaller",
                           text);
    for (int k = a; k <= b; k++) {
        char **more = realloc(r->images, (size_t)(r->count + 1) * sizeof *more);
        if (!more)
            return no_memory(err);
        r->images = more;
        snprintf(path, sizeof path, "%.*s:%d", (int)(colon - text), text, k);
        if (!(more[r->count] = strdup(path)))
            return no_memory(err);
        r->count++;
    }
    return NB_OK;
}

static nb_status list_images(run *r, nb_error *err)
{
    int n = r->line->operand_count;
    r->images = calloc((size_t)n + 1, sizeof *r->images);
    if (!r->images)
        return no_memory(err);
    for (; r->count < n; r->count++)
        if (!(r->images[r->count] = strdup(r->line->operands[r->count])))
            return no_memory(err);
    if (add_series(r, r->typed->series, err))
        return err->code;
    if (!r->count)
        return nb_cli_fail(err,
                           "an image is missing; usage: nanobragg refine IMAGE flags "
                           "-refine list");
    if (r->count > 1 && (r->typed->exptout || r->typed->plots || r->typed->residual))
        return nb_cli_fail(err,
                           "-exptout, -plots and -residual are of one image; refine one "
                           "at a time, or use -report");
    return NB_OK;
}

enum { PLOTS = 8, OWN = PLOTS + 4 };

/** Paths of the pictures of -plots; their number. */
static int plot_paths(const char *folder, char paths[PLOTS][NB_PATH_MAX])
{
    const char *name;
    int n = 0;
    for (; folder && n < PLOTS && (name = nb_refinement_plot_name(n)); n++)
        snprintf(paths[n], NB_PATH_MAX, "%.1000s/%s", folder, name);
    return n;
}

/** All files of the run into list: the outputs first, the images, what the configuration reads. */
static int list_files(const run *r, char paths[PLOTS][NB_PATH_MAX], nb_file_use *list,
                      int *outputs)
{
    const nb_refine_typed *t = r->typed;
    const nb_file_use own[] = {{"-report", t->report, 1},
                               {"-exptout", t->exptout, 1},
                               {"-residual", t->residual, 1}};
    int n = 0, plots = plot_paths(t->plots, paths);
    for (int i = 0; i < 3; i++)
        if (own[i].path)
            list[n++] = own[i];
    *outputs = n;
    for (int i = 0; i < plots; i++)
        list[n++] = (nb_file_use){"-plots", paths[i], 1};
    if (t->orientations)
        list[n++] = (nb_file_use){"-orientations", t->orientations, 0};
    for (int i = 0; i < r->count; i++)
        list[n++] = (nb_file_use){"IMAGE", r->images[i], 0};
    return n + nb_config_inputs(&r->line->cli.cfg, list + n);
}

/** Can the folder of -plots be made, or its first picture be written? */
static nb_status check_plots(const char *folder, const char *first, nb_error *err)
{
    nb_status st = folder ? nb_check_output(first, err) : NB_OK;
    return st && access(folder, F_OK) ? nb_check_output(folder, err) : st;
}

/** The names of files: found before any work. */
static nb_status check_files(const run *r, nb_error *err)
{
    char paths[PLOTS][NB_PATH_MAX];
    nb_file_use *list = malloc(((size_t)r->count + NB_FILES_MOST + OWN) * sizeof *list);
    nb_status st = list ? NB_OK : no_memory(err);
    int outputs = 0;
    if (!st)
        st = nb_check_files(NULL, list, list_files(r, paths, list, &outputs), err);
    for (int i = 0; i < outputs && !st; i++)
        st = nb_check_output(list[i].path, err);
    if (!st)
        st = check_plots(r->typed->plots, paths[0], err);
    free(list);
    return st;
}

static nb_status write_report(const run *r, const nb_refinement *result, nb_error *err)
{
    char *json = NULL;
    nb_status st = nb_refinement_json(result, &json, err);
    if (st)
        return st;
    st = nb_write_text(r->typed->report, json, err);
    nb_free(json);
    return st;
}

/** Crystal and geometry as they are after the fit. */
static nb_status write_experiment(nb_sim *sim, const char *path, nb_error *err)
{
    nb_config cfg = *nb_sim_config(sim);
    nb_status st;
    if (strlen(path) >= sizeof cfg.exptout_file)
        return nb_cli_fail(err, "-exptout %.60s...: the path is too long", path);
    strcpy(cfg.exptout_file, path);
    st = nb_sim_change(sim, &cfg, err);
    return st ? st : nb_sim_write_geometry(sim, err);
}

static nb_status write_all(const run *r, nb_sim *sim, const nb_refinement *result,
                           nb_error *err)
{
    const nb_refine_typed *t = r->typed;
    nb_status st = t->report ? write_report(r, result, err) : NB_OK;
    if (!st && t->residual)
        st = nb_refinement_residual(result, t->residual, err);
    if (!st && t->plots)
        st = nb_refinement_plots(result, t->plots, err);
    if (!st && t->exptout)
        st = write_experiment(sim, t->exptout, err);
    return st;
}

/** One image: everything is told and written. */
static nb_status refine_one(run *r, nb_error *err)
{
    nb_sim *sim = NULL;
    nb_image picture = {0};
    nb_refinement result = {0};
    nb_config typed;
    int fast, slow;
    nb_status st = nb_sim_create(&r->line->cli.cfg, &hooks, &sim, err);
    nb_config_defaults(&typed);
    typed.max_read_MB = r->line->cli.cfg.max_read_MB;
    nb_sim_size(sim, &fast, &slow);
    if (!st)
        st = nb_image_read(r->images[0], fast, slow, &typed, &picture, err);
    if (!st)
        st = nb_refine(sim, &picture, &r->typed->options, &result, err);
    if (!st && r->text)
        nb_refine_print(r->text, &result);
    if (!st)
        st = write_all(r, sim, &result, err);
    r->lost = !st && !result.converged;
    nb_refinement_free(&result);
    nb_image_free(&picture);
    nb_sim_free(sim);
    return st;
}

static int frame_done(void *user, int frame, const nb_refinement *result, const char *why)
{
    run *r = user;
    if (r->text && result)
        fprintf(r->text, "%s: %s, deviance per pixel %.4f, correlation %.4f, %.2f s\n",
                r->images[frame], result->status, result->deviance_per_pixel,
                result->picture_correlation, result->seconds);
    if (!result)
        nb_cli_say("error", why);
    r->lost += !result || !result->converged;
    return nb_stop_requested();
}

static nb_status refine_many(run *r, nb_error *err)
{
    const nb_refine_typed *t = r->typed;
    nb_refine_frames frames = {.images = (const char *const *)r->images,
                               .count = r->count,
                               .orientations = t->orientations,
                               .user = r,
                               .done = frame_done,
                               .report = t->report};
    nb_status st = nb_refine_series(&r->line->cli.cfg, &frames, &t->options, &hooks, err);
    if (!st && r->text)
        fprintf(r->text, "%d of %d images converged\n", r->count - r->lost, r->count);
    return st;
}

static int start(void *target, const nb_sub_line *line)
{
    nb_refine_typed *t = target;
    run r = {.typed = t, .line = line};
    nb_error err;
    nb_status st;
    memset(&err, 0, sizeof err);
    t->options.bounds = t->bounds;
    t->options.restraints = t->restraints;
    t->options.user = &r;
    t->options.stage = told;
    r.text = line->cli.quiet                        ? NULL
             : t->report && nb_is_stdout(t->report) ? stderr
                                                    : stdout;
    nb_stop_on_signals();
    st = list_images(&r, &err);
    if (!st)
        st = check_files(&r, &err);
    if (!st && (r.count > 1 || t->series || t->orientations)) {
        t->options.stage = NULL;
        st = refine_many(&r, &err);
    } else if (!st) {
        st = refine_one(&r, &err);
    }
    for (int i = 0; i < r.count; i++)
        free(r.images[i]);
    free(r.images);
    if (st) {
        fflush(stdout);
        nb_cli_say("error", err.message[0] ? err.message : nb_status_name(st));
        return nb_cli_exit_status(st);
    }
    return r.lost ? NOT_CONVERGED : 0;
}

_Static_assert(sizeof(nb_refine_typed) <= NB_SUB_TARGET, "raise NB_SUB_TARGET");

const nb_sub_command nb_command_refine = {
    .name = "refine",
    .usage = "IMAGE [flags of the start] -refine list [flags]",
    .what = "Fits crystal, detector and beam to a picture, pixel by pixel",
    .see = "refine.md",
    .options = nb_refine_flags,
    .borrowed = "* quiet",
    .operands = 0,
    .more_operands = 1,
    .statuses =
        "0 converged, 3 not (the results are written, and say why), 2 bad input, 1 a "
        "file cannot be written, or no memory",
    .defaults = nb_refine_typed_defaults,
    .run = start,
};
