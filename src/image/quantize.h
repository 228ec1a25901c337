/* SPDX-License-Identifier: MIT */
/** Float image to integers: the 16-bit detector image and the bytes of the PGM. */
#ifndef NB_IMAGE_QUANTIZE_H
#define NB_IMAGE_QUANTIZE_H

#include "photons.h"

/** ADU per photon of the integer image: what was asked for (> 0), else 55000/max, or 1 for an
 * image without a positive pixel. */
double nb_int_scale(double asked, const nb_stats *stats);

/** Grey levels per photon of the PGM: what was asked for (> 0), else five rmsd are 250 levels,
 * or the integer image's scale when the image is flat. */
double nb_pgm_scale(double asked, const nb_stats *stats, double int_scale);

/** Rows of a product of expected photons: floor(scale*photons + adc_offset + 1/2), clamped to
 * 0..65535 (the old program rounds in single precision, and so do we); 0 outside the region of
 * interest.  out[rows][fpixels] begins with row `first`; one thread.  Returns how many pixels were
 * cut (nb_int_clips). */
int64_t nb_quantize_u16_rows(const nb_product *product, int first, int rows,
                             uint16_t *out);

/** out[i] = scale*image[i] truncated and clamped to 0..255, i < pixels. */
void nb_quantize_u8(const nb_image_kernels *kernels, const float *image, size_t pixels,
                    double scale, uint8_t *out);

#endif
