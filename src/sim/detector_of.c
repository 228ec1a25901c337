/* SPDX-License-Identifier: MIT */
/* Describe the detector and the wavelength of a simulation for output files. */
#include "sim.h"

#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../io/common/panel_spec.h"
#include "../model/detector.h"
#include "../model/units.h"
#include "../params/params.h"

double nb_beam_mean(const nb_beam *beam)
{
    double weight = 0, sum = 0;
    for (int i = 0; i < beam->n_sources; i++) {
        weight += beam->sources[i].weight;
        sum += beam->sources[i].weight * beam->sources[i].lambda;
    }
    return sum / weight;
}

double nb_sim_wavelength(const nb_sim *sim)
{
    return sim->in.has_spectrum || sim->model.spectrum.n
               ? nb_beam_mean(&sim->model.scene.beam) * 1e10
               : sim->model.wavelength_A;
}

const char *nb_sim_panel(const nb_sim *sim, int k, int size[2])
{
    const nb_panel *panel;
    if (!sim || k < 0 || k >= sim->model.scene.n_panels)
        return NULL;
    panel = &sim->model.scene.panels[k];
    if (size) {
        size[0] = panel->columns;
        size[1] = panel->rows;
    }
    return sim->cfg.detector ? sim->cfg.detector->panels[k].name : "p0";
}

static nb_panel_canvas canvas_of(const nb_sim *sim, nb_layout layout, int (*place)[2])
{
    const nb_scene *sc = &sim->model.scene;
    if (sim->cfg.detector)
        return nb_layout_panels(sim->cfg.detector, layout, place);
    if (place)
        place[0][0] = place[0][1] = 0;
    return (nb_panel_canvas){{sc->raster.columns, sc->raster.rows}, 0};
}

nb_panel_canvas nb_sim_canvas(const nb_sim *sim, int (*place)[2])
{
    return canvas_of(sim, sim->cfg.layout, place);
}

nb_panel_canvas nb_sim_file_canvas(const nb_sim *sim, int (*place)[2])
{
    return canvas_of(sim, NB_LAYOUT_FILE, place);
}

static void spec_of(const nb_model *model, nb_convention c, const nb_panel *p,
                    const nb_panel_spec *from, nb_panel_spec *out)
{
    const nb_sensor *sensor = &model->scene.sensors[p->sensor];
    if (from)
        *out = *from;
    out->size[0] = p->columns;
    out->size[1] = p->rows;
    out->pixel[0] = p->pixel_fast;
    out->pixel[1] = p->pixel_slow;
    nb_nexus_of_lab(c, p->pix0, out->origin);
    nb_nexus_of_lab(c, p->fast, out->fast);
    nb_nexus_of_lab(c, p->slow, out->slow);
    out->thickness = sensor->absorb ? sensor->layer_step * sensor->layers : 0;
    out->attenuation = sensor->absorb ? sensor->mu : 0;
    if (from && sensor->absorb && !NB_TYPED(&model->settings, thick_um))
        out->thickness = from->thickness; /* the file has the exact value */
}

static nb_opt3 direction_of(nb_convention c, nb_vec3 v)
{
    nb_opt3 out = {1, {0, 0, 0}};
    nb_nexus_of_lab(c, v, out.v);
    return out;
}

/** Give the typed gain and saturation to all panels. */
static void use_typed(const nb_config *cfg, nb_detector_spec *d)
{
    for (int k = 0; k < d->n_panels; k++) {
        if (NB_GIVEN(cfg, gain))
            d->panels[k].gain = cfg->gain;
        if (NB_GIVEN(cfg, saturation))
            d->panels[k].saturation = cfg->saturation;
    }
}

nb_status nb_sim_detector_spec(const nb_sim *sim, nb_detector_spec *out, nb_error *err)
{
    const nb_scene *sc = &sim->model.scene;
    const nb_geometry *g = &sim->model.geometry;
    const nb_detector_spec *from = sim->cfg.detector;
    nb_status st;
    if (g->convention == NB_CONV_ADXV || sc->panels[0].curved) {
        memset(out, 0, sizeof *out);
        return nb_fail(err, NB_ERR_INPUT,
                       "%s: a geometry file cannot hold such a detector",
                       sc->panels[0].curved ? "-curved_det" : "-adxv, a mirrored frame");
    }
    NB_FORWARD(nb_detector_spec_new(sc->n_panels, out, err));
    for (int k = 0; k < sc->n_panels; k++)
        spec_of(&sim->model, g->convention, &sc->panels[k],
                from ? &from->panels[k] : NULL, &out->panels[k]);
    use_typed(&sim->cfg, out);
    out->wavelength_A = nb_sim_wavelength(sim);
    out->beam = direction_of(g->convention, g->beam);
    out->polar_axis = direction_of(g->convention, g->polar);
    out->polarization = sc->beam.nopolar ? NAN : sc->beam.polarization;
    out->spindle = direction_of(g->convention, g->spindle);
    out->phi_deg = sim->model.phi0 / NB_DEG;
    out->osc_deg = sim->model.phi_range / NB_DEG;
    out->exposure_s = sim->cfg.exposure_s;
    if (from)
        st = nb_spec_copy_groups(from, out, err);
    if (!st && sc->raster.mask && !(st = nb_spec_need_mask(out, err)))
        memcpy(out->mask, sc->raster.mask, sc->raster.pixels);
    if (st)
        nb_detector_spec_free(out);
    return st;
}
