/* SPDX-License-Identifier: MIT */
/** A file that is complete or absent: written under a temporary name, closed, renamed. */
#ifndef NB_BASE_OUTFILE_H
#define NB_BASE_OUTFILE_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../nanobragg.h"

typedef struct nb_outfile {
    int fd;                      /* open for reading and writing; -1 when closed */
    char path[NB_PATH_MAX];      /* the final name */
    char temp[NB_PATH_MAX + 32]; /* the name while writing; "" for a pipe, standard output
                                    or a device such as /dev/null */
    int is_claim;                /* the file is locked while it is open */
} nb_outfile;

/** True if the output `path` is standard output ("-"). */
int nb_outfile_is_stdout(const char *path);
/** Create the temporary file in the folder of `path`. It gets the mode of the file that
 * it will replace, and the owner if the system allows. Devices, pipes and standard output
 * ("-") are opened directly. Errors: NB_ERR_IO (message names path and errno). */
nb_status nb_outfile_open(nb_outfile *out, const char *path, nb_error *err);
/** Create the temporary file of `path`, with a dot before and ".part" after the name, and
 * lock it for one process. A temporary file without a lock was left by a process that
 * died; it is emptied and used. If another writer has the lock, or the file exists in a
 * file system without locks (*no_locks 1, else 0), the status is NB_OK and fd is -1.
 * Errors: NB_ERR_IO. */
nb_status nb_outfile_claim(nb_outfile *out, const char *path, int *no_locks,
                           nb_error *err);
/** Append bytes, retrying short writes. */
nb_status nb_outfile_write(nb_outfile *out, const void *data, size_t bytes, nb_error *err);
/** Write bytes at an offset, from any thread; not for devices. Offsets may come in any
 * order, but at the end every byte must be written. */
nb_status nb_outfile_write_at(nb_outfile *out, const void *data, size_t bytes,
                              uint64_t offset, nb_error *err);
/** Close, and rename over the final name. After an error the temporary file is removed
 * and an older file of that name is unchanged. A power loss may lose the content. */
nb_status nb_outfile_commit(nb_outfile *out, nb_error *err);
/** Commit a file that -resume trusts: its bytes reach the disk before the rename. */
nb_status nb_outfile_commit_durably(nb_outfile *out, nb_error *err);
/** Close and remove the temporary file. May be called after commit, after a failed open,
 * and twice. */
void nb_outfile_abort(nb_outfile *out);
/** Write a file with this content, whole or not at all: open, write and commit, with
 * their errors. */
nb_status nb_outfile_put(const char *path, const void *data, size_t bytes, nb_error *err);
/** Remove every temporary file that is open now; async-signal-safe, for handlers of
 * signals that end the process. */
void nb_outfile_abort_all(void);

#define NB_FILE_MAX                                                                      \
    ((size_t)1 << 30) /* bytes of a pipe or an unpacked input without another limit */

/** Read a whole file, and unpack it if gzip or bzip2 packed it (base/unpack.h). The
 * caller owns *data (nb_free), with *bytes bytes and one NUL. limit: largest size in
 * bytes, packed or not (0: that of the file, and at least NB_FILE_MAX). `flag`: option for messages. Errors:
 * NB_ERR_INPUT (cannot be opened, folder, too large); NB_ERR_IO on a read error;
 * NB_ERR_NOMEM. */
nb_status nb_read_file(const char *path, const char *flag, size_t limit, char **data,
                       size_t *bytes, nb_error *err);

/** True for a regular file, which can be opened twice and can seek; false for a pipe. */
int nb_is_regular_file(const char *path);

/* --- Locks of files; reads and writes of all bytes at an offset (calls that the system
 * shortens or interrupts are repeated) --- */

enum { NB_FD_LIMIT = 1 << 30 }; /* largest number of bytes in one call */

/* A lock belongs to one open file (flock), because HDF5 in this process also locks the
 * file. */
#ifndef F_OFD_SETLK
#define F_OFD_SETLK 37
#define F_OFD_SETLKW 38
#endif

typedef enum nb_lock { NB_LOCK_TAKEN, NB_LOCK_BUSY, NB_LOCK_NONE } nb_lock;

/** Lock an open file, F_WRLCK for one holder or F_RDLCK for many, or change its lock.
 * With wait = 1, wait until the lock is free. Returns NB_LOCK_NONE if the file system has
 * no locks. */
static inline nb_lock nb_fd_lock(int fd, short kind, int wait)
{
    struct flock whole = {.l_type = kind, .l_whence = SEEK_SET};
    int failed;
    while ((failed = fcntl(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &whole)) != 0 &&
           errno == EINTR) {
    }
    return !failed                              ? NB_LOCK_TAKEN
           : errno == EAGAIN || errno == EACCES ? NB_LOCK_BUSY
                                                : NB_LOCK_NONE;
}

/** True if `path` names the open file. */
static inline int nb_fd_is(int fd, const char *path)
{
    struct stat here, named;
    return fstat(fd, &here) == 0 && lstat(path, &named) == 0 &&
           here.st_dev == named.st_dev && here.st_ino == named.st_ino;
}

/** Returns the number of bytes written; if it is below `bytes`, errno has the reason. */
static inline size_t nb_fd_write(int fd, const void *data, size_t bytes, uint64_t offset)
{
    size_t done = 0;
    while (done < bytes) {
        size_t piece = bytes - done < NB_FD_LIMIT ? bytes - done : NB_FD_LIMIT;
        ssize_t n = pwrite(fd, (const char *)data + done, piece, (off_t)(offset + done));
        if (n < 0 && errno != EINTR)
            break;
        done += n > 0 ? (size_t)n : 0;
    }
    return done;
}

/** Returns the number of bytes read; if it is below `bytes`, errno has the reason (0: end
 * of the file). */
static inline size_t nb_fd_read(int fd, void *data, size_t bytes, uint64_t offset)
{
    size_t done = 0;
    while (done < bytes) {
        size_t piece = bytes - done < NB_FD_LIMIT ? bytes - done : NB_FD_LIMIT;
        ssize_t n = pread(fd, (char *)data + done, piece, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = 0;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    return done;
}

/* --- Names in a run that refer to the same file --- */

/** A family of numbered files. */
typedef struct nb_file_family {
    const char *flag;
    int count;
    /** Writes the path of file i (0..count-1) into path[NB_PATH_MAX]. */
    void (*name)(const void *user, int i, char *path);
    const void *user;
    int is_read; /* 1: inputs; 0: outputs */
} nb_file_family;

/** Refuse a run that would write over a file that it reads, or write one file twice.
 * Files that exist are compared by device and inode, others by folder and name. Character
 * devices are allowed twice. The first million files of a family are checked. No file is
 * opened. Errors: NB_ERR_INPUT, one line with both flags and names; NB_ERR_NOMEM. */
nb_status nb_refuse_same_files(const nb_file_use *uses, int n_uses,
                               const nb_file_family *families, int n_families,
                               nb_error *err);

#endif
