/* SPDX-License-Identifier: MIT */
/** Detector geometries of CrystFEL (manual page crystfel_geometry(5); docs/formats.md). */
#ifndef NB_IO_GEOM_H
#define NB_IO_GEOM_H

#include "../common/panel_spec.h"
#include "geom_text.h"

/** Parse n bytes of text.  Masks in HDF5 files are not read.  *out is the caller's
 * (nb_detector_spec_free), zero after an error.  Errors: NB_ERR_INPUT with the line, NB_ERR_NOMEM. */
nb_status nb_geom_parse(const char *data, size_t n, const char *name,
                        const nb_geometry_typed *typed, const nb_hooks *hooks,
                        nb_detector_spec *out, nb_error *err);

/** The same from a file, with its masks. */
nb_status nb_geom_read(const char *path, const nb_geometry_typed *typed,
                       const nb_hooks *hooks, nb_detector_spec *out, nb_error *err);

/** The panels of lines that were read. */
nb_status nb_geom_build(nb_geom_text *text, const nb_geometry_typed *typed,
                        nb_detector_spec *out, nb_error *err);

/** Mask bad regions, edges and panels that are not indexed. */
nb_status nb_geom_mask(const nb_geom_text *text, nb_detector_spec *out, nb_error *err);

/** Mask what HDF5 files say.  Errors: also NB_ERR_UNSUPPORTED in a build without HDF5. */
nb_status nb_geom_mask_files(const nb_geom_text *text, double most_MB,
                             nb_detector_spec *out, nb_error *err);

/** Write a detector as CrystFEL text (docs/formats.md). */

/** What stands beside the panels. */
typedef struct nb_geom_job {
    const nb_detector_spec *detector;
    int (*place)[2]; /* of each panel in the data: fast, slow */
    const char *mask; /* HDF5 file with the mask of these data; NULL: bad regions say what is masked */
    const char *maker; /* first comment */
    const nb_hooks *hooks;
} nb_geom_job;

/** Numbers have no exponent and at least 15 significant digits.  Errors: those of nb_outfile_put,
 * NB_ERR_NOMEM. */
nb_status nb_geom_write(const char *path, const nb_geom_job *job, nb_error *err);

#endif
