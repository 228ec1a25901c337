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

#endif
