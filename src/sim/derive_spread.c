/* SPDX-License-Identifier: MIT */
#include "derive.h"

#include "../base/memory.h"
#include "../image/light.h"
#include "../physics/panels.h"

int nb_sim_has_spread(const nb_sim *sim, nb_stage *psf)
{
    nb_stage stages[NB_STAGES_MOST];
    int at = nb_stage_at(stages, nb_sim_stages(sim, stages), NB_STAGE_SPREAD);
    if (at >= 0)
        *psf = stages[at];
    return at >= 0;
}

/** out[pixels] of floats behind the spread; in: 0 outside of the region. */
static nb_status spread_floats(const nb_sim *sim, const nb_stage *psf, const float *in,
                               double *out, nb_error *err)
{
    const nb_scene *sc = &sim->model.scene;
    nb_photons photons = nb_sim_photons(sim, in);
    nb_light *light;
    nb_status st;
    photons.scene = sc;
    st = nb_light_make(&photons, psf, 0, &light, err);
    for (int row = 0; row < sc->raster.rows && !st; row++)
        nb_light_row(light, row, out + nb_row_start(sc, row));
    if (!st)
        nb_light_free(light);
    return st;
}

/** The spread takes floats: two of them are a double. */
nb_status nb_sim_spread_values(const nb_sim *sim, const nb_stage *psf, double *values,
                               nb_error *err)
{
    const size_t pixels = sim->model.scene.raster.pixels;
    float *part = nb_alloc_raw(pixels, sizeof *part, "point spread", err);
    double *rest = nb_alloc(pixels, sizeof *rest, "point spread", err);
    nb_status st = part && rest ? NB_OK : NB_ERR_NOMEM;
    int exact = 1;
    for (size_t i = 0; i < pixels && !st; i++) {
        part[i] = (float)values[i];
        rest[i] = values[i] - (double)part[i];
        exact &= rest[i] == 0;
    }
    NB_TRY(spread_floats(sim, psf, part, values, err));
    if (!st && !exact) {
        for (size_t i = 0; i < pixels; i++)
            part[i] = (float)rest[i];
        st = spread_floats(sim, psf, part, rest, err);
        for (size_t i = 0; i < pixels && !st; i++)
            values[i] += rest[i];
    }
    nb_free(part);
    nb_free(rest);
    return st;
}

/** Copy a loss's slopes where pixels are rendered. */
static void copy_region(const nb_scene *sc, nb_real_type type, const void *from,
                        double *to)
{
    const uint8_t *mask = sc->raster.mask;
    for (int k = 0; k < sc->n_panels; k++) {
        const nb_panel *panel = &sc->panels[k];
        const nb_region r = nb_panel_region(sc, panel);
        for (int s = r.smin; s <= r.smax; s++)
            for (int f = r.fmin; f <= r.fmax; f++) {
                const size_t i = nb_panel_pixel(panel, f, s);
                if (!mask || mask[i])
                    to[i] = nb_real(type, from, i);
            }
    }
}

nb_status nb_sim_spread_loss(const nb_sim *sim, const nb_stage *psf, nb_real_type type,
                             const void *dloss, double **out, nb_error *err)
{
    const size_t pixels = sim->model.scene.raster.pixels;
    nb_status st;
    *out = nb_alloc(pixels, sizeof **out, "point spread", err);
    if (!*out)
        return NB_ERR_NOMEM;
    copy_region(&sim->model.scene, type, dloss, *out);
    if ((st = nb_sim_spread_values(sim, psf, *out, err))) {
        nb_free(*out);
        *out = NULL;
    }
    return st;
}
