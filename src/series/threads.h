/* SPDX-License-Identifier: MIT */
/** The threads that make and write the frames of a series. */
#ifndef NB_SERIES_THREADS_H
#define NB_SERIES_THREADS_H

#include "run.h"

/** Make and write the frames of this process. Everything except the threads' own data must
 * be set up. Errors: NB_ERR_NOMEM if no thread could be started; errors of frames are in
 * run->status. */
nb_status nb_threads_run(nb_run *run, nb_error *err);

#endif
