/* SPDX-License-Identifier: MIT */
#include "writer.h"

const nb_writer nb_writer_float = {.name = "float image", .pixel = NB_PIXEL_F32};
const nb_format nb_format_float = {
    .name = "float", .extensions = ".bin", .writer = &nb_writer_float, .any_panels = 1};
