/* SPDX-License-Identifier: MIT */
/** Sensor materials: how strongly they absorb (docs/physics.md, section 16). */
#ifndef NB_MODEL_SENSOR_H
#define NB_MODEL_SENSOR_H

#include "../nanobragg.h"

typedef struct nb_material {
    char name[NB_SENSOR_MAX]; /* as typed, without the density; "": none */
    double density;           /* g/cm3 */
    double mu;                /* attenuation, 1/m */
} nb_material;

/** The material "name" or "name:density" of -sensor at a wavelength: a name of the table, or a
 * chemical formula.  Total attenuation with coherent scattering, from xraylib (T. Schoonjans et al.,
 * Spectrochim. Acta B 66, 776 (2011)).  Errors: NB_ERR_INPUT (unknown material, no density, no
 * attenuation at this energy), NB_ERR_UNSUPPORTED without xraylib. */
nb_status nb_material_find(const char *text, double wavelength_A, nb_material *out,
                           nb_error *err);

#endif
