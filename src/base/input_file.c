/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "outfile.h"
#include "memory.h"
#include "store.h"
#include "unpack.h"

typedef struct input {
    const char *path, *flag;
    size_t limit;
} input;

/** Hint for a missing file: other values of the flag, or another flag for the task. */
static const char *instead_of(const char *flag)
{
    static const char *const words[][2] = {
        {"-orientations", "; without a file type random"},
        {"-crystals", "; without a file type a number, or -vary crystals:choice:1:2:3"},
        {"-transmission",
         "; it has a factor for each pixel, and an attenuator is a smaller -fluence"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(flag, words[i][0]) == 0)
            return words[i][1];
    return "";
}

static nb_status fail(const input *in, nb_status code, int number, nb_error *err)
{
    char why[128];
    if (strerror_r(number, why, sizeof why) != 0)
        snprintf(why, sizeof why, "error %d", number);
    nb_fail(err, code, "%s %.300s: cannot read: %s%s", in->flag, in->path, why,
            number == ENOENT ? instead_of(in->flag) : "");
    if (err)
        snprintf(err->file, sizeof err->file, "%.*s", (int)sizeof err->file - 1, in->path);
    return code;
}

static nb_status too_large(const input *in, nb_error *err)
{
    return nb_fail(err, NB_ERR_INPUT, "%s %.300s: larger than %zu bytes", in->flag,
                   in->path, in->limit);
}

/** Enlarge *data to `capacity` bytes and a NUL. Its first `used` bytes are kept. */
static nb_status grow(char **data, size_t used, size_t capacity, nb_error *err)
{
    return nb_grow(data, used, capacity + 1, 1, "file content", err);
}

/** Read to the end of fd; `expected`: likely number of bytes (0 for a pipe). */
static nb_status read_all(int fd, const input *in, size_t expected, char **data,
                          size_t *bytes, nb_error *err)
{
    size_t capacity = expected ? expected : 65536, used = 0;
    nb_status st = grow(data, 0, capacity, err);
    while (!st) {
        ssize_t n;
        /* the buffer is full: read one more byte to see whether the file ends here */
        if (used == capacity) {
            char extra;
            n = read(fd, &extra, 1);
            capacity = capacity < in->limit / 2 ? 2 * capacity : in->limit + 1;
            if (n == 1 && !(st = grow(data, used, capacity, err)))
                (*data)[used++] = extra;
        } else {
            n = read(fd, *data + used, capacity - used);
            used += n > 0 ? (size_t)n : 0;
        }
        if (st || n == 0)
            break;
        if (n < 0 && errno != EINTR)
            st = fail(in, errno == EISDIR ? NB_ERR_INPUT : NB_ERR_IO, errno, err);
        else if (used > in->limit)
            st = too_large(in, err);
    }
    if (!st) {
        (*data)[used] = '\0';
        *bytes = used;
    }
    return st;
}

/** Replace packed content by unpacked content. */
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

static nb_status read_disk(const char *path, const char *flag, size_t limit, char **data,
                           size_t *bytes, nb_error *err)
{
    input in = {path, flag, limit ? limit : NB_FILE_MAX};
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
    else {
        const size_t size = S_ISREG(st.st_mode) ? (size_t)st.st_size : 0;
        if (!limit && size > in.limit)
            in.limit = size;
        status = size > in.limit ? too_large(&in, err)
                                 : read_all(fd, &in, size, data, bytes, err);
    }
    close(fd);
    if (!status)
        status = unpack(&in, data, bytes, err);
    if (status) {
        nb_free(*data);
        *data = NULL;
    }
    return status;
}

/** Content of a file in a store. */
typedef struct blob {
    size_t bytes;
    char *data; /* owned */
} blob;

static void free_blob(void *object)
{
    nb_free(((blob *)object)->data);
}

static nb_status make_blob(void *user, void **object, size_t *bytes, nb_error *err)
{
    const input *in = user;
    blob *b = nb_shared_new(sizeof *b, free_blob, "file content", err);
    nb_status st = b ? NB_OK : NB_ERR_NOMEM;
    NB_TRY(read_disk(in->path, in->flag, in->limit, &b->data, &b->bytes, err));
    if (st)
        nb_shared_drop(b);
    else
        *bytes = b->bytes;
    *object = st ? NULL : b;
    return st;
}

nb_status nb_read_file(const char *path, const char *flag, size_t limit, char **data,
                       size_t *bytes, nb_error *err)
{
    nb_store *store = nb_store_here();
    input in = {path, flag, limit};
    nb_key key = nb_key_of("file");
    void *object;
    const blob *b;
    nb_status st;
    if (!store)
        return read_disk(path, flag, limit, data, bytes, err);
    *data = NULL;
    *bytes = 0;
    nb_key_file(&key, store, path);
    NB_FORWARD(nb_store_take(store, &key, make_blob, &in, &object, err));
    b = object;
    if (limit && b->bytes > limit)
        st = too_large(&in, err);
    else if (!(*data = nb_alloc_raw(b->bytes + 1, 1, "file content", err)))
        st = NB_ERR_NOMEM;
    if (!st) {
        memcpy(*data, b->data, b->bytes + 1);
        *bytes = b->bytes;
    }
    nb_shared_drop(object);
    return st;
}

int nb_is_regular_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}
