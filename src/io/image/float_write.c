/* SPDX-License-Identifier: MIT */
#include "writer.h"

static nb_status float_header(const nb_image_view *image, const nb_image_meta *meta,
                              nb_image_header *header, nb_error *err)
{
    (void)image;
    (void)meta;
    (void)header;
    (void)err;
    return NB_OK;
}

const nb_writer nb_writer_float = {"float image", "bin", NB_PIXEL_F32, NULL,
                                   float_header,  NULL,  NULL};
const nb_format nb_format_float = {
    .name = "float", .extensions = ".bin", .writer = &nb_writer_float, .any_panels = 1};
