/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common.h"
#include "options.h"
#include "subcommands.h"
#include "sub.h"

/** Words typed after `nanobragg refine`. Python reads them again and checks their
 * meaning. */
typedef struct nb_refine_typed {
    int word, whole; /* values of flags that are only checked */
    double number;
    const char *text;
    const char *series, *orientations, *report, *exptout, *plots, *residual;
} nb_refine_typed;

/* The flags of nanobragg refine. */

static const char *const masks[] = {"auto", "file", NULL};
static const char *const schedules[] = {"auto", "none", "plain", NULL};

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
     NB_SUB_NAME(nb_refine_typed, text)},
    {"restrain", 1, "name=x:s",
     "adds ((p - x)/s)^2/2 to the loss; s 0 holds p at x; repeatable",
     NB_SUB_NAME(nb_refine_typed, text)},
    {"joint", 1, "list",
     "names of -refine that all images have in common; the others are each image's own",
     NB_SUB_NAME(nb_refine_typed, text)},
    {"likelihood", 1, "name", "poisson, or gauss with -readout_noise (default: poisson)",
     NB_SUB_NAME(nb_refine_typed, text)},
    {"fit_background", 1,
     "name", "water, radial:n, planes or none (default: water if the start has it, else radial:12)",
     NB_SUB_NAME(nb_refine_typed, text)},
    {"F_sigma", 1, "s",
     "relative standard deviation of the structure factors, for a scale of each "
     "reflection; 0: "
     "they are exact; auto: as the picture shows it (default: auto)",
     NB_SUB_NAME(nb_refine_typed, text)},
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
     NB_SUB_NAME(nb_refine_typed, text)},
    {"exptout", 1, "file", "crystal and geometry as DIALS JSON",
     NB_SUB_NAME(nb_refine_typed, exptout)},
    {"plots", 1, "folder", "pictures: spots, residuals, loss",
     NB_SUB_NAME(nb_refine_typed, plots)},
    {"residual", 1, "file", "float image of (observed - model)/sigma",
     NB_SUB_NAME(nb_refine_typed, residual)},
    NB_SUB_END};

/* nanobragg refine IMAGE flags -refine LIST */

enum { PLOTS = 5, OWN = PLOTS + 5 };

/** Write the paths of the pictures of -plots; returns their number. */
static int plot_paths(const char *folder, char paths[PLOTS + 1][NB_PATH_MAX])
{
    static const char *const names[PLOTS] = {"spots", "residuals", "resolution", "loss",
                                             "masked"};
    for (int n = 0; folder && n < PLOTS; n++)
        snprintf(paths[n], NB_PATH_MAX, "%.1000s/%s.svg", folder, names[n]);
    return folder ? PLOTS : 0;
}

/** List the files of the run: outputs, then images, then inputs of the configuration.
 * paths: room for the names of the pictures and of the file of -series. */
static int list_files(const nb_refine_typed *t, const nb_sub_line *line,
                      char paths[PLOTS + 1][NB_PATH_MAX], nb_file_use *list, int *outputs)
{
    const nb_file_use own[] = {{"-report", t->report, 1},
                               {"-exptout", t->exptout, 1},
                               {"-residual", t->residual, 1}};
    const char *colon = t->series ? strrchr(t->series, ':') : NULL;
    int n = 0, plots = plot_paths(t->plots, paths);
    for (int i = 0; i < 3; i++)
        if (own[i].path)
            list[n++] = own[i];
    *outputs = n;
    for (int i = 0; i < plots; i++)
        list[n++] = (nb_file_use){"-plots", paths[i], 1};
    if (t->orientations)
        list[n++] = (nb_file_use){"-orientations", t->orientations, 0};
    if (colon) {
        snprintf(paths[PLOTS], NB_PATH_MAX, "%.*s", (int)(colon - t->series), t->series);
        list[n++] = (nb_file_use){"-series", paths[PLOTS], 0};
    }
    for (int i = 0; i < line->operand_count; i++)
        list[n++] = (nb_file_use){"IMAGE", line->operands[i], 0};
    return n + nb_config_inputs(&line->cli.cfg, list + n);
}

/** Check that the folder of -plots can be made, or if it exists that its first picture
 * can be written. */
static nb_status check_plots(const char *folder, const char *first, nb_error *err)
{
    nb_status st = folder ? nb_check_output(first, err) : NB_OK;
    return st && access(folder, F_OK) ? nb_check_output(folder, err) : st;
}

/** Check the names of files before any work. */
static nb_status check_files(const nb_refine_typed *t, const nb_sub_line *line,
                             nb_error *err)
{
    char paths[PLOTS + 1][NB_PATH_MAX];
    nb_file_use list[NB_OPERANDS_MAX + NB_FILES_MAX + OWN];
    int outputs, n = list_files(t, line, paths, list, &outputs);
    nb_status st = nb_check_files(NULL, list, n, err);
    for (int i = 0; i < outputs; i++)
        NB_TRY(nb_check_output(list[i].path, err));
    NB_TRY(check_plots(t->plots, paths[0], err));
    return st;
}

/** Check the files, then start the fit in Python (src/python/nanobragg/refine). */
static int start(void *target, nb_sub_line *line)
{
    const nb_refine_typed *t = target;
    const int is_many = line->operand_count > 1 || t->series || t->orientations;
    nb_error err = {0};
    int rank, ranks = nb_ranks_launched(&rank);
    nb_status st =
        is_many && ranks > 1
            ? nb_cli_fail(&err, "refine of several images has processes of its "
                                "own, one a thread (-threads); start it without "
                                "mpirun")
            : check_files(t, line, &err);
    if (!st)
        return nb_python_verb(target, line);
    return rank == 0 || !is_many ? nb_cli_end(st, &err) : nb_cli_exit_status(st);
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
