/* SPDX-License-Identifier: MIT */
/** The light behind the point spread: NB_STAGE_SPREAD and the stages before it, of a whole image. */
#ifndef NB_IMAGE_LIGHT_H
#define NB_IMAGE_LIGHT_H

#include "stages.h"

typedef struct nb_light nb_light;

/** Of photons in memory; stages[at] is the spread.  *light is the caller's (nb_light_free) and needs
 * photons->scene.  Errors: NB_ERR_NOMEM, NB_ERR_UNSUPPORTED (the fibre function without FFTW). */
nb_status nb_light_make(const nb_photons *photons, const nb_stage *stages, int at,
                        nb_light **light, nb_error *err);
void nb_light_free(nb_light *light); /* NULL is fine */

/** Row `row` of the stack into out[columns of its panel]. Several threads may ask at once. */
void nb_light_row(const nb_light *light, int row, double *out);

#endif
