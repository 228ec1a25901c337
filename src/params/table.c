/* SPDX-License-Identifier: MIT */
/* Every parameter: its names, the field that holds it, its limits, and what the help says. */
#include "rows.h"
#include "../physics/shapes.h"
#include "params.h"

/* clang-format off */
/* Names by value.  An empty name belongs to the value "unset", which nobody can write. */
#define SHAPE_NAME(number, law, height, width, reach, step, rate, word, ...) [number] = word,
static const char *const shapes[NB_SHAPE_COUNT + 1] = {NB_SHAPES(SHAPE_NAME)};
#define SHAPE_ROW(number, law, height, width, reach, step, rate, word, flag, old, text) \
    {flag, old, PRESET(shape, number), .fallback = number == 0 ? "on" : NULL, .help = text},
static const char *const misset_modes[] = {"none", "fixed", "random", NULL};
static const char *const mosaic_models[] = {"nanobragg", "uniform", "gauss", NULL};
static const char *const conventions[] = {
    "", "mosflm", "xds", "adxv", "denzo", "dials", "custom", NULL};
static const char *const diffuse_halos[] = {"exp", "gauss", NULL};
static const char *const diffuse_Fs[] = {"mean", "unperturbed", NULL};
static const char *const pivots[] = {"", "beam", "sample", NULL};
static const char *const layer_depths[] = {"", "mean", "front", NULL};
static const char *const curved_omegas[] = {"", "square", "exact", NULL};
static const char *const png_shows[] = {"expected", "noise", NULL};
static const char *const png_blocks[] = {"brightest", "sum", NULL};
static const char *const colormaps[] = {"grey", "inverse", "viridis", "heat", NULL};
static const char *const tiff_bits[] = {"16", "32", NULL};
static const char *const truths[] = {"none", "spots", NULL};
static const char *const hdf5_types[] = {"uint16", "int32", "float32", "int16", NULL};
static const char *const compressions[] = {"gzip", "none", "bslz4", NULL};
static const char *const anomalous[] = {"", "each", "mean", "off", NULL};
static const char *const hydrogens[] = {"", "keep", "drop", NULL};
static const char *const ncs_copies[] = {"", "ignore", "apply", NULL};
static const char *const fills[] = {"", "default", "shell", "model", NULL};
static const char *const sf_methods[] = {"", "auto", "direct", "fft", NULL};
static const char *const all_word[] = {"all", NULL};
static const char *const model_word[] = {"model", NULL};
static const char *const auto_word[] = {"auto", NULL};
static const char *const calc_word[] = {"calc", NULL};
static const char *const darwin_word[] = {"darwin", NULL};
static const char *const isas[] = {"auto", "scalar", "sse2", "avx2", "avx512", "neon", NULL};
static const char *const precisions[] = {"mixed", "double", "single", NULL};

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
