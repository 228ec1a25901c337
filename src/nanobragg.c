/* SPDX-License-Identifier: MIT */
/* The library's spine: configuration -> scene -> backend -> image -> effects -> files. */
#include "nanobragg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/advice.h"
#include "api/notes.h"
#include "api/report_json.h"
#include "api/sim.h"
#include "base/c_locale.h"
#include "base/error.h"
#include "base/memory.h"
#include "image/noise.h"
#include "image/quantize.h"
#include "image/statistics.h"
#include "io/writer.h"
#include "render/choose.h"

const char *nb_version(void)
{
    return NB_VERSION;
}

static void unset(double *values, int n)
{
    while (n-- > 0)
        values[n] = NAN;
}

void nb_config_defaults(nb_config *cfg)
{
    if (!cfg)
        return;
    memset(cfg, 0, sizeof *cfg);
    cfg->default_F = cfg->mosaic_spread_deg = cfg->lambda_A = cfg->energy_eV = NAN;
    cfg->fluence = cfg->beamsize_mm = NAN;
    cfg->hdiv_range_mrad = cfg->vdiv_range_mrad = NAN;
    cfg->hdiv_step_mrad = cfg->vdiv_step_mrad = NAN;
    cfg->dispersion_pct = cfg->dispersion_step_pct = NAN;
    cfg->phi_deg = cfg->osc_deg = cfg->phistep_deg = NAN;
    cfg->pixel_mm = cfg->distance_mm = cfg->close_distance_mm = cfg->close_twotheta_deg =
        NAN;
    cfg->Xbeam_mm = cfg->Ybeam_mm = cfg->Xclose_mm = cfg->Yclose_mm = NAN;
    cfg->orgx = cfg->orgy = cfg->twotheta_deg = cfg->thick_um = cfg->abs_um = NAN;
    unset(cfg->xtal_size_mm, 3);
    cfg->blocks = cfg->crystal_volume_um3 = NAN;
    unset(cfg->detsize_mm, 2);
    unset(cfg->rot_deg, 3);
    cfg->fudge = cfg->exposure_s = 1;
    cfg->interpolate = NB_AUTO;
    cfg->adc_offset = 40;
    cfg->tiff_bits = 32;
    cfg->truth_min = 1;
    cfg->write_float = cfg->write_int = cfg->write_pgm = cfg->write_noise = 1;
    snprintf(cfg->float_file, sizeof cfg->float_file, "floatimage.bin");
    snprintf(cfg->int_file, sizeof cfg->int_file, "intimage.img");
    snprintf(cfg->pgm_file, sizeof cfg->pgm_file, "image.pgm");
    snprintf(cfg->noise_file, sizeof cfg->noise_file, "noiseimage.img");
    snprintf(cfg->truth_file, sizeof cfg->truth_file, "spots.tsv");
}

int64_t nb_seed_from_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)(((uint64_t)t.tv_sec * 1000003u + (uint64_t)t.tv_nsec) % 1000000000u);
}

static nb_status check_memory(const nb_geometry *g, nb_error *err)
{
    double bytes = (double)g->fpixels * g->spixels * sizeof(float);
    if (bytes > 64e9)
        return nb_fail(err, NB_ERR_INPUT,
                       "-detpixels %d x %d: one image would be %.0f GB (limit 64)",
                       g->fpixels, g->spixels, bytes / 1e9);
    return NB_OK;
}

nb_status nb_sim_build_model(nb_sim *sim, nb_error *err)
{
    const nb_config *cfg = &sim->cfg;
    nb_model_inputs in = {0};
    nb_status st;
    in.matrix = sim->has_matrix ? sim->matrix : NULL;
    in.sources = sim->spectrum ? sim->spectrum : sim->lines;
    in.n_sources = sim->spectrum ? sim->n_spectrum : sim->n_lines;
    in.mask = sim->mask;
    in.default_seed = sim->seed;
    in.sf = sim->factors;
    in.sf.default_F = isnan(cfg->default_F) ? 0 : cfg->default_F;
    st = nb_model_build(cfg, &in, &sim->hooks, &sim->model, err);
    if (!st)
        st = nb_check_model(cfg, &sim->model, err);
    return st ? st : check_memory(&sim->model.geometry, err);
}

static nb_status build(nb_sim *sim, nb_error *err)
{
    const nb_config *cfg = &sim->cfg;
    double start = nb_monotonic_seconds();
    nb_status st = nb_sim_build_model(sim, err);
    if (st)
        return st;
    sim->options.threads = cfg->threads;
    sim->options.isa = cfg->isa;
    sim->options.precision = cfg->precision;
    sim->options.hooks = sim->hooks;
    sim->options.device_alone = cfg->device_alone;
    st = nb_backend_choose(&sim->model.scene, cfg->device, &sim->options, &sim->backend,
                           sim->backend_line, sizeof sim->backend_line, err);
    if (!st)
        nb_sim_device_warm(sim, sim->backend, sim->options.device_index);
    sim->times.scene = nb_monotonic_seconds() - start;
    return st;
}

/** Before anything is rendered: can the pictures be written? */
static nb_status check_libraries(const nb_config *cfg, nb_error *err)
{
    nb_status st = cfg->png_file[0] ? nb_png_ready("-pngfile", err) : NB_OK;
    if (!st)
        st = nb_report_ready(cfg->report_file, err);
    return st || !cfg->tiff_file[0] ? st : nb_tiff_ready("-tifffile", err);
}

static nb_status prepare(nb_sim *sim, nb_error *err)
{
    double start = nb_monotonic_seconds();
    const nb_backend *named;
    nb_device device;
    nb_status st;
    if ((st = nb_check_config(&sim->cfg, err)))
        return st;
    if ((named = nb_backend_of(sim->cfg.device, &device)))
        nb_sim_device_warm(sim, named, device.index);
    if ((st = check_libraries(&sim->cfg, err)) || (st = nb_load_headers(sim, err)) ||
        (st = nb_settle_crystal(&sim->cfg, &sim->hooks, err)) ||
        (st = nb_check_config(&sim->cfg, err)) || (st = nb_load_inputs(sim, err)))
        return st;
    sim->times.load = nb_monotonic_seconds() - start;
    return build(sim, err);
}

nb_status nb_sim_create(const nb_config *cfg, const nb_hooks *hooks, nb_sim **out,
                        nb_error *err)
{
    return nb_sim_create_for(cfg, 1, hooks, out, err);
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
    sim->cfg = *cfg;
    nb_sim_hear(sim, hooks);
    sim->options.images = images;
    sim->seed = cfg->seed.set ? cfg->seed.value : nb_seed_from_clock();
    st = prepare(sim, err);
    if (st) {
        nb_sim_free(sim);
    } else {
        nb_sim_advise(sim);
        *out = sim;
    }
    return st;
}

void nb_sim_free(nb_sim *sim)
{
    if (!sim)
        return;
    nb_sim_device_join(sim);
    if (sim->backend)
        sim->backend->close(sim->state);
    free(sim->own);
    nb_sim_forget(sim);
    nb_model_free(&sim->model);
    if (!sim->borrows) {
        nb_sf_table_free(&sim->table);
        nb_free(sim->lines);
        nb_free(sim->mask);
        nb_image_free(&sim->mask_image);
    }
    nb_free(sim);
}

void nb_sim_size(const nb_sim *sim, int *fast, int *slow)
{
    if (fast)
        *fast = sim ? sim->model.scene.det.fpixels : 0;
    if (slow)
        *slow = sim ? sim->model.scene.det.spixels : 0;
}

static int device_is_automatic(const nb_config *cfg)
{
    return cfg->device[0] == 0 || strcmp(cfg->device, "auto") == 0;
}

/** Where the next image goes: to the caller, stays on the device, or to our own memory. */
static nb_status choose_home(nb_sim *sim, float **image, nb_error *err)
{
    nb_status st = NB_OK;
    sim->own_has = sim->device_has = 0;
    if (*image)
        return NB_OK;
    if (sim->backend->device) {
        sim->device_has = 1;
        return NB_OK;
    }
    st = nb_sim_own_image(sim, err);
    sim->own_has = !st;
    *image = sim->own;
    return st;
}

static nb_status open_and_render(nb_sim *sim, float *image, nb_error *err)
{
    double t0 = nb_monotonic_seconds(), t1;
    nb_status st = choose_home(sim, &image, err);
    nb_sim_device_join(sim);
    if (!st && !sim->state)
        st = sim->backend->open(&sim->options, &sim->state, err);
    t1 = nb_monotonic_seconds();
    if (!st)
        st = sim->backend->render(sim->state, &sim->model.scene, image, err);
    if (st)
        sim->own_has = sim->device_has = 0;
    sim->times.start += t1 - t0;
    sim->times.render += nb_monotonic_seconds() - t1;
    return st;
}

/** An accelerator that nobody asked for by name may fail: the CPU renders instead. */
static nb_status retry_on_cpu(nb_sim *sim, float *image, nb_error *err)
{
    nb_notice(&sim->hooks, "%s; rendering on the CPU",
              err ? err->message : "device failed");
    sim->backend->close(sim->state);
    sim->state = NULL;
    sim->backend = nb_backend_cpu(&sim->options);
    return open_and_render(sim, image, err);
}

nb_status nb_sim_statistics(nb_sim *sim, const float *image, nb_stats *stats,
                            nb_error *err)
{
    const nb_scene *sc = &sim->model.scene;
    int rows = sc->det.roi_smax - sc->det.roi_smin + 1;
    double start = nb_monotonic_seconds();
    nb_row_sums *sums = NULL;
    nb_status st = NB_OK;
    if (sim->backend->device && rows > 0 && sc->det.roi_fmax >= sc->det.roi_fmin) {
        sums = nb_alloc_raw((size_t)rows, sizeof *sums, "sums of rows", err);
        st = sums ? sim->backend->device->sums(sim->state, sc, sums, err) : NB_ERR_NOMEM;
        if (!st)
            nb_statistics_of_rows(sums, sc, stats);
        nb_free(sums);
    } else {
        nb_statistics_threads(image ? image : sim->own, sc, sim->options.threads, stats);
    }
    sim->times.statistics += nb_monotonic_seconds() - start;
    return st;
}

nb_status nb_sim_render(nb_sim *sim, float *image, nb_stats *stats, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim);
    nb_error local = {0};
    nb_stats own;
    nb_status st;
    nb_sim_say_long(sim, 1);
    st = open_and_render(sim, image, err ? err : &local);
    if (st == NB_ERR_DEVICE && device_is_automatic(&sim->cfg))
        st = retry_on_cpu(sim, image, err ? err : &local);
    if (st)
        return st;
    sim->backend->describe(sim->state, sim->backend_line, sizeof sim->backend_line);
    if (!stats && !nb_sim_may_overflow(sim))
        return NB_OK;
    st = nb_sim_statistics(sim, image, stats ? stats : &own, err);
    if (!st)
        st = nb_sim_check_finite(sim, stats ? stats : &own, err);
    if (st)
        sim->own_has = sim->device_has = 0;
    else if (stats)
        stats->solid_angle = nb_scene_solid_angle(&sim->model.scene);
    if (!st && stats)
        nb_sim_say_dark(sim, stats);
    return st;
}

int64_t nb_sim_seed(const nb_sim *sim)
{
    return sim ? sim->seed : 0;
}

const char *nb_sim_backend(const nb_sim *sim)
{
    return sim ? sim->backend_line : "";
}

void nb_sim_times(const nb_sim *sim, nb_times *out)
{
    nb_device_times device = {0};
    if (!out)
        return;
    *out = sim ? sim->times : (nb_times){0};
    if (!sim)
        return;
    if (!sim->state || !sim->backend->device)
        return;
    sim->backend->device->times(sim->state, &device);
    out->device_render = device.kernels;
    out->device_effects = device.effects;
    out->device_download = device.download;
}
