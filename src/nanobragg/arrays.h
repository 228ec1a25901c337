/* SPDX-License-Identifier: MIT */
/** Arrays in memory in place of input files: structure factors, mask, sources, orientation matrix, planes of pixels, mosaic
 * blocks. */
#ifndef NANOBRAGG_ARRAYS_H
#define NANOBRAGG_ARRAYS_H

#include <stddef.h>
#include <stdint.h>

#include "config.h"
#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The caller's arrays. NULL: not given. Start from `nb_arrays a = {0}`. */
typedef struct nb_arrays {
    /* structure factors, instead of hkl_file: both or neither */
    const int32_t (*hkl)[3]; /* [reflections]; Miller indices, of P1 or with space_group of the
                                asymmetric unit; at most 10000 in size */
    const double *F; /* [reflections]; electrons, with sign; NaN: no value, left out */
    size_t reflections;

    /* instead of mask_file */
    const uint8_t *mask; /* [mask_slow][mask_fast]; 0: this pixel is not rendered */
    int mask_fast, mask_slow;

    /* instead of source_file: wavelengths */
    const double *wavelength; /* [sources]; m, as in column 5 of such a file: 1 A is 1e-10 */
    const double *weight;     /* [sources]; relative, none negative; NULL: equal */
    const double (
        *position)[3]; /* [sources]; lab x y z of the source seen from the sample, m; any
                                    length: only the direction counts.  NULL: all on the beam */
    int sources;

    /* instead of mat_file */
    const double *matrix; /* [9], row by row: rows lab x y z, columns a* b* c*, times the wavelength
                             (no unit), as MOSFLM has it */

    /* instead of matrix */
    const double *A; /* [A_count][9]; the same in 1/A, so that it does not follow the wavelength */
    int A_count; /* 1; 3: A in the middle of the frame, then M at its begin and end, where the matrix is A M */

    /* instead of transmission_file and add_file */
    const float *transmission; /* [transmission_slow][transmission_fast]; factors, 0 to 1e6 */
    int transmission_fast, transmission_slow;
    const float *add; /* [add_slow][add_fast]; photons */
    int add_fast, add_slow;

    /* instead of the file mosaic_blocks */
    const char *blocks; /* [blocks_bytes]; the text of such a file */
    size_t blocks_bytes;
} nb_arrays;

/* File names of the configuration for arrays. */
#define NB_MEMORY_HKL "memory:hkl"
#define NB_MEMORY_MASK "memory:mask"
#define NB_MEMORY_SOURCES "memory:sources"
#define NB_MEMORY_MATRIX "memory:matrix"
#define NB_MEMORY_A "memory:A"
#define NB_MEMORY_TRANSMISSION "memory:transmission"
#define NB_MEMORY_ADD "memory:add"
#define NB_MEMORY_BLOCKS "memory:blocks"

/** Use the arrays in place of files: each name of a file that an array replaces (hkl, mask, ...) becomes
 * NB_MEMORY_...; a file name set later replaces the array again.
 *
 * The caller owns the arrays. *arrays and its arrays must live until nb_sim_create,
 * nb_sim_change, nb_config_factors or nb_series_run has returned; a simulation keeps copies. To
 * change one array of a simulation, copy *nb_config_arrays(nb_sim_config(sim)), replace one pointer,
 * and call this and nb_sim_change: arrays with the simulation's own pointers are not loaded again. A mask or a matrix gives no header: if no other
 * flag gives the size of the detector, that of the mask is used.
 *
 * Values are checked when they are loaded.  The message of a bad one begins with its place, "hkl[5]: ".
 * Errors: NB_ERR_INPUT (one of two arrays that belong together is missing; a size is 0). */
nb_status nb_config_use_arrays(nb_config *cfg, const nb_arrays *arrays, nb_error *err);
/** Return the arrays that a configuration uses in place of files, or NULL. */
const nb_arrays *nb_config_arrays(const nb_config *cfg);

#ifdef __cplusplus
}
#endif
#endif
