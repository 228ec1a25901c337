/* SPDX-License-Identifier: MIT */
/** Pixels that no reflection with F > 0 reaches in any orientation, because |q| exceeds
 * the table of F or the limit of resolution. All steps of such a pixel are 0. An image
 * without these steps has the same bytes. */
#ifndef NB_PLAN_DARK_H
#define NB_PLAN_DARK_H

#include "plan.h"

/** A cone that contains all rays that reflections may reach: the rays within an angle of
 * an axis. */
typedef struct nb_lit_cone {
    int all; /* 1: reflections may reach every ray */
    nb_vec3 axis;
    double angle; /* rad */
} nb_lit_cone;

/** Find the cone of a scene. This reads the table of F once. `all` is set if reading
 * takes longer than it saves. */
nb_lit_cone nb_lit_cone_of(const nb_plan *plan);

/** True if all orientations are rotations of the first cell. */
int nb_cells_are_equal(const nb_lattice *lattice);
/** True if b is a rotation of cell a. */
int nb_cells_alike(const nb_orientation *a, const nb_orientation *b);

/** A cone in the coordinates of the rows of a panel. */
typedef struct nb_lit_panel {
    int all;
    nb_vec3 axis;
    double cos2; /* cos^2 of the angle, widened by a pixel and the depth of the sensor */
    /* middle of pixel (0, s): start + s step, m. along: unit vector along a row */
    nb_vec3 start, step, along;
    double pixel; /* m; size of a pixel along a row */
    int columns;
} nb_lit_panel;

nb_lit_panel nb_lit_panel_of(const nb_lit_cone *cone, const nb_panel *panel,
                             const nb_sensor *sensor);

/** Find the columns *first to *last of a row that reflections may reach. If *last <
 * *first, the row is dark. A few columns at the ends may be dark too. */
void nb_lit_columns(const nb_lit_panel *lit, int slow, int *first, int *last);

#endif
