/* SPDX-License-Identifier: MIT */
/** Which backend renders a scene. */
#ifndef NB_RENDER_CHOOSE_H
#define NB_RENDER_CHOOSE_H

#include "backend.h"

/** The backend whose word of -device this is; NULL for "auto", "" and unknown words.  *device is
 * filled in any case. */
const nb_backend *nb_backend_of(const char *word, nb_device *device);

/** Choose for a word of -device.  On success *backend is static; reason says in one line why it was
 * taken.  options->device_index is set.  Errors: NB_ERR_INPUT for an unknown word, NB_ERR_UNSUPPORTED
 * when the backend that was asked for cannot render here. */
nb_status nb_backend_choose(const nb_scene *scene, const char *word,
                            nb_render_options *options, const nb_backend **backend,
                            char *reason, size_t reason_size, nb_error *err);

/** The CPU's backend for these options: what is left when a device fails. */
const nb_backend *nb_backend_cpu(const nb_render_options *options);

#endif
