/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"
#include "options.h"
#include "outputs.h"
#include "progress.h"
#include "subcommands.h"
#include "sub.h"

enum { NB_REFINE_PAIRS = 48 };

/** What was typed behind `nanobragg refine`. */
typedef struct nb_refine_typed {
    nb_refine_options options;
    nb_refine_pair bounds[NB_REFINE_PAIRS], restraints[NB_REFINE_PAIRS];
    char names[2 * NB_REFINE_PAIRS][48]; /* of both */
    int n_names;
    const char *series, *orientations;
    const char *report, *exptout, *plots, *residual;
    int page_first, page_count; /* count 0: not typed */
} nb_refine_typed;

/* The flags of nanobragg refine. */

static const char *const systems[] = {"triclinic",  "monoclinic", "orthorhombic",
                                      "tetragonal", "trigonal",   "hexagonal",
                                      "cubic",      NULL};
static const char *const likelihoods[] = {"poisson", "gauss", NULL};
static const char *const selections[] = {"spots", "all", NULL};
static const char *const masks[] = {"auto", "file", NULL};
static const char *const schedules[] = {"auto", "none", "plain", NULL};

_Static_assert(sizeof(nb_crystal_system) == sizeof(int) &&
                   sizeof(nb_likelihood) == sizeof(int),
               "words are stored as int");

static nb_status take_background(void *target, char **v, nb_error *err)
{
    static const char *const names[] = {"water", "radial:n", "planes", "none", NULL};
    nb_refine_options *o = &((nb_refine_typed *)target)->options;
    int k = 0;
    nb_status st;
    if (!strncmp(v[0], "radial:", 7)) {
        o->background = NB_BACKGROUND_RADIAL;
        if (nb_read_whole(v[0] + 7, 1, NB_FIT_KNOTS_MAX, &o->knots))
            return NB_OK;
        return nb_cli_fail(
            err,
            "-fit_background '%.60s': the number of knots must be from 1 to "
            "%d",
            v[0], NB_FIT_KNOTS_MAX);
    }
    st = nb_sub_word("-fit_background", v[0], names, &k, err);
    if (!st && k == 1)
        return nb_cli_fail(err, "-fit_background '%.60s': write radial:12", v[0]);
    o->background = (nb_fit_background)(k + NB_BACKGROUND_WATER);
    return st;
}

static nb_status take_F(void *target, char **v, nb_error *err)
{
    nb_refine_options *o = &((nb_refine_typed *)target)->options;
    if (!strcmp(v[0], "auto"))
        o->F_sigma = -1;
    else if (!nb_read_number(v[0], &o->F_sigma) || !(o->F_sigma >= 0 && o->F_sigma <= 2))
        return nb_cli_fail(
            err,
            "-F_sigma '%.60s': write auto, or the relative standard deviation "
            "of F, from 0 (exact) to 2",
            v[0]);
    return NB_OK;
}

/** "a-b". */
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

/** "name=a:b". */
static nb_status read_pair(nb_refine_typed *t, const char *flag, const char *text,
                           const char *form, nb_refine_pair *out, nb_error *err)
{
    const char *equals = strchr(text, '='), *colon = equals ? strchr(equals, ':') : NULL;
    char first[64];
    size_t n = equals ? (size_t)(equals - text) : 0;
    char *name = t->names[t->n_names];
    if (!colon || n == 0 || n >= sizeof t->names[0] ||
        (size_t)(colon - equals) > sizeof first)
        return nb_cli_fail(err, "%s '%.60s': write it as %s", flag, text, form);
    snprintf(name, sizeof t->names[0], "%.*s", (int)n, text);
    snprintf(first, sizeof first, "%.*s", (int)(colon - equals - 1), equals + 1);
    if (!nb_read_number(first, &out->a) || !nb_read_number(colon + 1, &out->b))
        return nb_cli_fail(err, "%s '%.60s': two numbers must follow %.40s=, as in %s",
                           flag, text, name, form);
    out->name = name;
    t->n_names++;
    return NB_OK;
}

static nb_status take_bound(void *target, char **v, nb_error *err)
{
    nb_refine_typed *t = target;
    if (t->options.n_bounds == NB_REFINE_PAIRS)
        return nb_cli_fail(err, "-bound: at most %d of them", NB_REFINE_PAIRS);
    return read_pair(t, "-bound", v[0], "name=low:high",
                     &t->bounds[t->options.n_bounds++], err);
}

static nb_status take_restrain(void *target, char **v, nb_error *err)
{
    nb_refine_typed *t = target;
    if (t->options.n_restraints == NB_REFINE_PAIRS)
        return nb_cli_fail(err, "-restrain: at most %d of them", NB_REFINE_PAIRS);
    return read_pair(t, "-restrain", v[0], "name=value:sigma",
                     &t->restraints[t->options.n_restraints++], err);
}

static const nb_sub_option nb_refine_flags[] = {
    {"refine", 1, "list",
     "parameters and groups of docs/derivatives.md, commas between; scale is fluence, "
     "misset is refined as rot",
     NB_SUB_NAME(nb_refine_typed, options.list)},
    {"system", 1, "name",
     "triclinic, monoclinic, orthorhombic, tetragonal, trigonal, hexagonal or cubic: "
     "ties "
     "and fixes parameters of the cell (default: triclinic)",
     NB_SUB_WORD(nb_refine_typed, options.system, systems)},
    {"bound", 1, "name=lo:hi", "limits of a parameter; repeatable",
     NB_SUB_TAKE(take_bound)},
    {"restrain", 1, "name=x:s",
     "adds ((p - x)/s)^2/2 to the loss; s 0 holds p at x; repeatable",
     NB_SUB_TAKE(take_restrain)},
    {"joint", 1, "list",
     "names of -refine that all images have in common; the others are each image's own",
     NB_SUB_NAME(nb_refine_typed, options.joint)},
    {"likelihood", 1, "name", "poisson, or gauss with -readout_noise (default: poisson)",
     NB_SUB_WORD(nb_refine_typed, options.likelihood, likelihoods)},
    {"fit_background", 1,
     "name", "water, radial:n, planes or none (default: water if the start has it, else radial:12)",
     NB_SUB_TAKE(take_background)},
    {"F_sigma", 1, "s",
     "relative standard deviation of the structure factors, for a scale of each "
     "reflection; 0: "
     "they are exact; auto: as the picture shows it (default: auto)",
     NB_SUB_TAKE(take_F)},
    {"select", 1, "name", "pixels of the last stages: spots or all (default: spots)",
     NB_SUB_WORD(nb_refine_typed, options.select_all, selections)},
    {"spot_half", 1, "n", "half width of the box about a pixel of a spot (default: 3)",
     NB_SUB_WHOLE(nb_refine_typed, options.spot_half, 0, 1000)},
    {"spot_sigma", 1, "k", "least height of a spot above the background (default: 6)",
     NB_SUB_NUMBER(nb_refine_typed, options.spot_sigma, 0, 1e6)},
    {"fit_dmin", 1, "d", "no pixels beyond this resolution, A (default: off)",
     NB_SUB_NUMBER(nb_refine_typed, options.dmin_A, 0, 1e6)},
    {"fit_dmax", 1, "d", "no pixels below this resolution, A (default: off)",
     NB_SUB_NUMBER(nb_refine_typed, options.dmax_A, 0, 1e6)},
    {"fit_mask", 1, "name",
     "auto: hot pixels, shadows and rings of ice are left out; file: only what -mask and "
     "the "
     "picture's file mark (default: auto)",
     NB_SUB_WORD(nb_refine_typed, options.no_masks, masks)},
    {"schedule", 1, "name",
     "auto: blurred spots first, then a search over cells and mosaic spread, at the end "
     "a divergence or footprint where it explains more than it costs; plain: without "
     "them; "
     "none: the true shape at once (default: auto)",
     NB_SUB_WORD(nb_refine_typed, options.schedule, schedules)},
    {"maxiter", 1, "n", "evaluations in each of the last stages (default: 40)",
     NB_SUB_WHOLE(nb_refine_typed, options.evaluations, 1, 1000000)},
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

static void typed_defaults(void *target)
{
    nb_refine_typed *t = target;
    memset(t, 0, sizeof *t);
    nb_refine_defaults(&t->options);
}

/* A fit in words. */

/* A line for a stage, and the table at the end. */
static void print_stage(FILE *out, const nb_refine_stage *s)
{
    const int images = !strncmp(s->name, "search", 6) || !strcmp(s->name, "orientations");
    fprintf(out, "%-18s %8lld pixels %4d %s  loss %.6g%s  %.3f s\n", s->name,
            (long long)s->pixels, s->evaluations, images ? "images     " : "evaluations",
            s->loss, s->converged ? "" : " (still falling)", s->seconds);
    fflush(out);
}

/** The first pixels of a list. */
static void print_places(FILE *out, const int (*at)[2], int n)
{
    for (int i = 0; i < n && i < 4; i++)
        fprintf(out, "%s%d %d%s", i ? ", " : " (", at[i][0], at[i][1],
                i == 3 || i == n - 1 ? ")" : "");
}

/** What is masked, and where. */
static void print_masks(FILE *out, const nb_refine_masked *m)
{
    const char *const names[NB_MASKED_KINDS] = {
        "",         "in the file",     "saturated", "hot", "in a shadow",
        "on rings", "of foreign spots"};
    const char *comma = "masked pixels: ";
    for (int k = NB_MASKED_FILE; k < NB_MASKED_KINDS; k++) {
        if (!m->count[k])
            continue;
        fprintf(out, "%s%lld %s", comma, (long long)m->count[k], names[k]);
        comma = ", ";
        if (k == NB_MASKED_HOT)
            print_places(out, m->hot, m->n_hot);
        if (k == NB_MASKED_FOREIGN)
            print_places(out, m->foreign, m->n_foreign);
        if (k == NB_MASKED_SHADOW)
            fprintf(out, " (from %d %d to %d %d)", m->shadow[0], m->shadow[1],
                    m->shadow[2], m->shadow[3]);
        for (int i = 0; k == NB_MASKED_RING && i < m->n_rings; i++)
            fprintf(out, "%s%.3f-%.3f A%s", i ? ", " : " (", m->ring_d[i][0],
                    m->ring_d[i][1], i == m->n_rings - 1 ? ")" : "");
    }
    if (*comma == ',')
        fputc('\n', out);
}

static void refine_print(FILE *out, const nb_refinement *r)
{
    fputc('\n', out);
    print_masks(out, &r->masks);
    fprintf(out, "parameter                 start            value        sigma  unit\n");
    for (int i = 0; i < r->n_parameters; i++) {
        const nb_refined *p = &r->parameters[i];
        char sigma[24] = "-";
        if (!isnan(p->sigma))
            snprintf(sigma, sizeof sigma, "%.2g", p->sigma);
        fprintf(out, "%-16s %14.8g %16.9g %12s  %s%s\n", p->name, p->start, p->value,
                sigma, p->unit, p->at_bound ? " (at its bound)" : "");
    }
    if (r->rotated)
        fprintf(out,
                "misset           %.5f %.5f %.5f deg, sigma about the lab axes %.2g %.2g "
                "%.2g deg\n",
                r->misset_deg[0], r->misset_deg[1], r->misset_deg[2],
                r->rotation_sigma_deg[0], r->rotation_sigma_deg[1],
                r->rotation_sigma_deg[2]);
    if (r->F_sigma > 0)
        fprintf(out,
                "scales of reflections: F are right to %.2g; correlation without scales "
                "%.4f\n",
                r->F_sigma, r->given_F_correlation);
    fprintf(out, "%s: deviance per pixel %.4f over %lld pixels, ", r->status,
            r->deviance_per_pixel, (long long)r->pixels);
    if (r->pictures)
        fprintf(out, "%d pictures, %d left out, ", r->pictures, r->left_out);
    else
        fprintf(out, "correlation %.4f, ", r->picture_correlation);
    fprintf(out, "%d evaluations, ", r->evaluations);
    if (r->images) /* of a joint refinement they are not counted */
        fprintf(out, "%d images, ", r->images);
    fprintf(out, "%.2f s\n", r->seconds);
}

/* nanobragg refine IMAGE flags -refine LIST */

enum { NOT_CONVERGED = 3 };

/** A run of the command. */
typedef struct run {
    nb_refine_typed *typed;
    const nb_sub_line *line;
    FILE *text;      /* NULL: quiet */
    nb_ranks *ranks; /* owned; NULL: one process */
    char **images;   /* owned */
    int count, lost;
    char command[sizeof(((nb_config *)0)->command_line)];
} run;

/** The first process speaks for all. */
static int first_rank(void)
{
    int rank;
    nb_ranks_launched(&rank);
    return rank == 0;
}

/** shared: NULL, or what the processes share. */
static void notice(void *shared, const char *line)
{
    if (!shared || first_rank())
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
        print_stage(r->text, stage);
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

/** Images of several, or with what several have: all processes share them. */
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
    if (is_many(r) && r->typed->exptout && !r->typed->options.joint)
        return nb_cli_fail(err,
                           "-exptout is of one image, or of several with -joint; refine "
                           "one at a time, or use -report");
    if (!is_many(r) && r->typed->options.joint)
        return nb_cli_fail(err,
                           "-joint %.100s: one image has nothing in common with "
                           "another; name several, or use -series",
                           r->typed->options.joint);
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

/** The words of the run into r->command, for pages. */
static void note_command(run *r)
{
    nb_cli_join(r->line->word_count + 2, r->line->words - 2, r->command,
                sizeof r->command);
}

static nb_status write_report(const run *r, const nb_sim *sim,
                              const nb_refinement *result, nb_error *err)
{
    char *json = NULL;
    nb_status st;
    if (nb_is_page(r->typed->report))
        return nb_refinement_page(sim, result, r->command, r->typed->report, err);
    st = nb_refinement_json(result, &json, err);
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
    nb_status st = t->report ? write_report(r, sim, result, err) : NB_OK;
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
    result.picture = r->images[0];
    if (!st && r->text)
        refine_print(r->text, &result);
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
    char time[32] = ""; /* of a joint refinement it is that of all pictures */
    if (result && result->seconds > 0)
        snprintf(time, sizeof time, ", %.2f s", result->seconds);
    if (r->text && result)
        fprintf(r->text, "%s: %s, deviance per pixel %.4f, correlation %.4f%s\n",
                r->images[frame], result->status, result->deviance_per_pixel,
                result->picture_correlation, time);
    if (!result)
        nb_cli_say("error", why);
    return nb_stop_requested();
}

static void common_done(void *user, const nb_refinement *common)
{
    const run *r = user;
    if (r->text)
        refine_print(r->text, common);
}

static nb_status refine_many(run *r, nb_error *err)
{
    const nb_refine_typed *t = r->typed;
    nb_refine_frames frames = {.images = (const char *const *)r->images,
                               .count = r->count,
                               .orientations = t->orientations,
                               .user = r,
                               .done = frame_done,
                               .report = t->report,
                               .ranks = r->ranks,
                               .joint = common_done,
                               .exptout = t->exptout,
                               .lost = &r->lost,
                               .page_first = t->page_first,
                               .page_count = t->page_count,
                               .command = r->command};
    const nb_hooks shared = {r, notice, progress};
    nb_status st = nb_refine_series(&r->line->cli.cfg, &frames, &t->options, &shared, err);
    if (!st && r->text && first_rank())
        fprintf(r->text, "%d of %d images converged\n", r->count - r->lost, r->count);
    return st;
}

static nb_status refine_any(run *r, nb_error *err)
{
    nb_status st;
    if (!is_many(r))
        return refine_one(r, err);
    st = nb_ranks_join(&r->ranks, err);
    return st ? st : refine_many(r, err);
}

/** The exit status.  With several processes the first one reports the error. */
static int end(run *r, nb_status st, const nb_error *err)
{
    for (int i = 0; i < r->count; i++)
        free(r->images[i]);
    free(r->images);
    if (st) {
        fflush(stdout);
        if (!is_many(r) || first_rank() || (r->ranks && err->message[0]))
            nb_cli_say("error", err->message[0] ? err->message : nb_status_name(st));
    }
    nb_ranks_leave(r->ranks);
    if (st)
        return nb_cli_exit_status(st);
    return r->lost && first_rank() ? NOT_CONVERGED : 0;
}

/** The configuration of the start. */
static nb_status show_start(const run *r, nb_error *err)
{
    nb_sim *sim = NULL;
    char *json = NULL;
    nb_status st = nb_sim_create(&r->line->cli.cfg, &hooks, &sim, err);
    if (!st)
        st = nb_sim_config_json(sim, &json, err);
    if (!st)
        puts(json);
    nb_free(json);
    nb_sim_free(sim);
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
    t->options.keep_start = nb_is_page(t->report);
    note_command(&r);
    r.text = line->cli.quiet                        ? NULL
             : t->report && nb_is_stdout(t->report) ? stderr
                                                    : stdout;
    nb_stop_on_signals();
    st = list_images(&r, &err);
    if (!st)
        st = check_files(&r, &err);
    if (!st)
        st = line->cli.show_config ? show_start(&r, &err) : refine_any(&r, &err);
    return end(&r, st, &err);
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
    .defaults = typed_defaults,
    .run = start,
};
