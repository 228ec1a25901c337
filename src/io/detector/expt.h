/* SPDX-License-Identifier: MIT */
/** Experiments of DIALS (dxtbx's serialization of models; docs/formats.md). */
#ifndef NB_IO_EXPT_H
#define NB_IO_EXPT_H

#include "../common/panel_spec.h"

/** Parse n bytes of JSON (data[n] is a NUL). Free *out with nb_detector_spec_free; it is
 * zero after an error. Errors: NB_ERR_INPUT with the JSON pointer, NB_ERR_NOMEM. */
nb_status nb_expt_parse(const char *data, size_t n, const char *name,
                        const nb_geometry_typed *typed, const nb_hooks *hooks,
                        nb_detector_spec *out, nb_error *err);

/** Names of images, in the form of -expt_image. */
typedef struct nb_expt_names {
    const char *const *names; /* [count] */
    int count;
} nb_expt_names;

/** Values from the experiment of an image, without the detector. */
typedef struct nb_expt_start {
    int number;      /* number of the experiment, from 0; -1 if not found */
    int has_crystal; /* 1: crystal is set, as in nb_detector_spec */
    double crystal[9];
    int varies;                   /* 1: crystal, goniometer or beam change in the scan */
    double wavelength_A, phi_deg; /* NaN if the experiment has no value */
    nb_opt3 beam;                 /* as in nb_detector_spec */
} nb_expt_start;

/** Find the experiment of each image; out[of->count]. Errors: as nb_expt_parse. */
nb_status nb_expt_starts(const char *data, size_t n, const char *name,
                         const nb_expt_names *of, nb_expt_start *out, nb_error *err);

#endif
