/* SPDX-License-Identifier: MIT */
/** One process at a time writes a series. */
#ifndef NB_SERIES_JOURNAL_H
#define NB_SERIES_JOURNAL_H

#include "../nanobragg.h"

/** A process, as named in messages. */
typedef struct nb_holder {
    int64_t pid; /* 0: unknown */
    char host[64];
} nb_holder;

typedef enum nb_flock { NB_FLOCK_TAKEN, NB_FLOCK_BUSY, NB_FLOCK_NONE } nb_flock;

/** A file to which finished frames are appended, each with a hash. So a run that was killed
 * at any time can continue: bytes after the last complete record are cut off. Only one
 * process has it open. */

/** The series of a journal. */
typedef struct nb_journal_key {
    uint64_t fingerprint; /* of the configuration */
    int64_t seed;
    int64_t per_file; /* frames of a data file; 0: not of a data file */
} nb_journal_key;

/** Whose journal it is. */
typedef struct nb_journal_owner {
    nb_journal_key key;
    nb_holder holder; /* who wrote it last */
} nb_journal_owner;

typedef struct nb_journal {
    nb_journal_owner owner;
    int fd; /* -1: closed */
    int64_t end;
    int sole; /* set before it is opened: use a lock file if the file system has no locks */
    int locked; /* by such a file */
    int begun;  /* it was empty or is new: it has nothing of an earlier run */
    char path[NB_PATH_MAX];
} nb_journal;

/** A found record: frame, offset and length of its data. */
typedef void nb_journal_found(void *user, int frame, int64_t offset, size_t bytes);

/** Create an empty journal; it replaces an existing one. Errors: NB_ERR_INPUT if the file
 * is not a journal (also a link), or another process has it open; NB_ERR_IO. */
nb_status nb_journal_create(nb_journal *j, const char *path, const nb_journal_key *key,
                            nb_error *err);

/** Open the existing journal, report its complete records in order, and continue after
 * them. Without such a file it creates one. Errors: as above, and NB_ERR_INPUT if it
 * belongs to another key. */
nb_status nb_journal_resume(nb_journal *j, const char *path, const nb_journal_key *key,
                            nb_journal_found *found, void *user, nb_error *err);

/** Read the key, or all, of the journal at path; 0 if there is no readable one. */
int nb_journal_key_of(const char *path, nb_journal_key *key);
int nb_journal_owner_of(const char *path, nb_journal_owner *owner);

/** Check that the journal at path still has this owner.  Errors: NB_ERR_IO, it was removed, or another run has begun its own. */
nb_status nb_journal_check(const char *path, const nb_journal_owner *owner, nb_error *err);
/** That error. */
nb_status nb_journal_fail_lost(const char *path, nb_error *err);

/** A frame's data and their hash. */
typedef struct nb_journal_data {
    int frame;
    const void *data;
    size_t bytes;
    uint64_t hash;
} nb_journal_data;

/** With the hash, which any thread may make. */
nb_journal_data nb_journal_data_of(int frame, const void *data, size_t bytes);

/** Append a frame; *offset (may be NULL) is the offset of its data. */
nb_status nb_journal_append(nb_journal *j, const nb_journal_data *what, int64_t *offset,
                            nb_error *err);

/** Read the data of a complete record and compare them with its hash. NB_ERR_IO: they have
 * changed. */
nb_status nb_journal_read(const nb_journal *j, int frame, int64_t offset, void *data,
                          size_t bytes, nb_error *err);

void nb_journal_close(nb_journal *j); /* the file stays; j may be NULL or closed */
void nb_journal_remove(nb_journal *j); /* remove the file, if it is still this one, and close */

#endif
