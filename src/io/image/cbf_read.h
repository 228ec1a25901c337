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

/* --- The codes of pixels in binary sections of imgCIF, beside byte offsets (CBFlib manual, chapters 3.3.1 to 3.3.3) --- */

typedef enum nb_cbf_coding {
    NB_CBF_BYTE_OFFSET,
    NB_CBF_CANONICAL,
    NB_CBF_PACKED,
    NB_CBF_PACKED_V2,
    NB_CBF_NONE /* as they are */
} nb_cbf_coding;

/** What a section holds: fast x slow pixels in each of `deep` images. */
typedef struct nb_cbf_pixels {
    const char *name; /* of the file */
    nb_cbf_coding coding;
    int bits;               /* 8, 16, 32 or 64 */
    int is_signed, is_real; /* IEEE */
    int fast, slow, deep;
    int flat;   /* packed: each pixel is predicted from the one before alone */
    int sliced; /* packed: images are not predicted from each other */
    const char *data;
    size_t bytes;
} nb_cbf_pixels;

/** All pixels but of NB_CBF_BYTE_OFFSET into to[].  Errors: NB_ERR_INPUT (cut short, damaged, a real that is not finite),
 * NB_ERR_NOMEM. */
nb_status nb_cbf_decode(const nb_cbf_pixels *section, float *to, nb_error *err);

#endif
