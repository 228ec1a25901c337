/* SPDX-License-Identifier: MIT */
#include "canvas.h"

#include <string.h>

#include "../base/memory.h"
#include "font.h"

nb_status nb_canvas_create(nb_canvas *c, int width, int height, nb_rgb colour,
                           nb_error *err)
{
    memset(c, 0, sizeof *c);
    c->pixels =
        nb_alloc_raw((size_t)width * (size_t)height, sizeof *c->pixels, "picture", err);
    if (!c->pixels)
        return NB_ERR_NOMEM;
    c->width = width;
    c->height = height;
    nb_canvas_fill(c, 0, 0, width, height, colour);
    return NB_OK;
}

void nb_canvas_fill(nb_canvas *c, int x, int y, int width, int height, nb_rgb colour)
{
    int right = x + width < c->width ? x + width : c->width;
    int bottom = y + height < c->height ? y + height : c->height;
    for (int j = y < 0 ? 0 : y; j < bottom; j++)
        for (int i = x < 0 ? 0 : x; i < right; i++)
            c->pixels[(size_t)j * (size_t)c->width + (size_t)i] = colour;
}

void nb_canvas_text(nb_canvas *c, int x, int y, int size, nb_rgb colour, const char *text)
{
    for (; *text; text++, x += (NB_GLYPH_WIDTH + 1) * size) {
        const uint8_t *rows = nb_glyph(*text);
        for (int j = 0; j < NB_GLYPH_HEIGHT; j++)
            for (int i = 0; i < NB_GLYPH_WIDTH; i++)
                if (rows[j] >> (NB_GLYPH_WIDTH - 1 - i) & 1)
                    nb_canvas_fill(c, x + i * size, y + j * size, size, size, colour);
    }
}

int nb_text_width(const char *text, int size)
{
    int n = (int)strlen(text);
    return n > 0 ? (n * (NB_GLYPH_WIDTH + 1) - 1) * size : 0;
}

int nb_text_height(int size)
{
    return NB_GLYPH_HEIGHT * size;
}
