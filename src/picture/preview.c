/* SPDX-License-Identifier: MIT */
#include "picture.h"

#include <math.h>
#include <string.h>

#include "../base/memory.h"

/** Value of a block, or NaN if all its pixels are left out. */
static float block(const nb_picture_job *job, int side, int x, int y)
{
    const int last_f = (x + 1) * side < job->fast ? (x + 1) * side : job->fast;
    const int last_s = (y + 1) * side < job->slow ? (y + 1) * side : job->slow;
    float brightest = NAN;
    double sum = 0;
    for (int s = y * side; s < last_s; s++)
        for (int f = x * side; f < last_f; f++) {
            const float value = job->image[(size_t)s * (size_t)job->fast + (size_t)f];
            brightest = fmaxf(brightest, value); /* fmaxf ignores NaN */
            sum += isnan(value) ? 0 : value - job->pedestal;
        }
    if (isnan(brightest) || job->options->blocks == NB_PNG_BRIGHTEST)
        return brightest;
    return (float)(sum + job->pedestal);
}

/** Panel with blocks as pixels. */
static nb_panel panel_of_blocks(const nb_panel *panel, int side, int fast, int slow)
{
    nb_panel p = *panel;
    p.columns = fast;
    p.rows = slow;
    p.pixel_fast *= side;
    p.pixel_slow *= side;
    p.pixel_area *= (double)side * side;
    return p;
}

nb_status nb_shrink(nb_picture_job *job, nb_panel *panel, float **pixels, nb_error *err)
{
    const int max = job->options->max;
    const int larger = job->fast > job->slow ? job->fast : job->slow;
    const int side = max > 0 ? (larger - 1) / max + 1 : 1;
    const int fast = (job->fast - 1) / side + 1, slow = (job->slow - 1) / side + 1;
    *pixels = NULL;
    if (side == 1)
        return NB_OK;
    *pixels = nb_alloc_raw((size_t)fast * (size_t)slow, sizeof **pixels, "picture", err);
    if (!*pixels)
        return NB_ERR_NOMEM;
    for (int y = 0; y < slow; y++)
        for (int x = 0; x < fast; x++)
            (*pixels)[(size_t)y * (size_t)fast + (size_t)x] = block(job, side, x, y);
    if (job->panel) {
        *panel = panel_of_blocks(job->panel, side, fast, slow);
        job->panel = panel;
    }
    job->image = *pixels;
    job->fast = fast;
    job->slow = slow;
    return NB_OK;
}

static const double FAINT = 1, BRIGHT = 99.5; /* percentiles of white and black */
/* black is at least this number of medians */
static const double HEADROOM = 3;

/* Positive floats have the same order as their bits, taken as integers. The upper 16 bits
 * make bins of less than 1 % width. */
enum { BINS = 1 << 15, SHIFT = 16 };

static unsigned bin_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >> SHIFT;
}

static float bin_start(unsigned bin)
{
    uint32_t bits = (uint32_t)bin << SHIFT;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/** Count the finite pixels above the pedestal in count[BINS]. Returns their number.
 * *whole: all are whole numbers, so the image has counts. */
static uint64_t fill_histogram(const float *image, size_t pixels, float pedestal,
                               uint32_t *count, int *whole)
{
    uint64_t total = 0;
    *whole = 1;
    for (size_t i = 0; i < pixels; i++) {
        float value = image[i] - pedestal;
        if (value > 0 && isfinite(value)) {
            count[bin_of(value)]++;
            *whole &= value == floorf(value);
            total++;
        }
    }
    return total;
}

/** Value with `percent` of the counted pixels below it, to within one bin. */
static double percentile(const uint32_t *count, uint64_t total, double percent)
{
    double wanted = percent / 100.0 * (double)total;
    uint64_t below = 0;
    unsigned bin = 0, last = 0;
    for (; bin < BINS; bin++) {
        if (!count[bin])
            continue;
        last = bin;
        below += count[bin];
        if ((double)below >= wanted)
            break;
    }
    return bin_start(last);
}

nb_preview_options nb_preview_of(const nb_png_options *png)
{
    nb_preview_options o = {.bright_spots = png && png->colormap != NB_MAP_GREY};
    if (png)
        o.png = *png;
    return o;
}

static double bend(const nb_preview_options *o, double x)
{
    const double gamma = o->png.gamma > 0 ? o->png.gamma : 0.5;
    return o->png.log ? log(x) : gamma == 0.5 ? sqrt(x) : pow(x, gamma);
}

/** Level of white: zero photons for counts, as a single photon must be visible. */
static double faintest_count(const nb_preview_options *o)
{
    return o->png.log ? bend(o, 0.5) : 0;
}

static void set_between(nb_preview_levels *l, double low, double high)
{
    l->low = low;
    l->factor = high > low ? 1.0 / (high - low) : 0;
    l->by_fraction = 1;
}

nb_status nb_preview_choose(const float *image, size_t pixels, const nb_preview_options *o,
                            nb_preview_levels *out, nb_error *err)
{
    uint32_t *count;
    uint64_t total;
    double low, high;
    int whole;
    out->options = *o;
    set_between(out, o->png.low, o->png.high);
    if (o->png.scale == NB_PNG_RANGE)
        return NB_OK;
    count = nb_alloc(BINS, sizeof *count, "preview histogram", err);
    if (!count)
        return NB_ERR_NOMEM;
    total = fill_histogram(image, pixels, (float)o->pedestal, count, &whole);
    set_between(out, 0, 0);
    if (total && o->png.scale == NB_PNG_PERCENTILE) {
        set_between(out, 0, percentile(count, total, o->png.percentile));
    } else if (total) {
        low = whole ? faintest_count(o) : bend(o, percentile(count, total, FAINT));
        high = bend(o, fmax(percentile(count, total, BRIGHT),
                            HEADROOM * percentile(count, total, 50)));
        out->low = low;
        out->factor = high > low ? 255.0 / (high - low) : 0;
        out->by_fraction = 0;
    }
    nb_free(count);
    return NB_OK;
}

static double level_of(const nb_preview_options *o, const nb_preview_levels *l,
                       float value)
{
    const double decades = 999; /* 10^3 - 1, for three decades */
    double x = (value - l->low) * l->factor;
    if (!l->by_fraction)
        return value > 0 ? (bend(o, value) - l->low) * l->factor : 0;
    if (!(x > 0))
        return 0;
    return 255.0 * (o->png.log ? log1p(decades * fmin(x, 1)) / log1p(decades)
                               : bend(o, fmin(x, 1)));
}

void nb_preview_apply(const nb_preview_levels *levels, const float *image, size_t pixels,
                      uint8_t *out)
{
    const nb_preview_options *o = &levels->options;
    float pedestal = o->png.scale == NB_PNG_RANGE ? 0 : (float)o->pedestal;
    for (size_t i = 0; i < pixels; i++) {
        double level = level_of(o, levels, image[i] - pedestal);
        uint8_t grey = !(level > 0) ? 0 : level > 255.0 ? 255 : (uint8_t)(level + 0.5);
        out[i] = o->bright_spots ? grey : (uint8_t)(255 - grey);
    }
}

nb_status nb_preview(const float *image, int fast, int slow,
                     const nb_preview_options *options, uint8_t *out, nb_error *err)
{
    size_t pixels = (size_t)fast * (size_t)slow;
    nb_preview_levels levels;
    nb_status st = nb_preview_choose(image, pixels, options, &levels, err);
    if (!st)
        nb_preview_apply(&levels, image, pixels, out);
    return st;
}
