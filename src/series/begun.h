/* SPDX-License-Identifier: MIT */
/** The small file of a series beside its outputs, from its first frame to its last. It says what the series is made of,
 * so that other files of the same names are told apart, and it is locked while a run is at work. */
#ifndef NB_SERIES_BEGUN_H
#define NB_SERIES_BEGUN_H

#include "../nanobragg.h"

typedef struct nb_series_key {
    uint64_t fingerprint; /* of the configuration */
    int64_t seed;
    int64_t per_block; /* frames */
    int64_t sole;      /* no other run may join */
} nb_series_key;

typedef struct nb_begun {
    int fd;     /* -1: closed */
    int is_new; /* nothing of these names is of an earlier run with this key */
    int joined; /* another run is at work on the same series */
    char path[NB_PATH_MAX];
} nb_begun;

/** Begin, resume or join the series. Errors: NB_ERR_INPUT, another series is written or resumed under these names, or
 * the file is a link or not ours; NB_ERR_IO. */
nb_status nb_begun_open(nb_begun *b, const char *path, const nb_series_key *key,
                        int resume, nb_error *err);
/** Let others join, after what a new series does first. */
void nb_begun_share(const nb_begun *b);

/** Is no other run at work?  Where the file system has no locks, the answer is yes. */
int nb_begun_alone(const nb_begun *b);

/** Read the key of the series at path; 0: it has not begun. */
int nb_begun_key(const char *path, nb_series_key *key);

/** Close the file, which stays.  It may be closed. */
void nb_begun_close(nb_begun *b);
/** Remove it first; alone: only if no other run is at work. */
void nb_begun_remove(nb_begun *b, int alone);

#endif
