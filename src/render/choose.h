/* SPDX-License-Identifier: MIT */
/** The choice of the backend for a scene. */
#ifndef NB_RENDER_CHOOSE_H
#define NB_RENDER_CHOOSE_H

#include "backend.h"

/** The backend of this word of -device; NULL for "auto", "" and unknown words. *device is
 * always filled. */
const nb_backend *nb_backend_of(const char *word, nb_device *device);

/** Choose for a word of -device. On success *backend is static; reason has the reason of
 * the choice in one line. options->device_index is set. Errors: NB_ERR_INPUT for an unknown word,
 * NB_ERR_UNSUPPORTED if the selected backend cannot render here. */
nb_status nb_backend_choose(const nb_scene *scene, const char *word,
                            nb_render_options *options, const nb_backend **backend,
                            char *reason, size_t reason_size, nb_error *err);

/** How many renderers should share a device, one for each frame that is under way.  A frame waits several
 * times for kernels and copies, and meanwhile others use the device; long ones keep it busy alone. */
int nb_backend_renderers(const nb_backend *backend, const nb_scene *scene,
                         const nb_render_options *options);

/** The CPU backend for these options, used if a device fails. */
const nb_backend *nb_backend_cpu(const nb_render_options *options);

#endif
