/* SPDX-License-Identifier: MIT */
/** Pixels that no reflection with F > 0 reaches, because |q| is too large there for the table of F
 * or for the limit of resolution, in any orientation. All steps of such a pixel are 0, so they
 * are left out without a change of bytes. */
#ifndef NB_PLAN_DARK_H
#define NB_PLAN_DARK_H

#include "plan.h"

/** The rays that reflections may reach: those within an angle of an axis. */
typedef struct nb_lit_cone {
    int all; /* reflections may reach every ray */
    nb_vec3 axis;
    double angle;
} nb_lit_cone;

/** Find the cone of a scene. This reads the table of F once; if that takes longer than it saves,
 * `all` is set. */
nb_lit_cone nb_lit_cone_of(const nb_plan *plan);

/** Are all orientations rotations of the first one's cell? */
int nb_cells_are_equal(const nb_lattice *lattice);
/** Is b a rotation of the cell a? */
int nb_cells_alike(const nb_orientation *a, const nb_orientation *b);

/** The cone in the coordinates of a panel's rows. */
typedef struct nb_lit_panel {
    int all;
    nb_vec3 axis;
    double cos2; /* of the cone's angle, widened by a pixel and the sensor's depth */
    nb_vec3 start, step, along; /* the middle of pixel (0, s) is start + s step; m, unit */
    double pixel;               /* along a row, m */
    int columns;
} nb_lit_panel;

nb_lit_panel nb_lit_panel_of(const nb_lit_cone *cone, const nb_panel *panel,
                             const nb_sensor *sensor);

/** Columns of a row of the panel that reflections may reach, *first to *last; none if *last <
 * *first. A few of them are dark. */
void nb_lit_columns(const nb_lit_panel *lit, int slow, int *first, int *last);

#endif
