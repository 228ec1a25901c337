/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
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
    const ssize_t n = pread(fd, mark, sizeof mark, 0);
    return n > 0 && nb_is_packed(mark, (size_t)n);
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

static nb_status fail(const nb_input *in, ssize_t n, nb_error *err)
{
    char why[128] = "it became shorter while it was read";
    if (n < 0)
        (void)strerror_r(errno, why, sizeof why);
    return nb_fail(err, NB_ERR_IO, "%s %.300s: cannot read: %s", in->flag, in->path, why);
}

nb_status nb_input_read(const nb_input *in, uint64_t offset, void *out, size_t bytes,
                        nb_error *err)
{
    const size_t most = (size_t)1 << 30;
    char *next = out;
    if (in->data && (offset > in->bytes || bytes > in->bytes - offset))
        return fail(in, 0, err);
    if (in->data) {
        memcpy(out, in->data + offset, bytes);
        return NB_OK;
    }
    while (bytes > 0) {
        ssize_t n = pread(in->fd, next, bytes < most ? bytes : most, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail(in, n, err);
        next += n;
        offset += (uint64_t)n;
        bytes -= (size_t)n;
    }
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
