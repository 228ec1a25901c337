/* SPDX-License-Identifier: MIT */
/* Images of some pixels by the backend, which is quicker than the sums of derivatives. */
#include <math.h>

#include "../sim/sim.h"
#include "../base/memory.h"
#include "../render/request.h"
#include "fit.h"

size_t nb_fit_row_spans(const nb_fit *fit, const float *photons, const uint8_t *of, int k,
                        int s, nb_span *spans)
{
    const nb_panel *panel = &fit->sim->model.scene.panels[k];
    const size_t row = panel->first_pixel + (size_t)s * (size_t)panel->columns;
    size_t n = 0;
    for (int f = 0; f < panel->columns; f++) {
        const int begin = f;
        while (f < panel->columns && !isnan(photons[row + (size_t)f]) &&
               (!of || of[row + (size_t)f]))
            f++;
        if (f == begin)
            continue;
        if (spans)
            spans[n] = (nb_span){k, begin, s, f - begin, row + (size_t)begin};
        n++;
    }
    return n;
}

/** The runs of pixels that are not NaN, into spans unless that is NULL; how many. */
static size_t list_spans(const nb_fit *fit, const float *photons, nb_span *spans)
{
    const nb_scene *sc = &fit->sim->model.scene;
    size_t n = 0;
    for (int k = 0; k < sc->n_panels; k++)
        for (int s = 0; s < sc->panels[k].rows; s++)
            n += nb_fit_row_spans(fit, photons, NULL, k, s, spans ? spans + n : NULL);
    return n;
}

nb_status nb_fit_spans(const nb_fit *fit, const float *photons, nb_span **spans,
                       size_t *n, nb_error *err)
{
    *n = list_spans(fit, photons, NULL);
    *spans = nb_alloc_raw(*n + 1, sizeof **spans, "pixels of a fit", err);
    if (!*spans)
        return NB_ERR_NOMEM;
    list_spans(fit, photons, *spans);
    return NB_OK;
}

nb_status nb_fit_render(nb_fit *fit, const nb_span *spans, size_t n, float *image,
                        nb_error *err)
{
    nb_sim_engine *engine = &fit->sim->engine;
    const nb_request request = {.spans = spans,
                                .n = n,
                                .precision = engine->options.precision,
                                .tolerance = engine->options.tolerance};
    const nb_planes planes = {.image = image, .pixels = fit->pixels};
    nb_status st = nb_engine_open(engine, err);
    return st ? st
              : engine->backend->render(engine->state, &fit->sim->model.scene, &request,
                                        &planes, err);
}

nb_status nb_fit_image(nb_fit *fit, const float *photons, nb_error *err)
{
    const nb_observation seen = {.photons = photons};
    nb_span *spans;
    float *image;
    size_t n;
    nb_status st;
    if (fit->sim->cfg.psf != NB_PSF_NONE)
        return nb_sim_expected(fit->sim, &seen, fit->expected, err);
    if ((st = nb_fit_spans(fit, photons, &spans, &n, err)))
        return st;
    image = nb_alloc_raw(fit->pixels, sizeof *image, "image of a fit", err);
    st = image ? nb_fit_render(fit, spans, n, image, err) : NB_ERR_NOMEM;
    for (size_t i = 0; i < fit->pixels && !st; i++)
        fit->expected[i] = image[i];
    nb_free(spans);
    nb_free(image);
    return st;
}
