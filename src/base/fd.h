/* SPDX-License-Identifier: MIT */
/** Read or write all bytes at an offset of a file; calls that the system shortens or interrupts
 * are repeated.  Locks of files. */
#ifndef NB_BASE_FD_H
#define NB_BASE_FD_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NB_FD_MOST = 1 << 30 }; /* bytes a call */

/* Locks of the open file, which end with it: HDF5 opens and locks the same file (flock), in this process. */
#ifndef F_OFD_SETLK
#define F_OFD_SETLK 37
#define F_OFD_SETLKW 38
#endif

typedef enum nb_lock { NB_LOCK_TAKEN, NB_LOCK_BUSY, NB_LOCK_NONE } nb_lock;

/** Lock an open file, F_WRLCK for one or F_RDLCK for many, or change its lock; wait: until it is free. NONE: its file
 * system has no locks. */
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

/** Is the open file the one of this name? */
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
        size_t piece = bytes - done < NB_FD_MOST ? bytes - done : NB_FD_MOST;
        ssize_t n = pwrite(fd, (const char *)data + done, piece, (off_t)(offset + done));
        if (n < 0 && errno != EINTR)
            break;
        done += n > 0 ? (size_t)n : 0;
    }
    return done;
}

/** Returns the number of bytes read; if it is below `bytes`, errno has the reason (0: end of the
 * file). */
static inline size_t nb_fd_read(int fd, void *data, size_t bytes, uint64_t offset)
{
    size_t done = 0;
    while (done < bytes) {
        size_t piece = bytes - done < NB_FD_MOST ? bytes - done : NB_FD_MOST;
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

#endif
