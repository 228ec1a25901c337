/* SPDX-License-Identifier: MIT */
/* Many images from files that are loaded once. */
#include "../base/error.h"
#include "../base/memory.h"
#include "../params/params.h"
#include "crystals.h"
#include "sim.h"

nb_status nb_sim_clone(const nb_sim *from, const nb_hooks *hooks, int threads,
                       nb_sim **clone, nb_error *err)
{
    nb_sim *sim = nb_alloc(1, sizeof *sim, "simulation", err);
    nb_status st;
    *clone = NULL;
    if (!sim)
        return NB_ERR_NOMEM;
    sim->cfg = from->cfg;
    sim->seed = from->seed; /* not moved: a frame stands as its configuration says */
    sim->in = nb_inputs_hold(&from->in);
    sim->in.keeps_limit = 1;
    sim->engine = nb_engine_like(&from->engine);
    if (hooks)
        sim->hooks = *hooks;
    sim->cfg.threads = sim->engine.options.threads = threads;
    sim->engine.options.hooks = sim->hooks;
    st = nb_crowd_copy(from, sim, err);
    if (!st)
        st = nb_sim_rebuild(sim, &sim->cfg, err);
    if (st)
        nb_sim_free(sim);
    else
        *clone = sim;
    return st;
}

nb_status nb_sim_rebuild(nb_sim *sim, const nb_config *cfg, nb_error *err)
{
    int threads = sim->engine.options.threads;
    nb_status st = nb_config_check_fields(cfg, err);
    if (st)
        return st;
    if (&sim->cfg != cfg)
        sim->cfg = *cfg;
    sim->cfg.threads = threads;
    nb_inputs_show(&sim->in, &sim->cfg);
    sim->seed = cfg->seed.set ? cfg->seed.value : sim->seed;
    nb_model_free(&sim->model);
    return nb_sim_build_model(sim, err);
}

nb_status nb_sim_restart(nb_sim *sim, const nb_sim *from, const nb_config *cfg,
                         const nb_matrix *matrix, nb_error *err)
{
    nb_inputs old = sim->in;
    nb_status st;
    sim->in = nb_inputs_hold(&from->in);
    sim->in.keeps_limit = 1;
    if (matrix)
        sim->in.matrix = *matrix;
    nb_free(sim->moved.panels);
    sim->moved = (nb_displacement){0};
    st = nb_sim_rebuild(sim, cfg, err);
    nb_inputs_drop(&old);
    return st;
}
