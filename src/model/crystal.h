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
    /* axes of the real-space cell in the lab frame at phi = 0, mosaic domain 0; m */
    nb_vec3 a, b, c;
    nb_vec3 astar, bstar, cstar; /* axes of the reciprocal cell, 1/A */
    double edge[3];              /* |a|, |b|, |c|, A */
    double volume;               /* A^3 */
    /* growth of the edges due to the dose, which the members above include */
    double growth;
    double N[3];         /* unit cells along a, b, c */
    double misset[3];    /* applied rotations about lab x, y, z, rad */
    int placed;          /* 1: a matrix or a twin law also turned the crystal */
    int64_t misset_seed; /* seed of a random misset */
} nb_crystal;

/** Inputs of the crystal. */
typedef struct nb_crystal_inputs {
    const double *matrix; /* 9 numbers of -mat by rows, columns a* b* c*; NULL: -cell */
    double lambda_A;      /* wavelength: a MOSFLM matrix is in units of 1/lambda */
    int64_t default_seed; /* seed of a random misset without -misset_seed */
} nb_crystal_inputs;

/** Build the crystal from cell (-cell), matrix (-mat) or both, then apply misset and
 * size. NB_ERR_INPUT: impossible cell, singular matrix, too many cells. */
nb_status nb_crystal_build(const nb_settings *cfg, const nb_crystal_inputs *inputs,
                           const nb_hooks *hooks, nb_crystal *out, nb_error *err);

/** Fraction of the crystal that is in a square beam of -beamsize, if the crystal is a
 * cube with the volume of -crystal_volume or -blocks; 1 without these flags. */
double nb_crystal_in_beam(const nb_settings *cfg, const nb_crystal *x);

/** Multiply the edges by `growth`; the number of cells stays. */
void nb_crystal_grow(double growth, nb_crystal *crystal);

/** Number of blocks of N cells in the beam: as typed, or the ratio of the illuminated
 * volume to the volume of a block; default 1. */
double nb_crystal_blocks(const nb_settings *cfg, const nb_crystal *crystal);
/** Volume of a block, um^3. */
double nb_crystal_block_um3(const nb_crystal *crystal);

/** Cell of a crystal, A and deg. */
void nb_cell_of(const nb_crystal *crystal, double cell[6]);
/** Write the matrix with the columns a, b, c, row by row. */
void nb_put_columns(nb_vec3 a, nb_vec3 b, nb_vec3 c, double matrix[9]);

/** Angles (deg) of -misset of the crystal: the shortest numbers that give exactly the
 * same angles in rad, if such numbers exist. NaN if a matrix or a twin law also turned
 * it. */
void nb_crystal_misset(const nb_crystal *crystal, double deg[3]);

/** Metric M in R^2 = d.M.d, with d in indices, for the laws of decay and edge
 * (nb_lattice.radius2). */
void nb_crystal_shape_metric(const nb_crystal *crystal, int compat, double metric[6]);

/* Random orientations of the crystal (misset) and of its mosaic domains. */

/** Angles [rad] about lab x, then y, then z: uniform over SO(3) (Shoemake, Graphics Gems
 * III, 124 (1992)). The seed is the key of Philox. crystal: number of the crystal in the
 * image. */
nb_status nb_misset_random(int64_t seed, int crystal, double angles[3], nb_error *err);

/** Angles of nanoBragg for `-misset random`: a cap of 90 radians, not uniform. */
void nb_misset_random_compat(int64_t seed, double angles[3]);

/** Rotations [count] of the mosaic domains: uniform in volume up to `spread` [rad] about
 * random axes, from nanoBragg's ran1 sequence. Domain 0 has the identity. */
void nb_mosaic_rotations(double spread, int64_t seed, int count, nb_mat3 *rotations);

/** Rates of the rotations: axis of a rotation times the change of its angle per rad of
 * the spread. */
void nb_mosaic_rates(int64_t seed, int count, nb_vec3 *rates);

/** Angles about x, y, z (applied in that order) of the proper rotation U. */
void nb_rotation_angles(const nb_mat3 *U, double angles[3]);

/** Rotation by angle [rad] about a unit axis. */
nb_mat3 nb_axis_rotation(nb_vec3 axis, double angle);

/* --- Rotations of the mosaic domains relative to the crystal --- */

/** A distribution of rotations. */
typedef struct nb_mosaic {
    nb_mosaic_model model;
    double spread; /* rad; for gauss the r.m.s. of the standard deviations about the axes */
    /* rad; gauss: lower triangle L with the covariance L L^T about the axes */
    double root[3][3];
    int shaped;      /* 1: -mosaic_aniso or -mosaic_tensor gives the root */
    nb_vec3 axes[3]; /* orthogonal unit vectors at phi 0, lab frame: a*, c x a*, c, or lab */
    int64_t seed;
    double tail;     /* mean of a further, exponential rotation about the spindle, rad */
    nb_vec3 spindle; /* unit */
} nb_mosaic;

/** Set spreads, tail and seed from cfg, and axes from the crystal's a* and c (any
 * length). Errors: NB_ERR_INPUT (flags of the mosaic contradict each other). */
nb_status nb_mosaic_resolve(const nb_settings *cfg, nb_vec3 astar, nb_vec3 c,
                            nb_vec3 spindle, nb_mosaic *out, nb_error *err);

/** Rotations [count] of the domains, lab frame at phi 0 (docs/physics.md, section 9).
 * Domain 0 has the identity only with NB_MOSAIC_NANOBRAGG. */
void nb_mosaic_draw(const nb_mosaic *mosaic, int count, nb_mat3 *rotations);

/** Convert a rotation given about the axes a*, c x a*, c to the lab frame. */
nb_mat3 nb_mosaic_in_lab(const nb_mosaic *mosaic, const nb_mat3 *rotation);

/** Like nb_mosaic_rates, for the rotations of nb_mosaic_draw with a spread above 0: rates
 * [count]. */
void nb_mosaic_growth(const nb_mosaic *mosaic, int count, nb_vec3 *rates);

/** Rates [count] of the domains' rotations per rad^2 of number `which` (xx yy zz xy xz yz)
 * of a positive definite -mosaic_tensor. */
void nb_mosaic_tensor_rates(const nb_mosaic *mosaic, int which, int count, nb_vec3 *rates);

/* --- Effects of a dose on a crystal (docs/physics.md, section 24) --- */

typedef struct nb_damage {
    int given;     /* 1: -dose is given */
    double dose;   /* MGy, in the middle of the frame */
    double B;      /* increase of the B factor, A^2 */
    double growth; /* factor of the edges of the cell */
    double fall;   /* F^2 is multiplied by exp(-fall/d), A */
} nb_damage;

/** Dose of one frame, MGy, as typed, or calculated from the fluence in photons/m^2 and
 * the wavelength. Errors: NB_ERR_INPUT, NB_ERR_UNSUPPORTED (no xraylib). */
nb_status nb_dose_of_frame(const nb_settings *cfg, double fluence, double wavelength_A,
                           double *MGy, nb_error *err);

/** Damage of an image. A single image counts as the first frame of a sweep. Errors: those
 * of nb_dose_of_frame. */
nb_status nb_damage_of(const nb_settings *cfg, double fluence, double wavelength_A,
                       nb_damage *out, nb_error *err);

/** True if the damage changes structure factors. */
int nb_damage_weakens(const nb_damage *damage);

/** Fill to[values of the table] with damaged F. F of 0 0 0 and F that equal default_F do
 * not change. cell: cell of the table, A and deg. */
void nb_damage_factors(const nb_damage *damage, const double cell[6],
                       const nb_factor_table *table, double *to);

#endif
