/* SPDX-License-Identifier: MIT */
#include "quantize.h"

#include <string.h>

#include "adu.h"
#include "kernels.h"
#include "threads.h"

double nb_int_scale(double asked, const nb_stats *stats)
{
    if (asked > 0)
        return asked;
    return stats && stats->max > 0 ? 55000.0 / stats->max : 1.0;
}

double nb_pgm_scale(double asked, const nb_stats *stats, double int_scale)
{
    if (asked > 0)
        return asked;
    return stats && stats->rmsd > 0 ? 250.0 / (5.0 * stats->rmsd) : int_scale;
}

void nb_quantize_u16_rows(const float *image, const nb_scene *scene,
                          const nb_int_levels *levels, int first, int rows, uint16_t *out)
{
    const nb_detector *det = &scene->det;
    const nb_image_kernels *kernels = nb_image_kernels_widest();
    size_t columns = (size_t)det->fpixels;
    int width = det->roi_fmax - det->roi_fmin + 1;
    for (int s = first; s < first + rows; s++, out += columns) {
        size_t at = (size_t)s * columns + (size_t)det->roi_fmin;
        int lit = s >= det->roi_smin && s <= det->roi_smax && width > 0;
        if (!lit || width < det->fpixels)
            memset(out, 0, columns * sizeof *out);
        if (lit)
            kernels->u16(image + at, det->mask ? det->mask + at : NULL, width,
                         levels->scale, levels->adc_offset, out + det->roi_fmin);
    }
}

void nb_quantize_u16(const float *image, const nb_scene *scene, double scale,
                     double adc_offset, uint16_t *out)
{
    const nb_detector *det = &scene->det;
    const nb_int_levels levels = {scale, adc_offset};
    int threads = nb_image_threads(0, (int64_t)det->fpixels * det->spixels);
#ifdef _OPENMP
#pragma omp parallel for schedule(static) num_threads(threads)
#endif
    for (int s = 0; s < det->spixels; s++)
        nb_quantize_u16_rows(image, scene, &levels, s, 1,
                             out + (size_t)s * (size_t)det->fpixels);
    (void)threads;
}

/** Of the row whose region begins at pixel `at`. */
static int64_t clipped_of_row(const float *image, const nb_scene *scene,
                              const nb_int_levels *levels, size_t at)
{
    const nb_detector *det = &scene->det;
    size_t width = (size_t)(det->roi_fmax - det->roi_fmin + 1);
    int64_t n = 0;
    for (size_t i = at; i < at + width; i++)
        n += nb_int_clips(image[i], levels->scale, levels->adc_offset) &&
             (!det->mask || det->mask[i]);
    return n;
}

int64_t nb_count_clipped(const float *image, const nb_scene *scene,
                         const nb_int_levels *levels)
{
    const nb_detector *det = &scene->det;
    int threads = nb_image_threads(0, (int64_t)det->fpixels * det->spixels);
    int64_t n = 0;
    if (det->roi_fmax < det->roi_fmin)
        return 0;
#ifdef _OPENMP
#pragma omp parallel for schedule(static) num_threads(threads) reduction(+ : n)
#endif
    for (int s = det->roi_smin; s <= det->roi_smax; s++)
        n += clipped_of_row(image, scene, levels,
                            (size_t)s * (size_t)det->fpixels + (size_t)det->roi_fmin);
    (void)threads;
    return n;
}

void nb_quantize_u8(const float *image, size_t pixels, double scale, uint8_t *out)
{
    const nb_image_kernels *kernels = nb_image_kernels_widest();
    const size_t piece = (size_t)1 << 20;
    for (size_t i = 0; i < pixels; i += piece)
        kernels->u8(image + i, (int)(pixels - i < piece ? pixels - i : piece), scale,
                    out + i);
}
