/* SPDX-License-Identifier: MIT */
/** Smaller pictures of large images. */
#ifndef NB_PICTURE_SHRINK_H
#define NB_PICTURE_SHRINK_H

#include "draw.h"

/** If an edge of the job's image has more than options->most pixels, show square blocks of it instead: of
 * each the brightest pixel, or the sum of all, without those that are left out.  The job then borrows *panel
 * (rings) and *pixels, which is the caller's (nb_free); else *pixels is NULL.  Errors: NB_ERR_NOMEM. */
nb_status nb_shrink(nb_picture_job *job, nb_panel *panel, float **pixels, nb_error *err);

#endif
