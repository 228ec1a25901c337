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

/** Names of images, as -expt_image has them. */
typedef struct nb_expt_names {
    const char *const *names; /* [count] */
    int count;
} nb_expt_names;

/** What the experiment of an image says, but for its detector. */
typedef struct nb_expt_start {
    int number;      /* of the experiment, from 0; -1: none has the image */
    int has_crystal; /* crystal: as in nb_detector_spec; without a crystal 0 */
    double crystal[9];
    int varies;                   /* crystal, goniometer or beam change along the scan */
    double wavelength_A, phi_deg; /* NaN: it does not say */
    nb_opt3 beam;                 /* as in nb_detector_spec */
} nb_expt_start;

/** Of each image the experiment that has it; out[count].  Errors: as nb_expt_parse. */
nb_status nb_expt_starts(const char *data, size_t n, const char *name,
                         const nb_expt_names *of, nb_expt_start *out, nb_error *err);

#endif
