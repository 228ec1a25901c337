/* SPDX-License-Identifier: MIT */
#include "detector.h"

#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../params/params.h"

static nb_status set_roi(const nb_settings *cfg, nb_detector *det, nb_error *err)
{
    const int *r = cfg->value.roi;
    det->raster.roi = (nb_region){0, det->raster.columns - 1, 0, det->raster.rows - 1};
    if (!cfg->value.roi_set)
        return NB_OK;
    if (det->n_panels > 1)
        return nb_fail(
            err, NB_ERR_INPUT,
            "-roi: a region of one panel, but the detector has %d; type -panel",
            det->n_panels);
    if (r[0] < 0 || r[1] >= det->raster.columns || r[2] < 0 || r[3] >= det->raster.rows ||
        r[0] > r[1] || r[2] > r[3])
        return nb_fail(
            err, NB_ERR_INPUT,
            "-roi %d %d %d %d: must be min <= max, inside 0 %d 0 %d (both ends "
            "are rendered)",
            r[0], r[1], r[2], r[3], det->raster.columns - 1, det->raster.rows - 1);
    det->raster.roi = (nb_region){r[0], r[1], r[2], r[3]};
    return NB_OK;
}

/** Set the axes of a curved detector, which are perpendicular to the beam and near the
 * fast and slow axes. */
static nb_status set_curvature(nb_panel *panel, nb_error *err)
{
    nb_vec3 f = nb_sub(panel->fast,
                       nb_scale(nb_dot(panel->fast, panel->beam), panel->beam)),
            s;
    if (nb_norm(f) < 1e-9)
        return nb_fail(
            err, NB_ERR_INPUT,
            "-curved_det: the fast axis is along the beam; it must be across the beam");
    f = nb_unit(f);
    s = nb_sub(panel->slow, nb_scale(nb_dot(panel->slow, panel->beam), panel->beam));
    s = nb_sub(s, nb_scale(nb_dot(panel->slow, f), f));
    if (nb_norm(s) < 1e-9)
        return nb_fail(
            err, NB_ERR_INPUT,
            "-curved_det: the slow axis is along the beam; it must be across the beam");
    if (!(panel->distance > 0))
        return nb_fail(err, NB_ERR_INPUT,
                       "-curved_det: the detector must be downstream of the sample");
    panel->curved_fast = f;
    panel->curved_slow = nb_unit(s);
    return NB_OK;
}

/** Find the attenuation of the material of -sensor. */
static nb_status find_material(const nb_settings *cfg, double wavelength_A,
                               nb_material *out, nb_error *err)
{
    double thickest = cfg->value.thick_um;
    if (!cfg->value.sensor[0])
        return NB_OK;
    for (int k = 0; cfg->value.detector && k < cfg->value.detector->n_panels; k++)
        thickest = fmax(thickest, cfg->value.detector->panels[k].thickness);
    if (!NB_TYPED(cfg, thick_um) && !(thickest > 0))
        return nb_fail(err, NB_ERR_INPUT,
                       "-sensor %s needs a thickness: add -detector_thick",
                       cfg->value.sensor);
    return nb_material_find(cfg->value.sensor, wavelength_A, out, err);
}

/** Print a notice if a typed normal points upstream: then the detector is upstream,
 * unless -pix0_vector places it elsewhere. */
static void warn_upstream(const nb_settings *cfg, const nb_geometry *g,
                          const nb_hooks *hooks)
{
    const double *o = cfg->value.odet_vector.v;
    int used = cfg->value.convention == NB_CONV_CUSTOM && cfg->value.odet_vector.set;
    if (used && nb_dot(nb_v3(o[0], o[1], o[2]), g->beam) < 0)
        nb_notice(hooks, "-odet_vector %g %g %g points upstream: %s", o[0], o[1], o[2],
                  g->distance < 0 ? "the detector is on the source side of the crystal"
                                  : "the opposite direction is used as detector normal");
}

/** Set the values of flags that hold for every panel. */
static void set_pixels(const nb_settings *cfg, nb_panel *panel)
{
    int square = panel->curved ||
                 /* nanoBragg has this rule */
                 (cfg->value.compat && !cfg->value.detector);
    double c = square ? 0 : nb_dot(panel->fast, panel->slow);
    panel->point_pixel = cfg->value.point_pixel != 0;
    panel->pixel_area = panel->pixel_fast * panel->pixel_slow * sqrt(1 - c * c);
    if (cfg->value.compat && panel->point_pixel && !panel->curved)
        /* with -compat, 1 instead of the area, as in nanoBragg */
        panel->pixel_area = 1.0;
}

/** Make the panel of a detector that flags describe. */
static nb_status one_panel(const nb_settings *cfg, const nb_geometry *g,
                           const nb_hooks *hooks, nb_detector *det, nb_error *err)
{
    nb_panel *panel = det->panels;
    panel->columns = g->fpixels;
    panel->rows = g->spixels;
    panel->pixel_fast = panel->pixel_slow = g->pixel;
    panel->fast = g->fast;
    panel->slow = g->slow;
    panel->normal = g->normal;
    panel->beam = g->beam;
    panel->pix0 = g->pix0;
    panel->distance = g->distance;
    panel->close_distance = g->close_distance;
    panel->Fbeam = g->Fbeam;
    panel->Sbeam = g->Sbeam;
    panel->curved = cfg->value.curved != 0;
    panel->exact_omega = panel->curved && cfg->value.curved_omega == NB_OMEGA_EXACT;
    if (cfg->value.curved_omega == NB_OMEGA_EXACT && !panel->curved)
        nb_notice(hooks, "-curved_omega has no effect without -curved_det");
    set_pixels(cfg, panel);
    warn_upstream(cfg, g, hooks);
    det->sensors[0] =
        nb_sensor_typed(cfg, det->material.name[0] ? det->material.mu : NAN, hooks);
    det->n_sensors = 1;
    return panel->curved ? set_curvature(panel, err) : NB_OK;
}

static int same_sensor(const nb_sensor *a, const nb_sensor *b)
{
    return a->layers == b->layers && a->layer_step == b->layer_step && a->mu == b->mu &&
           a->absorb == b->absorb && a->mean_depth == b->mean_depth;
}

/** Find an equal sensor in the list, or add the sensor. Returns its number. */
static int find_sensor(nb_detector *det, const nb_sensor *sensor)
{
    int i = det->n_sensors - 1;
    while (i >= 0 && !same_sensor(&det->sensors[i], sensor))
        i--;
    if (i >= 0)
        return i;
    det->sensors[det->n_sensors] = *sensor;
    return det->n_sensors++;
}

static nb_status panels_of_file(const nb_settings *cfg, const nb_geometry *g,
                                double wavelength_A, const nb_hooks *hooks,
                                nb_detector *det, nb_error *err)
{
    /* material of the last panel that names a material */
    nb_material found = det->material;
    for (int k = 0; k < det->n_panels; k++) {
        const nb_panel_spec *spec = &cfg->value.detector->panels[k];
        const nb_sensor_inputs in = {wavelength_A, &det->material, k == 0};
        nb_sensor sensor;
        nb_status st;
        NB_FORWARD(nb_sensor_of_panel(cfg, spec, &in, hooks, &found, &sensor, err));
        nb_panel_place(g, spec, k, &det->panels[k]);
        set_pixels(cfg, &det->panels[k]);
        det->panels[k].sensor = find_sensor(det, &sensor);
    }
    return NB_OK;
}

/** Put the panels below each other. */
static void stack_panels(nb_detector *det)
{
    nb_raster *raster = &det->raster;
    for (int k = 0; k < det->n_panels; k++) {
        nb_panel *panel = &det->panels[k];
        panel->first_row = raster->rows;
        panel->first_pixel = raster->pixels;
        raster->rows += panel->rows;
        raster->pixels += (size_t)panel->rows * (size_t)panel->columns;
        if (panel->columns > raster->columns)
            raster->columns = panel->columns;
    }
}

nb_status nb_detector_build(const nb_settings *cfg, const nb_geometry *g,
                            double wavelength_A, const nb_hooks *hooks, nb_detector *det,
                            nb_error *err)
{
    int n = cfg->value.detector ? cfg->value.detector->n_panels : 1;
    nb_status st;
    memset(det, 0, sizeof *det);
    det->panels = nb_alloc((size_t)n, sizeof *det->panels, "panels", err);
    det->sensors = nb_alloc((size_t)n, sizeof *det->sensors, "sensors", err);
    if (!det->panels || !det->sensors)
        return NB_ERR_NOMEM;
    det->n_panels = n;
    NB_FORWARD(find_material(cfg, wavelength_A, &det->material, err));
    st = cfg->value.detector ? panels_of_file(cfg, g, wavelength_A, hooks, det, err)
                             : one_panel(cfg, g, hooks, det, err);
    stack_panels(det);
    return st ? st : set_roi(cfg, det, err);
}

void nb_detector_free(nb_detector *det)
{
    if (!det)
        return;
    nb_free(det->panels);
    nb_free(det->sensors);
    memset(det, 0, sizeof *det);
}
