/* SPDX-License-Identifier: MIT */
/** Rows of products that are more than counts and an offset: all stages, then the file's type. */
#ifndef NB_IMAGE_CHAINED_H
#define NB_IMAGE_CHAINED_H

#include "photons.h"

/** What is wrong with the stages of a product; NULL: nothing. */
const char *nb_chained_fault(const nb_product *product);

/** Rows first ... first + rows - 1 of the stack to out, of the product's type: F32 as they are before
 * rounding, integers rounded half up, between the least of the type and one above the largest trusted
 * value.  Masked pixels are 0 in floats and hold the offset in integers; pixels outside the region of
 * interest are 0.  Adds to product->overloads.  Several threads may ask at once.
 * Errors: NB_ERR_NOMEM. */
nb_status nb_chained_rows(nb_product *product, int first, int rows, void *out,
                          nb_error *err);

#endif
