/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "fd.h"
#include "memory.h"
#include "outfile.h"
#include "unpack.h"

int nb_is_regular_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static int is_packed(int fd)
{
    char mark[NB_PACKED_MARK];
    return nb_is_packed(mark, nb_fd_read(fd, mark, sizeof mark, 0));
}

nb_status nb_input_open(nb_input *in, const char *path, const char *flag, nb_error *err)
{
    struct stat st;
    size_t bytes = 0;
    nb_status status;
    memset(in, 0, sizeof *in);
    in->path = path;
    in->flag = flag;
    in->fd = -1;
    if (nb_is_regular_file(path)) /* a pipe can be opened only once */
        in->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (in->fd >= 0 && fstat(in->fd, &st) == 0 && S_ISREG(st.st_mode) &&
        !is_packed(in->fd)) {
        in->bytes = (uint64_t)st.st_size;
        return NB_OK;
    }
    nb_input_close(in);
    status = nb_read_file(path, flag, 0, &in->data, &bytes, err);
    in->bytes = bytes;
    return status;
}

/** errno 0: the file ended. */
static nb_status fail(const nb_input *in, nb_error *err)
{
    char why[128] = "it became shorter while it was read";
    if (errno)
        (void)strerror_r(errno, why, sizeof why);
    return nb_fail(err, NB_ERR_IO, "%s %.300s: cannot read: %s", in->flag, in->path, why);
}

nb_status nb_input_read(const nb_input *in, uint64_t offset, void *out, size_t bytes,
                        nb_error *err)
{
    errno = 0;
    if (!in->data)
        return nb_fd_read(in->fd, out, bytes, offset) == bytes ? NB_OK : fail(in, err);
    if (offset > in->bytes || bytes > in->bytes - offset)
        return fail(in, err);
    memcpy(out, in->data + offset, bytes);
    return NB_OK;
}

void nb_input_close(nb_input *in)
{
    if (in->fd >= 0)
        close(in->fd);
    in->fd = -1;
    nb_free(in->data);
    in->data = NULL;
}
