/* SPDX-License-Identifier: MIT */
/* Many images from files that are loaded once. */
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../params/params.h"
#include "sim.h"

nb_status nb_sim_clone(const nb_sim *from, const nb_hooks *hooks, int threads,
                       nb_sim **clone, nb_error *err)
{
    nb_sim *sim = nb_alloc(1, sizeof *sim, "simulation", err);
    nb_status st;
    *clone = NULL;
    if (!sim)
        return NB_ERR_NOMEM;
    *sim = *from;
    memset(&sim->model, 0, sizeof sim->model);
    memset(&sim->hooks, 0, sizeof sim->hooks);
    memset(&sim->caller, 0, sizeof sim->caller);
    sim->notes = NULL;
    sim->n_notes = 0;
    memset(&sim->times, 0, sizeof sim->times);
    sim->in = nb_inputs_hold(&from->in);
    sim->in.keeps_limit = 1;
    sim->state = NULL;
    memset(&sim->photons, 0, sizeof sim->photons);
    memset(&sim->moved, 0,
           sizeof sim->moved); /* a frame stands as its configuration says */
    sim->warming = NULL;
    sim->lent = NULL;
    sim->spares = NULL;
    if (hooks)
        sim->hooks = *hooks;
    sim->cfg.threads = sim->options.threads = threads;
    sim->options.hooks = sim->hooks;
    st = nb_sim_rebuild(sim, &sim->cfg, err);
    if (st)
        nb_sim_free(sim);
    else
        *clone = sim;
    return st;
}

nb_status nb_sim_rebuild(nb_sim *sim, const nb_config *cfg, nb_error *err)
{
    int threads = sim->options.threads;
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
