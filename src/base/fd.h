/* SPDX-License-Identifier: MIT */
/** All bytes at a place of a file, however the system divides or interrupts the calls. */
#ifndef NB_BASE_FD_H
#define NB_BASE_FD_H

#include <errno.h>
#include <stdint.h>
#include <unistd.h>

enum { NB_FD_MOST = 1 << 30 }; /* bytes a call */

/** How many were written; fewer than `bytes`: errno says why. */
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

/** How many were read; fewer than `bytes`: errno says why, 0 at the end of the file. */
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
