/* SPDX-License-Identifier: MIT */
/** Arrays in memory in place of input files: structure factors, mask, sources,
 * orientation matrix, planes of pixels, mosaic blocks. */
#ifndef NANOBRAGG_ARRAYS_H
#define NANOBRAGG_ARRAYS_H

#include <stddef.h>
#include <stdint.h>

#include "config.h"
#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Arrays of the caller, or NULL. Start from `nb_arrays a = {0}`. */
typedef struct nb_arrays {
    /* structure factors, instead of hkl_file; set both arrays or neither */
    const int32_t (*hkl)[3]; /* [reflections]; Miller indices, -10000 to 10000; all of P1,
                                or the asymmetric unit if space_group is set */
    const double *F;         /* [reflections]; electrons, with sign; NaN: no value */
    size_t reflections;

    /* instead of mask_file */
    const uint8_t *mask; /* [mask_slow][mask_fast]; 0: the pixel is not rendered */
    int mask_fast, mask_slow;

    /* instead of source_file: a list of wavelengths */
    const double *wavelength; /* [sources]; m, as in column 5 of a file: 1 A is 1e-10 */
    /* [sources]; relative weights, none negative; NULL: all equal */
    const double *weight;
    const double (
        *position)[3]; /* [sources]; lab x y z from the sample to the source, m; only the
                          direction counts. NULL: all sources lie on the beam axis */
    int sources;

    /* instead of mat_file */
    const double *matrix; /* [9], row by row: rows lab x y z, columns a* b* c*, times the
                             wavelength (no unit), as in MOSFLM */

    /* instead of matrix */
    const double *A; /* [A_count][9]; like matrix, but in 1/A, for any wavelength */
    /* 1, or 3: the matrices A, M1, M2. The matrix is A in mid-frame, A M1 at the begin
     * and A M2 at the end of a frame */
    int A_count;

    /* instead of transmission_file and add_file */
    const float *transmission; /* [transmission_slow][transmission_fast]; 0 to 1e6 */
    int transmission_fast, transmission_slow;
    const float *add; /* [add_slow][add_fast]; photons */
    int add_fast, add_slow;

    /* instead of the file mosaic_blocks */
    const char *blocks; /* [blocks_bytes]; the text of such a file */
    size_t blocks_bytes;
} nb_arrays;

/* File names in the configuration that stand for arrays. */
#define NB_MEMORY_HKL "memory:hkl"
#define NB_MEMORY_MASK "memory:mask"
#define NB_MEMORY_SOURCES "memory:sources"
#define NB_MEMORY_MATRIX "memory:matrix"
#define NB_MEMORY_A "memory:A"
#define NB_MEMORY_TRANSMISSION "memory:transmission"
#define NB_MEMORY_ADD "memory:add"
#define NB_MEMORY_BLOCKS "memory:blocks"

/** Use the arrays in place of files: each file name that an array replaces (hkl, mask,
 * ...) becomes NB_MEMORY_.... If a file name is set later, the file replaces the array
 * again.
 *
 * The caller owns the arrays. *arrays and its arrays must live until nb_sim_create,
 * nb_sim_change, nb_config_factors or nb_series_run has returned; a simulation keeps
 * copies. To change one array, copy *nb_config_arrays(nb_sim_config(sim)), replace one
 * pointer, call this function and nb_sim_change; other arrays are not loaded again. A
 * mask or matrix has no header: if no flag gives the size of the detector, the mask does.
 *
 * Values are checked when loaded; a message starts with the place, "hkl[5]: ". Errors:
 * NB_ERR_INPUT (one of two arrays that belong together is missing; a size is 0). */
nb_status nb_config_use_arrays(nb_config *cfg, const nb_arrays *arrays, nb_error *err);
/** Return the arrays that a configuration uses in place of files, or NULL. */
const nb_arrays *nb_config_arrays(const nb_config *cfg);

#ifdef __cplusplus
}
#endif
#endif
