/* SPDX-License-Identifier: MIT */
/** Portable grey map (P5 of Netpbm), with the scale in a comment as in nanoBragg. */
#include <stdio.h>

#include "writer.h"

static nb_status pgm_header(const nb_image_view *image, const nb_image_meta *meta,
                            nb_image_header *header, nb_error *err)
{
    (void)meta;
    (void)err;
    header->used = (size_t)snprintf(header->text, sizeof header->text,
                                    "P5\n%d %d\n# pixels scaled by %g\n255\n",
                                    image->fast, image->slow, image->scale);
    return NB_OK;
}

const nb_writer nb_writer_pgm = {.name = "PGM", .pixel = NB_PIXEL_U8, .header = pgm_header};
