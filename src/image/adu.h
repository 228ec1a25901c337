/* SPDX-License-Identifier: MIT */
/** Convert photons of one pixel to the integers of files, in the same way on host and
 * device. Compile without contraction of products and sums (see poisson.h). row_pass.h
 * converts several pixels at a time. */
#ifndef NB_IMAGE_ADU_H
#define NB_IMAGE_ADU_H

#include <math.h>
#include <stdint.h>

#include "../base/pixel_type.h"
#include "../physics/hostdevice.h"

/** Pixel of the 16-bit image, as in nb_quantize_u16_row. NaN gives 0. */
NB_HD uint16_t nb_int_adu(float photons, double scale, double adc_offset)
{
    double v = photons * scale + adc_offset;
    v = v > 65535.0 ? 65535.0 : v;
    v = v > 0 ? v + 0.5 : 0;
    return (uint16_t)(int32_t)(float)v; /* positive: truncation is floor */
}

/** True if this pixel rounds to more than 65535, so that the 16-bit image clips it. */
NB_HD int nb_int_clips(float photons, double scale, double adc_offset)
{
    return photons * scale + adc_offset >= 65535.5;
}

/** Pixel of the PGM, as in nb_quantize_u8. */
NB_HD uint8_t nb_pgm_grey(float photons, double scale)
{
    double v = photons * scale;
    v = v > 255.0 ? 255.0 : v;
    return (uint8_t)(v > 0 ? (int32_t)v : 0);
}

/** Photons as a 32-bit integer, for counts that do not fit in 16 bits. */
NB_HD int32_t nb_large_count(double photons)
{
    const double limit = 2147483646.0;
    return photons < limit ? (int32_t)photons : (int32_t)limit;
}

/** True if nb_large_count cannot hold this number of photons. */
NB_HD int nb_large_clips(double photons)
{
    return photons >= 2147483647.0;
}

/** Least and largest trusted value of a file type. Brighter pixels get the value max +
 * 1. */
typedef struct nb_adu_range {
    double least, max;
} nb_adu_range;

NB_HD nb_adu_range nb_adu_range_of(nb_pixel_type type)
{
    nb_adu_range held = {INT32_MIN + 1.0, 2147483645.0};
    if (type == NB_PIXEL_U16) {
        held.least = 0;
        held.max = 65534;
    } else if (type == NB_PIXEL_I16) {
        held.least = -32767;
        held.max = 32766;
    }
    return held;
}

/** Round half up and limit. Larger x give one above the largest trusted value, NaN the
 * least. */
NB_HD int32_t nb_whole_adu(double x, nb_adu_range held)
{
    const double above = floor(held.max) + 1; /* max is at most 2147483646 */
    double v = x + 0.5;
    int32_t k;
    v = v > held.least ? v : held.least;
    v = v < above + 0.5 ? v : above + 0.5;
    k = (int32_t)v;
    k -= k > v; /* towards minus infinity */
    return k > held.max ? (int32_t)above : k;
}

#endif
