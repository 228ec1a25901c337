/* SPDX-License-Identifier: MIT */
/** The automatic scale of a picture of counts with a background. */
#ifndef NB_API_FLATTEN_H
#define NB_API_FLATTEN_H

#include "../picture/draw.h"

/** With -pngscale auto, where the image has whole counts and half of its pixels at least four: the job shows counts
 * above the background of their surroundings, in its deviations from two on, so that spots are seen and rings are
 * not.  The job then borrows *options and *pixels, which is the caller's (nb_free); else *pixels is
 * NULL.  Errors: NB_ERR_NOMEM. */
nb_status nb_flatten(nb_picture_job *job, nb_png_options *options, float **pixels,
                     nb_error *err);

#endif
