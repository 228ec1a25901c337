/* SPDX-License-Identifier: MIT */
#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/error.h"
#include "../base/hash.h"
#include "../base/memory.h"

/* Native byte order: a journal is continued where it was begun. */
typedef struct head {
    char magic[8];
    nb_journal_key key;
} head;

typedef struct record {
    uint64_t mark, frame, bytes, hash;
} record;

static const char magic[8] = {'N', 'B', 'S', 'E', 'R', 'I', 'E', '2'};
static const uint64_t mark = 0x656d617266626e00u;

static nb_status fail_errno(nb_error *err, const char *what, const char *path)
{
    char why[128];
    int number = errno;
    if (strerror_r(number, why, sizeof why) != 0)
        snprintf(why, sizeof why, "error %d", number);
    return nb_fail(err, NB_ERR_IO, "cannot %s %.300s: %s", what, path, why);
}

static nb_status put(nb_journal *j, const void *data, size_t bytes, nb_error *err)
{
    const char *next = data;
    while (bytes > 0) {
        ssize_t n = pwrite(j->fd, next, bytes, j->end);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_errno(err, "write", j->path);
        next += n;
        bytes -= (size_t)n;
        j->end += n;
    }
    return NB_OK;
}

static int get(int fd, int64_t offset, void *data, size_t bytes)
{
    char *next = data;
    while (bytes > 0) {
        ssize_t n = pread(fd, next, bytes, offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return 0;
        next += n;
        bytes -= (size_t)n;
        offset += n;
    }
    return 1;
}

static nb_status open_file(nb_journal *j, const char *path, int flags, nb_error *err)
{
    j->end = 0;
    snprintf(j->path, sizeof j->path, "%s", path);
    j->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | flags, 0666);
    return j->fd >= 0 ? NB_OK : fail_errno(err, "create", path);
}

static nb_status begin(nb_journal *j, const nb_journal_key *key, nb_error *err)
{
    head h;
    memcpy(h.magic, magic, sizeof h.magic);
    h.key = *key;
    if (ftruncate(j->fd, 0) != 0)
        return fail_errno(err, "write", j->path);
    j->end = 0;
    return put(j, &h, sizeof h, err);
}

nb_status nb_journal_create(nb_journal *j, const char *path, const nb_journal_key *key,
                            nb_error *err)
{
    nb_status st = open_file(j, path, O_TRUNC, err);
    if (!st)
        st = begin(j, key, err);
    if (st)
        nb_journal_close(j);
    return st;
}

/** Is the record at `offset` whole?  data grows to hold it. */
static int check_record(nb_journal *j, int64_t size, record *r, char **data, size_t *room)
{
    if (!get(j->fd, j->end, r, sizeof *r) || r->mark != mark ||
        r->bytes > (uint64_t)(size - j->end) - sizeof *r || r->frame > 0x7fffffff)
        return 0;
    if (r->bytes > *room) {
        nb_free(*data);
        *room = (size_t)r->bytes;
        *data = nb_alloc_raw(*room, 1, "record", NULL);
        if (!*data) {
            *room = 0;
            return 0;
        }
    }
    return get(j->fd, j->end + (int64_t)sizeof *r, *data, (size_t)r->bytes) &&
           nb_hash_bytes(NB_HASH_START ^ r->frame, *data, (size_t)r->bytes) == r->hash;
}

static nb_status scan(nb_journal *j, int64_t size, nb_journal_found *found, void *user,
                      nb_error *err)
{
    char *data = NULL;
    size_t room = 0;
    record r;
    j->end = sizeof(head);
    while (check_record(j, size, &r, &data, &room)) {
        if (found)
            found(user, (int)r.frame, j->end + (int64_t)sizeof r, (size_t)r.bytes);
        j->end += (int64_t)(sizeof r + r.bytes);
    }
    nb_free(data);
    return ftruncate(j->fd, j->end) ? fail_errno(err, "write", j->path) : NB_OK;
}

nb_status nb_journal_resume(nb_journal *j, const char *path, const nb_journal_key *key,
                            nb_journal_found *found, void *user, nb_error *err)
{
    struct stat file;
    head h;
    nb_status st = open_file(j, path, 0, err);
    if (st)
        return st;
    if (fstat(j->fd, &file) != 0)
        st = fail_errno(err, "read", path);
    else if (file.st_size < (int64_t)sizeof h) /* killed before it had begun */
        st = begin(j, key, err);
    else if (!get(j->fd, 0, &h, sizeof h) || memcmp(h.magic, magic, sizeof magic) != 0)
        st = nb_fail(err, NB_ERR_INPUT, "-resume: %.300s is not a record of a series",
                     path);
    else if (memcmp(&h.key, key, sizeof *key) != 0)
        st = nb_fail(
            err, NB_ERR_INPUT,
            "-resume: %.300s was begun with other flags or files; give the same, or "
            "leave -resume out to start again",
            path);
    else
        st = scan(j, file.st_size, found, user, err);
    if (st)
        nb_journal_close(j);
    return st;
}

int nb_journal_key_of(const char *path, nb_journal_key *key)
{
    head h;
    int fd = open(path, O_RDONLY | O_CLOEXEC), there;
    if (fd < 0)
        return 0;
    there = get(fd, 0, &h, sizeof h) && memcmp(h.magic, magic, sizeof magic) == 0;
    close(fd);
    if (there)
        *key = h.key;
    return there;
}

nb_status nb_journal_append(nb_journal *j, int frame, const void *data, size_t bytes,
                            int64_t *offset, nb_error *err)
{
    record r = {mark, (uint64_t)frame, bytes, 0};
    int64_t start = j->end;
    nb_status st;
    r.hash = nb_hash_bytes(NB_HASH_START ^ r.frame, data, bytes);
    st = put(j, &r, sizeof r, err);
    if (offset)
        *offset = j->end;
    if (!st)
        st = put(j, data, bytes, err);
    if (st && ftruncate(j->fd, start) == 0) /* a full disk: the frames before it stay */
        j->end = start;
    return st;
}

nb_status nb_journal_read(const nb_journal *j, int64_t offset, void *data, size_t bytes,
                          nb_error *err)
{
    if (get(j->fd, offset, data, bytes))
        return NB_OK;
    return nb_fail(err, NB_ERR_IO, "cannot read %.300s: it changed while it was in use",
                   j->path);
}

void nb_journal_close(nb_journal *j)
{
    if (j && j->fd >= 0)
        close(j->fd);
    if (j)
        j->fd = -1;
}

void nb_journal_remove(nb_journal *j)
{
    if (!j || j->fd < 0)
        return;
    nb_journal_close(j);
    unlink(j->path);
}
