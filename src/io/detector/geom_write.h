/* SPDX-License-Identifier: MIT */
/** Write a detector as CrystFEL text (docs/formats.md). */
#ifndef NB_IO_GEOM_WRITE_H
#define NB_IO_GEOM_WRITE_H

#include "../common/panel_spec.h"

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
