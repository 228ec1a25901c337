/* SPDX-License-Identifier: MIT */
/** Rotations of the mosaic domains relative to the crystal. */
#ifndef NB_MODEL_MOSAIC_H
#define NB_MODEL_MOSAIC_H

#include "../nanobragg.h"
#include "../params/params.h"
#include "../physics/vec3.h"

/** A distribution of rotations. */
typedef struct nb_mosaic {
    nb_mosaic_model model;
    double spread;   /* rad; for gauss the root mean square of sigma */
    double sigma[3]; /* rad; gauss: standard deviations about the three axes */
    nb_vec3 axes[3]; /* unit, at right angles: a*, c x a*, c of the crystal at phi 0, lab frame */
    int64_t seed;
    double tail; /* rad; mean of an exponential rotation about the spindle, after the other; 0: none */
    nb_vec3 spindle; /* unit */
} nb_mosaic;

/** Spreads, tail and seed from cfg, axes from the crystal's a* and c (any length). Errors:
 * NB_ERR_INPUT if -mosaic, -mosaic_model, -mosaic_aniso and -mosaic_tail contradict each other. */
nb_status nb_mosaic_resolve(const nb_settings *cfg, nb_vec3 astar, nb_vec3 c,
                            nb_vec3 spindle, nb_mosaic *out, nb_error *err);

/** Rotations [count] of the domains, in the lab frame at phi 0 (docs/physics.md, section 9).
 * Domain 0 is the identity for NB_MOSAIC_NANOBRAGG only. */
nb_status nb_mosaic_draw(const nb_mosaic *mosaic, int count, nb_mat3 *rotations,
                         nb_error *err);

/** A rotation about the crystal's axes a*, c x a*, c, in the lab frame. */
nb_mat3 nb_mosaic_in_lab(const nb_mosaic *mosaic, const nb_mat3 *rotation);

/** How these rotations grow with the spread (above 0): rates [count], the axis times the slope of its
 * angle by the spread. */
void nb_mosaic_growth(const nb_mosaic *mosaic, int count, nb_vec3 *rates);

#endif
