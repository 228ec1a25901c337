/* SPDX-License-Identifier: MIT */
/** Tables of materials without order, as the renderers read them. */
#ifndef NB_MODEL_AMORPHOUS_H
#define NB_MODEL_AMORPHOUS_H

#include "../nanobragg.h"
#include "../params/params.h"
#include "../physics/scene.h"

/** A point of a table. */
typedef struct nb_stol_point {
    double stol; /* sin(theta)/lambda, 1/A */
    double F;    /* of a molecule, electrons; with its sign */
} nb_stol_point;

/** A material and how much of it the beam meets. */
typedef struct nb_amorphous_source {
    const nb_stol_point *points; /* increasing; the caller's */
    int n;                       /* 1 at least */
    double per_area; /* molecules/m^2; NaN: as the configuration says, of the table of -stol */
} nb_amorphous_source;

/** Materials with their tables cut into pieces. */
typedef struct nb_amorphous_set {
    nb_amorphous tables; /* of n materials; their molecules are not filled */
    double *per_area; /* owned, as the arrays of tables; [n], as in nb_amorphous_source */
    double first, last; /* sin(theta)/lambda that every table covers, 1/m */
    size_t pieces;      /* in all */
    int leads;          /* the first material has a piece before its first point */
    int negative;       /* some F is below 0 */
} nb_amorphous_set;

/** n > 0.  *set is the caller's (nb_amorphous_set_free), zero on error.  Errors: NB_ERR_NOMEM. */
nb_status nb_amorphous_build(const nb_amorphous_source *list, int n,
                             nb_amorphous_set *set, nb_error *err);
void nb_amorphous_set_free(nb_amorphous_set *set); /* zero or built */

/** Molecules of a material on one square metre. */
double nb_molecules_per_area(double path_mm, double density, double mass);

/** Molecules of the table of -stol in the beam, by -molecules or path, density and mass. */
double nb_table_molecules(const nb_settings *cfg);

/** The materials of a model with so many blocks: the set's, with their molecules.  Its tables are those
 * of the set; the caller's (nb_free).  Errors: NB_ERR_NOMEM. */
nb_status nb_amorphous_of(const nb_settings *cfg, const nb_amorphous_set *set,
                          double blocks, nb_amorphous **amorphous, nb_error *err);

#endif
