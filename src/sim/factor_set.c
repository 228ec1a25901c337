/* SPDX-License-Identifier: MIT */
/* All structure factors of a simulation from one array. */
#include <math.h>
#include <string.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../base/shared.h"
#include "../physics/limits.h"
#include "sim.h"

/** Where the reflections of nb_sim_factors are in the table, once. */
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
