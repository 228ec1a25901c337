/* SPDX-License-Identifier: MIT */
/** The rows of the table of parameters that describe backgrounds from tables. */
#ifndef NB_PARAMS_BACKGROUND_ROWS_H
#define NB_PARAMS_BACKGROUND_ROWS_H

#include "after.h"
#include "rows.h"

/* clang-format off */
#define NB_BACKGROUND_ROWS \
{"stol", NULL, PATH(INPUT, stol_file), \
    .help = "background of a material without order: table of F (electrons) against sin(theta)/lambda, 4 sin(theta)/lambda, 4 pi sin(theta)/lambda (1/A)"}, \
{"4stol", NULL, PATH(INPUT, stol4_file), .help = "background of a material without order: table of F (electrons) against sin(theta)/lambda, 4 sin(theta)/lambda, 4 pi sin(theta)/lambda (1/A)"}, \
{"Q", NULL, PATH(INPUT, q_file), .help = "background of a material without order: table of F (electrons) against sin(theta)/lambda, 4 sin(theta)/lambda, 4 pi sin(theta)/lambda (1/A)"}, \
{"amorphous_thick", NULL, NUMBER(PIXELS, amorphous_thick_mm), ABOVE(0), .value = "t", \
    .unit = "mm", .fallback = "0.1", .help = "path of the beam in the material of the table"}, \
{"density", "sample_den sample_density", NUMBER(PIXELS, density), ABOVE(0), .value = "rho", \
    .unit = "g/cm3", .fallback = "1", .help = "density of the material of the table"}, \
{"MW", "molec molecular_weight", NUMBER(PIXELS, molecule_mass), ABOVE(0), .value = "mass", \
    .unit = "g/mol", .fallback = "18", .help = "mass of a molecule of the table"}, \
{"molecules", NULL, NUMBER(PIXELS, molecules), ABOVE(0), .value = "n", \
    .help = "molecules of the table in the beam, instead of path, density and mass"}, \
{"background", NULL, FIELD(TEXT, PIXELS, background), .value = "name:path,...", .unit = "mm", \
    .fallback = "none", \
    .help = "materials in the beam: water, vitreous (frozen solvent), air, ice (rings), nanoice"}, \
{"stolout", NULL, PATH(OUTPUT, stolout_file), \
    .help = "write a table for -stol from an image, and stop"}, \
{"stolimage", NULL, PATH(INPUT, stolimage_file), .fallback = "that of -img", \
    .help = "image for -stolout: floats, SMV, mini-CBF, or NXmx (first frame)"}, \
{"stolstep", NULL, NUMBER(NONE, stol_step), ABOVE(0), .value = "d", .unit = "1/A", \
    .fallback = "0.002; points of the given table", \
    .help = "step of the table of -stolout"}, \
{"stolsmooth", NULL, NUMBER_FROM(NONE, stol_smooth, 0), AT_LEAST(0), .value = "w", .unit = "1/A", \
    .fallback = "0 (off)", \
    .help = "smooth the table of -stolout by parabolas over w on each side, without rings of ice, and " \
        "leave out pixels beside Bragg spots"}, \
{"stolrings", NULL, SWITCH(NONE, stol_rings), .help = "keep rings of ice in a table of -stolsmooth"}
/* clang-format on */

#endif
