/* SPDX-License-Identifier: MIT */
/** How long this machine takes for a scene: measured on a few of its rows. */
#ifndef NB_RENDER_PILOT_H
#define NB_RENDER_PILOT_H

#include "backend.h"

/** Seconds that the backend needs for the whole scene, from two strips of rows in its middle: the
 * larger strip less the smaller one is the time of its pixels, what is left is paid once.  A row a thread that would
 * take too long is cut.  `expected` is a first guess (seconds, within a factor of ten or so) that keeps the pilot
 * near 12 ms.  For backends that render into the caller's memory.  < 0: it could not be measured. */
double nb_pilot_seconds(const nb_backend *backend, const nb_scene *scene,
                        const nb_render_options *options, double expected);

/** How many times as long as the backend's estimate this machine takes for every step of the scene, by one thread
 * and some 2 ms.  Estimates are made for one machine; this says how quick another one is.  0: it could not be
 * measured, or not in a short time. */
double nb_pilot_pace(const nb_backend *backend, const nb_scene *scene,
                     const nb_render_options *options);

#endif
