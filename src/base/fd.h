/* SPDX-License-Identifier: MIT */
/** Read or write all bytes at an offset of a file; calls that the system shortens or interrupts
 * are repeated. */
#ifndef NB_BASE_FD_H
#define NB_BASE_FD_H

#include <errno.h>
#include <stdint.h>
#include <unistd.h>

enum { NB_FD_MOST = 1 << 30 }; /* bytes a call */

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
