/* SPDX-License-Identifier: MIT */
/* Parameters of a simulation: names, values, and the lattices that each of them moves. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../model/units.h"
#include "../params/params.h"
#include "crystals.h"
#include "derive.h"

double nb_sim_mean_wavelength(const nb_sim *sim)
{
    return sim->in.lines ? nb_beam_mean(&sim->model.scene.beam) / NB_ANGSTROM
                         : sim->model.wavelength_A;
}

nb_subject nb_sim_subject(const nb_sim *sim)
{
    return (nb_subject){.cfg = &sim->model.settings,
                        .model = &sim->model,
                        .moved = &sim->moved,
                        .F = &sim->in.tables.box,
                        .wavelength_A = nb_sim_mean_wavelength(sim),
                        .has_matrix = sim->in.matrix.given,
                        .has_sources = sim->in.lines != NULL,
                        .crystal = &sim->model.crystal};
}

nb_subject nb_sim_further_subject(const nb_sim *sim, int i, nb_displacement *moved)
{
    nb_further *const *all = sim->further->all, *x = all[i];
    nb_subject of = nb_sim_subject(sim);
    *moved = sim->moved; /* the move `rot` turns only the first crystal */
    if (x->crystal > 0)
        memset(moved->rot, 0, sizeof moved->rot);
    of.cfg = &x->model.settings;
    of.model = &x->model;
    of.moved = moved;
    of.F = &x->in.tables.box;
    of.has_matrix = x->in.matrix.given;
    of.twin = x->twin;
    if (x->crystal > 0)
        of.crystal = &all[i - x->twin]->model.crystal;
    return of;
}

int nb_sim_moves_crystal(const nb_sim *sim, const nb_further *x, const nb_variable_name *v)
{
    const int cell = v->kind == NB_VAR_CELL;
    NB_OWN_CONFIG cfg = {0};
    double poked, now;
    if (nb_variable_is_of_frame(v) || x->crystal == 0)
        return 1;
    if (v->kind == NB_VAR_ROT || v->kind >= NB_VAR_F || sim->further->given ||
        (cell && (x->in.matrix.given || x->in.factors != sim->in.factors)) ||
        (v->kind == NB_VAR_MOSAIC && x->model.mosaic.shaped))
        return 0;
    nb_config_copy(&cfg, &sim->typed);
    memcpy(&poked, (const char *)&cfg + v->member, sizeof poked);
    poked = isfinite(poked) ? nextafter(poked, INFINITY) : 0.1;
    memcpy((char *)&cfg + v->member, &poked, sizeof poked);
    if (nb_crystal_place(x->crystal, sim->seed, &cfg, NULL) ||
        nb_crystal_line(&sim->in, x->crystal, &cfg, NULL))
        return 0;
    memcpy(&now, (const char *)&cfg + v->member, sizeof now);
    return now == poked;
}

nb_status nb_sim_variables(const nb_sim *sim, const char *list,
                           char (**names)[NB_VARIABLE_NAME], int *count, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && list && names && count);
    const nb_subject of = nb_sim_subject(sim);
    return nb_variables_open(&of, list, names, count, err);
}

nb_status nb_sim_parameter(const nb_sim *sim, const char *name, nb_variable *out,
                           nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && name && out);
    const nb_subject of = nb_sim_subject(sim);
    const char *why;
    nb_variable_name v;
    nb_status st = nb_variable_parse(&of, name, &v, err);
    memset(out, 0, sizeof *out);
    NB_TRY(nb_variable_check(&of, &v, err));
    if (st)
        return st;
    memcpy(out->name, v.name, sizeof out->name);
    out->value = nb_variable_value(&of, &v);
    out->unit = v.unit;
    out->flag = v.flag;
    out->moves = v.moves;
    why = nb_variable_stands_still(&of, &v);
    out->can_move = !why;
    snprintf(out->why_not, sizeof out->why_not, "%s", why ? why : "");
    return NB_OK;
}

nb_status nb_sim_names(const nb_sim *sim, const char *const *names, int count,
                       nb_variable_name **out, nb_error *err)
{
    const nb_subject of = nb_sim_subject(sim);
    nb_variable_name *v;
    nb_status st = NB_OK;
    *out = NULL;
    if (count < 0 || count > NB_VARIABLES_MAX || (count > 0 && !names))
        return nb_fail(err, NB_ERR_INPUT, "%d parameters: must be 0 to %d", count,
                       NB_VARIABLES_MAX);
    if (!(v = nb_alloc((size_t)count, sizeof *v, "parameters", err)))
        return NB_ERR_NOMEM;
    for (int i = 0; i < count && !st; i++) {
        st = names[i] ? nb_variable_parse(&of, names[i], &v[i], err)
                      : nb_fail(err, NB_ERR_INPUT, "the name of parameter %d is NULL", i);
        for (int j = 0; j < i && !st; j++)
            if (!strcmp(v[j].name, v[i].name))
                st = nb_fail(err, NB_ERR_INPUT, "parameter %s is named twice", v[i].name);
    }
    if (st)
        nb_free(v);
    else
        *out = v;
    return st;
}
