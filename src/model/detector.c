/* SPDX-License-Identifier: MIT */
#include "detector.h"

#include <stdio.h>
#include <string.h>

#include "../base/error.h"
#include "sampling.h"
#include "units.h"

static nb_status set_roi(const nb_config *cfg, nb_detector *det, nb_error *err)
{
    det->roi.fmin = det->roi.smin = 0;
    det->roi.fmax = det->panel.columns - 1;
    det->roi.smax = det->panel.rows - 1;
    if (!cfg->roi_set)
        return NB_OK;
    if (cfg->roi[0] < 0 || cfg->roi[1] >= det->panel.columns || cfg->roi[2] < 0 ||
        cfg->roi[3] >= det->panel.rows || cfg->roi[0] > cfg->roi[1] ||
        cfg->roi[2] > cfg->roi[3])
        return nb_fail(
            err, NB_ERR_INPUT,
            "-roi %d %d %d %d: must be min <= max, inside 0 %d 0 %d (both ends "
            "are rendered)",
            cfg->roi[0], cfg->roi[1], cfg->roi[2], cfg->roi[3], det->panel.columns - 1,
            det->panel.rows - 1);
    det->roi.fmin = cfg->roi[0];
    det->roi.fmax = cfg->roi[1];
    det->roi.smin = cfg->roi[2];
    det->roi.smax = cfg->roi[3];
    return NB_OK;
}

/** Axes of a detector curved around the sample: across the beam, along fast and slow. */
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

/** What -sensor says of the attenuation. */
static nb_status find_material(const nb_config *cfg, double wavelength_A,
                               nb_material *out, nb_error *err)
{
    if (!cfg->sensor[0])
        return NB_OK;
    if (isnan(cfg->thick_um))
        return nb_fail(err, NB_ERR_INPUT,
                       "-sensor %s needs a thickness: add -detector_thick", cfg->sensor);
    return nb_material_find(cfg->sensor, wavelength_A, out, err);
}

static void set_sensor(const nb_config *cfg, const nb_material *material,
                       const nb_hooks *hooks, nb_sensor *sensor)
{
    double thick = nb_or(cfg->thick_um, 0) * NB_UM;
    double depth =
        material->name[0] ? 1 / material->mu : cfg->abs_um * NB_UM; /* NaN unset */
    int transparent = depth == 0 || isinf(depth);
    nb_sampling layers = nb_sample_layers(transparent ? 0 : thick, cfg->thick_steps);
    sensor->layers = layers.count;
    sensor->layer_step = layers.step;
    sensor->absorb = layers.range > 0;
    if (!sensor->absorb)
        return;
    if (isnan(depth)) {
        char line[128];
        depth = thick;
        snprintf(line, sizeof line,
                 "no -detector_abs: the attenuation depth is set to the thickness, %g um",
                 depth / NB_UM);
        if (hooks && hooks->notice)
            hooks->notice(hooks->user, line);
    }
    sensor->mu = material->name[0] ? material->mu : 1.0 / depth;
    sensor->mean_depth = cfg->layer_depth == NB_LAYER_UNSET
                             ? !cfg->compat
                             : cfg->layer_depth == NB_LAYER_MEAN;
}

/** A typed normal that points upstream puts the detector upstream, unless -pix0_vector sets
 * another position. */
static void say_upstream(const nb_config *cfg, const nb_geometry *g, const nb_hooks *hooks)
{
    const double *o = cfg->odet_vector.v;
    int used = cfg->convention == NB_CONV_CUSTOM && cfg->odet_vector.set;
    if (used && nb_dot(nb_v3(o[0], o[1], o[2]), g->beam) < 0)
        nb_notice(hooks, "-odet_vector %g %g %g points upstream: %s", o[0], o[1], o[2],
                  g->distance < 0 ? "the detector is on the source side of the crystal"
                                  : "the opposite direction is used as detector normal");
}

nb_status nb_detector_build(const nb_config *cfg, const nb_geometry *g,
                            double wavelength_A, const nb_hooks *hooks, nb_detector *det,
                            nb_error *err)
{
    nb_panel *panel = &det->panel;
    nb_status st;
    memset(det, 0, sizeof *det);
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
    panel->curved = cfg->curved != 0;
    panel->exact_omega = panel->curved && cfg->curved_omega == NB_OMEGA_EXACT;
    if (cfg->curved_omega == NB_OMEGA_EXACT && !panel->curved && hooks && hooks->notice)
        hooks->notice(hooks->user, "-curved_omega has no effect without -curved_det");
    panel->point_pixel = cfg->point_pixel != 0;
    panel->pixel_area = g->pixel * g->pixel;
    if (cfg->compat && panel->point_pixel && !panel->curved)
        panel->pixel_area = 1.0; /* -compat: photons per steradian-like unit */
    if ((st = set_roi(cfg, det, err)))
        return st;
    say_upstream(cfg, g, hooks);
    if ((st = find_material(cfg, wavelength_A, &det->material, err)))
        return st;
    set_sensor(cfg, &det->material, hooks, &det->sensor);
    return panel->curved ? set_curvature(panel, err) : NB_OK;
}
