/* SPDX-License-Identifier: MIT */
/* The flags of nanobragg refine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "refine.h"

static nb_status take_name(const char **to, const char *flag, char **v, nb_error *err)
{
    *to = v[0];
    return *v[0] ? NB_OK : nb_cli_fail(err, "%s '': the name is empty", flag);
}

static nb_status take_list(void *target, char **v, nb_error *err)
{
    return take_name(&((nb_refine_typed *)target)->options.list, "-refine", v, err);
}

static nb_status take_report(void *target, char **v, nb_error *err)
{
    return take_name(&((nb_refine_typed *)target)->report, "-report", v, err);
}

static nb_status take_exptout(void *target, char **v, nb_error *err)
{
    return take_name(&((nb_refine_typed *)target)->exptout, "-exptout", v, err);
}

static nb_status take_plots(void *target, char **v, nb_error *err)
{
    return take_name(&((nb_refine_typed *)target)->plots, "-plots", v, err);
}

static nb_status take_residual(void *target, char **v, nb_error *err)
{
    return take_name(&((nb_refine_typed *)target)->residual, "-residual", v, err);
}

static nb_status take_series(void *target, char **v, nb_error *err)
{
    return take_name(&((nb_refine_typed *)target)->series, "-series", v, err);
}

static nb_status take_orientations(void *target, char **v, nb_error *err)
{
    return take_name(&((nb_refine_typed *)target)->orientations, "-orientations", v, err);
}

/** The number of a word in a list of names. */
static nb_status choose(const char *flag, const char *word, const char *const *names,
                        int *out, nb_error *err)
{
    char all[200] = "";
    for (int i = 0; names[i]; i++) {
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", names[i]);
        if (!strcmp(word, names[i])) {
            *out = i;
            return NB_OK;
        }
    }
    return nb_cli_fail(err, "%s '%.60s': must be one of %s", flag, word, all);
}

static nb_status take_system(void *target, char **v, nb_error *err)
{
    static const char *const names[] = {"triclinic",  "monoclinic", "orthorhombic",
                                        "tetragonal", "trigonal",   "hexagonal",
                                        "cubic",      NULL};
    int k = 0;
    nb_status st = choose("-system", v[0], names, &k, err);
    ((nb_refine_typed *)target)->options.system = (nb_crystal_system)k;
    return st;
}

static nb_status take_likelihood(void *target, char **v, nb_error *err)
{
    static const char *const names[] = {"poisson", "gauss", NULL};
    int k = 0;
    nb_status st = choose("-likelihood", v[0], names, &k, err);
    ((nb_refine_typed *)target)->options.likelihood = (nb_likelihood)k;
    return st;
}

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
    st = choose("-fit_background", v[0], names, &k, err);
    if (!st && k == 1)
        return nb_cli_fail(err, "-fit_background '%.60s': write radial:12", v[0]);
    o->background = (nb_fit_background)(k + NB_BACKGROUND_WATER);
    return st;
}

static nb_status take_select(void *target, char **v, nb_error *err)
{
    static const char *const names[] = {"spots", "all", NULL};
    return choose("-select", v[0], names,
                  &((nb_refine_typed *)target)->options.select_all, err);
}

static nb_status take_half(void *target, char **v, nb_error *err)
{
    return nb_sub_whole("-spot_half", v[0], 0, 1000,
                        &((nb_refine_typed *)target)->options.spot_half, err);
}

static nb_status take_sigma(void *target, char **v, nb_error *err)
{
    return nb_sub_number("-spot_sigma", v[0], 0, 1e6,
                         &((nb_refine_typed *)target)->options.spot_sigma, err);
}

static nb_status take_dmin(void *target, char **v, nb_error *err)
{
    return nb_sub_number("-fit_dmin", v[0], 0, 1e6,
                         &((nb_refine_typed *)target)->options.dmin_A, err);
}

static nb_status take_dmax(void *target, char **v, nb_error *err)
{
    return nb_sub_number("-fit_dmax", v[0], 0, 1e6,
                         &((nb_refine_typed *)target)->options.dmax_A, err);
}

static nb_status take_schedule(void *target, char **v, nb_error *err)
{
    static const char *const names[] = {"auto", "none", NULL};
    return choose("-schedule", v[0], names,
                  &((nb_refine_typed *)target)->options.no_schedule, err);
}

static nb_status take_maxiter(void *target, char **v, nb_error *err)
{
    return nb_sub_whole("-maxiter", v[0], 1, 1000000,
                        &((nb_refine_typed *)target)->options.evaluations, err);
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
     take_list},
    {"system", 1, "name",
     "triclinic, monoclinic, orthorhombic, tetragonal, trigonal, hexagonal or cubic: "
     "ties "
     "and fixes parameters of the cell (default: triclinic)",
     take_system},
    {"bound", 1, "name=lo:hi", "the value stays inside; repeatable", take_bound},
    {"restrain", 1, "name=x:s",
     "adds ((p - x)/s)^2/2 to the loss; s 0 holds p at x; repeatable", take_restrain},
    {"likelihood", 1, "name", "poisson, or gauss with -readout_noise (default: poisson)",
     take_likelihood},
    {"fit_background", 1,
     "name", "water, radial:n, planes or none (default: water if the start has it, else radial:12)",
     take_background},
    {"select", 1, "name", "pixels of the last stages: spots or all (default: spots)",
     take_select},
    {"spot_half", 1, "n", "half width of the box about a pixel of a spot (default: 3)",
     take_half},
    {"spot_sigma", 1, "k", "how far above the background a spot begins (default: 6)",
     take_sigma},
    {"fit_dmin", 1, "d", "pixels of smaller d are not used, A (default: off)", take_dmin},
    {"fit_dmax", 1, "d", "pixels of larger d are not used, A (default: off)", take_dmax},
    {"schedule", 1, "name",
     "auto: blurred spots first, then a search over cells and mosaic spread; none: the "
     "true "
     "shape at once (default: auto)",
     take_schedule},
    {"maxiter", 1, "n", "evaluations in each of the last stages (default: 40)",
     take_maxiter},
    {"series", 1, "file.h5:a-b", "frames a to b of an HDF5 file, each refined by itself",
     take_series},
    {"orientations", 1, "file", "the start of each frame, a line for each",
     take_orientations},
    {"report", 1, "file", "results as JSON; of several images a line for each",
     take_report},
    {"exptout", 1, "file", "crystal and geometry as DIALS JSON", take_exptout},
    {"plots", 1, "folder", "pictures: spots, residuals, loss", take_plots},
    {"residual", 1, "file", "float image of (observed - model)/sigma", take_residual},
    {NULL, 0, NULL, NULL, NULL}};

void nb_refine_typed_defaults(void *target)
{
    nb_refine_typed *t = target;
    memset(t, 0, sizeof *t);
    nb_refine_defaults(&t->options);
}
