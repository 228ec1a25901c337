/* SPDX-License-Identifier: MIT */
#include "writer.h"

static nb_status write_nothing(const nb_image_view *image, const nb_image_meta *meta,
                               nb_outfile *out, nb_error *err)
{
    (void)image;
    (void)meta;
    (void)out;
    (void)err;
    return NB_OK;
}

const nb_writer nb_writer_null = {"null", NULL,          NB_PIXEL_ANY, NULL,
                                  NULL,   write_nothing, NULL};
