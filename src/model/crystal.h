/* SPDX-License-Identifier: MIT */
/** Unit cell, orientation and size of the crystal. */
#ifndef NB_MODEL_CRYSTAL_H
#define NB_MODEL_CRYSTAL_H

#include <stdint.h>

#include "../nanobragg.h"
#include "../params/params.h"
#include "../physics/scene.h"
#include "../physics/vec3.h"

typedef struct nb_crystal {
    nb_vec3 a, b, c;             /* real space, lab frame, phi = 0, mosaic domain 0; m */
    nb_vec3 astar, bstar, cstar; /* reciprocal, 1/A */
    double edge[3];              /* |a|, |b|, |c|, A */
    double volume;               /* A^3 */
    double growth;       /* factor of the edges by a dose, in all of the above; 1 */
    double N[3];         /* unit cells along a, b, c */
    double misset[3];    /* applied rotations about lab x, y, z, rad */
    int placed;          /* a matrix or a twin law turned it, too */
    int64_t misset_seed; /* of a random misset */
} nb_crystal;

/** Inputs of the crystal. */
typedef struct nb_crystal_inputs {
    const double *matrix; /* 9 numbers of -mat, row major, columns a* b* c*; NULL = -cell */
    double lambda_A; /* the beam's wavelength: a MOSFLM matrix is in units of 1/lambda */
    int64_t default_seed; /* for a random misset without -misset_seed */
} nb_crystal_inputs;

/** Cell (-cell), matrix (-mat) or both, then misset, then size. Errors (NB_ERR_INPUT): an
 * impossible cell, a singular matrix, too many cells. */
nb_status nb_crystal_build(const nb_settings *cfg, const nb_crystal_inputs *inputs,
                           const nb_hooks *hooks, nb_crystal *out, nb_error *err);

/** The part of a crystal of -crystal_volume or -blocks, a cube, that a square beam of -beamsize lights; 1 without these
 * flags. */
double nb_crystal_in_beam(const nb_settings *cfg, const nb_crystal *x);

/** Let the edges grow by a factor; the number of cells stays. */
void nb_crystal_grow(double growth, nb_crystal *crystal);

/** Number of blocks of N cells in the beam: as typed, or the illuminated volume over the
 * volume of a block; default 1. */
double nb_crystal_blocks(const nb_settings *cfg, const nb_crystal *crystal);
/** Volume of a block, um^3. */
double nb_crystal_block_um3(const nb_crystal *crystal);

/** The cell of a crystal: A, deg. */
void nb_cell_of(const nb_crystal *crystal, double cell[6]);
/** The matrix of these columns, row major. */
void nb_put_columns(nb_vec3 a, nb_vec3 b, nb_vec3 c, double matrix[9]);

/** The words of -misset that turn it again, deg: the shortest numbers that make the same rotations to the last bit, where
 * there are any.  NaN where a matrix or a twin law turned it, too. */
void nb_crystal_misset(const nb_crystal *crystal, double deg[3]);

/** M of R^2 = d.M.d for the laws of decay and edge (scene.h: radius2). */
void nb_crystal_shape_metric(const nb_crystal *crystal, int compat, double metric[6]);

/* Random orientations: of the whole crystal (misset) and of its mosaic domains. */

/** Angles [rad] about lab x, y, z (in that order) of an orientation drawn uniformly over SO(3)
 * (Shoemake, Graphics Gems III, 124 (1992)); Philox keyed by the seed.  crystal: its number in the image, from 0. */
nb_status nb_misset_random(int64_t seed, int crystal, double angles[3], nb_error *err);

/** The distribution of nanoBragg for `-misset random`: a cap of 90 radians, not uniform. */
void nb_misset_random_compat(int64_t seed, double angles[3]);

/** Rotations [count] of the mosaic domains: uniform in volume up to `spread` [rad] about random
 * axes, from nanoBragg's ran1 sequence; domain 0 is the identity. */
void nb_mosaic_rotations(double spread, int64_t seed, int count, nb_mat3 *rotations);

/** How these rotations grow with the spread: the axis times the rate of its angle. */
void nb_mosaic_rates(int64_t seed, int count, nb_vec3 *rates);

/** Angles about x, y, z (applied in that order) that make the proper rotation U. */
void nb_rotation_angles(const nb_mat3 *U, double angles[3]);

/** Rotation by angle [rad] about a unit axis. */
nb_mat3 nb_axis_rotation(nb_vec3 axis, double angle);

/* --- Rotations of the mosaic domains relative to the crystal --- */

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
void nb_mosaic_draw(const nb_mosaic *mosaic, int count, nb_mat3 *rotations);

/** A rotation about the crystal's axes a*, c x a*, c, in the lab frame. */
nb_mat3 nb_mosaic_in_lab(const nb_mosaic *mosaic, const nb_mat3 *rotation);

/** How these rotations grow with the spread (above 0): rates [count], the axis times the slope of its
 * angle by the spread. */
void nb_mosaic_growth(const nb_mosaic *mosaic, int count, nb_vec3 *rates);

/* --- What a dose does to a crystal (docs/physics.md, section 24) --- */

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
