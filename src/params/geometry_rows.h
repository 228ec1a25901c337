/* SPDX-License-Identifier: MIT */
/** The rows of the table of parameters for detectors from files. */
#ifndef NB_PARAMS_GEOMETRY_ROWS_H
#define NB_PARAMS_GEOMETRY_ROWS_H

#include "rows.h"

/* clang-format off */
#define NB_GEOMETRY_ROWS \
{"geom", NULL, PATH(INPUT, geom_file), \
    .help = "detector of CrystFEL: panels, and the wavelength if it is a number there"}, \
{"expt", NULL, PATH(INPUT, expt_file), \
    .help = "DIALS experiments (JSON): detector, beam, goniometer, scan and crystal"}, \
{"expt_number", NULL, WHOLE(PIXELS, expt_number), WITHIN(0, 1e6), .unset = -1, .value = "n", \
    .fallback = "0", .help = "which experiment of -expt, from 0"}, \
{"nxmx", NULL, PATH(INPUT, nxmx_file), \
    .help = "NXmx file (HDF5): panels, mask, wavelength and scan axis"}, \
{"panel", NULL, FIELD(TEXT, PIXELS, panel_list), .value = "list", .fallback = "all", \
    .help = "names or numbers (from 0) of panels with commas between them: the others are " \
        "masked; -trace_pixel takes the first"}, \
{"layout", NULL, CHOICE(HDF5, layout, NAMES("stack", "file")), \
    .help = "places of panels in HDF5: below each other, or as in the geometry file"}, \
{"geomout", NULL, PATH(OUTPUT, geomout_file), \
    .help = "write the detector as CrystFEL text; also with -show_config"}, \
{"exptout", NULL, PATH(OUTPUT, exptout_file), \
    .help = "write detector, beam, goniometer, scan and crystal as DIALS JSON; also with " \
        "-show_config"}, \
{"spindle_back", NULL, SWITCH(PIXELS | INNER, spindle_back), KEY(38, "SPINDLE_BACK"), \
    .help = "a header's rotation is negative: the convention's spindle is reversed"}, \
{"beam_shift", NULL, NUMBER_FROM(PIXELS | INNER, beam_shift_mm, 0), ANY, .unit = "mm", \
    .help = "-jitter_beam of a detector from a file: along fast and slow of the convention"}, \
{"typed_files", NULL, WHOLE(INNER, typed_files), ANY, \
    .help = "which files of one panel were asked for"}
/* clang-format on */

#endif
