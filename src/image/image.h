/* SPDX-License-Identifier: MIT */
/** One call for all that is made of an image: of single ones and of series, on CPU and device. */
#ifndef NB_IMAGE_IMAGE_H
#define NB_IMAGE_IMAGE_H

#include "photons.h"

/** Make wanted[n] of the photons.  stages[n_stages] are those of the detector, in order; a product
 * comes after as many of them as it says.  The device makes what it can; for the rest the photons
 * are fetched.  Pixels and statistics are filled that have memory; rows of the others can be asked
 * for until the photons or the products are gone.  Products are the caller's: nb_products_free,
 * also after an error.
 *
 * Errors: NB_ERR_INTERNAL (a product that cannot be: which one and why; no image),
 * NB_ERR_NOMEM, NB_ERR_DEVICE. */
nb_status nb_image_make(nb_photons *photons, const nb_stage *stages, int n_stages,
                        nb_product *wanted, int n, nb_error *err);

/** The rows first ... first + rows - 1 of an nb_product that was made, to out[rows][fpixels] of its
 * type.  Several threads may ask at once, each row once, or it is counted twice in overloads; with
 * nb_product_in_order from first to last.  As nb_image_view.make_rows. */
nb_status nb_product_rows(void *product, int first, int rows, void *out, nb_error *err);
int nb_product_in_order(const nb_product *product);

void nb_products_free(nb_product *products, int n); /* what they own */

/* Rows of products that are more than counts and an offset: all stages, then the file's type. */

/** What is wrong with the stages of a product; NULL: nothing. */
const char *nb_chained_fault(const nb_product *product);

/** Rows first ... first + rows - 1 of the stack to out, of the product's type: F32 as they are before
 * rounding, integers rounded half up, between the least of the type and one above the largest trusted
 * value.  Masked pixels are 0 in floats and hold the offset in integers; pixels outside the region of
 * interest are 0.  Adds to product->overloads.  Several threads may ask at once.
 * Errors: NB_ERR_NOMEM. */
nb_status nb_chained_rows(nb_product *product, int first, int rows, void *out,
                          nb_error *err);

/* --- Statistics of a float image --- */

/** Fill stats of the photons over the scene's region of interest, in memory or on the device, if
 * that keeps them; solid_angle is set to 0, for the caller to fill.  The sums are taken in one fixed
 * order, so every thread count and the device give the same bits.  Errors: NB_ERR_NOMEM,
 * NB_ERR_DEVICE. */
nb_status nb_statistics(const nb_photons *photons, nb_stats *stats, nb_error *err);

/** The same from the sums of the region's rows, rows[0] that of roi_smin, made with max_at: equal
 * sums give equal statistics. */
void nb_statistics_of_rows(const nb_row_sums *rows, const nb_scene *scene,
                           nb_stats *stats);

/* Float image to integers: the 16-bit detector image and the bytes of the PGM. */

/** ADU per photon of the integer image: what was asked for (> 0), else 55000/max, or 1 for an
 * image without a positive pixel. */
double nb_int_scale(double asked, const nb_stats *stats);

/** Grey levels per photon of the PGM: what was asked for (> 0), else five rmsd are 250 levels,
 * or the integer image's scale when the image is flat. */
double nb_pgm_scale(double asked, const nb_stats *stats, double int_scale);

/** n pixels of a row from `pixel` on of a product of expected photons: floor(scale*photons + adc_offset
 * + 1/2), clamped to 0..65535 (the old program rounds in single precision, and so do we).  Returns how
 * many pixels were cut (nb_int_clips). */
int64_t nb_quantize_u16_row(const nb_product *product, size_t pixel, int n, uint16_t *out);

/** out[i] = scale*image[i] truncated and clamped to 0..255, i < pixels. */
void nb_quantize_u8(const nb_image_kernels *kernels, const float *image, size_t pixels,
                    double scale, uint8_t *out);

/* --- Counting noise --- */

/** The same of a product after NB_STAGE_POISSON: a Poisson deviate of each pixel's mean (photons) plus
 * the offset, rounded half up and clamped to 0..65535.  The deviate depends only on seed, frame and
 * pixel.  Returns how many pixels were clipped. */
int64_t nb_noise_row(const nb_product *product, size_t pixel, int n, uint16_t *out);

/** The photons of pixel s fpixels + f before offset and clamping. */
double nb_noise_photons(const nb_photons *photons, const nb_stage *stage, size_t pixel);

/** nanoBragg's noise image (NB_STAGE_POISSON_COMPAT): one serial ran1 stream through the region of
 * interest, masked pixels included; the sum is truncated.  frame is not used.  The stream
 * is the caller's (nb_free); NULL and err filled when memory is out. */
typedef struct nb_compat_noise nb_compat_noise;
nb_compat_noise *nb_noise_compat_start(const nb_stage *stage, nb_error *err);

/** As nb_noise_row, from product->stream; all rows must be asked for in order. */
int64_t nb_noise_compat_row(const nb_product *product, size_t pixel, int n, uint16_t *out);

#endif
