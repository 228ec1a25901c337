/* SPDX-License-Identifier: MIT */
/** mini-CBF: the geometry of its header lines. The pixels: nb_cbf_parse in image_read.h. */
#ifndef NB_IO_CBF_READ_H
#define NB_IO_CBF_READ_H

#include "image_read.h"

/** Numbers of the "# " lines; NaN where a line is missing, or is not read. */
typedef struct nb_cbf_header {
    int own;  /* a file of ours */
    int full; /* with the categories of imgCIF, which are not read */
    double pixel_m, wavelength_A, distance_m;
    double beam_px[2]; /* fast, slow, from the outer corner of the first pixel */
    double twotheta_deg;
    double phi_deg, osc_deg; /* start and width of the rotation, which may be negative */
    double kappa_deg, chi_deg;       /* further angles of the crystal */
    double polarization;             /* Kahn's K */
    double thick_m;                  /* of the sensor */
    char material[NB_MATERIAL_NAME]; /* of the sensor; "" */
} nb_cbf_header;

void nb_cbf_read_header(const nb_image_file *file, nb_cbf_header *out);

#endif
