/* SPDX-License-Identifier: MIT */
#include "quantize.h"

#include <math.h>
#include <string.h>

#include "threads.h"

double nb_int_scale(double asked, const nb_stats *stats)
{
    if (asked > 0)
        return asked;
    return stats->max > 0 ? 55000.0 / stats->max : 1.0;
}

double nb_pgm_scale(double asked, const nb_stats *stats, double int_scale)
{
    if (asked > 0)
        return asked;
    return stats->rmsd > 0 ? 250.0 / (5.0 * stats->rmsd) : int_scale;
}

/** NaN gives 0: no number is no count. */
static uint16_t to_adu(float value, double scale, double adc_offset)
{
    double v = value * scale + adc_offset;
    if (!(v > 0))
        return 0;
    if (v > 65535.0)
        v = 65535.0;
    return (uint16_t)floorf((float)(v + 0.5));
}

void nb_quantize_u16(const float *image, const nb_scene *scene, double scale,
                     double adc_offset, uint16_t *out)
{
    const nb_detector *det = &scene->det;
    size_t columns = (size_t)det->fpixels;
    int threads = nb_effect_threads(0, (int64_t)det->fpixels * det->spixels);
#ifdef _OPENMP
#pragma omp parallel for schedule(static) num_threads(threads)
#endif
    for (int s = 0; s < det->spixels; s++) {
        const float *from = image + (size_t)s * columns;
        uint16_t *to = out + (size_t)s * columns;
        memset(to, 0, columns * sizeof *to);
        if (s < det->roi_smin || s > det->roi_smax)
            continue;
        for (int f = det->roi_fmin; f <= det->roi_fmax; f++) {
            int dark = det->mask && !det->mask[(size_t)s * columns + (size_t)f];
            to[f] = to_adu(dark ? 0.0f : from[f], scale, adc_offset);
        }
    }
    (void)threads;
}

void nb_quantize_u8(const float *image, size_t pixels, double scale, uint8_t *out)
{
    for (size_t i = 0; i < pixels; i++) {
        double v = image[i] * scale;
        out[i] = !(v > 0) ? 0 : v > 255.0 ? 255 : (uint8_t)v;
    }
}
