/* SPDX-License-Identifier: MIT */
/** Images that stay where they were rendered, for other programs on the same device. */
#ifndef NANOBRAGG_DEVICE_IMAGE_H
#define NANOBRAGG_DEVICE_IMAGE_H

#include <stddef.h>

#include "error.h"
#include "sim.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An image in memory of a device or of the host; those who use it share it. */
typedef struct nb_device_image nb_device_image;

/** nb_sim_render that copies nothing to the host.  *image stays as it is while somebody holds it, also
 * after nb_sim_free: the next image goes to other memory then.  The caller holds it: nb_device_image_free.
 * A simulation on the CPU gives an image in memory.  stats may be NULL.  Errors as nb_sim_render. */
nb_status nb_sim_render_device(nb_sim *sim, nb_device_image **image, nb_stats *stats,
                               nb_error *err);

/** One more holder of the image, who calls nb_device_image_free.  Returns image.  From any thread. */
nb_device_image *nb_device_image_hold(nb_device_image *image);
/** The last holder frees the memory, or leaves it to the simulation.  NULL is fine.  From any thread. */
void nb_device_image_free(nb_device_image *image);

/** Its photons, finished, as nb_sim_render orders them: an address of the device.  *count (may be NULL):
 * how many. */
float *nb_device_image_pixels(const nb_device_image *image, size_t *count);
/** The number of the device whose memory it is, as -device has it; -1: of the host. */
int nb_device_image_device(const nb_device_image *image);
/** Copy it to out[count], memory of the host.  Errors: NB_ERR_DEVICE. */
nb_status nb_device_image_read(const nb_device_image *image, float *out, nb_error *err);

#ifdef __cplusplus
}
#endif
#endif
