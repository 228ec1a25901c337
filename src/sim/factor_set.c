/* SPDX-License-Identifier: MIT */
/* List the structure factors of a simulation, or set all from one array. */
#include <math.h>
#include <string.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../base/store.h"
#include "../physics/limits.h"
#include "sim.h"

void nb_factor_list_free(nb_factor_list *list)
{
    if (!list)
        return;
    nb_free(list->h);
    nb_free(list->k);
    nb_free(list->l);
    nb_free(list->F);
    nb_free(list->phase);
    memset(list, 0, sizeof *list);
}

static nb_status allocate(nb_factor_list *out, size_t n, nb_error *err)
{
    memset(out, 0, sizeof *out);
    out->h = nb_alloc_raw(n, sizeof *out->h, "reflections", err);
    out->k = nb_alloc_raw(n, sizeof *out->k, "reflections", err);
    out->l = nb_alloc_raw(n, sizeof *out->l, "reflections", err);
    out->F = nb_alloc_raw(n, sizeof *out->F, "reflections", err);
    out->phase = nb_alloc_raw(n, sizeof *out->phase, "reflections", err);
    if (out->h && out->k && out->l && out->F && out->phase)
        return NB_OK;
    nb_factor_list_free(out);
    return NB_ERR_NOMEM;
}

static void add(nb_factor_list *out, int h, int k, int l, double F, double phase)
{
    size_t n = out->count++;
    out->h[n] = h;
    out->k[n] = k;
    out->l[n] = l;
    out->F[n] = F;
    out->phase[n] = phase * (180 / M_PI);
}

static int has_value(const nb_factor_grid *g, size_t i)
{
    return !isnan(g->F[i]) && !(g->absent && g->absent[i]);
}

nb_status nb_factor_list_grid(const nb_factor_grid *g, nb_factor_list *out, nb_error *err)
{
    size_t voxels = nb_factor_grid_voxels(g), n = 0, i = 0;
    nb_status st;
    for (size_t v = 0; v < voxels; v++)
        n += (size_t)has_value(g, v);
    NB_FORWARD(allocate(out, n, err));
    memcpy(out->cell, g->cell, sizeof out->cell);
    out->wavelength_A = g->wavelength;
    for (int h = -g->H[0]; h <= g->H[0]; h++)
        for (int k = -g->H[1]; k <= g->H[1]; k++)
            for (int l = -g->H[2]; l <= g->H[2]; l++, i++)
                if (has_value(g, i))
                    add(out, h, k, l, g->F[i], g->phase ? (double)g->phase[i] : NAN);
    return NB_OK;
}

static nb_status list_table(const nb_factor_table *t, int table, nb_factor_list *out,
                            nb_error *err)
{
    size_t voxels = (size_t)t->nh * (size_t)t->nk * (size_t)t->nl;
    const double *F = t->F + (size_t)table * voxels;
    nb_status st = allocate(out, voxels, err);
    for (int h = 0; h < t->nh && !st; h++)
        for (int k = 0; k < t->nk; k++)
            for (int l = 0; l < t->nl; l++)
                add(out, h + t->hmin, k + t->kmin, l + t->lmin, *F++, NAN);
    return st;
}

int nb_sim_factor_tables(const nb_sim *sim)
{
    return !sim || !sim->in.tables.box.nh ? 0
           : sim->in.tables.box.n_tables  ? sim->in.tables.box.n_tables
                                          : 1;
}

nb_status nb_sim_factors(const nb_sim *sim, int table, nb_factor_list *out, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && out);
    nb_factor_grid grid;
    nb_status st;
    memset(out, 0, sizeof *out);
    if (nb_sim_factor_tables(sim) == 0)
        return nb_fail(
            err, NB_ERR_INPUT,
            "F: there is no table of structure factors, since every reflection is "
            "-default_F; give -hkl, -mtz or a model");
    if (table < 0 || table >= nb_sim_factor_tables(sim))
        return nb_fail(err, NB_ERR_INPUT, "table %d of structure factors: there are %d",
                       table, nb_sim_factor_tables(sim));
    if (!sim->in.sums)
        return list_table(&sim->in.tables.box, table, out, err);
    st = nb_factor_sums_grid(sim->in.sums, sim->in.tables.weight,
                             &sim->in.tables.waves->group[table],
                             nb_threads_of(&sim->cfg), &grid, err);
    NB_TRY(nb_factor_list_grid(&grid, out, err));
    nb_factor_grid_free(&grid);
    for (size_t i = 0; !st && sim->in.tables.typed_F && i < out->count; i++)
        out->F[i] = sim->in.tables.box.F[nb_factor_table_at(
            &sim->in.tables.box, out->h[i], out->k[i], out->l[i])];
    return st;
}

/** Find the index in the table of each reflection that nb_sim_factors lists; done
 * once. */
static nb_status find_places(nb_sim *sim, nb_error *err)
{
    nb_tables *t = &sim->in.tables;
    nb_factor_list list;
    nb_status st;
    if (t->listed)
        return NB_OK;
    NB_FORWARD(nb_sim_factors(sim, 0, &list, err));
    t->listed = nb_shared_new(list.count * sizeof *t->listed, NULL, "reflections", err);
    t->n_listed = t->listed ? list.count : 0;
    for (size_t i = 0; i < t->n_listed; i++)
        t->listed[i] = nb_factor_table_at(&t->box, list.h[i], list.k[i], list.l[i]);
    nb_factor_list_free(&list);
    return t->listed ? NB_OK : NB_ERR_NOMEM;
}

static nb_status check_F(const nb_sim *sim, const double *F, size_t count, nb_error *err)
{
    if (count != sim->in.tables.n_listed)
        return nb_fail(err, NB_ERR_INPUT,
                       "F: has %zu values, but the simulation has %zu reflections "
                       "(nb_sim_factors)",
                       count, sim->in.tables.n_listed);
    for (size_t i = 0; i < count; i++)
        if (!(fabs(F[i]) <= NB_SF_MAX_F))
            return nb_fail(err, NB_ERR_INPUT,
                           "F[%zu]: %g is not a finite number of electrons up to %g", i,
                           F[i], NB_SF_MAX_F);
    return NB_OK;
}

nb_status nb_sim_set_factors(nb_sim *sim, const double *F, size_t count, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && F);
    const size_t n = nb_table_values(&sim->in.tables.box);
    const int tables = nb_sim_factor_tables(sim);
    double *table;
    nb_status st;
    if (tables > 1)
        return nb_fail(
            err, NB_ERR_INPUT,
            "F: the simulation has %d tables, one for each group of wavelengths; "
            "one array gives one (-anomalous mean or off)",
            tables);
    if ((st = find_places(sim, err)) || (st = check_F(sim, F, count, err)))
        return st;
    if (!(table = nb_alloc_raw(n, sizeof *table, "structure factors", err)))
        return NB_ERR_NOMEM;
    memcpy(table, sim->in.tables.box.F, n * sizeof *table);
    for (size_t i = 0; i < count; i++)
        table[sim->in.tables.listed[i]] = F[i];
    return nb_sim_take_F(sim, table, err);
}

int nb_sim_has_typed_factors(const nb_sim *sim)
{
    return sim && sim->in.tables.typed_F;
}
