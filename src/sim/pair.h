/* SPDX-License-Identifier: MIT */
/** Two images of the same size, for the comparison and its picture. */
#ifndef NB_API_PAIR_H
#define NB_API_PAIR_H

#include "../analysis/pixels.h"
#include "../nanobragg.h"

/** Errors: NB_ERR_INPUT (sizes differ, ROI off the image). */
nb_status nb_pair_of(const nb_image *a, const nb_image *b,
                     const nb_compare_options *options, nb_pair *pair, nb_error *err);

#endif
