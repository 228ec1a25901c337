/* SPDX-License-Identifier: MIT */
/** One call that makes all products of an image, for single images and series, on CPU and
 * device. */
#ifndef NB_IMAGE_IMAGE_H
#define NB_IMAGE_IMAGE_H

#include "photons.h"

/** Make products wanted[n] of the photons. stages[n_stages]: stages of the detector
 * in order; a product uses the first product.stages. The device makes what it can; other
 * products fetch the photons. `pixels` and `stats` are filled if not NULL. Without
 * `pixels`, nb_product_rows makes rows while photons and products exist. Free products
 * with nb_products_free, after an error too.
 *
 * Errors: NB_ERR_INTERNAL (an impossible product, with number and reason; no image),
 * NB_ERR_NOMEM, NB_ERR_DEVICE. */
nb_status nb_image_make(nb_photons *photons, const nb_stage *stages, int n_stages,
                        nb_product *wanted, int n, nb_error *err);

/** Write rows first to first + rows - 1 of a made product to out[rows][fpixels] of its
 * type. Several threads may call at once, each row once (a second call counts overloads
 * again). If nb_product_in_order is true, call from the first row to the last. See
 * nb_image_view. */
nb_status nb_product_rows(void *product, int first, int rows, void *out, nb_error *err);
int nb_product_in_order(const nb_product *product);

/* Free the members of the products. */
void nb_products_free(nb_product *products, int n);

/* Rows of products after several stages, rounded to the file's type. */

/** Fault of the stages of a product, or NULL. */
const char *nb_chained_fault(const nb_product *product);

/** Write rows first to first + rows - 1 of the stack to out, of the product's type. F32
 * is not rounded; integers are rounded half up, from the least of the type to one above
 * the largest trusted value. Masked pixels are 0 (floats) or the offset (integers);
 * pixels outside of the region of interest are 0. Adds to product->overloads. Several
 * threads may call at once. Errors: NB_ERR_NOMEM. */
nb_status nb_chained_rows(nb_product *product, int first, int rows, void *out,
                          nb_error *err);

/* --- Statistics of a float image --- */

/** Fill stats of the photons over the scene's region of interest, in memory or on the
 * device that has them; the caller fills solid_angle. The order of sums is fixed: any
 * number of threads and the device give the same bits. Errors: NB_ERR_NOMEM,
 * NB_ERR_DEVICE. */
nb_status nb_statistics(const nb_photons *photons, nb_stats *stats, nb_error *err);

/** nb_statistics from the sums of the region's rows (rows[0] at roi_smin; max_at is set):
 * equal sums give equal statistics. */
void nb_statistics_of_rows(const nb_row_sums *rows, const nb_scene *scene,
                           nb_stats *stats);

/* Float image to integers: the 16-bit detector image and the bytes of the PGM. */

/** ADU per photon of the integer image: `asked` if > 0, else 55000/max, or 1 for an image
 * without a positive pixel. */
double nb_int_scale(double asked, const nb_stats *stats);

/** Grey levels per photon of the PGM: `asked` if > 0, else 250 levels for five rmsd, or
 * the scale of the integer image if the image is flat. */
double nb_pgm_scale(double asked, const nb_stats *stats, double int_scale);

/** Make n pixels of a row from `pixel` on of a product of expected photons:
 * floor(scale*photons + adc_offset + 1/2), clamped to 0 to 65535, rounded in single
 * precision like the old program. Returns the number of clipped pixels (nb_int_clips). */
int64_t nb_quantize_u16_row(const nb_product *product, size_t pixel, int n, uint16_t *out);

/** out[i] = scale*image[i] truncated and clamped to 0..255, i < pixels. */
void nb_quantize_u8(const nb_image_kernels *kernels, const float *image, size_t pixels,
                    double scale, uint8_t *out);

/* --- Counting noise --- */

/** nb_quantize_u16_row after NB_STAGE_POISSON: a Poisson deviate of each pixel's mean
 * (photons) plus the offset, rounded half up and clamped to 0 to 65535. Seed, frame and
 * pixel set the deviate. Returns the number of clipped pixels. */
int64_t nb_noise_row(const nb_product *product, size_t pixel, int n, uint16_t *out);

/** Poisson deviate of pixel s fpixels + f, before offset and clamping. */
double nb_noise_photons(const nb_photons *photons, const nb_stage *stage, size_t pixel);

/** Start nanoBragg's noise image (NB_STAGE_POISSON_COMPAT): one serial ran1 stream runs
 * through the region of interest, including masked pixels, and sums are truncated. The
 * frame is not used. The caller frees the stream (nb_free); NULL and err if memory is
 * exhausted. */
typedef struct nb_compat_noise nb_compat_noise;
nb_compat_noise *nb_noise_compat_start(const nb_stage *stage, nb_error *err);

/** Like nb_noise_row, with deviates from product->stream. Call it for all rows in
 * order. */
int64_t nb_noise_compat_row(const nb_product *product, size_t pixel, int n, uint16_t *out);

#endif
