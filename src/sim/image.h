/* SPDX-License-Identifier: MIT */
/** Image files as inputs of a simulation. */
#ifndef NB_API_IMAGE_H
#define NB_API_IMAGE_H

#include "../nanobragg.h"

/** Read an image of any format that nb_image_read knows, once: what its header says completes cfg,
 * as -img does, and its pixels go to *pixels (nb_image_free; no geometry, no centre).  pixels
 * NULL: only the header is wanted.  A headerless float image is square or has cfg's detpixels.
 * flag names the option in messages.  hooks (may be NULL) hear what was guessed or cannot be used.
 * *fields (may be NULL) gets the NB_OPEN_* that such a file has, besides its own.
 * Errors: those of nb_image_read. */
nb_status nb_image_load(const char *path, const char *flag, const nb_hooks *hooks,
                        nb_config *cfg, nb_image *pixels, unsigned *fields, nb_error *err);

#endif
