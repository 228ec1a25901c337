/* SPDX-License-Identifier: MIT */
/** Tables of diffuse light for a range of B and of the cell.  D of a crystal whose B and edges lie inside is a sum of
 * tables at a few of them. Each reflection's share goes with exp(-B s^2/2) and with some power of the edges, whatever
 * the point is, so the same weights serve the whole plane, and their error is that of the worst reflection. */
#ifndef NB_LIGHT_DIFFUSE_FAMILY_H
#define NB_LIGHT_DIFFUSE_FAMILY_H

#include "diffuse_table.h"

/** The range: B (A^2), and the factor of the edges of a cell. */
typedef struct nb_diffuse_range {
    double B[2], scale[2];
} nb_diffuse_range;

/** Where its tables are: n_first at the scale [0], which hold B, then n_more at [1], which hold the slope by the edges. */
typedef struct nb_diffuse_nodes {
    int n_first, n_more;
    double scale[2];
    double first[NB_DIFFUSE_TABLES + 1], more[NB_DIFFUSE_TABLES + 1]; /* B */
    double middle; /* s^2/2 of the reflections about which B is taken, 1/A^2 */
} nb_diffuse_nodes;

/** Nodes for reflections up to s = 1/d (1/A) of the cell.  Returns how many there are; 0: the range needs too many. */
int nb_diffuse_choose_nodes(const nb_diffuse_range *range, double s_most,
                            nb_diffuse_nodes *nodes);

/** B and scale of table i. */
double nb_diffuse_node_B(const nb_diffuse_nodes *nodes, int i);
double nb_diffuse_node_scale(const nb_diffuse_nodes *nodes, int i);

/** Weights of the tables for a crystal inside of the range. */
void nb_diffuse_node_weights(const nb_diffuse_nodes *nodes, double B, double scale,
                             double *weight);

#endif
