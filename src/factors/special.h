/* SPDX-License-Identifier: MIT */
/** Special positions: by how many operators a site is its own image. */
#ifndef NB_FACTORS_SPECIAL_H
#define NB_FACTORS_SPECIAL_H

#include "../io/structure/gemmi.h"

#define NB_SAME_SITE 0.05 /* A; images this near are one site */

/** Operators (at least the identity) that bring x to within `distance` A of itself; A: nb_cell_axes. */
int nb_site_order(const nb_symmetry *sg, const double A[9], const double x[3],
                  double distance);

/** Turn the multiplicities that a small-molecule CIF has into orders of the site's symmetry.  Programs
 * write under this name the number of positions in the cell (as the core CIF dictionary says) or the
 * order itself (SHELXL-97): the reading that more coordinates agree with counts. */
void nb_take_multiplicities(nb_structure *structure);

/** The order of an atom of a small-molecule CIF of occupancy q: what the file says, unless the coordinates
 * contradict it (*contradicted counts); else images within NB_SAME_SITE.  *near counts atoms whose full
 * images stand closer than atoms can. */
int nb_small_site_order(const nb_structure *structure, const double A[9],
                        const nb_atom *atom, size_t *contradicted, size_t *near);

/** Two origins of one symbol: the other one if formula units, the orders of the sites or the distances of
 * the atoms speak for it.  Says in the note of the symmetry which is taken. */
void nb_choose_origin(nb_structure *structure);

#endif
