/* SPDX-License-Identifier: MIT */
/* Clones render many images from files that are read once. */
#include <string.h>

#include "../base/memory.h"
#include "../base/store.h"
#include "../params/params.h"
#include "crystals.h"
#include "sim.h"

static nb_status copy_displacement(const nb_displacement *from, nb_displacement *to,
                                   nb_error *err)
{
    *to = *from;
    if (!from->panels)
        return NB_OK;
    to->panels = nb_alloc_raw((size_t)from->n_panels, sizeof *to->panels, "panels", err);
    if (!to->panels)
        return NB_ERR_NOMEM;
    memcpy(to->panels, from->panels, (size_t)from->n_panels * sizeof *to->panels);
    return NB_OK;
}

nb_status nb_sim_clone(const nb_sim *from, const nb_hooks *hooks, int threads,
                       nb_sim **clone, nb_error *err)
{
    nb_sim *sim = nb_alloc(1, sizeof *sim, "simulation", err);
    nb_status st;
    *clone = NULL;
    if (!sim)
        return NB_ERR_NOMEM;
    nb_config_copy(&sim->typed, &from->typed);
    nb_config_copy(&sim->cfg, &from->cfg);
    sim->seed = from->seed;
    sim->asker.holds = from->asker.holds;
    sim->in = nb_inputs_hold(&from->in);
    sim->in.limit = NB_LIMIT_KEPT;
    sim->in.of_series = sim->in.sums != NULL;
    sim->engine = nb_engine_like(&from->engine);
    if (hooks)
        sim->hooks = *hooks;
    sim->cfg.threads = sim->typed.threads = sim->engine.options.threads = threads;
    sim->engine.options.hooks = sim->hooks;
    nb_inputs_show(&sim->in, &sim->cfg);
    nb_inputs_show_typed(&sim->in, &sim->typed);
    if (!(st = nb_inputs_keep_tables(&from->in, err)) &&
        !(st = copy_displacement(&from->moved, &sim->moved, err)) && from->further)
        st = nb_further_scenes_copy(from->further, &sim->further, err);
    NB_TRY(nb_sim_build_model(sim, err));
    if (st)
        nb_sim_free(sim);
    else
        *clone = sim;
    return st;
}

nb_status nb_sim_frame(nb_sim *sim, const nb_config *typed, const nb_frame_extra *extra,
                       nb_error *err)
{
    const int threads = sim->engine.options.threads;
    nb_status st;
    nb_config_copy(&sim->typed, typed);
    sim->typed.threads = threads;
    nb_inputs_show_typed(&sim->in, &sim->typed);
    NB_FORWARD(nb_sim_take_record(sim, &sim->typed, extra, err));
    nb_inputs_show_typed(&sim->in, &sim->typed);
    nb_free(sim->moved.panels);
    sim->moved = (nb_displacement){0};
    nb_shared_drop(sim->moves);
    nb_shared_drop(sim->start);
    sim->moves = NULL;
    sim->start = NULL;
    return nb_sim_build_again(sim, err);
}

nb_status nb_sim_build_again(nb_sim *sim, nb_error *err)
{
    nb_model_free(&sim->model);
    return nb_sim_build_model(sim, err);
}
