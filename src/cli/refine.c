/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"
#include "options.h"
#include "subcommands.h"
#include "sub.h"

/** Words typed after `nanobragg refine`; Python reads them again. */
typedef struct nb_refine_typed {
    int word, whole; /* values of flags that are only checked */
    double number;
    const char *text, *joint;
    const char *series, *orientations;
    const char *report, *exptout, *plots, *residual;
    int page_first, page_count; /* count 0: not typed */
} nb_refine_typed;

/* The flags of nanobragg refine. */

static const char *const masks[] = {"auto", "file", NULL};
static const char *const schedules[] = {"auto", "none", "plain", NULL};

static nb_status take_F(void *target, char **v, nb_error *err)
{
    double *s = &((nb_refine_typed *)target)->number;
    if (strcmp(v[0], "auto") != 0 && (!nb_read_number(v[0], s) || !(*s >= 0 && *s <= 2)))
        return nb_cli_fail(
            err,
            "-F_sigma '%.60s': write auto, or the relative standard deviation "
            "of F, from 0 (exact) to 2",
            v[0]);
    return NB_OK;
}

/** Read "a-b". */
static nb_status take_page_frames(void *target, char **v, nb_error *err)
{
    nb_refine_typed *t = target;
    const char *dash = strchr(v[0], '-');
    char first[16];
    int last;
    snprintf(first, sizeof first, "%.*s", dash ? (int)(dash - v[0]) : 0, v[0]);
    if (!dash || dash - v[0] > 9 || !nb_read_whole(first, 0, 100000000, &t->page_first) ||
        !nb_read_whole(dash + 1, t->page_first, t->page_first + NB_PAGE_FRAMES - 1, &last))
        return nb_cli_fail(
            err,
            "-page_frames '%.30s': type the first and the last image, from "
            "0, as 0-15; a page has up to %d images",
            v[0], NB_PAGE_FRAMES);
    t->page_count = last - t->page_first + 1;
    return NB_OK;
}

/** Check "name=a:b". */
static nb_status check_pair(const char *flag, const char *text, const char *form,
                            nb_error *err)
{
    const char *equals = strchr(text, '='), *colon = equals ? strchr(equals, ':') : NULL;
    char first[64];
    double number;
    if (!colon || equals == text || colon - equals > (int)sizeof first)
        return nb_cli_fail(err, "%s '%.60s': write it as %s", flag, text, form);
    snprintf(first, sizeof first, "%.*s", (int)(colon - equals - 1), equals + 1);
    if (!nb_read_number(first, &number) || !nb_read_number(colon + 1, &number))
        return nb_cli_fail(err, "%s '%.60s': two numbers must follow %.*s=, as in %s",
                           flag, text, (int)(equals - text), text, form);
    return NB_OK;
}

static nb_status take_bound(void *target, char **v, nb_error *err)
{
    (void)target;
    return check_pair("-bound", v[0], "name=low:high", err);
}

static nb_status take_restrain(void *target, char **v, nb_error *err)
{
    (void)target;
    return check_pair("-restrain", v[0], "name=value:sigma", err);
}

static const nb_sub_option nb_refine_flags[] = {
    {"refine", 1, "list",
     "parameters and groups (docs/physics.md, section 26), commas between; scale is "
     "fluence, misset is refined as rot",
     NB_SUB_NAME(nb_refine_typed, text)},
    {"system", 1, "name",
     "triclinic, monoclinic, orthorhombic, tetragonal, trigonal, hexagonal or cubic: "
     "ties "
     "and fixes parameters of the cell (default: triclinic)",
     NB_SUB_NAME(nb_refine_typed, text)},
    {"bound", 1, "name=lo:hi", "limits of a parameter; repeatable",
     NB_SUB_TAKE(take_bound)},
    {"restrain", 1, "name=x:s",
     "adds ((p - x)/s)^2/2 to the loss; s 0 holds p at x; repeatable",
     NB_SUB_TAKE(take_restrain)},
    {"joint", 1, "list",
     "names of -refine that all images have in common; the others are each image's own",
     NB_SUB_NAME(nb_refine_typed, joint)},
    {"likelihood", 1, "name", "poisson, or gauss with -readout_noise (default: poisson)",
     NB_SUB_NAME(nb_refine_typed, text)},
    {"fit_background", 1,
     "name", "water, radial:n, planes or none (default: water if the start has it, else radial:12)",
     NB_SUB_NAME(nb_refine_typed, text)},
    {"F_sigma", 1, "s",
     "relative standard deviation of the structure factors, for a scale of each "
     "reflection; 0: "
     "they are exact; auto: as the picture shows it (default: auto)",
     NB_SUB_TAKE(take_F)},
    {"select", 1, "name", "pixels of the last stages: spots or all (default: spots)",
     NB_SUB_NAME(nb_refine_typed, text)},
    {"spot_half", 1, "n", "half width of the box about a pixel of a spot (default: 3)",
     NB_SUB_WHOLE(nb_refine_typed, whole, 0, 1000)},
    {"spot_sigma", 1, "k", "least height of a spot above the background (default: 6)",
     NB_SUB_NUMBER(nb_refine_typed, number, 0, 1e6)},
    {"fit_dmin", 1, "d", "no pixels beyond this resolution, A (default: off)",
     NB_SUB_NUMBER(nb_refine_typed, number, 0, 1e6)},
    {"fit_dmax", 1, "d", "no pixels below this resolution, A (default: off)",
     NB_SUB_NUMBER(nb_refine_typed, number, 0, 1e6)},
    {"fit_mask", 1, "name",
     "auto: hot pixels, shadows and rings of ice are left out; file: only what -mask and "
     "the "
     "picture's file mark (default: auto)",
     NB_SUB_WORD(nb_refine_typed, word, masks)},
    {"schedule", 1, "name",
     "auto: blurred spots first, then a search over cells and mosaic spread, at the end "
     "a divergence or footprint where it explains more than it costs; plain: without "
     "them; "
     "none: the true shape at once (default: auto)",
     NB_SUB_WORD(nb_refine_typed, word, schedules)},
    {"maxiter", 1, "n", "evaluations in each of the last stages (default: 40)",
     NB_SUB_WHOLE(nb_refine_typed, whole, 1, 1000000)},
    {"series", 1, "file.h5:a-b", "frames a to b of an HDF5 file, each refined by itself",
     NB_SUB_NAME(nb_refine_typed, series)},
    {"orientations", 1, "file", "start of each frame, a line for each",
     NB_SUB_NAME(nb_refine_typed, orientations)},
    {"report", 1, "file",
     "results as JSON; of several images a line for each; a name in .html: a page for a "
     "browser, with each image before and after the fit",
     NB_SUB_NAME(nb_refine_typed, report)},
    {"page_frames", 1, "a-b",
     "images on the page of -report page.html, from 0, up to 64 (default: up to 16, "
     "evenly)",
     NB_SUB_TAKE(take_page_frames)},
    {"exptout", 1, "file", "crystal and geometry as DIALS JSON",
     NB_SUB_NAME(nb_refine_typed, exptout)},
    {"plots", 1, "folder", "pictures: spots, residuals, loss",
     NB_SUB_NAME(nb_refine_typed, plots)},
    {"residual", 1, "file", "float image of (observed - model)/sigma",
     NB_SUB_NAME(nb_refine_typed, residual)},
    NB_SUB_END};

/* nanobragg refine IMAGE flags -refine LIST */

/** A run of the command. */
typedef struct run {
    const nb_refine_typed *typed;
    const nb_sub_line *line;
    char **images; /* owned */
    int count;
} run;

static const nb_hooks hooks = {.notice = nb_cli_notice};

static nb_status no_memory(nb_error *err)
{
    return nb_fail(err, NB_ERR_NOMEM, "out of memory (names of images)");
}

/** Add the names file.h5:k of "file.h5:a-b" to the images. */
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

/** True for several images, or with a flag for several images. */
static int is_many(const run *r)
{
    return r->count > 1 || r->typed->series || r->typed->orientations;
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
    if (is_many(r) && (r->typed->plots || r->typed->residual))
        return nb_cli_fail(err, "-plots and -residual are of one image; refine one at a "
                                "time, or use -report");
    if (r->typed->page_count && !(is_many(r) && nb_is_page(r->typed->report)))
        return nb_cli_fail(err, "-page_frames chooses images of -report page.html of "
                                "several images");
    if (is_many(r) && r->typed->exptout && !r->typed->joint)
        return nb_cli_fail(err,
                           "-exptout is of one image, or of several with -joint; refine "
                           "one at a time, or use -report");
    if (!is_many(r) && r->typed->joint)
        return nb_cli_fail(err,
                           "-joint %.100s: one image has nothing in common with "
                           "another; name several, or use -series",
                           r->typed->joint);
    return NB_OK;
}

enum { PLOTS = 5, OWN = PLOTS + 4 };

/** Write the paths of the pictures of -plots; returns their number. */
static int plot_paths(const char *folder, char paths[PLOTS][NB_PATH_MAX])
{
    static const char *const names[PLOTS] = {"spots", "residuals", "resolution", "loss",
                                             "masked"};
    for (int n = 0; folder && n < PLOTS; n++)
        snprintf(paths[n], NB_PATH_MAX, "%.1000s/%s.svg", folder, names[n]);
    return folder ? PLOTS : 0;
}

/** List the files of the run: outputs, then images, then inputs of the configuration. */
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

/** Check that the folder of -plots can be made, or its first picture written. */
static nb_status check_plots(const char *folder, const char *first, nb_error *err)
{
    nb_status st = folder ? nb_check_output(first, err) : NB_OK;
    return st && access(folder, F_OK) ? nb_check_output(folder, err) : st;
}

/** Check the names of files before any work. */
static nb_status check_files(const run *r, nb_error *err)
{
    char paths[PLOTS][NB_PATH_MAX];
    nb_file_use *list = malloc(((size_t)r->count + NB_FILES_MAX + OWN) * sizeof *list);
    nb_status st = list ? NB_OK : no_memory(err);
    int outputs = 0;
    NB_TRY(nb_check_files(NULL, list, list_files(r, paths, list, &outputs), err));
    for (int i = 0; i < outputs && !st; i++)
        st = nb_check_output(list[i].path, err);
    NB_TRY(check_plots(r->typed->plots, paths[0], err));
    free(list);
    return st;
}

/** Print the configuration of the start. */
static nb_status show_start(const run *r, nb_error *err)
{
    nb_sim *sim = NULL;
    char *json = NULL;
    nb_status st = nb_sim_create(&r->line->cli.cfg, &hooks, &sim, err);
    NB_TRY(nb_sim_config_json(sim, &json, err));
    if (!st)
        puts(json);
    nb_free(json);
    nb_sim_free(sim);
    return st;
}

/** Check flags and files, then start the fit in Python (src/python/nanobragg/refine). */
static int start(void *target, nb_sub_line *line)
{
    run r = {.typed = target, .line = line};
    nb_error err = {0};
    int rank, ranks = nb_ranks_launched(&rank);
    nb_status st = list_images(&r, &err);
    if (!st && is_many(&r) && ranks > 1)
        st = nb_cli_fail(&err, "refine of several images has processes of its own, one a "
                               "thread (-threads); start it without mpirun");
    NB_TRY(check_files(&r, &err));
    if (!st && line->cli.show_config)
        st = show_start(&r, &err);
    for (int i = 0; i < r.count; i++)
        free(r.images[i]);
    free(r.images);
    if (st && (rank == 0 || !is_many(&r)))
        nb_cli_say("error", err.message[0] ? err.message : nb_status_name(st));
    return st || line->cli.show_config ? nb_cli_exit_status(st)
                                       : nb_python_verb(target, line);
}

_Static_assert(sizeof(nb_refine_typed) <= NB_SUB_TARGET, "raise NB_SUB_TARGET");

const nb_sub_command nb_command_refine = {
    .name = "refine",
    .usage = "IMAGE [flags of the start] -refine list [flags]",
    .what = "Fits crystal, detector and beam to a picture, pixel by pixel",
    .see = "refine.md",
    .options = nb_refine_flags,
    .borrowed = "* quiet noprogress show_config",
    .operands = 0,
    .more_operands = 1,
    .statuses =
        "0 converged, 3 not (the results are written, and say why), 2 bad input, 1 a "
        "file cannot be written, or no memory",
    .run = start,
};
