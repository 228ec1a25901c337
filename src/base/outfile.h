/* SPDX-License-Identifier: MIT */
/** A file that appears whole or not at all: written beside its name, synced, renamed. */
#ifndef NB_BASE_OUTFILE_H
#define NB_BASE_OUTFILE_H

#include "../nanobragg.h"

typedef struct nb_outfile {
    int fd;                 /* open for reading and writing; -1 when closed */
    char path[NB_PATH_MAX]; /* the final name */
    char temp[NB_PATH_MAX + 32]; /* the name while writing; "" for a device such as /dev/null */
} nb_outfile;

/** Create the temporary file beside `path`.  Errors: NB_ERR_IO (message names path and errno). */
nb_status nb_outfile_open(nb_outfile *out, const char *path, nb_error *err);
/** Append bytes, retrying short writes. */
nb_status nb_outfile_write(nb_outfile *out, const void *data, size_t bytes, nb_error *err);
/** Write bytes at an offset, from any thread; not for devices.  Other offsets may follow in any
 * order, but none may be left out. */
nb_status nb_outfile_write_at(nb_outfile *out, const void *data, size_t bytes,
                              uint64_t offset, nb_error *err);
/** Let the disk begin with bytes that were written (bytes 0: all from offset on), so that commit
 * has less to wait for; does not wait and has no errors, and nothing happens where the system
 * cannot. */
void nb_outfile_start_sync(nb_outfile *out, uint64_t offset, uint64_t bytes);
/** fsync, close, rename over the final name, sync the folder.  On error the temporary file is
 * removed and an older file of that name is untouched. */
nb_status nb_outfile_commit(nb_outfile *out, nb_error *err);
/** As commit without its last step, for several files of one folder: it is synced once, when all
 * have their names. */
nb_status nb_outfile_name(nb_outfile *out, nb_error *err);
/** Make the names in the file's folder durable.  Nothing is lost where the folder cannot be
 * synced, so no error. */
void nb_outfile_sync_folder(const nb_outfile *out);
/** Are both names typed with the same folder? */
int nb_outfile_same_folder(const nb_outfile *a, const nb_outfile *b);
/** Give up: close and remove the temporary file.  Safe after commit, open failure, twice. */
void nb_outfile_abort(nb_outfile *out);
/** Remove every temporary file that is open now; async-signal-safe, for SIGINT/SIGTERM. */
void nb_outfile_abort_all(void);

/** Read a whole file.  *data (nb_free, one extra NUL byte at the end) and *bytes are the
 * caller's.  limit: refuse larger files (0: none).  Errors: NB_ERR_INPUT when it cannot be
 * opened, is a folder or too large; NB_ERR_IO on a read error; NB_ERR_NOMEM.  `flag` names the
 * option in the message. */
nb_status nb_read_file(const char *path, const char *flag, size_t limit, char **data,
                       size_t *bytes, nb_error *err);

/** The content of a file, mapped where that is possible.  Not for files that others change in
 * place: a mapped file must not become shorter. */
typedef struct nb_file_view {
    const char *data;
    size_t bytes;
    int mapped;
} nb_file_view;

/** As nb_read_file without a limit and without the NUL; nb_file_close ends it. */
nb_status nb_file_open(const char *path, const char *flag, nb_file_view *view,
                       nb_error *err);
void nb_file_close(nb_file_view *view); /* a zeroed or closed view is fine */

#endif
