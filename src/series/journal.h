/* SPDX-License-Identifier: MIT */
/** A file that finished frames are appended to, each with a hash, so that a run that was killed
 * at any moment can go on: what is behind the last whole record is cut off.  One process at a time
 * has it open. */
#ifndef NB_SERIES_JOURNAL_H
#define NB_SERIES_JOURNAL_H

#include "../nanobragg.h"

/** What a journal belongs to. */
typedef struct nb_journal_key {
    uint64_t fingerprint; /* of the configuration */
    int64_t seed;
    int64_t per_file; /* frames of a data file; 0: it is no data file's */
} nb_journal_key;

typedef struct nb_journal {
    int fd; /* -1: closed */
    int64_t end;
    int sole; /* set before it is opened: where the file system has no locks a lock file is one */
    int locked; /* by such a file */
    int begun;  /* it was empty or is written anew: nothing of an earlier run is in it */
    char path[NB_PATH_MAX];
} nb_journal;

/** A record that was found: frame, where its data are, how long they are. */
typedef void nb_journal_found(void *user, int frame, int64_t offset, size_t bytes);

/** Create an empty journal, over one that may lie there.  Errors: NB_ERR_INPUT when the file is
 * something else (also a link), or another process has it open; NB_ERR_IO. */
nb_status nb_journal_create(nb_journal *j, const char *path, const nb_journal_key *key,
                            nb_error *err);

/** Open the journal that lies there, report its whole records in their order, and go on behind
 * them.  No such file: creates one.  Errors: as above, and NB_ERR_INPUT when it belongs to another
 * key. */
nb_status nb_journal_resume(nb_journal *j, const char *path, const nb_journal_key *key,
                            nb_journal_found *found, void *user, nb_error *err);

/** What the journal at path belongs to; 0 if there is no readable one. */
int nb_journal_key_of(const char *path, nb_journal_key *key);

/** Append a frame; *offset (may be NULL) is where its data are. */
nb_status nb_journal_append(nb_journal *j, int frame, const void *data, size_t bytes,
                            int64_t *offset, nb_error *err);

/** Read the data of a whole record and check them against its hash.  NB_ERR_IO: they changed. */
nb_status nb_journal_read(const nb_journal *j, int frame, int64_t offset, void *data,
                          size_t bytes, nb_error *err);
/** Read some of the data of a record, unchecked; 0: there are not so many. */
int nb_journal_peek(const nb_journal *j, int64_t offset, void *data, size_t bytes);

void nb_journal_close(nb_journal *j);  /* the file stays; NULL and closed are fine */
void nb_journal_remove(nb_journal *j); /* remove the file and close */

#endif
