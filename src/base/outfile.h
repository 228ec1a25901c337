/* SPDX-License-Identifier: MIT */
/** A file that is complete or absent: written under a temporary name, closed, renamed. */
#ifndef NB_BASE_OUTFILE_H
#define NB_BASE_OUTFILE_H

#include "../nanobragg.h"

typedef struct nb_outfile {
    int fd;                      /* open for reading and writing; -1 when closed */
    char path[NB_PATH_MAX];      /* the final name */
    char temp[NB_PATH_MAX + 32]; /* the name while writing; "" for a device such as /dev/null,
                                    a pipe or standard output */
    int is_copied, device; /* fd is an unnamed file, and commit copies it to device */
    int is_claim;          /* it is locked as long as it is open */
} nb_outfile;

/** Is this name of an output standard output ("-")? */
int nb_outfile_is_stdout(const char *path);
/** Create the temporary file beside `path`. It gets the mode of the file that it will
 * replace, and its owner if the system allows. Devices, pipes and standard output ("-") are
 * opened directly. Errors: NB_ERR_IO (message names path and errno). */
nb_status nb_outfile_open(nb_outfile *out, const char *path, nb_error *err);
/** Create the temporary file `path` with a dot before and ".part" behind its name, and lock it: only one
 * process at a time holds it. A temporary file without a lock is left from a dead process: it is emptied and used.
 * NB_OK without a file (fd -1): another writer has it, or it exists in a file system without locks
 * (*no_locks, else 0). Errors: NB_ERR_IO. */
nb_status nb_outfile_claim(nb_outfile *out, const char *path, int *no_locks,
                           nb_error *err);
/** Before the first byte of a format that seeks: if `path` cannot seek (a pipe, standard
 * output), fd becomes an unnamed file in $TMPDIR or /tmp, and commit copies it. Errors:
 * NB_ERR_IO. */
nb_status nb_outfile_need_seek(nb_outfile *out, nb_error *err);
/** Append bytes, retrying short writes. */
nb_status nb_outfile_write(nb_outfile *out, const void *data, size_t bytes, nb_error *err);
/** Write bytes at an offset, from any thread; not for devices.  Other offsets may follow in any
 * order, but none may be left out. */
nb_status nb_outfile_write_at(nb_outfile *out, const void *data, size_t bytes,
                              uint64_t offset, nb_error *err);
/** Close, and rename over the final name. After an error the temporary file is removed and an
 * older file of that name is unchanged. The file system decides what a power loss takes. */
nb_status nb_outfile_commit(nb_outfile *out, nb_error *err);
/** Commit a file that -resume trusts: the disk has its bytes before the name. */
nb_status nb_outfile_commit_durably(nb_outfile *out, nb_error *err);
/** Close and remove the temporary file. Safe after commit, after a failed open, and twice. */
void nb_outfile_abort(nb_outfile *out);
/** Write a file with this content, whole or not at all: open, write and commit, with their
 * errors. */
nb_status nb_outfile_put(const char *path, const void *data, size_t bytes, nb_error *err);
/** Remove every temporary file that is open now; async-signal-safe, for handlers of
 * signals that end the process. */
void nb_outfile_abort_all(void);

#define NB_FILE_MOST                                                                     \
    ((size_t)1 << 30) /* bytes of an input, unpacked, unless its reader says more */

/** Read a whole file, and unpack it if gzip or bzip2 packed it (base/unpack.h). *data (nb_free,
 * one extra NUL byte at the end) and *bytes are the caller's. limit: largest size in bytes,
 * packed or not (0: NB_FILE_MOST). Errors: NB_ERR_INPUT
 * when it cannot be opened, is a folder or too large; NB_ERR_IO on a read error; NB_ERR_NOMEM.
 * `flag` names the option in the message. */
nb_status nb_read_file(const char *path, const char *flag, size_t limit, char **data,
                       size_t *bytes, nb_error *err);

/** A file that is read in pieces. It is not mapped, because a mapped file that becomes
 * shorter would end the process. */
typedef struct nb_input {
    const char *path, *flag; /* the caller's, for messages */
    uint64_t bytes;
    int fd;
    char *data; /* owned; the content of a pipe or of a packed file, else NULL */
} nb_input;

/** Open the file. Errors as of nb_read_file. Call nb_input_close at the end, after an error
 * too. */
nb_status nb_input_open(nb_input *in, const char *path, const char *flag, nb_error *err);
/** Read exactly these bytes, from any thread. Errors: NB_ERR_IO, also if they do not exist. */
nb_status nb_input_read(const nb_input *in, uint64_t offset, void *out, size_t bytes,
                        nb_error *err);
void nb_input_close(nb_input *in); /* safe to call twice */

/** Can it be opened twice, and seek? A pipe cannot. */
int nb_is_regular_file(const char *path);

#endif
