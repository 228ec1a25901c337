/* SPDX-License-Identifier: MIT */
/* Which parameters a fit has: names, ties of the crystal's system, bounds, and sets that no image tells
 * apart. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/error.h"
#include "../sim/sim.h"
#include "fit.h"

enum { CELL = 6 };
static const char *const cell_names[CELL] = {"cell_a",  "cell_b",  "cell_c",
                                             "cell_al", "cell_be", "cell_ga"};

/** For each of the cell's six: the number it equals (its own: free), or -1 and the angle it has. */
typedef struct ties {
    int tied[CELL];
    double angle[CELL];
} ties;

#define FIXED(x) -1, x
static const int tied_of[][CELL] = {
    [NB_SYSTEM_TRICLINIC] = {0, 1, 2, 3, 4, 5},
    [NB_SYSTEM_MONOCLINIC] = {0, 1, 2, -1, 4, -1},
    [NB_SYSTEM_ORTHORHOMBIC] = {0, 1, 2, -1, -1, -1},
    [NB_SYSTEM_TETRAGONAL] = {0, 0, 2, -1, -1, -1},
    [NB_SYSTEM_TRIGONAL] = {0, 0, 0, 3, 3, 3},
    [NB_SYSTEM_HEXAGONAL] = {0, 0, 2, -1, -1, -1},
    [NB_SYSTEM_CUBIC] = {0, 0, 0, -1, -1, -1},
};

static double angle_of(nb_crystal_system system, int i)
{
    return system == NB_SYSTEM_HEXAGONAL && i == 5 ? 120 : 90;
}

int nb_fit_find(const nb_fit_list *list, const char *name)
{
    for (int i = 0; i < list->count; i++)
        if (!strcmp(list->p[i].name, name))
            return i;
    return -1;
}

int nb_fit_refines(const nb_fit *fit, const char *name)
{
    int at = nb_fit_find(&fit->list, name);
    return at >= 0 && !fit->list.p[at].fixed;
}

int nb_fit_refines_cells(const nb_fit *fit)
{
    return nb_fit_refines(fit, "N_a") || nb_fit_refines(fit, "N_b") ||
           nb_fit_refines(fit, "N_c");
}

/** The list with the words of a fit put into those of derivatives. */
nb_status nb_fit_translate(const char *list, char *out, size_t size, nb_error *err)
{
    size_t used = 0;
    out[0] = '\0';
    if (!list || !*list)
        return nb_fail(err, NB_ERR_INPUT,
                       "-refine is missing: name what is refined, as in -refine "
                       "rot,cell,scale");
    while (*list) {
        size_t n = strcspn(list, ",");
        char word[NB_VARIABLE_NAME];
        const char *put = word;
        if (n >= sizeof word)
            return nb_fail(err, NB_ERR_INPUT, "-refine %.60s...: the name is too long",
                           list);
        snprintf(word, sizeof word, "%.*s", (int)n, list);
        if (!strcmp(word, "scale"))
            put = "fluence";
        if (!strcmp(word, "image"))
            return nb_fail(
                err, NB_ERR_INPUT,
                "-refine image: image is the name of a plane and no parameter; "
                "leave it out");
        if (!strcmp(word, "misset"))
            put = "rot";
        else if (!strncmp(word, "misset", 6))
            return nb_fail(err, NB_ERR_INPUT,
                           "-refine %s: a fit turns the crystal about all axes; write "
                           "misset, or rot",
                           word);
        used += (size_t)snprintf(out + used, size - used, "%s%s", used ? "," : "", put);
        if (used >= size)
            return nb_fail(err, NB_ERR_INPUT, "-refine: the list is too long");
        list += n + (list[n] == ',');
    }
    return NB_OK;
}

static nb_fit_map map_of(const char *name)
{
    if (!strcmp(name, "fluence") || !strcmp(name, "water") || !strcmp(name, "mosaic") ||
        !strcmp(name, "footprint_a") || !strcmp(name, "footprint_b") ||
        !strcmp(name, "hdivrange") || !strcmp(name, "vdivrange"))
        return NB_MAP_LOG;
    if (!strcmp(name, "N_a") || !strcmp(name, "N_b") || !strcmp(name, "N_c"))
        return NB_MAP_LOG_CELLS;
    return NB_MAP_LINEAR;
}

nb_status nb_fit_add(nb_fit *fit, const char *name, nb_error *err)
{
    nb_fit_list *list = &fit->list;
    nb_fit_parameter *p = &list->p[list->count];
    nb_variable v;
    nb_status st;
    if (nb_fit_find(list, name) >= 0)
        return NB_OK;
    if (list->count == NB_FIT_MOST)
        return nb_fail(err, NB_ERR_INPUT, "-refine: more than %d parameters", NB_FIT_MOST);
    if ((st = nb_sim_parameter(fit->sim, name, &v, err)))
        return st;
    if (!v.can_move)
        return nb_fail(err, NB_ERR_INPUT, "-refine %s: it moves no pixel: %s", v.name,
                       v.why_not);
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "%s", v.name);
    p->unit = v.unit;
    p->start = p->value = v.value;
    p->map = map_of(v.name);
    p->tied = list->count++;
    return NB_OK;
}

static nb_status break_error(nb_fit *fit, int i, double has, double must, nb_error *err)
{
    (void)fit;
    return nb_fail(
        err, NB_ERR_INPUT,
        "-system: %s is %.9g, but the system asks for %.9g; type a cell of this "
        "system",
        cell_names[i], has, must);
}

/** Ties of the cell, and the members that follow from those in the list. */
static nb_status tie_cell(nb_fit *fit, nb_error *err)
{
    const int *tied = tied_of[fit->o->system];
    double value[CELL];
    int any = 0;
    nb_status st = NB_OK;
    for (int i = 0; i < CELL; i++)
        any |= nb_fit_find(&fit->list, cell_names[i]) >= 0;
    if (fit->o->system == NB_SYSTEM_TRICLINIC)
        return NB_OK;
    if (!any) {
        nb_notice(&fit->sim->hooks, "-system has no effect: the cell is not refined");
        return NB_OK;
    }
    for (int i = 0; i < CELL && !st; i++) {
        nb_variable v;
        double must;
        if ((st = nb_sim_parameter(fit->sim, cell_names[i], &v, err)))
            return st;
        value[i] = v.value;
        must = tied[i] < 0 ? angle_of(fit->o->system, i) : value[tied[i]];
        if (fabs(value[i] - must) > 1e-6 * (i < 3 ? must : 1))
            return break_error(fit, i, value[i], must, err);
        value[i] = must;
    }
    for (int lead = 0; lead < CELL && !st; lead++) {
        int group = 0;
        for (int i = 0; i < CELL; i++)
            group |= tied[i] == lead && nb_fit_find(&fit->list, cell_names[i]) >= 0;
        for (int i = 0; i < CELL && group && !st; i++)
            if (tied[i] == lead)
                st = nb_fit_add(fit, cell_names[i], err);
    }
    for (int i = 0; i < CELL && !st; i++) {
        int at = nb_fit_find(&fit->list, cell_names[i]);
        if (at < 0)
            continue;
        fit->list.p[at].value = value[i];
        fit->list.p[at].fixed = tied[i] < 0;
        if (tied[i] >= 0)
            fit->list.p[at].tied = nb_fit_find(&fit->list, cell_names[tied[i]]);
    }
    return st;
}

/** Leads of ties stand before those that follow them: the order of the cell. */
static void order_ties(nb_fit_list *list)
{
    for (int i = 0; i < list->count; i++)
        if (list->p[i].tied > i) { /* the first of its group leads */
            int lead = list->p[i].tied;
            for (int j = 0; j < list->count; j++)
                if (list->p[j].tied == lead)
                    list->p[j].tied = i;
        }
}

/** Numbers of the parameters that a pair names. */
static nb_status find_pair(nb_fit *fit, const char *flag, const char *name, int *at,
                           nb_error *err)
{
    nb_variable v;
    nb_status st;
    if (!strcmp(name, "scale"))
        name = "fluence";
    if ((st = nb_sim_parameter(fit->sim, name, &v, err)))
        return st;
    *at = nb_fit_find(&fit->list, v.name);
    if (*at < 0)
        return nb_fail(err, NB_ERR_INPUT, "%s %s: it is not refined; add it to -refine",
                       flag, v.name);
    return NB_OK;
}

static nb_status bound_all(nb_fit *fit, nb_error *err)
{
    nb_fit_list *list = &fit->list;
    for (int k = 0; k < fit->o->n_bounds; k++) {
        const nb_refine_pair *b = &fit->o->bounds[k];
        int at, lead;
        nb_status st = find_pair(fit, "-bound", b->name, &at, err);
        if (st)
            return st;
        if (!(b->a < b->b))
            return nb_fail(err, NB_ERR_INPUT,
                           "-bound %s=%g:%g: the first number must be the smaller one",
                           b->name, b->a, b->b);
        lead = list->p[at].tied;
        list->p[lead].low =
            list->p[lead].map == NB_MAP_BOUNDED ? fmax(list->p[lead].low, b->a) : b->a;
        list->p[lead].high =
            list->p[lead].map == NB_MAP_BOUNDED ? fmin(list->p[lead].high, b->b) : b->b;
        list->p[lead].map = NB_MAP_BOUNDED;
    }
    for (int i = 0; i < list->count; i++) {
        const nb_fit_parameter *lead = &list->p[list->p[i].tied];
        list->p[i].map = lead->map;
        list->p[i].low = lead->low;
        list->p[i].high = lead->high;
    }
    return NB_OK;
}

static nb_status restrain_all(nb_fit *fit, nb_error *err)
{
    nb_fit_list *list = &fit->list;
    for (int k = 0; k < fit->o->n_restraints; k++) {
        const nb_refine_pair *r = &fit->o->restraints[k];
        int at;
        nb_status st = find_pair(fit, "-restrain", r->name, &at, err);
        if (st)
            return st;
        if (!(r->b >= 0))
            return nb_fail(
                err, NB_ERR_INPUT,
                "-restrain %s=%g:%g: the standard deviation must not be negative",
                r->name, r->a, r->b);
        list->p[at].restraint = r->a;
        list->p[at].width = r->b;
        if (r->b > 0)
            continue;
        for (int i = 0; i < list->count; i++) /* held there, and what is tied to it */
            if (list->p[i].tied == list->p[at].tied) {
                list->p[i].fixed = 1;
                list->p[i].value = r->a;
            }
    }
    return NB_OK;
}

static int moves(const nb_fit_list *list, const char *name)
{
    int at = nb_fit_find(list, name);
    return at >= 0 && !list->p[at].fixed;
}

static int restrained(const nb_fit_list *list, const char *name)
{
    int at = nb_fit_find(list, name);
    return at >= 0 && list->p[at].width > 0;
}

/** Sets that no image tells apart. */
static nb_status refuse_sets(nb_fit *fit, nb_error *err)
{
    const nb_fit_list *l = &fit->list;
    const nb_config *cfg = nb_sim_config(fit->sim);
    int edges = 1, held = restrained(l, "lambda"), turned = 1;
    static const char *const rot[] = {"rot_x", "rot_y", "rot_z"};
    for (int i = 0; i < 3; i++) {
        edges &= moves(l, cell_names[i]);
        held |= restrained(l, cell_names[i]);
        turned &= moves(l, rot[i]);
    }
    if (moves(l, "lambda") && edges && !held)
        return nb_fail(err, NB_ERR_INPUT,
                       "-refine: lambda and all edges of the cell cannot be told apart; "
                       "leave one out, or restrain one");
    if (moves(l, "fluence") && moves(l, "default_F") && !cfg->hkl_file[0] &&
        !cfg->pdb_file[0] && !cfg->cif_file[0] && !cfg->mtz_file[0])
        return nb_fail(err, NB_ERR_INPUT,
                       "-refine: the scale and default_F cannot be told apart without a "
                       "table of F; leave one out");
    if (turned && moves(l, "phi") && !restrained(l, "phi"))
        return nb_fail(
            err, NB_ERR_INPUT,
            "-refine: phi and the orientation (rot, misset) cannot be told apart; "
            "leave one out");
    return NB_OK;
}

/** Where a file places the detector, the group of the beam's centre is a shift across the beam. */
static void place_beam(const nb_sim *sim, char *text, size_t size)
{
    const nb_config *cfg = nb_sim_config(sim);
    char *word = text, rest[4096];
    if (!cfg->expt_file[0] && !cfg->geom_file[0] && !cfg->nxmx_file[0])
        return;
    while (word && (strncmp(word, "beam", 4) || (word[4] && word[4] != ',')))
        word = (word = strchr(word, ',')) ? word + 1 : NULL;
    if (!word)
        return;
    snprintf(rest, sizeof rest, "%s", word + 4);
    snprintf(word, size - (size_t)(word - text), "shift_y,shift_z%s", rest);
}

nb_status nb_fit_name(nb_fit *fit, nb_error *err)
{
    char text[4096], (*names)[NB_VARIABLE_NAME] = NULL;
    int count = 0;
    nb_status st = nb_fit_translate(fit->o->list, text, sizeof text, err);
    if (!st)
        place_beam(fit->sim, text, sizeof text);
    if (!st)
        st = nb_sim_variables(fit->sim, text, &names, &count, err);
    for (int i = 0; i < count && !st; i++)
        st = nb_fit_add(fit, names[i], err);
    nb_free(names);
    if (!st)
        st = tie_cell(fit, err);
    order_ties(&fit->list);
    if (!st)
        st = bound_all(fit, err);
    if (!st)
        st = restrain_all(fit, err);
    if (!st)
        st = refuse_sets(fit, err);
    for (int i = 0; i < fit->list.count && !st; i++)
        st = nb_fit_check_start(&fit->list.p[i], err);
    return st;
}

int nb_fit_is_shape(const char *name)
{
    static const char *const shapes[] = {
        "N_",        "mosaic",     "fluence", "water", "footprint", "hdivrange",
        "vdivrange", "dispersion", "fudge",   "polar", "default_F", "F:"};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (!strncmp(name, shapes[i], strlen(shapes[i])))
            return 1;
    return 0;
}
