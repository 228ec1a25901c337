/* SPDX-License-Identifier: MIT */
/** The rows of the table of parameters for detectors from files. */
#ifndef NB_PARAMS_GEOMETRY_ROWS_H
#define NB_PARAMS_GEOMETRY_ROWS_H

#include "rows.h"

/* clang-format off */
#define NB_GEOMETRY_ROWS \
{"geom", NULL, PATH(INPUT, geom_file), \
    .help = "CrystFEL: detector, and wavelength if it is a number"}, \
{"expt", NULL, PATH(INPUT, expt_file), \
    .help = "DIALS experiments: detector, beam, goniometer, scan, crystal"}, \
{"expt_number", NULL, WHOLE(PIXELS, expt_number), WITHIN(0, 1e6), .unset = -1, .value = "n", \
    .fallback = "0", .help = "experiment of -expt, from 0"}, \
{"expt_image", NULL, FIELD(TEXT, PIXELS, expt_image), .value = "name", \
    .help = "the experiment of -expt that has this image, and its -phi; of HDF5 file.h5:12"}, \
{"nxmx", NULL, PATH(INPUT, nxmx_file), \
    .help = "NXmx: detector, mask, wavelength, scan axis"}, \
{"panel", NULL, FIELD(TEXT, PIXELS, panel_list), .value = "list", .fallback = "all", \
    .help = "panels to render, names or numbers from 0, with commas; the others are masked"}, \
{"layout", NULL, CHOICE(HDF5, layout, NAMES("stack", "file")), \
    .help = "places of panels in HDF5: a stack, or as in the geometry file"}, \
{"geomout", NULL, PATH(OUTPUT, geomout_file), \
    .help = "write the detector as CrystFEL text"}, \
{"exptout", NULL, PATH(OUTPUT, exptout_file), \
    .help = "write the experiment as DIALS JSON"}, \
{"spindle_back", NULL, SWITCH(PIXELS | INNER, spindle_back), KEY(38, "SPINDLE_BACK"), \
    .help = "a header's rotation is negative: the convention's spindle is reversed"}, \
{"beam_shift", NULL, NUMBER_FROM(PIXELS | INNER, beam_shift_mm, 0), ANY, .unit = "mm", \
    .help = "-jitter_beam of a detector from a file: along fast and slow of the convention"}, \
{"typed_files", NULL, WHOLE(INNER, typed_files), ANY, \
    .help = "which files of one panel were asked for"}
/* clang-format on */

#endif
