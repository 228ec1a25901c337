/* SPDX-License-Identifier: MIT */
/** The flag -mask of view and compare. */
#ifndef NB_CLI_LEFT_OUT_H
#define NB_CLI_LEFT_OUT_H

#include "../nanobragg.h"

#define NB_CLI_MASK_HELP                                                                 \
    "image (SMV, CBF, TIFF, PGM, HDF5, floats): pixels of 0 or below are left out"

/** Leave out the pixels where those of the file `mask` (NULL: nothing) are 0 or below.  A file without header
 * has the image's size; max_read_MB is -max_read.  Errors: those of nb_image_read and nb_image_leave_out. */
nb_status nb_cli_leave_out(const char *mask, double max_read_MB, nb_image *image,
                           nb_error *err);

#endif
