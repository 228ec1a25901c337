/* SPDX-License-Identifier: MIT */
/** Unit cell, orientation and size of the crystal. */
#ifndef NB_MODEL_CRYSTAL_H
#define NB_MODEL_CRYSTAL_H

#include "../nanobragg.h"
#include "../params/params.h"
#include "../physics/scene.h"

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

#endif
