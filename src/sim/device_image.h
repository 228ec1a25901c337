/* SPDX-License-Identifier: MIT */
/** The image that a simulation has lent, and memory for the next. */
#ifndef NB_API_DEVICE_IMAGE_H
#define NB_API_DEVICE_IMAGE_H

#include "../nanobragg.h"

/** Lend the image that was rendered last to the caller, who frees *image.  Errors: NB_ERR_NOMEM,
 * NB_ERR_DEVICE. */
nb_status nb_sim_lend(nb_sim *sim, nb_device_image **image, nb_error *err);

/** Before the memory of the last image is used again: if somebody else holds it, it is theirs, and the
 * renderer gets other memory.  Errors: NB_ERR_DEVICE. */
nb_status nb_sim_end_loan(nb_sim *sim, nb_error *err);

/** The same for good: before the renderer is closed. */
void nb_sim_stop_lending(nb_sim *sim);

#endif
