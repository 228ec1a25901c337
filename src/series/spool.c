/* SPDX-License-Identifier: MIT */
#include "spool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/error.h"
#include "../base/fd.h"

static nb_status fail(const nb_spool *s, const char *what, nb_error *err)
{
    char why[128];
    int number = errno;
    if (strerror_r(number, why, sizeof why) != 0)
        snprintf(why, sizeof why, "error %d", number);
    return nb_fail(err, NB_ERR_IO, "cannot %s a file beside %.300s: %s", what, s->path,
                   why);
}

nb_status nb_spool_open(nb_spool *s, const char *path, nb_error *err)
{
    char name[NB_PATH_MAX + 16];
    snprintf(s->path, sizeof s->path, "%s", path);
    snprintf(name, sizeof name, "%s.XXXXXX", path);
    s->fd = mkstemp(name);
    if (s->fd < 0)
        return fail(s, "create", err);
    unlink(name);
    return NB_OK;
}

nb_status nb_spool_put(nb_spool *s, int frame, const nb_hdf5_frame *truth, nb_error *err)
{
    const uint64_t at = (uint64_t)frame * sizeof *truth;
    return nb_fd_write(s->fd, truth, sizeof *truth, at) == sizeof *truth
               ? NB_OK
               : fail(s, "write", err);
}

nb_status nb_spool_get(void *user, int first, int count, nb_hdf5_frame *truth,
                       nb_error *err)
{
    const nb_spool *s = user;
    size_t bytes = (size_t)count * sizeof *truth;
    if (nb_fd_read(s->fd, truth, bytes, (uint64_t)first * sizeof *truth) == bytes)
        return NB_OK;
    if (!errno)
        errno = EIO; /* it is shorter than what was written */
    return fail(s, "read", err);
}

void nb_spool_close(nb_spool *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}
