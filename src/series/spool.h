/* SPDX-License-Identifier: MIT */
/** Per-frame truth is kept in an unnamed temporary file, so memory does not grow with the
 * number of frames. */
#ifndef NB_SERIES_SPOOL_H
#define NB_SERIES_SPOOL_H

#include "../io/hdf5/hdf5_file.h"

typedef struct nb_spool {
    int fd; /* -1: closed */
    char path[NB_PATH_MAX];
} nb_spool;

/** An empty spool, on the disk of `path`. Errors: NB_ERR_IO. */
nb_status nb_spool_open(nb_spool *s, const char *path, nb_error *err);
nb_status nb_spool_put(nb_spool *s, int frame, const nb_hdf5_frame *truth, nb_error *err);
/** Read frames first..first+count-1; all of them must have been written. user: the spool. */
nb_status nb_spool_get(void *user, int first, int count, nb_hdf5_frame *truth,
                       nb_error *err);
void nb_spool_close(nb_spool *s);

#endif
