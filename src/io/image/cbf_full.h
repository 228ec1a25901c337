/* SPDX-License-Identifier: MIT */
/** The header of a full CBF (imgCIF), for a geometry that a mini-CBF cannot hold. */
#ifndef NB_IO_CBF_FULL_H
#define NB_IO_CBF_FULL_H

#include <stddef.h>

#include "../common/meta.h"

/** Write the categories before _array_data into text[size]: detector with its axes,
 * goniometer, scan, beam. date: of the frame. Returns the number of bytes, like snprintf. */
int nb_cbf_full_header(char *text, size_t size, const nb_image_meta *m, const char *date);

#endif
