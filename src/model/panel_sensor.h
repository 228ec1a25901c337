/* SPDX-License-Identifier: MIT */
/** The absorbing sensors of panels. */
#ifndef NB_MODEL_PANEL_SENSOR_H
#define NB_MODEL_PANEL_SENSOR_H

#include "../nanobragg.h"
#include "../params/params.h"
#include "../physics/scene.h"
#include "sensor.h"

/** The sensor that flags describe; material_mu (1/m): of -sensor, or NaN. */
nb_sensor nb_sensor_typed(const nb_settings *cfg, double material_mu,
                          const nb_hooks *hooks);

/** What a panel's sensor needs beside its panel. */
typedef struct nb_sensor_inputs {
    double wavelength_A;
    const nb_material *typed; /* of -sensor; name "": none */
    int first;                /* no other panel had a default, so a notice may say it */
} nb_sensor_inputs;

/** The sensor of a panel from a file; flags win.  *found: the material that was looked up last, which
 * is kept for the next panel.  Errors: those of nb_material_find. */
nb_status nb_sensor_of_panel(const nb_settings *cfg, const nb_panel_spec *spec,
                             const nb_sensor_inputs *in, const nb_hooks *hooks,
                             nb_material *found, nb_sensor *out, nb_error *err);

#endif
