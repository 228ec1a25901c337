/* SPDX-License-Identifier: MIT */
#include "picture.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "../base/memory.h"

typedef struct glyph {
    char character;
    uint8_t rows[NB_GLYPH_HEIGHT];
} glyph;

static const glyph glyphs[] = {
    {'0', {0x0e, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0e}},
    {'1', {0x04, 0x0c, 0x04, 0x04, 0x04, 0x04, 0x0e}},
    {'2', {0x0e, 0x11, 0x01, 0x02, 0x04, 0x08, 0x1f}},
    {'3', {0x0e, 0x11, 0x01, 0x06, 0x01, 0x11, 0x0e}},
    {'4', {0x02, 0x06, 0x0a, 0x12, 0x1f, 0x02, 0x02}},
    {'5', {0x1f, 0x10, 0x1e, 0x01, 0x01, 0x11, 0x0e}},
    {'6', {0x0e, 0x10, 0x10, 0x1e, 0x11, 0x11, 0x0e}},
    {'7', {0x1f, 0x01, 0x02, 0x04, 0x04, 0x08, 0x08}},
    {'8', {0x0e, 0x11, 0x11, 0x0e, 0x11, 0x11, 0x0e}},
    {'9', {0x0e, 0x11, 0x11, 0x0f, 0x01, 0x01, 0x0e}},
    {'A', {0x0e, 0x11, 0x11, 0x1f, 0x11, 0x11, 0x11}},
    {'B', {0x1e, 0x11, 0x11, 0x1e, 0x11, 0x11, 0x1e}},
    {'a', {0x00, 0x00, 0x0e, 0x01, 0x0f, 0x11, 0x0f}},
    {'e', {0x00, 0x00, 0x0e, 0x11, 0x1f, 0x10, 0x0e}},
    {'f', {0x06, 0x09, 0x08, 0x1c, 0x08, 0x08, 0x08}},
    {'g', {0x00, 0x00, 0x0f, 0x11, 0x0f, 0x01, 0x0e}},
    {'i', {0x04, 0x00, 0x0c, 0x04, 0x04, 0x04, 0x0e}},
    {'l', {0x0c, 0x04, 0x04, 0x04, 0x04, 0x04, 0x0e}},
    {'m', {0x00, 0x00, 0x1a, 0x15, 0x15, 0x11, 0x11}},
    {'n', {0x00, 0x00, 0x16, 0x19, 0x11, 0x11, 0x11}},
    {'r', {0x00, 0x00, 0x16, 0x19, 0x10, 0x10, 0x10}},
    {'s', {0x00, 0x00, 0x0e, 0x10, 0x0e, 0x01, 0x1e}},
    {'t', {0x08, 0x08, 0x1c, 0x08, 0x08, 0x09, 0x06}},
    {'x', {0x00, 0x00, 0x11, 0x0a, 0x04, 0x0a, 0x11}},
    {'+', {0x00, 0x04, 0x04, 0x1f, 0x04, 0x04, 0x00}},
    {'-', {0x00, 0x00, 0x00, 0x1f, 0x00, 0x00, 0x00}},
    {'.', {0x00, 0x00, 0x00, 0x00, 0x00, 0x0c, 0x0c}},
};

const uint8_t *nb_glyph(char c)
{
    static const uint8_t blank[NB_GLYPH_HEIGHT] = {0};
    for (size_t i = 0; i < sizeof glyphs / sizeof *glyphs; i++)
        if (glyphs[i].character == c)
            return glyphs[i].rows;
    return blank;
}

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

/* Eleven points of viridis (S. van der Walt & N. Smith, 2015; CC0), with straight lines
 * between them. */
static const nb_rgb viridis[] = {{68, 1, 84},    {72, 36, 117},  {65, 68, 135},
                                 {53, 95, 141},  {42, 120, 142}, {33, 145, 140},
                                 {34, 168, 132}, {68, 191, 112}, {122, 209, 81},
                                 {189, 223, 38}, {253, 231, 37}};
static const nb_rgb heat[] = {{0, 0, 0},     {85, 0, 0},    {170, 0, 0},    {255, 0, 0},
                              {255, 128, 0}, {255, 255, 0}, {255, 255, 255}};
static const nb_rgb signs[] = {
    {8, 48, 140}, {90, 150, 220}, {255, 255, 255}, {230, 110, 80}, {150, 8, 20}};

static uint8_t mix(uint8_t a, uint8_t b, double x)
{
    return (uint8_t)(a + x * (b - a) + 0.5);
}

/** Colour at x, 0 to 1, on straight lines between n colours. */
static nb_rgb along(const nb_rgb *stations, int n, double x)
{
    double at = (x > 0 ? x < 1 ? x : 1 : 0) * (n - 1);
    int k = at < n - 1 ? (int)at : n - 2;
    const nb_rgb *a = &stations[k], *b = a + 1;
    nb_rgb c = {mix(a->r, b->r, at - k), mix(a->g, b->g, at - k), mix(a->b, b->b, at - k)};
    return c;
}

nb_rgb nb_colormap_at(nb_colormap map, int level)
{
    uint8_t grey = (uint8_t)(map == NB_MAP_GREY ? 255 - level : level);
    nb_rgb c = {grey, grey, grey};
    if (map == NB_MAP_VIRIDIS)
        return along(viridis, sizeof viridis / sizeof *viridis, level / 255.0);
    if (map == NB_MAP_HEAT)
        return along(heat, sizeof heat / sizeof *heat, level / 255.0);
    return c;
}

nb_rgb nb_left_out_colour(nb_colormap map)
{
    const nb_rgb grey = {128, 128, 128}, blue = {150, 180, 220};
    return map == NB_MAP_VIRIDIS || map == NB_MAP_HEAT ? grey : blue;
}

nb_rgb nb_signed_colour(double x)
{
    return along(signs, sizeof signs / sizeof *signs, isnan(x) ? 0.5 : (x + 1) / 2);
}
