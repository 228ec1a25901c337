/* SPDX-License-Identifier: MIT */
/** Structure-factor amplitudes over a box of Miller indices, as read from a file. */
#ifndef NB_IO_FACTOR_FILE_H
#define NB_IO_FACTOR_FILE_H

#include "../../nanobragg.h"

#define NB_SF_MAX_INDEX 10000 /* of |h|, |k|, |l| */
#define NB_SF_MAX_F 1e150     /* electrons; a double holds its square */

/** F[((h-hmin)*nk + (k-kmin))*nl + (l-lmin)] in electrons, nk = kmax-kmin+1, nl =
 * lmax-lmin+1: l runs fastest.  Limits are inclusive.  The owner of the struct owns F. */
typedef struct nb_factor_file {
    int hmin, hmax, kmin, kmax, lmin, lmax;
    int64_t reflections; /* lines read, or voxels of a dump */
    double *F;
} nb_factor_file;

/** Voxels of the box whose limits are set, (hmax-hmin+1)(kmax-kmin+1)(lmax-lmin+1). */
int64_t nb_factor_file_voxels(const nb_factor_file *table);

/** Refuse limits that are set in *table but not ordered, beyond NB_SF_MAX_INDEX, or whose
 * box exceeds 2^31 voxels or the machine's memory.  name: the file, for messages.
 * NB_ERR_INPUT. */
nb_status nb_factor_file_check(const nb_factor_file *table, const char *name,
                               nb_error *err);

/** nb_factor_file_check, then allocate F, not initialised.  Errors: also NB_ERR_NOMEM; F is
 * NULL then. */
nb_status nb_factor_file_alloc(nb_factor_file *table, const char *name, nb_error *err);

/** Release F and zero the struct; NULL is fine. */
void nb_factor_file_free(nb_factor_file *table);

#endif
