/* SPDX-License-Identifier: MIT */
/** Experiments of DIALS (dxtbx's serialization of models; docs/formats.md). */
#ifndef NB_IO_EXPT_H
#define NB_IO_EXPT_H

#include "../common/panel_spec.h"

/** Parse n bytes of JSON (data[n] is a NUL).  *out is the caller's (nb_detector_spec_free), zero after
 * an error.  Errors: NB_ERR_INPUT with the JSON pointer, NB_ERR_NOMEM. */
nb_status nb_expt_parse(const char *data, size_t n, const char *name,
                        const nb_geometry_typed *typed, const nb_hooks *hooks,
                        nb_detector_spec *out, nb_error *err);

#endif
