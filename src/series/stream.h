/* SPDX-License-Identifier: MIT */
/** -streamout of a series: a chunk for each frame. */
#ifndef NB_SERIES_STREAM_H
#define NB_SERIES_STREAM_H

#include "run.h"

/** Before the first frame: can the frames be a stream's?  Errors: NB_ERR_INPUT (a rotation, a crystal whose files are not
 * loaded here), those of nb_master_crystals. */
nb_status nb_run_stream_check(const nb_run *run, nb_error *err);

/** Write the stream of all frames, from the data files and the crystals' rows, if it is named.  Errors: NB_ERR_IO,
 * NB_ERR_NOMEM. */
nb_status nb_run_stream_write(nb_run *run, nb_error *err);

#endif
