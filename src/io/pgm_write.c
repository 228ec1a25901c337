/* SPDX-License-Identifier: MIT */
/** Portable grey map (Netpbm's "P5"), with the scale in a comment as the old program wrote it. */
#include <stdio.h>

#include "writer.h"

static nb_status write_pgm(const nb_image_view *image, const nb_image_meta *meta,
                           nb_outfile *out, nb_error *err)
{
    char header[128];
    int n = snprintf(header, sizeof header, "P5\n%d %d\n# pixels scaled by %g\n255\n",
                     image->fast, image->slow, image->scale);
    nb_status st = nb_outfile_write(out, header, (size_t)n, err);
    (void)meta;
    return st ? st
              : nb_outfile_write(out, image->pixels,
                                 (size_t)image->fast * (size_t)image->slow, err);
}

const nb_writer nb_writer_pgm = {"PGM", "pgm", NB_PIXEL_U8, NULL, write_pgm};
