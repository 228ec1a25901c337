/* SPDX-License-Identifier: MIT */
/* Make statistics and integer pixels of an image in the caller's memory. */
#include "../base/c_locale.h"
#include "../base/error.h"
#include "../image/image.h"
#include "../physics/panels.h"
#include "light.h"
#include "noise.h"
#include "sim.h"

nb_photons nb_sim_photons(const nb_sim *sim, const float *image)
{
    const int even = nb_stack_is_even(&sim->model.scene);
    return (nb_photons){.scene = even ? &sim->model.scene : &sim->model.flat,
                        .stack = &sim->model.scene,
                        .pixels = image,
                        .kernels = sim->engine.kernels,
                        .threads = sim->engine.options.threads,
                        .hooks = &sim->hooks,
                        .mix = nb_sim_mix(sim)};
}

/** Make one product of a whole image. */
static nb_status make_whole(const nb_sim *sim, const float *image, nb_product *product,
                            nb_error *err)
{
    nb_photons photons = nb_sim_photons(sim, image);
    nb_stage stages[NB_STAGES_MAX];
    int n = nb_sim_stages(sim, stages);
    nb_status st = nb_image_make(&photons, stages, n, product, 1, err);
    nb_products_free(product, 1);
    return st;
}

nb_status nb_sim_statistics(const nb_sim *sim, const float *image, nb_stats *stats,
                            nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && image && stats);
    nb_photons photons = nb_sim_photons(sim, image);
    nb_product summary = {.type = NB_PIXEL_F32, .stats = stats};
    nb_status st = nb_image_make(&photons, NULL, 0, &summary, 1, err);
    if (!st)
        stats->solid_angle = nb_scene_solid_angle(&sim->model.scene);
    return st;
}

nb_status nb_sim_digitize(const nb_sim *sim, const float *image, const nb_stats *stats,
                          uint16_t *out, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && image && out);
    nb_product integers = {.type = NB_PIXEL_U16,
                           .scale = nb_int_scale(sim->cfg.scale, stats),
                           .adc_offset = sim->cfg.adc_offset,
                           .pixels = out};
    return make_whole(sim, image, &integers, err);
}

/** Make one product with noise. */
static nb_status make_noise(const nb_sim *sim, const float *image, nb_product noise,
                            void *out, int64_t *overloads, nb_error *err)
{
    nb_status st;
    noise.pixels = out;
    st = make_whole(sim, image, &noise, err);
    if (overloads)
        *overloads = noise.overloads;
    return st;
}

nb_status nb_sim_noise(const nb_sim *sim, const float *image, uint16_t *out,
                       int64_t *overloads, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && image && out);
    return make_noise(sim, image,
                      nb_sim_noise_product(sim, NB_PIXEL_U16, sim->cfg.adc_offset), out,
                      overloads, err);
}

nb_status nb_sim_noise_counts(const nb_sim *sim, const float *image, int32_t *out,
                              int64_t *overloads, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && image && out);
    return make_noise(sim, image,
                      nb_sim_noise_product(sim, NB_PIXEL_I32,
                                           sim->cfg.adc_set ? sim->cfg.adc_offset : 0),
                      out, overloads, err);
}
