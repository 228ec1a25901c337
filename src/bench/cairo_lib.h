/* SPDX-License-Identifier: MIT */
/** cairo, loaded when a report is drawn.  Linked directly it would bring a dozen libraries into
 * every start of the program. */
#ifndef NB_BENCH_CAIRO_LIB_H
#define NB_BENCH_CAIRO_LIB_H

#ifdef NB_HAVE_CAIRO
#include <cairo-svg.h>
#include <cairo.h>

#include "../nanobragg.h"

/* Every function of the library that we call, without its cairo_. */
/* clang-format off */
#define NB_CAIRO_FUNCTIONS(X) \
    X(arc) X(clip) X(close_path) X(create) X(destroy) X(fill) X(fill_preserve) \
    X(image_surface_create) X(line_to) X(move_to) X(paint) X(rectangle) X(restore) X(rotate) \
    X(save) X(scale) X(select_font_face) X(set_dash) X(set_font_size) X(set_line_join) \
    X(set_line_width) X(set_source_rgb) X(show_text) X(status) X(status_to_string) X(stroke) \
    X(surface_destroy) X(surface_finish) X(surface_status) X(surface_write_to_png) \
    X(svg_surface_create) X(text_extents) X(translate)
/* clang-format on */

typedef struct nb_cairo {
#define NB_CAIRO_MEMBER(name) __typeof__(cairo_##name) *name;
    NB_CAIRO_FUNCTIONS(NB_CAIRO_MEMBER)
#undef NB_CAIRO_MEMBER
} nb_cairo;

/** Load it; it stays, since what it keeps of fonts cannot be freed.  Errors: NB_ERR_UNSUPPORTED. */
nb_status nb_cairo_load(nb_cairo *c, nb_error *err);
#endif

#endif
