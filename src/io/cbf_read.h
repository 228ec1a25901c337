/* SPDX-License-Identifier: MIT */
/** mini-CBF: the geometry of its header lines. The pixels: nb_cbf_parse in image_read.h. */
#ifndef NB_IO_CBF_READ_H
#define NB_IO_CBF_READ_H

#include "image_read.h"

/** Numbers of the "# " lines; NaN where a line is missing. */
typedef struct nb_cbf_header {
    double pixel_m, wavelength_A, distance_m;
    double beam_px[2]; /* fast, slow, from the outer corner of the first pixel */
} nb_cbf_header;

void nb_cbf_read_header(const nb_image_file *file, nb_cbf_header *out);

#endif
