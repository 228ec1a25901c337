/* SPDX-License-Identifier: MIT */
/** Structure factors of `nanobragg sf`, and the tables of a simulation. */
#ifndef NANOBRAGG_FACTORS_H
#define NANOBRAGG_FACTORS_H

#include <stddef.h>
#include <stdint.h>

#include "config.h"
#include "error.h"
#include "sim.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Reflections of P1, with both Friedel mates, sorted by h, k, l. Reflections without a
 * value are left out. */
typedef struct nb_factor_list {
    size_t count;
    int32_t *h, *k, *l;  /* [count] */
    double *F;           /* [count]; electrons per unit cell */
    double *phase;       /* [count]; deg, for exp(+2 pi i h x); NaN: unknown */
    double cell[6];      /* cell of F, A and deg; the crystal may have another cell */
    double wavelength_A; /* wavelength of the anomalous scattering; 0: unknown */
} nb_factor_list;

/** Make the structure factors of -pdb, -cif, -mtz or -hkl with -sg, -Badd and so on, as
 * `nanobragg sf` dumps them: every reflection of P1 with d >= cfg->dmin_A (if it is
 * unset, all reflections of the file), at the wavelength of cfg. No image is made and no
 * file written. hooks may be NULL. The caller owns *out (nb_factor_list_free), which is
 * zero after an error. Errors: NB_ERR_INPUT, NB_ERR_IO, NB_ERR_NOMEM, NB_ERR_UNSUPPORTED
 * (no gemmi). */
nb_status nb_config_factors(const nb_config *cfg, const nb_hooks *hooks,
                            nb_factor_list *out, nb_error *err);

/** Copy table number `table` (from 0, in order of wavelength) of the structure factors of
 * a simulation. A table of -hkl or of a cache has cell and wavelength 0, and lists every
 * h k l of its box. The caller owns *out, which is zero after an error. Errors:
 * NB_ERR_INPUT (no such table), NB_ERR_NOMEM. */
nb_status nb_sim_factors(const nb_sim *sim, int table, nb_factor_list *out, nb_error *err);

/** Number of tables of a simulation: 0 if every reflection has the same F. */
int nb_sim_factor_tables(const nb_sim *sim);

/** Give a simulation other structure factors: F[count], electrons, with sign, in the
 * number and order of nb_sim_factors(sim, 0, ...). No file is read, and only the scene is
 * built again. F is copied. It is used until a file or parameter of structure factors
 * changes, or until the table of a model is made again for another limit of resolution or
 * wavelength, with a notice. On an error the simulation is unchanged. Errors:
 * NB_ERR_INPUT (no table or several tables; a wrong count; "F[5]: ..."), NB_ERR_NOMEM. */
nb_status nb_sim_set_factors(nb_sim *sim, const double *F, size_t count, nb_error *err);

/** 1 if the F are from nb_sim_set_factors, else 0. */
int nb_sim_has_typed_factors(const nb_sim *sim);

void nb_factor_list_free(nb_factor_list *list); /* Free the arrays; NULL is allowed. */

/** Make the structure factors and write the dumps that cfg names (-dump_mtz, -dump_hkl,
 * -dump), each complete or absent, like `nanobragg sf`. *report (may be NULL): the
 * summary, free with nb_free. times (may be NULL) gets the seconds of load, factors and
 * write. Errors: as nb_config_factors and nb_check_files. */
nb_status nb_config_dump_factors(const nb_config *cfg, const nb_hooks *hooks,
                                 char **report, nb_times *times, nb_error *err);

#ifdef __cplusplus
}
#endif
#endif
