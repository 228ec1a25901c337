/* SPDX-License-Identifier: MIT */
/** Functions that each make one product of an image in memory. */
#ifndef NB_TEST_PRODUCTS_H
#define NB_TEST_PRODUCTS_H

#include "base/threads.h"
#include "image/image.h"

typedef struct noise_options {
    int64_t seed;
    uint32_t frame;
    double adc_offset;
    int threads;
} noise_options;

static inline nb_photons photons_of(const float *image, const nb_scene *scene, int threads)
{
    nb_isa isa = NB_ISA_SCALAR;
    nb_cpu_choose(NB_ISA_AUTO, &isa, NULL);
    return (nb_photons){.scene = scene,
                        .pixels = image,
                        .kernels = nb_image_kernels_of(isa),
                        .threads = threads};
}

/** Makes one product of an image of this scene, after `stage` (may be NULL). */
static inline nb_status make_one(const float *image, const nb_scene *scene, int threads,
                                 const nb_stage *stage, nb_product *product, nb_error *err)
{
    nb_photons photons = photons_of(image, scene, threads);
    nb_status st;
    product->stages = stage != NULL;
    st = nb_image_make(&photons, stage, stage != NULL, product, 1, err);
    nb_products_free(product, 1);
    return st;
}

static inline nb_status make_counts(nb_stage_kind kind, const float *image,
                                    const nb_scene *scene, const noise_options *o,
                                    uint16_t *out, int64_t *overloads, nb_error *err)
{
    const nb_stage stage = {.kind = kind, .seed = o->seed, .frame = o->frame};
    nb_product p = {.type = NB_PIXEL_U16, .adc_offset = o->adc_offset, .pixels = out};
    nb_status st = make_one(image, scene, o->threads, &stage, &p, err);
    if (overloads)
        *overloads = p.overloads;
    return st;
}

static inline nb_status make_noise(const float *image, const nb_scene *scene,
                                   const noise_options *o, uint16_t *out,
                                   int64_t *overloads, nb_error *err)
{
    return make_counts(NB_STAGE_POISSON, image, scene, o, out, overloads, err);
}

static inline void statistics_of(const float *image, const nb_scene *scene, int threads,
                                 nb_stats *stats)
{
    const nb_photons photons = photons_of(image, scene, threads);
    nb_statistics(&photons, stats, NULL);
}

#endif
