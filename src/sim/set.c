/* SPDX-License-Identifier: MIT */
/* Another configuration for a simulation whose files stay loaded. */
#include <stdlib.h>
#include <string.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../params/params.h"
#include "load.h"
#include "sim.h"

/** Structure factors are loaded again when one of their parameters changes, but for these, which the
 * model alone uses. */
static int is_of_model(const nb_param *p)
{
    static const char *const names[] = {"default_F", "Badd", "Fscale", "interpolate",
                                        "nointerpolate"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(p->name, names[i]) == 0)
            return 1;
    return strcmp(p->group, "Structure factors") != 0;
}

/** No header of a file completes the configuration where nothing else does. */
static int has_headers(const nb_config *cfg)
{
    return cfg->detector || nb_config_geometry_flag(cfg) || cfg->img_file[0] ||
           cfg->mask_file[0] || cfg->detector_name[0];
}

/** Inputs that are loaded alone when they change: a sum of nb_array_kind.  Other files, and what headers say,
 * must not depend on them. */
static unsigned loaded_alone(const nb_sim *sim, const nb_config *cfg)
{
    const nb_config *old = &sim->cfg;
    unsigned kinds = 0;
    if ((old->source_file[0] && cfg->source_file[0]) ||
        (!has_headers(old) && !has_headers(cfg)))
        kinds |= NB_ARRAY_SOURCES;
    if (old->mat_file[0] && cfg->mat_file[0] && !sim->in.factors)
        kinds |= NB_ARRAY_MATRIX;
    return kinds;
}

/** Those of them that are others in cfg: by name, or as arrays. */
static unsigned changed_alone(const nb_sim *sim, const nb_config *cfg)
{
    unsigned changed = nb_arrays_changed(cfg, &sim->in.arrays);
    if (strcmp(cfg->source_file, sim->cfg.source_file) != 0)
        changed |= NB_ARRAY_SOURCES;
    if (strcmp(cfg->mat_file, sim->cfg.mat_file) != 0)
        changed |= NB_ARRAY_MATRIX;
    return changed & loaded_alone(sim, cfg);
}

/** Does this parameter reach beyond the model: into files (a mask or gain map has the size of the
 * detector), or into the choice of a backend, or tables? */
static int reaches_files(const nb_sim *sim, const nb_param *p)
{
    static const char *const backend[] = {
        "device", "threads", "isa", "precision", "background", "spectrum", "detector"};
    for (size_t i = 0; i < sizeof backend / sizeof *backend; i++)
        if (strcmp(p->name, backend[i]) == 0)
            return 1;
    if (strcmp(p->name, "sourcefile") == 0 || strcmp(p->name, "mat") == 0)
        return 0; /* changed_alone, or needs_all */
    if (strcmp(p->name, "mosaic_dom") == 0 && sim->in.files->blocks.n)
        return 1;
    return p->flags & NB_PARAM_INPUT || !is_of_model(p) ||
           ((sim->in.files->mask || sim->in.files->gainmap ||
             sim->in.files->transmission || sim->in.files->add) &&
            strcmp(p->group, "Detector") == 0);
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
        if (!(p[i].flags & NB_PARAM_SERIES) &&
            memcmp((const char *)cfg + p[i].offset, (const char *)&sim->cfg + p[i].offset,
                   p[i].size) != 0 &&
            kind(sim, &p[i]))
            return 1;
    return 0;
}

/** Must everything be loaded again?  Lines of -crystals are applied by loading. */
static int needs_all(const nb_sim *sim, const nb_config *cfg)
{
    const unsigned alone = loaded_alone(sim, cfg);
    if (sim->in.files->plain || differs(sim, cfg, reaches_files) ||
        !nb_config_same_factors(&sim->cfg, cfg) ||
        nb_arrays_changed(cfg, &sim->in.arrays) & ~alone)
        return 1;
    return (!(alone & NB_ARRAY_SOURCES) &&
            strcmp(cfg->source_file, sim->cfg.source_file) != 0) ||
           (!(alone & NB_ARRAY_MATRIX) && strcmp(cfg->mat_file, sim->cfg.mat_file) != 0);
}

static int is_outside_model(const nb_sim *sim, const nb_param *p)
{
    (void)sim;
    return !is_of_model(p);
}

/** Would the table of F be the same again? */
static int same_factors(const nb_sim *sim, const nb_config *cfg)
{
    return !differs(sim, cfg, is_outside_model) &&
           !(nb_arrays_changed(cfg, &sim->in.arrays) & NB_ARRAY_HKL);
}

/** Load everything again into a new simulation, and take its place. */
static nb_status load_again(nb_sim *sim, const nb_config *cfg, nb_error *err)
{
    const nb_hooks hooks = sim->notes ? sim->notes->caller : sim->hooks;
    nb_sim *fresh, old;
    nb_config *again = nb_alloc_raw(1, sizeof *again, "configuration", err);
    nb_status st = again ? NB_OK : NB_ERR_NOMEM;
    if (st)
        return st;
    *again = *cfg;
    if (!again->arrays)
        again->arrays = sim->cfg.arrays;
    if (cfg->detector == &sim->in.detector && nb_config_geometry_flag(cfg))
        again->detector = NULL; /* its file may be another */
    st = nb_sim_create(again, &hooks, &fresh, err);
    nb_free(again);
    if (!st && sim->in.tables.typed_F && same_factors(sim, cfg) &&
        (st = nb_sim_keep_typed_F(fresh, sim, err)))
        nb_sim_free(fresh);
    if (st)
        return st;
    old = *sim;
    *sim = *fresh;
    *fresh = old;
    nb_inputs_show(&sim->in, &sim->cfg);
    nb_inputs_show(&sim->in, &sim->model.settings.value);
    if (sim->in.files->plain)
        nb_inputs_show(&sim->in, sim->in.files->plain);
    nb_sim_free(fresh);
    return NB_OK;
}

/** The memory of the last image has another size than the next. */
static nb_status forget_memory(nb_sim_engine *engine, nb_error *err)
{
    nb_status st = nb_engine_end_loan(engine, err);
    free(engine->photons.own);
    engine->photons.own = NULL;
    return st;
}

/** The new configuration, and inputs of these kinds. */
static nb_status adopt(nb_sim *sim, const nb_config *cfg, nb_error *err)
{
    const unsigned kinds = changed_alone(sim, cfg);
    const unsigned copies = nb_arrays_changed(cfg, &sim->in.arrays) & kinds;
    nb_inputs *in = &sim->in;
    nb_status st = copies ? nb_arrays_copy(cfg->arrays, copies, &in->arrays, err) : NB_OK;
    const int arrays = cfg->arrays || sim->cfg.arrays;
    sim->cfg = *cfg;
    sim->cfg.arrays = arrays ? &in->arrays : NULL;
    if (!st && kinds & NB_ARRAY_MATRIX)
        st = nb_load_matrix(&sim->cfg, &in->matrix, err);
    if (!st && kinds & NB_ARRAY_SOURCES)
        st = nb_load_sources(&sim->cfg, in, err);
    return st;
}

/** A new model over the loaded files; on an error the old one stays. */
static nb_status build_again(nb_sim *sim, const nb_config *cfg, nb_error *err)
{
    const size_t pixels = sim->model.flat.raster.pixels;
    nb_status st = nb_sim_begin(sim, err);
    if (st || (st = nb_sim_end(sim, adopt(sim, cfg, err), err)))
        return st;
    if (cfg->seed.set)
        sim->seed = cfg->seed.value;
    return pixels == sim->model.flat.raster.pixels ? NB_OK
                                                   : forget_memory(&sim->engine, err);
}

/** With lines of -crystals: does cfg change nothing but files that are written?  Then they are taken. */
static int takes_files_alone(nb_sim *sim, const nb_config *cfg)
{
    nb_config *plain = sim->in.files->plain;
    size_t n;
    const nb_param *p = nb_params(&n);
    for (int pass = 0; plain && pass < 2; pass++)
        for (size_t i = 0; i < n; i++) {
            const size_t at = p[i].offset;
            if (p[i].flags & NB_PARAM_SERIES ||
                !memcmp((const char *)plain + at, (const char *)cfg + at, p[i].size))
                continue;
            if (reaches_model(sim, &p[i]))
                return 0;
            if (pass) {
                memcpy((char *)plain + at, (const char *)cfg + at, p[i].size);
                memcpy((char *)&sim->cfg + at, (const char *)cfg + at, p[i].size);
            }
        }
    if (plain)
        nb_resolve(&sim->cfg, &sim->model.settings);
    return plain != NULL;
}

nb_status nb_sim_change(nb_sim *sim, const nb_config *cfg, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && cfg);
    nb_status st;
    if (takes_files_alone(sim, cfg))
        return NB_OK;
    if (needs_all(sim, cfg))
        return load_again(sim, cfg, err);
    if ((st = nb_config_check(cfg, err)))
        return st;
    if (cfg->detector == sim->cfg.detector && !differs(sim, cfg, reaches_model) &&
        !changed_alone(sim, cfg)) {
        const nb_arrays *own = sim->cfg.arrays;
        sim->cfg = *cfg; /* no error can follow: nb_sim_write may be undone */
        sim->cfg.arrays = own;
        nb_resolve(&sim->cfg, &sim->model.settings);
        return NB_OK;
    }
    return build_again(sim, cfg, err);
}

nb_status nb_sim_set(nb_sim *sim, const char *name, const char *text, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && name && text);
    nb_config *cfg = nb_alloc_raw(1, sizeof *cfg, "configuration", err);
    nb_status st;
    if (!cfg)
        return NB_ERR_NOMEM;
    *cfg = *nb_sim_config(sim);
    st = nb_config_set(cfg, name, text, err);
    if (!st)
        st = nb_sim_change(sim, cfg, err);
    nb_free(cfg);
    return st;
}

const nb_config *nb_sim_config(const nb_sim *sim)
{
    if (!sim)
        return NULL;
    return sim->in.files->plain ? sim->in.files->plain : &sim->cfg;
}
