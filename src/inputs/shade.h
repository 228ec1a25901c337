/* SPDX-License-Identifier: MIT */
/** Factors of pixels and added light of a simulation. */
#ifndef NB_INPUTS_SHADE_H
#define NB_INPUTS_SHADE_H

#include "../image/mix.h"
#include "../image/light.h"
#include "inputs.h"

/** Read -gainmap, -transmission and -add for a detector of `pixels` pixels; note marked
 * pixels of images.  Errors: NB_ERR_INPUT, NB_ERR_IO, NB_ERR_NOMEM. */
nb_status nb_load_planes(const nb_inputs *in, const nb_config *cfg,
                         const nb_geometry *geometry, size_t pixels, nb_files *files,
                         const nb_hooks *hooks, nb_error *err);

/** Set mask[] to 0 at the pixels of the stack where -mask is 0 or negative. -mask is an
 * image of the detector's canvas, or an array. Errors: NB_ERR_INPUT, NB_ERR_IO, NB_ERR_NOMEM. */
nb_status nb_load_mask(const nb_config *cfg, const nb_geometry *geometry,
                       const nb_files *files, size_t pixels, uint8_t *mask, nb_error *err);

/** Make the model's factors unless the inputs have them (NB_ERR_INPUT, NB_ERR_NOMEM). */
nb_status nb_inputs_make_shade(nb_inputs *in, const nb_model *model, int threads,
                               nb_error *err);

/** Calculate, for each pixel, the fraction of light that the model's crystal does not
 * absorb, unless the inputs have these fractions already. Errors: NB_ERR_NOMEM. */
nb_status nb_inputs_make_absorb(nb_inputs *in, nb_model *model, int threads,
                                nb_error *err);

/** Least and largest of these fractions; 1 and 1 without absorption. */
const double *nb_inputs_absorbed(const nb_inputs *in);

/** Set the factors and the added light (-add) of a mix. */
void nb_inputs_shade(const nb_inputs *in, const nb_model *model, nb_mix *mix);

/** Factors of the pixels, or NULL if all are 1. */
const nb_shade *nb_inputs_shades(const nb_inputs *in);

#endif
