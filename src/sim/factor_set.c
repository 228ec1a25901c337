/* SPDX-License-Identifier: MIT */
/* All structure factors of a simulation from one array. */
#include <math.h>
#include <string.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../physics/limits.h"
#include "sim.h"

/** Where the reflections of nb_sim_factors are in the table, once. */
static nb_status find_places(nb_sim *sim, nb_error *err)
{
    const nb_factor_table *t = &sim->factors;
    nb_factor_list list;
    nb_status st;
    if (sim->listed)
        return NB_OK;
    if ((st = nb_sim_factors(sim, 0, &list, err)))
        return st;
    sim->listed = nb_alloc_raw(list.count, sizeof *sim->listed, "reflections", err);
    sim->n_listed = sim->listed ? list.count : 0;
    for (size_t i = 0; i < sim->n_listed; i++)
        sim->listed[i] = nb_factor_table_at(t, list.h[i], list.k[i], list.l[i]);
    nb_factor_list_free(&list);
    return sim->listed ? NB_OK : NB_ERR_NOMEM;
}

/** Give the simulation another table, which it owns; on an error the caller does, and the old one stays. */
static nb_status take_table(nb_sim *sim, double *F, nb_error *err)
{
    const nb_factor_table old = sim->factors;
    nb_model model = sim->model;
    nb_status st;
    sim->factors.F = F;
    nb_factor_table_measure(&sim->factors);
    if ((st = nb_sim_build_model(sim, err))) {
        sim->factors = old;
        sim->model = model;
        return st;
    }
    nb_model_free(&model);
    if (sim->factors.F != F) { /* the model needed a larger one */
        nb_free(F);
    } else {
        if (!sim->borrows_tables)
            nb_free(sim->table.F);
        sim->table.F = F;
        sim->typed_F = 1;
    }
    nb_photons_forget(&sim->photons);
    return NB_OK;
}

static nb_status check_F(const nb_sim *sim, const double *F, size_t count, nb_error *err)
{
    if (count != sim->n_listed)
        return nb_fail(err, NB_ERR_INPUT,
                       "F: has %zu values, but the simulation has %zu reflections "
                       "(nb_sim_factors)",
                       count, sim->n_listed);
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
    const size_t n = nb_table_values(&sim->factors);
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
    memcpy(table, sim->factors.F, n * sizeof *table);
    for (size_t i = 0; i < count; i++)
        table[sim->listed[i]] = F[i];
    if ((st = take_table(sim, table, err)))
        nb_free(table);
    return st;
}

nb_status nb_sim_keep_typed_F(nb_sim *to, const nb_sim *from, nb_error *err)
{
    const nb_factor_table *a = &from->factors, *b = &to->factors;
    const size_t n = nb_table_values(b);
    double *table;
    nb_status st;
    if (nb_table_count(b) != 1 || n != nb_table_values(a) || a->hmin != b->hmin ||
        a->kmin != b->kmin || a->lmin != b->lmin || a->nk != b->nk || a->nl != b->nl) {
        nb_notice(&to->hooks, "the table of structure factors was made again for another "
                              "limit: the F that were given as one array are gone");
        return NB_OK;
    }
    if (!(table = nb_alloc_raw(n, sizeof *table, "structure factors", err)))
        return NB_ERR_NOMEM;
    memcpy(table, a->F, n * sizeof *table);
    if ((st = take_table(to, table, err)))
        nb_free(table);
    return st;
}
