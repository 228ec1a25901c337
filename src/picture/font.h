/* SPDX-License-Identifier: MIT */
/** A 5 x 7 dot font of capitals, digits and a few signs. */
#ifndef NB_PICTURE_FONT_H
#define NB_PICTURE_FONT_H

#include <stdint.h>

#define NB_GLYPH_WIDTH 5
#define NB_GLYPH_HEIGHT 7

/** Rows from the top; bit 4 is the leftmost dot.  Unknown characters are blank. */
const uint8_t *nb_glyph(char c);

#endif
