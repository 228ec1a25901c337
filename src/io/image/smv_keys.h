/* SPDX-License-Identifier: MIT */
/** The NANOBRAGG_* keys of our SMV headers: the geometry as it was typed, with as many digits as a
 * double needs, so that `-img` restores it exactly.  The table of parameters says which parameters
 * have a key. */
#ifndef NB_IO_SMV_KEYS_H
#define NB_IO_SMV_KEYS_H

#include "smv_read.h"

#define NB_SMV_PREFIX "NANOBRAGG_"
#define NB_SMV_MARK                                                                      \
    "NANOBRAGG_CONVENTION" /* present: these keys replace the documented ones */

/** Several ways to set one quantity: if one of them is typed, the header's values of all
 * are not used. */
typedef enum nb_smv_group {
    NB_SMV_ALONE = 0,
    NB_SMV_DISTANCES, /* distance, close_distance */
    NB_SMV_BEAM,      /* lambda, energy */
    NB_SMV_STEPS,     /* phistep, phisteps */
    NB_SMV_FAST,      /* detpixels, detsize along fast */
    NB_SMV_SLOW,
    NB_SMV_GROUPS
} nb_smv_group;

/** The parameter with the next key behind that of `last` (NULL: the first); NULL at the end. */
const nb_param *nb_smv_next(const nb_param *last);

/** Groups that have a member set in cfg: typed[group] is 0 or 1; typed[NB_SMV_ALONE] is 0. */
void nb_smv_typed_groups(const nb_config *cfg, int typed[NB_SMV_GROUPS]);

/** Pass every key whose field is set (and always the mark) to emit, in the table's order.
 * The strings are valid only during the call. */
void nb_smv_write_inputs(const nb_config *cfg,
                         void (*emit)(void *user, const char *key, const char *value),
                         void *user);

/** Fill the unset fields of cfg from the NANOBRAGG_* keys of a header; see
 * nb_smv_apply_header, which calls this.  Errors: NB_ERR_INPUT. */
nb_status nb_smv_read_inputs(const nb_smv_header *header, nb_config *cfg, nb_error *err);

#endif
