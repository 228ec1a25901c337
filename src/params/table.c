/* SPDX-License-Identifier: MIT */
/* Every parameter: its names, field, limits and help. */
#include "rows.h"
#include "../physics/shapes.h"
#include "params.h"

/* clang-format off */
/* Lists of names in the order of the values. An empty name stands for the value "unset",
 * which cannot be typed. */
#define SHAPE_NAME(number, law, height, width, reach, step, rate, word, ...) [number] = word,
static const char *const shapes[NB_SHAPE_COUNT + 1] = {NB_SHAPES(SHAPE_NAME)};
#define SHAPE_ROW(number, law, height, width, reach, step, rate, word, flag, old, text) \
    {flag, old, PRESET(shape, number), .fallback = number == 0 ? "on" : NULL, .help = text},
static const char *const pivots[] = {"", "beam", "sample", NULL};

#define MEMBER(member, ...) {__VA_ARGS__},
#define SERIES_MEMBER(member, ...) {__VA_ARGS__},
#define ROW(...) {__VA_ARGS__},
static const nb_param rows[] = {
#include "flag_rows.h"
};
/* clang-format on */

const nb_param *nb_params(size_t *count)
{
    if (count)
        *count = sizeof rows / sizeof *rows;
    return rows;
}
