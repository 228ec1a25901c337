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
    const nb_raster *raster = &scene->raster;
    const nb_image_kernels *kernels = nb_image_kernels_widest();
    size_t columns = (size_t)raster->columns;
    int width = raster->roi.fmax - raster->roi.fmin + 1;
    for (int s = first; s < first + rows; s++, out += columns) {
        size_t at = (size_t)s * columns + (size_t)raster->roi.fmin;
        int lit = s >= raster->roi.smin && s <= raster->roi.smax && width > 0;
        if (!lit || width < raster->columns)
            memset(out, 0, columns * sizeof *out);
        if (lit)
            kernels->u16(image + at, raster->mask ? raster->mask + at : NULL, width,
                         levels->scale, levels->adc_offset, out + raster->roi.fmin);
    }
}

void nb_quantize_u16(const float *image, const nb_scene *scene, double scale,
                     double adc_offset, uint16_t *out)
{
    const nb_raster *raster = &scene->raster;
    const nb_int_levels levels = {scale, adc_offset};
    int threads = nb_image_threads(0, (int64_t)raster->columns * raster->rows);
#ifdef _OPENMP
#pragma omp parallel for schedule(static) num_threads(threads)
#endif
    for (int s = 0; s < raster->rows; s++)
        nb_quantize_u16_rows(image, scene, &levels, s, 1,
                             out + (size_t)s * (size_t)raster->columns);
    (void)threads;
}

/** Of the row whose region begins at pixel `at`. */
static int64_t clipped_of_row(const float *image, const nb_scene *scene,
                              const nb_int_levels *levels, size_t at)
{
    const nb_raster *raster = &scene->raster;
    size_t width = (size_t)(raster->roi.fmax - raster->roi.fmin + 1);
    int64_t n = 0;
    for (size_t i = at; i < at + width; i++)
        n += nb_int_clips(image[i], levels->scale, levels->adc_offset) &&
             (!raster->mask || raster->mask[i]);
    return n;
}

int64_t nb_count_clipped(const float *image, const nb_scene *scene,
                         const nb_int_levels *levels)
{
    const nb_raster *raster = &scene->raster;
    int threads = nb_image_threads(0, (int64_t)raster->columns * raster->rows);
    int64_t n = 0;
    if (raster->roi.fmax < raster->roi.fmin)
        return 0;
#ifdef _OPENMP
#pragma omp parallel for schedule(static) num_threads(threads) reduction(+ : n)
#endif
    for (int s = raster->roi.smin; s <= raster->roi.smax; s++)
        n +=
            clipped_of_row(image, scene, levels,
                           (size_t)s * (size_t)raster->columns + (size_t)raster->roi.fmin);
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
