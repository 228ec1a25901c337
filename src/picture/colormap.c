/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "canvas.h"

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

/** The colour at x, 0..1, of n points. */
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
