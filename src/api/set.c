/* SPDX-License-Identifier: MIT */
/* Another configuration for a simulation whose files stay loaded. */
#include <stdlib.h>
#include <string.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../params/params.h"
#include "device_image.h"
#include "sim.h"

/** Structure factors are loaded again when one of their parameters changes, but for these, which the
 * model alone uses. */
static int is_of_model(const nb_param *p)
{
    static const char *const names[] = {"default_F", "interpolate", "nointerpolate"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(p->name, names[i]) == 0)
            return 1;
    return strcmp(p->group, "Structure factors") != 0;
}

/** Does this parameter reach beyond the model: into files (a mask or gain map has the size of the
 * detector), or into the choice of a backend, or tables? */
static int reaches_files(const nb_sim *sim, const nb_param *p)
{
    static const char *const backend[] = {"device", "threads", "isa", "precision",
                                          "background"};
    for (size_t i = 0; i < sizeof backend / sizeof *backend; i++)
        if (strcmp(p->name, backend[i]) == 0)
            return 1;
    return p->flags & NB_PARAM_INPUT || !is_of_model(p) ||
           ((sim->mask || sim->gainmap) && strcmp(p->group, "Detector") == 0);
}

/** Another seed is another crystal with -misset random. */
static int reaches_model(const nb_sim *sim, const nb_param *p)
{
    (void)sim;
    return strcmp(p->group, "Files written") != 0 || strcmp(p->name, "seed") == 0;
}

/** Does cfg differ from the simulation's in a parameter of this kind? */
static int differs(const nb_sim *sim, const nb_config *cfg,
                   int (*kind)(const nb_sim *, const nb_param *))
{
    size_t n;
    const nb_param *p = nb_params(&n);
    for (size_t i = 0; i < n; i++)
        if (!(p[i].flags & NB_PARAM_SERIES) && kind(sim, &p[i]) &&
            memcmp((const char *)cfg + p[i].offset, (const char *)&sim->cfg + p[i].offset,
                   p[i].size) != 0)
            return 1;
    return 0;
}

/** Load everything again into a new simulation, and take its place. */
static nb_status load_again(nb_sim *sim, const nb_config *cfg, nb_error *err)
{
    const nb_hooks hooks = sim->hooks.user == sim ? sim->caller : sim->hooks;
    nb_sim *fresh, old;
    nb_config *again = nb_alloc_raw(1, sizeof *again, "configuration", err);
    nb_status st = again ? NB_OK : NB_ERR_NOMEM;
    if (st)
        return st;
    *again = *cfg;
    if (cfg->detector == &sim->detector && nb_config_geometry_flag(cfg))
        again->detector = NULL; /* its file may be another */
    st = nb_sim_create(again, &hooks, &fresh, err);
    nb_free(again);
    if (st)
        return st;
    old = *sim;
    *sim = *fresh;
    *fresh = old;
    if (sim->cfg.detector)
        sim->cfg.detector = &sim->detector;
    if (sim->hooks.user == fresh)
        sim->hooks.user = sim->options.hooks.user = sim;
    if (sim->options.asking_user == fresh)
        sim->options.asking_user = sim;
    nb_sim_free(fresh);
    return NB_OK;
}

/** The memory of the last image has another size than the next. */
static nb_status forget_memory(nb_sim *sim, nb_error *err)
{
    nb_status st = nb_sim_end_loan(sim, err);
    free(sim->photons.own);
    sim->photons.own = NULL;
    return st;
}

/** A new model over the loaded files; on an error the old one stays. */
static nb_status build_again(nb_sim *sim, nb_config *old, const nb_config *cfg,
                             nb_error *err)
{
    const size_t pixels = sim->flat.raster.pixels;
    nb_model model = sim->model;
    nb_status st;
    *old = sim->cfg;
    sim->cfg = *cfg;
    st = nb_sim_build_model(sim, err);
    if (st) {
        sim->cfg = *old;
        sim->model = model;
        return st;
    }
    nb_model_free(&model);
    if (cfg->seed.set)
        sim->seed = cfg->seed.value;
    nb_photons_forget(&sim->photons);
    return pixels == sim->flat.raster.pixels ? NB_OK : forget_memory(sim, err);
}

nb_status nb_sim_change(nb_sim *sim, const nb_config *cfg, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && cfg);
    nb_config *old;
    nb_status st;
    if (differs(sim, cfg, reaches_files))
        return load_again(sim, cfg, err);
    if ((st = nb_config_check(cfg, err)))
        return st;
    if (cfg->detector == sim->cfg.detector && !differs(sim, cfg, reaches_model)) {
        sim->cfg = *cfg; /* no error can follow: nb_sim_write may be undone */
        return NB_OK;
    }
    if (!(old = nb_alloc_raw(1, sizeof *old, "configuration", err)))
        return NB_ERR_NOMEM;
    st = build_again(sim, old, cfg, err);
    nb_free(old);
    return st;
}

nb_status nb_sim_set(nb_sim *sim, const char *name, const char *text, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && name && text);
    nb_config *cfg = nb_alloc_raw(1, sizeof *cfg, "configuration", err);
    nb_status st;
    if (!cfg)
        return NB_ERR_NOMEM;
    *cfg = sim->cfg;
    st = nb_config_set(cfg, name, text, err);
    if (!st)
        st = nb_sim_change(sim, cfg, err);
    nb_free(cfg);
    return st;
}

const nb_config *nb_sim_config(const nb_sim *sim)
{
    return sim ? &sim->cfg : NULL;
}
