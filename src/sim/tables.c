/* SPDX-License-Identifier: MIT */
/* The tables of structure factors that a simulation owns. */
#include <string.h>

#include "../base/memory.h"
#include "sim.h"

/** The tables of the scene.  Their extremes are searched once, not for every image. */
static nb_factor_table describe(const nb_sim_tables *tables)
{
    const nb_factor_file *t = &tables->box;
    nb_factor_table box = {0};
    if (!t->F)
        return box;
    box.F = t->F;
    box.hmin = t->hmin;
    box.kmin = t->kmin;
    box.lmin = t->lmin;
    box.nh = t->hmax - t->hmin + 1;
    box.nk = t->kmax - t->kmin + 1;
    box.nl = t->lmax - t->lmin + 1;
    box.n_tables = tables->n_tables;
    if (tables->is_measured)
        nb_factor_table_take(&box, &tables->extent);
    else
        nb_factor_table_measure(&box);
    return box;
}

void nb_sim_take_tables(nb_sim *sim, nb_sim_tables *tables)
{
    if (!sim->borrows_tables) {
        nb_factor_file_free(&sim->table);
        nb_free(sim->table_of_source);
        nb_waves_free(&sim->waves);
    }
    memset(&sim->waves, 0, sizeof sim->waves);
    sim->borrows_tables = 0;
    sim->typed_F = 0;
    nb_free(sim->listed);
    sim->listed = NULL;
    sim->n_listed = 0;
    sim->table = tables->box;
    sim->factors = describe(tables);
    sim->table_of_source = tables->of_source;
    sim->n_of_source = tables->n_sources;
    memset(tables, 0, sizeof *tables);
}

void nb_sim_sign_tables(nb_sim *sim)
{
    nb_factor_table *own = &sim->factors, *shown = &sim->model.scene.factors.table;
    if (own->nh == 0 || shown->F != own->F || own->n_tables > 1)
        return;
    if (own->hash == 0)
        own->hash = nb_table_run_of(own->F, nb_table_values(own), 1).hash;
    shown->hash = own->hash;
}
