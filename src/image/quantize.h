/* SPDX-License-Identifier: MIT */
/** Float image to integers: the 16-bit detector image and the bytes of the PGM. */
#ifndef NB_IMAGE_QUANTIZE_H
#define NB_IMAGE_QUANTIZE_H

#include "../nanobragg.h"
#include "../physics/scene.h"

/** ADU per photon of the integer image: what was asked for (> 0), else 55000/max, or 1 for an
 * image without a positive pixel. */
double nb_int_scale(double asked, const nb_stats *stats);

/** Grey levels per photon of the PGM: what was asked for (> 0), else five rmsd are 250 levels,
 * or the integer image's scale when the image is flat. */
double nb_pgm_scale(double asked, const nb_stats *stats, double int_scale);

/** out[spixels][fpixels] = floor(scale*image + adc_offset + 1/2), clamped to 0..65535 (the old
 * program rounds in single precision, and so do we); 0 outside the region of interest. */
void nb_quantize_u16(const float *image, const nb_scene *scene, double scale,
                     double adc_offset, uint16_t *out);

/** What turns photons into the integers of a detector. */
typedef struct nb_int_levels {
    double scale, adc_offset;
} nb_int_levels;

/** The rows first ... first + rows - 1 of that, to out[rows][fpixels], by one thread. */
void nb_quantize_u16_rows(const float *image, const nb_scene *scene,
                          const nb_int_levels *levels, int first, int rows, uint16_t *out);

/** How many of all pixels are above 65535 there, and so are cut. */
int64_t nb_count_clipped(const float *image, const nb_scene *scene,
                         const nb_int_levels *levels);

/** out[i] = scale*image[i] truncated and clamped to 0..255, i < pixels. */
void nb_quantize_u8(const float *image, size_t pixels, double scale, uint8_t *out);

#endif
