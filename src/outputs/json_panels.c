/* SPDX-License-Identifier: MIT */
/* detector.panels of -show_config. */
#include "report.h"
#include "write.h"

#include <math.h>

#include "../base/memory.h"
#include "../params/params.h"
#include "../inputs/load.h"

static double masked_pixels(const nb_scene *sc, const nb_panel *p)
{
    size_t n = (size_t)p->columns * (size_t)p->rows;
    double sum = 0;
    for (size_t i = 0; sc->raster.mask && i < n; i++)
        sum += !sc->raster.mask[p->first_pixel + i];
    return sum;
}

/** Panel k of the detector's file, or default values without a file. */
static nb_panel_spec said_of(const nb_sim *sim, int k)
{
    nb_panel_spec plain = {.name = "p0", .gain = 1, .saturation = NAN};
    return sim->cfg.detector ? sim->cfg.detector->panels[k] : plain;
}

static void add_panel(nb_json list, const nb_sim *sim, int k, const int place[2])
{
    const nb_scene *sc = &sim->model.scene;
    const nb_panel *p = &sc->panels[k];
    const nb_sensor *sensor = &sc->sensors[p->sensor];
    const nb_panel_spec said = said_of(sim, k);
    const double pixel[2] = {p->pixel_fast * 1e3, p->pixel_slow * 1e3};
    const double size[2] = {p->columns, p->rows}, at[2] = {place[0], place[1]};
    const double thick = sensor->absorb ? sensor->layer_step * sensor->layers * 1e3 : 0;
    nb_json one = nb_json_add_object(list);
    nb_json_text(one, "name", said.name);
    nb_json_vector(one, "origin_mm", 1e3, p->pix0);
    nb_json_vector(one, "fast", 1, p->fast);
    nb_json_vector(one, "slow", 1, p->slow);
    nb_json_vector(one, "normal", 1, p->normal);
    nb_json_numbers(one, "pixel_mm", pixel, 2);
    nb_json_numbers(one, "size", size, 2);
    nb_json_number(one, "close_distance_mm", p->close_distance * 1e3);
    nb_json_number(one, "thickness_mm",
                   sensor->absorb && !NB_TYPED(&sim->model.settings, thick_um) &&
                           said.thickness > 0
                       ? said.thickness * 1e3
                       : thick);
    nb_json_number(one, "attenuation_per_mm", sensor->absorb ? sensor->mu * 1e-3 : 0);
    nb_json_number(one, "gain", NB_TYPED_OR(&sim->model.settings, gain, said.gain));
    nb_json_number(one, "saturation",
                   NB_TYPED_OR(&sim->model.settings, saturation, said.saturation));
    nb_json_number(one, "masked", masked_pixels(sc, p));
    nb_json_numbers(one, "data", at, 2);
}

void nb_json_panels(nb_json detector, const nb_sim *sim)
{
    int n = sim->model.scene.n_panels;
    int(*place)[2] = nb_alloc((size_t)n, sizeof *place, "layout", NULL);
    nb_json list = nb_json_array(detector, "panels");
    if (!place) {
        *detector.failed = 1;
        return;
    }
    nb_sim_canvas(sim, place);
    for (int k = 0; k < n; k++)
        add_panel(list, sim, k, place[k]);
    nb_free(place);
}
