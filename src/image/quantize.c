/* SPDX-License-Identifier: MIT */
#include "image.h"

#include "adu.h"

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

/** Number of clipped pixels among n from `at` on. */
static int64_t cut_in(const nb_product *p, size_t at, int n)
{
    const uint8_t *mask = p->photons->scene->raster.mask;
    const float *photons = p->photons->pixels + at;
    int64_t cut = 0;
    for (int i = 0; i < n; i++)
        cut += nb_int_clips(photons[i], p->scale, p->adc_offset) &&
               (!mask || mask[at + (size_t)i]);
    return cut;
}

int64_t nb_quantize_u16_row(const nb_product *p, size_t pixel, int n, uint16_t *out)
{
    const nb_photons *photons = p->photons;
    const uint8_t *mask = photons->scene->raster.mask;
    const int above =
        photons->kernels->u16(photons->pixels + pixel, mask ? mask + pixel : NULL, n,
                              p->scale, p->adc_offset, out);
    return above ? cut_in(p, pixel, n) : 0;
}

void nb_quantize_u8(const nb_image_kernels *kernels, const float *image, size_t pixels,
                    double scale, uint8_t *out)
{
    const size_t piece = (size_t)1 << 20;
    for (size_t i = 0; i < pixels; i += piece)
        kernels->u8(image + i, (int)(pixels - i < piece ? pixels - i : piece), scale,
                    out + i);
}
