/* SPDX-License-Identifier: MIT */
/** The header of a full CBF (imgCIF), for what a mini-CBF cannot say. */
#ifndef NB_IO_CBF_FULL_H
#define NB_IO_CBF_FULL_H

#include <stddef.h>

#include "meta.h"

/** Write the categories that stand before _array_data into text[size]: detector with its axes,
 * goniometer, scan, beam.  date: of the frame.  Returns the bytes, as snprintf does. */
int nb_cbf_full_header(char *text, size_t size, const nb_image_meta *m, const char *date);

#endif
