/* SPDX-License-Identifier: MIT */
/* Images of some pixels by the backend, which is quicker than the sums of derivatives. */
#include <math.h>

#include "../api/sim.h"
#include "../base/memory.h"
#include "../render/request.h"
#include "fit.h"

/** The runs of pixels that are not NaN, into spans unless that is NULL; how many. */
static size_t list_spans(const nb_scene *sc, const float *photons, nb_span *spans)
{
    size_t n = 0;
    for (int k = 0; k < sc->n_panels; k++) {
        const nb_panel *panel = &sc->panels[k];
        for (int s = 0; s < panel->rows; s++) {
            size_t row = panel->first_pixel + (size_t)s * (size_t)panel->columns;
            for (int f = 0; f < panel->columns; f++) {
                int begin = f;
                while (f < panel->columns && !isnan(photons[row + (size_t)f]))
                    f++;
                if (f == begin)
                    continue;
                if (spans)
                    spans[n] = (nb_span){k, begin, s, f - begin, row + (size_t)begin};
                n++;
            }
        }
    }
    return n;
}

nb_status nb_fit_image(nb_fit *fit, const float *photons, nb_error *err)
{
    nb_sim *sim = fit->sim;
    const nb_scene *sc = &sim->model.scene;
    const nb_observation seen = {.photons = photons};
    nb_request request = {.precision = sim->options.precision,
                          .tolerance = sim->options.tolerance};
    nb_planes planes = {.pixels = fit->pixels};
    nb_span *spans;
    nb_status st = NB_OK;
    if (sim->cfg.psf != NB_PSF_NONE)
        return nb_sim_expected(sim, &seen, fit->expected, err);
    request.n = list_spans(sc, photons, NULL);
    spans = nb_alloc_raw(request.n + 1, sizeof *spans, "pixels of a fit", err);
    planes.image = nb_alloc_raw(fit->pixels, sizeof *planes.image, "image of a fit", err);
    if (!spans || !planes.image)
        st = NB_ERR_NOMEM;
    nb_sim_device_join(sim);
    if (!st && !sim->state)
        st = sim->backend->open(&sim->options, &sim->state, err);
    if (!st) {
        list_spans(sc, photons, spans);
        request.spans = spans;
        st = sim->backend->render(sim->state, sc, &request, &planes, err);
    }
    for (size_t i = 0; i < fit->pixels && !st; i++)
        fit->expected[i] = planes.image[i];
    nb_free(spans);
    nb_free(planes.image);
    return st;
}
