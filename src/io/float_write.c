/* SPDX-License-Identifier: MIT */
#include "writer.h"

static nb_status write_float(const nb_image_view *image, const nb_image_meta *meta,
                             nb_outfile *out, nb_error *err)
{
    size_t pixels = (size_t)image->fast * (size_t)image->slow;
    (void)meta;
    return nb_outfile_write(out, image->pixels, pixels * sizeof(float), err);
}

const nb_writer nb_writer_float = {"float image", "bin", NB_PIXEL_F32, NULL, write_float};
