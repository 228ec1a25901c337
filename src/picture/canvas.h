/* SPDX-License-Identifier: MIT */
/** A picture of 8-bit red, green and blue, functions to draw on it, and colours. */
#ifndef NB_PICTURE_CANVAS_H
#define NB_PICTURE_CANVAS_H

#include <stdint.h>

#include "../nanobragg.h"

/* --- a 5 x 7 dot font of capitals, digits and a few signs --- */

#define NB_GLYPH_WIDTH 5
#define NB_GLYPH_HEIGHT 7

/** Rows from the top; bit 4 is the leftmost dot.  Unknown characters are blank. */
const uint8_t *nb_glyph(char c);

typedef struct nb_rgb {
    uint8_t r, g, b;
} nb_rgb;

typedef struct nb_canvas {
    int width, height;
    nb_rgb *pixels; /* [height][width]; owned: nb_free */
} nb_canvas;

/** A canvas of one colour.  Errors: NB_ERR_NOMEM. */
nb_status nb_canvas_create(nb_canvas *canvas, int width, int height, nb_rgb colour,
                           nb_error *err);

/** Fill a rectangle. Parts outside of the canvas are left out, here and below. */
void nb_canvas_fill(nb_canvas *canvas, int x, int y, int width, int height, nb_rgb colour);

/** Text of letters, digits and + - . , : ; = % / ( ) in a 5 x 7 font, each dot size x size
 * pixels; other signs are blanks. x, y: the upper left
 * corner. */
void nb_canvas_text(nb_canvas *canvas, int x, int y, int size, nb_rgb colour,
                    const char *text);

/** Width and height of a text in pixels. */
int nb_text_width(const char *text, int size);
int nb_text_height(int size);

/** The colour of a level 0..255. */
nb_rgb nb_colormap_at(nb_colormap map, int level);

/** The colour of pixels without a value, which is not a colour of the map. */
nb_rgb nb_left_out_colour(nb_colormap map);

/** Red above, blue below, white at 0; x from -1 to 1. */
nb_rgb nb_signed_colour(double x);

#endif
