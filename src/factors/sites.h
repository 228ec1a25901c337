/* SPDX-License-Identifier: MIT */
/** The atoms of a model that are summed. */
#ifndef NB_FACTORS_SITES_H
#define NB_FACTORS_SITES_H

#include "model.h"

/** One atom of the asymmetric unit (with -ncs apply: or of a copy). */
typedef struct nb_site {
    double x[3]; /* fractional */
    double q;    /* occupancy that counts */
    double beta[6]; /* T(h) = exp(-beta.h), packed like a metric: nb_s_squared(beta, h, k, l) */
    double B_low, B_high; /* smallest and largest principal value, A^2 */
    int Z;
    const nb_atom *atom; /* of the structure */
} nb_site;

typedef struct nb_sites {
    nb_site *site; /* owned; by Z, atoms of one Z in the order of the file */
    size_t count;
    size_t special, alternates;
} nb_sites;

/** Choose, check and place the atoms; docs/physics.md, "Structure factors of a model". Errors:
 * NB_ERR_INPUT, NB_ERR_NOMEM; *out is zero then. */
nb_status nb_sites_make(const nb_structure *structure, const nb_model_options *options,
                        const char *name, const nb_hooks *hooks, nb_sites *out,
                        nb_error *err);
void nb_sites_free(nb_sites *sites);

#endif
