/* SPDX-License-Identifier: MIT */
/** What a dose does to a crystal (docs/physics.md, section 24). */
#ifndef NB_MODEL_DAMAGE_H
#define NB_MODEL_DAMAGE_H

#include "../params/params.h"
#include "../physics/scene.h"
#include "crystal.h"

typedef struct nb_damage {
    int given;     /* there is a -dose */
    double dose;   /* MGy, in the middle of the frame */
    double B;      /* added to B, A^2 */
    double growth; /* factor of the cell's edges */
    double fall;   /* F^2 is multiplied by exp(-fall/d), A */
} nb_damage;

/** The dose of one frame, MGy, of so many photons/m^2 at this wavelength: as typed, or calculated.  Errors: NB_ERR_INPUT,
 * NB_ERR_UNSUPPORTED (no xraylib). */
nb_status nb_dose_of_frame(const nb_settings *cfg, double fluence, double wavelength_A,
                           double *MGy, nb_error *err);

/** Of an image; a single one is the first frame of a sweep.  Errors: as above. */
nb_status nb_damage_of(const nb_settings *cfg, double fluence, double wavelength_A,
                       nb_damage *out, nb_error *err);

/** Does it change structure factors? */
int nb_damage_weakens(const nb_damage *damage);

/** Multiply the table's F, but 0 0 0 and what equals default_F.  cell: of the F, A and deg.  to[values of the table]. */
void nb_damage_factors(const nb_damage *damage, const double cell[6],
                       const nb_factor_table *table, double *to);

#endif
