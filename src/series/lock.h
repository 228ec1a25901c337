/* SPDX-License-Identifier: MIT */
/** One process at a time writes a series. */
#ifndef NB_SERIES_LOCK_H
#define NB_SERIES_LOCK_H

#include "../nanobragg.h"

/** A process, as named in messages. */
typedef struct nb_holder {
    int64_t pid; /* 0: unknown */
    char host[64];
} nb_holder;

nb_holder nb_holder_self(void);

typedef enum nb_flock { NB_FLOCK_TAKEN, NB_FLOCK_BUSY, NB_FLOCK_NONE } nb_flock;

/** Lock the open file until it is closed.  NONE: its file system has no locks. */
nb_flock nb_lock_open_file(int fd);

/** For such file systems: create PATH.lock, which names this process. A lock file of a
 * process of this host that no longer runs is replaced. Errors: NB_ERR_INPUT names the
 * other process, NB_ERR_IO. */
nb_status nb_lock_beside(const char *path, nb_error *err);
void nb_unlock_beside(const char *path);

/** "PATH: process P on host H is making this series", NB_ERR_INPUT. */
nb_status nb_lock_busy(const char *path, const nb_holder *other, nb_error *err);

/** Pause before reading again what another process is writing. */
void nb_lock_pause(void);

#endif
