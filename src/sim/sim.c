/* SPDX-License-Identifier: MIT */
/* nb_sim: make a scene and a backend from a configuration. */
#include "sim.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../base/c_locale.h"
#include "../base/threads.h"
#include "../base/error.h"
#include "../base/fftw_lib.h"
#include "../base/memory.h"
#include "../base/store.h"
#include "../io/image/writer.h"
#include "../params/params.h"
#include "../physics/limits.h"
#include "../physics/panels.h"
#include "../render/request.h"
#include "../inputs/files.h"
#include "advice.h"
#include "crystals.h"
#include "light.h"
#include "../inputs/load.h"
#include "derive.h"
#include "../inputs/factors.h"
#include "noise.h"
#include "../inputs/shade.h"

int64_t nb_seed_from_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)(((uint64_t)t.tv_sec * 1000003u + (uint64_t)t.tv_nsec) % 1000000000u);
}

/** Make model->flat. Panels of different widths become a rectangle with the same number
 * of pixels. */
static void flatten(nb_model *model)
{
    enum { WIDEST = 8192 };
    nb_raster *raster = &model->flat.raster;
    int columns;
    model->flat = model->scene;
    if (nb_stack_is_even(&model->scene))
        return;
    columns = WIDEST;
    while (raster->pixels % (size_t)columns != 0)
        columns--;
    raster->columns = columns;
    raster->rows = (int)(raster->pixels / (size_t)columns);
    raster->roi = (nb_region){0, columns - 1, 0, raster->rows - 1};
}

nb_status nb_sim_build_model(nb_sim *sim, nb_error *err)
{
    const nb_building b = {&sim->cfg, sim->seed, &sim->moved, &sim->hooks,
                           0,         NULL,      &sim->asker};
    const nb_asker before = sim->asker;
    nb_status st;
    sim->asker = (nb_asker){&sim->hooks, "", before.holds, 0};
    st = nb_inputs_build(&sim->in, &b, &sim->model, &sim->times.factors, err);
    if (!st &&
        ((st = nb_inputs_make_shade(&sim->in, &sim->model, nb_threads_of(&sim->cfg), err)) ||
         (st = nb_inputs_make_absorb(&sim->in, &sim->model, nb_threads_of(&sim->cfg), err)) ||
         (st = nb_further_scenes_build(sim, err))))
        nb_model_free(&sim->model);
    if (!st)
        flatten(&sim->model);
    else
        sim->asker = before;
    return st;
}

/* Default tolerance of Gaussian spots: the smaller of a part of the brightest pixel's
 * photons and a part of one photon.  No file shows such a difference. */
#define UNSEEN_PART 1e-11
#define UNSEEN_PHOTONS 1e-12

/** Tolerance of the renderer: 0 for the reference renderer and for -precision double. */
static nb_tolerance tolerance_of(const nb_settings *all)
{
    const nb_config *cfg = &all->value;
    nb_tolerance may = {.skip = 1,
                        .asked = 1,
                        .part = NB_TYPED_OR(all, tolerance, 0),
                        .photons = NB_TYPED_OR(all, tolerance_photons, 0)};
    if (cfg->precision == NB_PRECISION_DOUBLE || cfg->isa == NB_ISA_SCALAR ||
        cfg->tolerance == 0)
        return (nb_tolerance){0};
    if (may.part > 0 || may.photons > 0)
        return may;
    may.asked = 0;
    may.skip = nb_shape_ends((int)cfg->shape);
    if (nb_shape_law((int)cfg->shape) == NB_LAW_DECAY) {
        may.part = UNSEEN_PART;
        may.photons = UNSEEN_PHOTONS;
    }
    return may;
}

/** Set the options of the engine from the configuration. */
static void set_options(const nb_sim *sim, nb_sim_engine *engine)
{
    const nb_config *cfg = &sim->cfg;
    engine->options.threads = cfg->threads;
    engine->options.isa = cfg->isa;
    engine->options.precision = cfg->precision;
    engine->options.tolerance = tolerance_of(&sim->model.settings);
    engine->options.hooks = sim->hooks;
    engine->options.device_alone = cfg->device_alone;
}

/** Set the options of the engine. Choose a new engine if device, threads, isa or
 * precision changed. */
static nb_status ask_engine(nb_sim *sim, const nb_config *before, nb_error *err)
{
    const nb_config *cfg = &sim->cfg;
    nb_sim_engine fresh = {.options.images = sim->engine.options.images};
    nb_isa isa;
    nb_status st;
    if (!strcmp(cfg->device, before->device) && cfg->threads == before->threads &&
        cfg->isa == before->isa && cfg->precision == before->precision) {
        set_options(sim, &sim->engine);
        return NB_OK;
    }
    set_options(sim, &fresh);
    if ((st = nb_cpu_choose(cfg->isa, &isa, err)) ||
        (st = nb_engine_choose(&fresh, &sim->model.scene, cfg->device, err)))
        return st;
    fresh.kernels = nb_image_kernels_of(isa);
    nb_engine_free(&sim->engine);
    sim->engine = fresh;
    return NB_OK;
}

/** Free the memory of the last image, since the next image has another size. */
static nb_status forget_memory(nb_sim_engine *engine, nb_error *err)
{
    nb_status st = nb_engine_end_loan(engine, err);
    free(engine->photons.own);
    engine->photons.own = NULL;
    return st;
}

/** State of a simulation before a change. */
struct nb_undo {
    nb_config cfg;
    const nb_moves *moves;
    struct nb_start *start;
    int64_t seed;
    nb_displacement moved;
    nb_inputs in;
    nb_model model;
    struct nb_further_scenes *further;
};

/** Restore sim as it was before the change. */
static void take_back(nb_sim *sim)
{
    nb_undo *undo = sim->undo;
    nb_inputs_drop(&sim->in);
    nb_shared_drop(sim->moves);
    nb_shared_drop(sim->start);
    if (sim->moved.panels != undo->moved.panels)
        nb_free(sim->moved.panels);
    nb_further_scenes_free(sim->further);
    nb_config_copy(&sim->cfg, &undo->cfg);
    sim->moves = undo->moves;
    sim->start = undo->start;
    sim->seed = undo->seed;
    sim->moved = undo->moved;
    sim->in = undo->in;
    sim->model = undo->model;
    sim->further = undo->further;
}

static void end_undo(nb_sim *sim)
{
    nb_config_drop(&sim->undo->cfg);
    nb_free(sim->undo);
    sim->undo = NULL;
}

nb_status nb_sim_begin(nb_sim *sim, nb_error *err)
{
    nb_undo *undo = sim->undo = nb_alloc(1, sizeof *undo, "simulation", err);
    if (!undo)
        return NB_ERR_NOMEM;
    nb_config_copy(&undo->cfg, &sim->cfg);
    undo->moves = nb_shared_hold(sim->moves);
    undo->start = nb_shared_hold(sim->start);
    undo->seed = sim->seed;
    undo->moved = sim->moved;
    undo->in = nb_inputs_hold(&sim->in);
    undo->model = sim->model;
    undo->further = sim->further;
    sim->further = NULL;
    if (!undo->further || !nb_further_scenes_copy(undo->further, &sim->further, err))
        return NB_OK;
    take_back(sim);
    end_undo(sim);
    return NB_ERR_NOMEM;
}

static void drop_old(nb_sim *sim)
{
    nb_undo *undo = sim->undo;
    nb_further_scenes_free(undo->further);
    nb_shared_drop(undo->moves);
    nb_shared_drop(undo->start);
    nb_inputs_drop(&undo->in);
    nb_model_free(&undo->model);
    if (undo->moved.panels != sim->moved.panels)
        nb_free(undo->moved.panels);
    nb_photons_forget(&sim->engine.photons);
}

/** Build the model. If this calculates F to a finer d than sim->start has, apply the
 * moves and build again. */
static nb_status build_moved(nb_sim *sim, nb_error *err)
{
    int farther;
    nb_status st = nb_sim_build_model(sim, err);
    if (st || !sim->start)
        return st;
    st = nb_sim_widen_start(sim, &farther, err);
    if (!st && farther)
        st = nb_sim_apply_moves(sim, err);
    if (st || farther)
        nb_model_free(&sim->model);
    return st || !farther ? st : nb_sim_build_model(sim, err);
}

nb_status nb_sim_end(nb_sim *sim, nb_status st, nb_error *err)
{
    const nb_undo *undo = sim->undo;
    if (!st && !(st = build_moved(sim, err)) && (st = ask_engine(sim, &undo->cfg, err)))
        nb_model_free(&sim->model);
    if (!st && undo->model.flat.raster.pixels != sim->model.flat.raster.pixels)
        st = forget_memory(&sim->engine, err);
    if (st)
        take_back(sim);
    else
        drop_old(sim);
    end_undo(sim);
    return st;
}

static nb_status build(nb_sim *sim, nb_error *err)
{
    const nb_config *cfg = &sim->cfg;
    double start = nb_monotonic_seconds();
    nb_isa isa;
    nb_status st;
    NB_FORWARD(nb_sim_build_model(sim, err));
    set_options(sim, &sim->engine);
    st = nb_engine_choose(&sim->engine, &sim->model.scene, cfg->device, err);
    NB_TRY(nb_cpu_choose(cfg->isa, &isa, err));
    if (st)
        return st;
    sim->engine.kernels = nb_image_kernels_of(isa);
    sim->times.scene = nb_monotonic_seconds() - start - sim->times.factors;
    return NB_OK;
}

/* --- records --- */

nb_status nb_sim_take_record(nb_sim *sim, const nb_config *typed,
                             const nb_frame_extra *extra, nb_error *err)
{
    NB_READING(sim->in.store);
    NB_OWN_CONFIG cfg = {0};
    nb_inputs in;
    nb_status st;
    nb_config_copy(&cfg, typed);
    st = cfg.crystals[0] ? nb_config_check(&cfg, err) : NB_OK;
    NB_TRY(nb_crystals_check(&sim->in, &cfg, err));
    NB_TRY(nb_crystal_line(&sim->in, 0, &cfg, err));
    NB_TRY(nb_resolve_record(&sim->in, &cfg, typed->seed.value, extra, &sim->hooks, &cfg,
                             &in, err));
    if (st)
        return st;
    nb_inputs_drop(&sim->in);
    sim->in = in;
    nb_config_copy(&sim->cfg, &cfg);
    nb_inputs_show(&sim->in, &sim->cfg);
    nb_config_copy(&sim->typed, typed);
    sim->seed = typed->seed.value;
    return NB_OK;
}

nb_status nb_sim_check_record(const nb_sim *sim, const nb_config *typed,
                              const nb_frame_extra *extra, nb_config *cfg,
                              nb_survey *survey, nb_error *err)
{
    nb_scan_points ends;
    nb_inputs in;
    nb_model_inputs of;
    nb_model model;
    double bound;
    nb_status st;
    NB_FORWARD(nb_resolve_record(&sim->in, typed, typed->seed.value, extra, NULL, cfg,
                                 &in, err));
    nb_inputs_show(&in, cfg);
    of = nb_inputs_of_model(&in, typed->seed.value, NULL, &ends);
    of.check_only = 1;
    of.table = in.tables.box;
    if (!(st = nb_build_checked(cfg, &of, NULL, &model, err))) {
        nb_ask(&in, &model, &survey->asker);
        survey->geometry = model.geometry;
        if (in.factors && in.factors == sim->in.factors)
            survey->dmin =
                fmin(survey->dmin,
                     nb_factor_files_limit(in.factors, &model.settings.value,
                                           nb_model_reach(&model), &model.crystal));
        model.scene.factors.table.default_F = model.settings.value.default_F;
        bound = nb_photon_bound(&model.scene);
        survey->bright |= isfinite(bound) && bound >= FLT_MAX;
        nb_model_free(&model);
    }
    nb_inputs_drop(&in);
    nb_inputs_show(&sim->in, cfg);
    return st;
}

/** Check before rendering that the output files can be written. */
static nb_status check_libraries(const nb_config *cfg, nb_error *err)
{
    nb_status st = NB_OK;
    if (cfg->psf > NB_PSF_GAUSS && (cfg->write_noise || cfg->noise_float_file[0]))
        st = nb_fftw_need("-psf fibre", err);
    for (const nb_output *f = nb_output_next(NULL); f && !st; f = nb_output_next(f))
        if (f->writer && nb_output_path(f, cfg)[0])
            st = nb_writer_ready(f->writer, f->flag, err);
    return st;
}

/** Check that a stream of CrystFEL can describe the simulation. */
static nb_status check_stream(const nb_sim *sim, nb_error *err)
{
    const char *path = sim->cfg.stream_file;
    nb_detector_spec d;
    nb_status st;
    if (!path[0])
        return NB_OK;
    if (sim->cfg.truth != NB_TRUTH_SPOTS)
        return nb_fail(err, NB_ERR_INPUT,
                       "-streamout %.200s: its reflections are those of -truth spots; "
                       "type -truth spots",
                       path);
    if (sim->model.phi_range > 0)
        return nb_fail(err, NB_ERR_INPUT,
                       "-streamout %.200s: a stream has stills alone, but -osc turns the "
                       "crystal during an image; leave -osc out",
                       path);
    st = nb_sim_detector_spec(sim, &d, err);
    nb_detector_spec_free(&d);
    return st;
}

static nb_status prepare(nb_sim *sim, nb_error *err)
{
    double start = nb_monotonic_seconds();
    const unsigned placed = nb_typed_place(&sim->typed);
    const nb_backend *named;
    nb_device device;
    nb_isa isa;
    nb_status st;
    if (sim->typed.draws_file[0])
        return nb_fail(err, NB_ERR_INPUT,
                       "-draws: needs a series, as -frames n or -stills n");
    if ((st = nb_config_check(&sim->typed, err)) ||
        /* the calculation of structure factors uses it too */
        (st = nb_cpu_choose(sim->typed.isa, &isa, err)))
        return st;
    if ((named = nb_backend_of(sim->typed.device, &device)))
        nb_engine_warm(&sim->engine, named, device.index);
    if ((st = check_libraries(&sim->typed, err)) ||
        (st = nb_sim_take_record(sim, &sim->typed, NULL, err)))
        return st;
    sim->times.load = nb_monotonic_seconds() - start;
    st = build(sim, err);
    NB_TRY(check_stream(sim, err));
    if (!st)
        nb_say_idle_flags(&sim->cfg, placed, &sim->model.scene, &sim->hooks);
    return st ? st : nb_sim_check_derivatives(sim, err);
}

nb_status nb_sim_create_for(const nb_config *cfg, int images, const nb_hooks *hooks,
                            nb_sim **out, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(cfg && out);
    nb_sim *sim = nb_alloc(1, sizeof *sim, "simulation", err);
    nb_status st;
    *out = NULL;
    if (!sim)
        return NB_ERR_NOMEM;
    nb_config_copy(&sim->typed, cfg);
    if (!cfg->seed.set) /* the record also gets the seed that was drawn */
        sim->typed.seed = (nb_seed){1, nb_seed_from_clock()};
    sim->seed = sim->typed.seed.value;
    if (hooks)
        sim->hooks = *hooks;
    sim->engine.options.images = images;
    st = nb_inputs_new(&sim->in, err);
    if (!st && cfg->report_file[0])
        st = nb_notes_keep(&sim->hooks, &sim->notes, err);
    NB_TRY(nb_inputs_take_callers(&sim->in, &sim->typed, err));
    NB_TRY(prepare(sim, err));
    if (st) {
        nb_sim_free(sim);
    } else {
        nb_sim_advise(sim);
        nb_advise_background(&sim->model, &sim->in.files->amorphous, &sim->hooks);
        nb_sim_advise_noise(sim);
        nb_sim_advise_diffuse(sim);
        *out = sim;
    }
    return st;
}

nb_status nb_sim_copy(const nb_sim *from, const nb_hooks *hooks, nb_sim **out,
                      nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(from && out);
    nb_sim *sim = nb_alloc(1, sizeof *sim, "simulation", err);
    nb_status st;
    *out = NULL;
    if (!sim)
        return NB_ERR_NOMEM;
    nb_config_copy(&sim->typed, &from->typed);
    sim->seed = from->seed;
    if (hooks)
        sim->hooks = *hooks;
    sim->asker.holds = from->asker.holds;
    sim->engine.options.images = from->engine.options.images;
    sim->in = nb_inputs_hold(&from->in);
    nb_inputs_show_typed(&sim->in, &sim->typed);
    st = prepare(sim, err);
    if (!st && from->moves && from->start && !(st = nb_sim_begin(sim, err))) {
        sim->moves = nb_shared_hold(from->moves);
        sim->start = nb_shared_hold(from->start);
        st = nb_sim_end(sim, nb_sim_apply_moves(sim, err), err);
    }
    if (st)
        nb_sim_free(sim);
    else
        *out = sim;
    return st;
}

nb_status nb_sim_create(const nb_config *cfg, const nb_hooks *hooks, nb_sim **out,
                        nb_error *err)
{
    return nb_sim_create_for(cfg, 1, hooks, out, err);
}

void nb_sim_free(nb_sim *sim)
{
    if (!sim)
        return;
    nb_engine_free(&sim->engine);
    nb_notes_free(sim->notes);
    nb_further_scenes_free(sim->further);
    nb_model_free(&sim->model);
    nb_sim_light_free(sim->light);
    nb_free(sim->moved.panels);
    nb_shared_drop(sim->moves);
    nb_shared_drop(sim->start);
    nb_inputs_drop(&sim->in);
    nb_config_drop(&sim->typed);
    nb_config_drop(&sim->cfg);
    nb_free(sim);
}

void nb_sim_size(const nb_sim *sim, int *fast, int *slow)
{
    if (fast)
        *fast = sim ? sim->model.flat.raster.columns : 0;
    if (slow)
        *slow = sim ? sim->model.flat.raster.rows : 0;
}

int64_t nb_sim_seed(const nb_sim *sim)
{
    return sim ? sim->seed : 0;
}

const char *nb_sim_backend(const nb_sim *sim)
{
    return sim ? sim->engine.line : "";
}

void nb_sim_times(const nb_sim *sim, nb_times *out)
{
    nb_device_times device = {0};
    if (!out)
        return;
    *out = sim ? sim->times : (nb_times){0};
    if (!sim)
        return;
    if (!sim->engine.state || !sim->engine.backend->device)
        return;
    sim->engine.backend->device->times(sim->engine.state, &device);
    out->device_render = device.kernels;
    out->device_effects = device.effects;
    out->device_download = device.download;
}

int nb_sim_files(const nb_sim *sim, nb_file_use *list)
{
    return sim ? nb_config_files(&sim->cfg, list) : 0;
}
