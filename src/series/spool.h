/* SPDX-License-Identifier: MIT */
/** What is true of each frame, in a file without a name: memory stays the same for any number of
 * frames. */
#ifndef NB_SERIES_SPOOL_H
#define NB_SERIES_SPOOL_H

#include "../io/hdf5_file.h"

typedef struct nb_spool {
    int fd; /* -1: closed */
    char path[NB_PATH_MAX];
} nb_spool;

/** An empty one, on the disk where `path` is.  Errors: NB_ERR_IO. */
nb_status nb_spool_open(nb_spool *s, const char *path, nb_error *err);
nb_status nb_spool_put(nb_spool *s, int frame, const nb_hdf5_frame *truth, nb_error *err);
/** Frames first..first+count-1, all of them put before.  user: the spool. */
nb_status nb_spool_get(void *user, int first, int count, nb_hdf5_frame *truth,
                       nb_error *err);
void nb_spool_close(nb_spool *s);

#endif
