/* SPDX-License-Identifier: MIT */
/** Pixels of an image file that hold no counts. */
#ifndef NB_IO_LEFT_OUT_H
#define NB_IO_LEFT_OUT_H

#include "../../nanobragg.h"

/** The integer type of a file, and the limits of its values. */
typedef struct nb_counts_of {
    int bits; /* of an integer; 0: floats, which mark nothing */
    int is_signed;
    double least, most; /* the trusted range; NaN: the file has no such limit */
    int highest_counts; /* the largest 16-bit number is an overload and no mark */
} nb_counts_of;

/** Add the file's marks to those in image->left_out: -1 and -2 of signed integers below the
 * trusted range (without a lower limit: unless the image has pixels below -2), and the largest
 * number of 16 and 32 unsigned bits above it. Errors: NB_ERR_NOMEM. */
nb_status nb_leave_out_marks(nb_image *image, const nb_counts_of *counts, nb_error *err);

/** Returns image->left_out; makes it if there is none, with all pixels used. NULL: memory is
 * exhausted. */
uint8_t *nb_left_out_of(nb_image *image, nb_error *err);

/** Append to text[size] how many pixels are left out for which reason: "3 by the pixel mask of B, 2 hold -1
 * or -2 in B".  whose: "the file", "A". */
void nb_left_out_words(const int64_t counts[NB_LEFT_KINDS], const char *whose, char *text,
                       size_t size);

#endif
