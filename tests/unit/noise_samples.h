/* SPDX-License-Identifier: MIT */
/** Scenes without a beam, and the product (requested image) of an image of photons. */
#ifndef NB_TESTS_NOISE_SAMPLES_H
#define NB_TESTS_NOISE_SAMPLES_H

#include "../support/check.h"
#include "../support/products.h"

#include "base/error.h"
#include "base/fftw_lib.h"
#include "base/memory.h"
#include "image/fibre.h"
#include "image/poisson.h"
#include "image/stages.h"

/** One panel, or several panels one below the other, in a scene without a beam. */
typedef struct detector {
    nb_scene scene;
    nb_panel panels[3];
} detector;

static inline void put_panel(detector *d, int fast, int slow, double edge)
{
    nb_scene *sc = &d->scene;
    d->panels[sc->n_panels++] = (nb_panel){.columns = fast,
                                           .rows = slow,
                                           .first_row = sc->raster.rows,
                                           .first_pixel = sc->raster.pixels,
                                           .pixel_fast = edge,
                                           .pixel_slow = edge};
    sc->panels = d->panels;
    sc->raster.rows += slow;
    sc->raster.columns = fast > sc->raster.columns ? fast : sc->raster.columns;
    sc->raster.pixels += (size_t)fast * (size_t)slow;
    sc->raster.roi.fmax = sc->raster.columns - 1;
    sc->raster.roi.smax = sc->raster.rows - 1;
}

/** Makes a product: the image after stages[n]. An error fails the test and is printed. */
static inline void make(const detector *d, nb_isa isa, int threads, const float *photons,
                        const nb_stage *stages, int n, nb_product *p)
{
    nb_scene flat = d->scene; /* if panels differ in width, all pixels are in one row */
    nb_photons of = {.scene = &flat,
                     .stack = &d->scene,
                     .pixels = photons,
                     .kernels = nb_image_kernels_of(isa),
                     .threads = threads};
    nb_error err = {0};
    if ((size_t)flat.raster.columns * (size_t)flat.raster.rows != flat.raster.pixels)
        flat.raster.columns = (int)flat.raster.pixels, flat.raster.rows = 1;
    p->stages = n;
    if (nb_image_make(&of, stages, n, p, 1, &err))
        fail_msg("%s", err.message);
    nb_products_free(p, 1);
}

static inline nb_isa widest(void)
{
    nb_isa isa = NB_ISA_SCALAR;
    nb_cpu_choose(NB_ISA_AUTO, &isa, NULL);
    return isa;
}

static const nb_stage unit_gain = {.kind = NB_STAGE_GAIN, .amount = 1};

static inline nb_stage spread(nb_psf_shape shape, double um, nb_fibres *fibres)
{
    return (nb_stage){
        .kind = NB_STAGE_SPREAD, .shape = shape, .amount = um * 1e-6, .fibres = fibres};
}

static inline nb_fibres *some_fibres(void)
{
    nb_fibres *fibres;
    assert_int_equal(nb_fibres_new(&fibres, NULL), NB_OK);
    return fibres;
}

static inline int has_fftw(void)
{
    nb_error err;
    return !nb_fftw_need("-psf fibre", &err);
}

#endif
