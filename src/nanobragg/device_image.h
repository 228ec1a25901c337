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

/** A shared image in memory of a device or of the host. */
typedef struct nb_device_image nb_device_image;

/** Render as nb_sim_render, but copy nothing to the host. *image does not change while it
 * has a holder, also after nb_sim_free: the next image then uses other memory. The caller
 * becomes a holder, and must call nb_device_image_free. A simulation on the CPU gives an
 * image in memory of the host. stats may be NULL. Errors as nb_sim_render. */
nb_status nb_sim_render_device(nb_sim *sim, nb_device_image **image, nb_stats *stats,
                               nb_error *err);

/** Add a holder of the image, who must call nb_device_image_free. Returns image. Any
 * thread may call it. */
nb_device_image *nb_device_image_hold(nb_device_image *image);
/** Remove a holder. After the last holder the memory is freed or returned to the
 * simulation. NULL is allowed. Any thread may call it. */
void nb_device_image_free(nb_device_image *image);

/** Address of the finished photons on the device, in the order of nb_sim_render. *count
 * (may be NULL): number of pixels. */
float *nb_device_image_pixels(const nb_device_image *image, size_t *count);
/** Number of the image's device, as in -device; -1: the host. */
int nb_device_image_device(const nb_device_image *image);
/** Copy the image to out[count] in memory of the host. Errors: NB_ERR_DEVICE. */
nb_status nb_device_image_read(const nb_device_image *image, float *out, nb_error *err);

#ifdef __cplusplus
}
#endif
#endif
