/* SPDX-License-Identifier: MIT */
#include "preview.h"

#include <math.h>
#include <string.h>

#include "../base/memory.h"

const nb_preview_options nb_preview_default = {NB_PREVIEW_SQRT, 1.0, 99.5, 3.0, 0};

/* Positive floats sort as their bits do; the upper 16 bits are bins of less than 1 % width. */
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

/** Fill count[BINS] with the positive, finite pixels; returns how many. */
static uint64_t fill_histogram(const float *image, size_t pixels, uint32_t *count)
{
    uint64_t total = 0;
    for (size_t i = 0; i < pixels; i++) {
        if (image[i] > 0 && isfinite(image[i])) {
            count[bin_of(image[i])]++;
            total++;
        }
    }
    return total;
}

/** A value with `percent` of the counted pixels below it, to within one bin. */
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

static double bend(const nb_preview_options *o, double x)
{
    return o->curve == NB_PREVIEW_LOG ? log(x) : sqrt(x);
}

nb_status nb_preview(const float *image, int fast, int slow,
                     const nb_preview_options *options, uint8_t *out, nb_error *err)
{
    const nb_preview_options *o = options ? options : &nb_preview_default;
    size_t pixels = (size_t)fast * (size_t)slow;
    uint32_t *count = nb_alloc(BINS, sizeof *count, "preview histogram", err);
    uint64_t total;
    double low = 0, high = 0, factor;
    if (!count)
        return NB_ERR_NOMEM;
    total = fill_histogram(image, pixels, count);
    if (total) {
        low = bend(o, percentile(count, total, o->low));
        high = bend(o, fmax(percentile(count, total, o->high),
                            o->headroom * percentile(count, total, 50)));
    }
    nb_free(count);
    factor = high > low ? 255.0 / (high - low) : 0;
    for (size_t i = 0; i < pixels; i++) {
        double level = image[i] > 0 ? (bend(o, image[i]) - low) * factor : 0;
        uint8_t grey = !(level > 0) ? 0 : level > 255.0 ? 255 : (uint8_t)(level + 0.5);
        out[i] = o->bright_spots ? grey : (uint8_t)(255 - grey);
    }
    return NB_OK;
}
