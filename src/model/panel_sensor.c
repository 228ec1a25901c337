/* SPDX-License-Identifier: MIT */
#include "detector.h"

#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../params/params.h"
#include "scene_build.h"
#include "units.h"

/** Thickness [m] and attenuation [1/m, or 0] of a sensor. */
typedef struct plate {
    double thick, mu;
} plate;

static nb_sensor sensor_of(const nb_settings *cfg, plate p)
{
    nb_sampling layers = nb_sample_layers(p.mu > 0 ? p.thick : 0, cfg->value.thick_steps);
    nb_sensor sensor = {0};
    sensor.layers = layers.count;
    sensor.layer_step = layers.step;
    sensor.absorb = layers.range > 0;
    if (!sensor.absorb)
        return sensor;
    sensor.mu = p.mu;
    sensor.mean_depth = cfg->value.layer_depth == NB_LAYER_MEAN;
    return sensor;
}

/** Attenuation (1/m) that -detector_abs gives, or NaN without the flag. */
static double typed_mu(const nb_settings *cfg)
{
    double depth = cfg->value.abs_um * NB_UM;
    if (isnan(depth))
        return NAN;
    return depth == 0 || isinf(depth) ? 0 : 1.0 / depth;
}

static double default_mu(double thick, const nb_hooks *hooks)
{
    if (!(thick > 0))
        return 0;
    nb_notice(hooks,
              "no -detector_abs: the attenuation depth is set to the thickness, %g um",
              thick / NB_UM);
    return 1.0 / thick;
}

nb_sensor nb_sensor_typed(const nb_settings *cfg, double material_mu,
                          const nb_hooks *hooks)
{
    plate p = {cfg->value.thick_um * NB_UM, nb_said_or(material_mu, typed_mu(cfg))};
    if (isnan(p.mu))
        p.mu = default_mu(p.thick, hooks);
    return sensor_of(cfg, p);
}

/** Find the attenuation of a material that a file names. */
static nb_status find_material(const nb_panel_spec *spec, double wavelength_A,
                               nb_material *found, nb_error *err)
{
    nb_error local = {0};
    nb_status st = NB_OK;
    if (strcmp(found->name, spec->material) != 0)
        st = nb_material_find(spec->material, wavelength_A, found, &local);
    if (!st)
        return NB_OK;
    return nb_fail(err, st,
                   "panel %s: the attenuation of its sensor (%s) is not known; type "
                   "-detector_abs, the attenuation depth, or -detector_thick 0 (%.200s)",
                   spec->name, spec->material, local.message);
}

nb_status nb_sensor_of_panel(const nb_settings *cfg, const nb_panel_spec *spec,
                             const nb_sensor_inputs *in, const nb_hooks *hooks,
                             nb_material *found, nb_sensor *out, nb_error *err)
{
    plate p = {NB_TYPED(cfg, thick_um) ? cfg->value.thick_um * NB_UM : spec->thickness,
               in->typed->name[0] ? in->typed->mu : typed_mu(cfg)};
    nb_status st = NB_OK;
    if (isnan(p.mu))
        p.mu = spec->attenuation;
    if (isnan(p.mu) && p.thick > 0 && spec->material[0]) {
        st = find_material(spec, in->wavelength_A, found, err);
        p.mu = found->mu;
    }
    if (!st && isnan(p.mu))
        p.mu = default_mu(p.thick, in->first ? hooks : NULL);
    *out = sensor_of(cfg, p);
    return st;
}
