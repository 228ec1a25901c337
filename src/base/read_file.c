/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "memory.h"
#include "outfile.h"
#include "unpack.h"

typedef struct input {
    const char *path, *flag;
    size_t limit;
} input;

static nb_status fail(const input *in, nb_status code, int number, nb_error *err)
{
    char why[128];
    if (strerror_r(number, why, sizeof why) != 0)
        snprintf(why, sizeof why, "error %d", number);
    nb_fail(err, code, "%s %.300s: cannot read: %s", in->flag, in->path, why);
    if (err)
        snprintf(err->file, sizeof err->file, "%.*s", (int)sizeof err->file - 1, in->path);
    return code;
}

static nb_status too_large(const input *in, nb_error *err)
{
    return nb_fail(err, NB_ERR_INPUT, "%s %.300s: larger than %zu bytes", in->flag,
                   in->path, in->limit);
}

/** A buffer of `capacity` bytes and one for the NUL, with the first `used` bytes of *data. */
static nb_status grow(char **data, size_t used, size_t capacity, nb_error *err)
{
    char *larger = nb_alloc_raw(capacity + 1, 1, "file content", err);
    if (!larger)
        return NB_ERR_NOMEM;
    if (used)
        memcpy(larger, *data, used);
    nb_free(*data);
    *data = larger;
    return NB_OK;
}

/** Read to the end of fd; `expected` bytes are likely (a pipe says 0). */
static nb_status read_all(int fd, const input *in, size_t expected, char **data,
                          size_t *bytes, nb_error *err)
{
    size_t capacity = expected ? expected : 65536, used = 0;
    nb_status st = grow(data, 0, capacity, err);
    while (!st) {
        ssize_t n;
        if (used == capacity) { /* full: one byte more shows whether the file goes on */
            char extra;
            n = read(fd, &extra, 1);
            if (n == 1 && !(st = grow(data, used, capacity *= 2, err)))
                (*data)[used++] = extra;
        } else {
            n = read(fd, *data + used, capacity - used);
            used += n > 0 ? (size_t)n : 0;
        }
        if (st || n == 0)
            break;
        if (n < 0 && errno != EINTR)
            st = fail(in, errno == EISDIR ? NB_ERR_INPUT : NB_ERR_IO, errno, err);
        else if (in->limit && used > in->limit)
            st = too_large(in, err);
    }
    if (!st) {
        (*data)[used] = '\0';
        *bytes = used;
    }
    return st;
}

/** Take the content of a packed file. */
static nb_status unpack(const input *in, char **data, size_t *bytes, nb_error *err)
{
    char *text;
    size_t n;
    nb_status st = nb_unpack(*data, *bytes, in->path, in->limit, &text, &n, err);
    if (st || !text)
        return st;
    nb_free(*data);
    *data = text;
    *bytes = n;
    return NB_OK;
}

nb_status nb_read_file(const char *path, const char *flag, size_t limit, char **data,
                       size_t *bytes, nb_error *err)
{
    const input in = {path, flag, limit};
    struct stat st;
    nb_status status;
    int fd;
    *data = NULL;
    *bytes = 0;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return fail(&in, NB_ERR_INPUT, errno, err);
    if (fstat(fd, &st) != 0)
        status = fail(&in, NB_ERR_IO, errno, err);
    else if (S_ISDIR(st.st_mode))
        status = fail(&in, NB_ERR_INPUT, EISDIR, err);
    else if (limit && S_ISREG(st.st_mode) && (uint64_t)st.st_size > limit)
        status = too_large(&in, err);
    else
        status = read_all(fd, &in, S_ISREG(st.st_mode) ? (size_t)st.st_size : 0, data,
                          bytes, err);
    close(fd);
    if (!status)
        status = unpack(&in, data, bytes, err);
    if (status) {
        nb_free(*data);
        *data = NULL;
    }
    return status;
}
