/* SPDX-License-Identifier: MIT */
/* The flags of nanobragg refine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "refine.h"

static const char *const systems[] = {"triclinic",  "monoclinic", "orthorhombic",
                                      "tetragonal", "trigonal",   "hexagonal",
                                      "cubic",      NULL};
static const char *const likelihoods[] = {"poisson", "gauss", NULL};
static const char *const selections[] = {"spots", "all", NULL};
static const char *const schedules[] = {"auto", "none", NULL};

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

const nb_sub_option nb_refine_flags[] = {
    {"refine", 1, "list",
     "parameters and groups of docs/derivatives.md, commas between; scale is fluence, "
     "misset is refined as rot",
     NB_SUB_NAME(nb_refine_typed, options.list)},
    {"system", 1, "name",
     "triclinic, monoclinic, orthorhombic, tetragonal, trigonal, hexagonal or cubic: "
     "ties "
     "and fixes parameters of the cell (default: triclinic)",
     NB_SUB_WORD(nb_refine_typed, options.system, systems)},
    {"bound", 1, "name=lo:hi", "the value stays inside; repeatable",
     NB_SUB_TAKE(take_bound)},
    {"restrain", 1, "name=x:s",
     "adds ((p - x)/s)^2/2 to the loss; s 0 holds p at x; repeatable",
     NB_SUB_TAKE(take_restrain)},
    {"likelihood", 1, "name", "poisson, or gauss with -readout_noise (default: poisson)",
     NB_SUB_WORD(nb_refine_typed, options.likelihood, likelihoods)},
    {"fit_background", 1,
     "name", "water, radial:n, planes or none (default: water if the start has it, else radial:12)",
     NB_SUB_TAKE(take_background)},
    {"select", 1, "name", "pixels of the last stages: spots or all (default: spots)",
     NB_SUB_WORD(nb_refine_typed, options.select_all, selections)},
    {"spot_half", 1, "n", "half width of the box about a pixel of a spot (default: 3)",
     NB_SUB_WHOLE(nb_refine_typed, options.spot_half, 0, 1000)},
    {"spot_sigma", 1, "k", "how far above the background a spot begins (default: 6)",
     NB_SUB_NUMBER(nb_refine_typed, options.spot_sigma, 0, 1e6)},
    {"fit_dmin", 1, "d", "pixels of smaller d are not used, A (default: off)",
     NB_SUB_NUMBER(nb_refine_typed, options.dmin_A, 0, 1e6)},
    {"fit_dmax", 1, "d", "pixels of larger d are not used, A (default: off)",
     NB_SUB_NUMBER(nb_refine_typed, options.dmax_A, 0, 1e6)},
    {"schedule", 1, "name",
     "auto: blurred spots first, then a search over cells and mosaic spread; none: the "
     "true "
     "shape at once (default: auto)",
     NB_SUB_WORD(nb_refine_typed, options.no_schedule, schedules)},
    {"maxiter", 1, "n", "evaluations in each of the last stages (default: 40)",
     NB_SUB_WHOLE(nb_refine_typed, options.evaluations, 1, 1000000)},
    {"series", 1, "file.h5:a-b", "frames a to b of an HDF5 file, each refined by itself",
     NB_SUB_NAME(nb_refine_typed, series)},
    {"orientations", 1, "file", "the start of each frame, a line for each",
     NB_SUB_NAME(nb_refine_typed, orientations)},
    {"report", 1, "file", "results as JSON; of several images a line for each",
     NB_SUB_NAME(nb_refine_typed, report)},
    {"exptout", 1, "file", "crystal and geometry as DIALS JSON",
     NB_SUB_NAME(nb_refine_typed, exptout)},
    {"plots", 1, "folder", "pictures: spots, residuals, loss",
     NB_SUB_NAME(nb_refine_typed, plots)},
    {"residual", 1, "file", "float image of (observed - model)/sigma",
     NB_SUB_NAME(nb_refine_typed, residual)},
    NB_SUB_END};

void nb_refine_typed_defaults(void *target)
{
    nb_refine_typed *t = target;
    memset(t, 0, sizeof *t);
    nb_refine_defaults(&t->options);
}
