/* SPDX-License-Identifier: MIT */
#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/error.h"
#include "../base/fd.h"
#include "../base/hash.h"
#include "../base/memory.h"
#include "lock.h"

/* Native byte order: a journal is continued on the same kind of machine. */
typedef struct head {
    char magic[8]; /* the same in all versions except the last byte */
    nb_journal_key key;
    nb_holder holder; /* who wrote it last */
} head;

typedef struct record {
    uint64_t mark, frame, bytes, hash;
} record;

static const char magic[8] = {'N', 'B', 'S', 'E', 'R', 'I', 'E', '3'};
enum { MAGIC_OF_ALL = sizeof magic - 1 };
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
    if (nb_fd_write(j->fd, data, bytes, (uint64_t)j->end) < bytes)
        return fail_errno(err, "write", j->path);
    j->end += (int64_t)bytes;
    return NB_OK;
}

static uint64_t hash_of(uint64_t frame, const void *data, size_t bytes)
{
    return nb_hash_bytes(NB_HASH_START ^ frame, data, bytes);
}

static int get(int fd, int64_t offset, void *data, size_t bytes)
{
    return nb_fd_read(fd, data, bytes, (uint64_t)offset) == bytes;
}

/** The process that has locked the journal; it may not have written its name yet. */
static nb_holder read_holder(int fd)
{
    nb_holder other = {0, ""};
    for (int look = 0; look < LOOKS; look++) {
        if (get(fd, offsetof(head, holder), &other, sizeof other) && other.pid > 0)
            break;
        other.pid = 0;
        nb_lock_pause();
    }
    other.host[sizeof other.host - 1] = '\0';
    return other;
}

/** If the file system has no locks, the lock file of the whole series is enough. */
static nb_status lock(nb_journal *j, nb_error *err)
{
    nb_holder other;
    nb_status st = NB_OK;
    switch (nb_lock_open_file(j->fd)) {
    case NB_FLOCK_TAKEN:
        break;
    case NB_FLOCK_BUSY:
        other = read_holder(j->fd);
        return nb_lock_busy(j->path, &other, err);
    default:
        if (j->sole && !(st = nb_lock_beside(j->path, err)))
            j->locked = 1;
    }
    return st;
}

/** Is the open file still the one of that name? Its owner removes it when the series is
 * complete. */
static int still_there(const nb_journal *j)
{
    struct stat open_one, named;
    return fstat(j->fd, &open_one) == 0 && lstat(j->path, &named) == 0 &&
           open_one.st_dev == named.st_dev && open_one.st_ino == named.st_ino;
}

static nb_status open_once(nb_journal *j, nb_error *err)
{
    struct stat file;
    j->fd = open(j->path,
                 O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
    if (j->fd < 0 && errno != ELOOP)
        return fail_errno(err, "create", j->path);
    if (j->fd < 0 || fstat(j->fd, &file) != 0 || !S_ISREG(file.st_mode))
        return nb_fail(err, NB_ERR_INPUT,
                       "%.300s: the record of the series has this name, but this is a "
                       "link or not a file; remove it, or give another file name",
                       j->path);
    return lock(j, err);
}

static nb_status open_file(nb_journal *j, const char *path, nb_error *err)
{
    nb_status st = NB_OK;
    j->end = 0;
    j->locked = j->begun = 0;
    snprintf(j->path, sizeof j->path, "%s", path);
    for (int look = 0; look < LOOKS; look++) {
        st = open_once(j, err);
        if (st || still_there(j))
            break;
        nb_journal_close(j);
    }
    if (!st && j->fd < 0)
        st = nb_fail(err, NB_ERR_IO, "cannot create %.300s: another program removes it",
                     path);
    if (st)
        nb_journal_close(j);
    return st;
}

typedef enum kind { BEGUN, WHOLE, OF_ANOTHER_VERSION, FOREIGN } kind;

/** The kind of the existing file; *h is filled if it is WHOLE. BEGUN: empty, or killed
 * before more was written. */
static kind look_at(const nb_journal *j, int64_t size, head *h)
{
    size_t n = size < (int64_t)sizeof magic ? (size_t)size : sizeof magic;
    if (!get(j->fd, 0, h, n) ||
        memcmp(h->magic, magic, n < MAGIC_OF_ALL ? n : MAGIC_OF_ALL) != 0)
        return n ? FOREIGN : BEGUN;
    if (n == sizeof magic && h->magic[n - 1] != magic[n - 1])
        return OF_ANOTHER_VERSION;
    if (size < (int64_t)sizeof *h)
        return BEGUN;
    return get(j->fd, 0, h, sizeof *h) ? WHOLE : FOREIGN;
}

static nb_status fail_foreign(const nb_journal *j, nb_error *err)
{
    return nb_fail(
        err, NB_ERR_INPUT,
        "%.300s is not a record of a series; move it away, or give another file "
        "name",
        j->path);
}

static nb_status begin(nb_journal *j, const nb_journal_key *key, nb_error *err)
{
    head h;
    memset(&h, 0, sizeof h);
    memcpy(h.magic, magic, sizeof h.magic);
    h.key = *key;
    h.holder = nb_holder_self();
    if (ftruncate(j->fd, 0) != 0)
        return fail_errno(err, "write", j->path);
    j->end = 0;
    j->begun = 1;
    return put(j, &h, sizeof h, err);
}

nb_status nb_journal_create(nb_journal *j, const char *path, const nb_journal_key *key,
                            nb_error *err)
{
    struct stat file;
    head h;
    nb_status st = open_file(j, path, err);
    if (st)
        return st;
    if (fstat(j->fd, &file) != 0)
        st = fail_errno(err, "read", path);
    else if (look_at(j, file.st_size, &h) == FOREIGN)
        st = fail_foreign(j, err);
    else
        st = begin(j, key, err);
    if (st)
        nb_journal_close(j);
    return st;
}

/** Memory that grows to the size of a record. */
typedef struct buffer {
    char *data;
    size_t room;
} buffer;

/** Is there a whole record at j->end?  *r is it.  Errors: NB_ERR_NOMEM. */
static nb_status check_record(nb_journal *j, int64_t size, record *r, buffer *b,
                              int *whole, nb_error *err)
{
    *whole = 0;
    if (!get(j->fd, j->end, r, sizeof *r) || r->mark != mark ||
        r->bytes > (uint64_t)(size - j->end) - sizeof *r || r->frame > 0x7fffffff)
        return NB_OK;
    if (r->bytes > b->room) {
        nb_free(b->data);
        b->room = (size_t)r->bytes;
        if (!(b->data = nb_alloc_raw(b->room, 1, "record", err))) {
            b->room = 0;
            return NB_ERR_NOMEM;
        }
    }
    *whole = get(j->fd, j->end + (int64_t)sizeof *r, b->data, (size_t)r->bytes) &&
             hash_of(r->frame, b->data, (size_t)r->bytes) == r->hash;
    return NB_OK;
}

/** Report complete records from the first on, and cut off the bytes after them. */
static nb_status scan(nb_journal *j, int64_t size, nb_journal_found *found, void *user,
                      nb_error *err)
{
    buffer b = {NULL, 0};
    record r;
    int whole;
    nb_status st;
    j->end = sizeof(head);
    while (!(st = check_record(j, size, &r, &b, &whole, err)) && whole) {
        if (found)
            found(user, (int)r.frame, j->end + (int64_t)sizeof r, (size_t)r.bytes);
        j->end += (int64_t)(sizeof r + r.bytes);
    }
    nb_free(b.data);
    if (st)
        return st;
    return ftruncate(j->fd, j->end) ? fail_errno(err, "write", j->path) : NB_OK;
}

/** Continue the existing journal. */
static nb_status go_on(nb_journal *j, const nb_journal_key *key, nb_journal_found *found,
                       void *user, nb_error *err)
{
    struct stat file;
    const nb_holder self = nb_holder_self();
    head h;
    if (fstat(j->fd, &file) != 0)
        return fail_errno(err, "read", j->path);
    switch (look_at(j, file.st_size, &h)) {
    case BEGUN:
        return begin(j, key, err);
    case WHOLE:
        break;
    case OF_ANOTHER_VERSION:
        return nb_fail(
            err, NB_ERR_INPUT,
            "-resume: %.300s is of another version of nanobragg; leave -resume "
            "out to start again",
            j->path);
    default:
        return fail_foreign(j, err);
    }
    if (memcmp(&h.key, key, sizeof *key) != 0)
        return nb_fail(err, NB_ERR_INPUT,
                       "-resume: %.300s was begun with other flags or files; give the "
                       "same, or leave -resume out to start again",
                       j->path);
    j->end = offsetof(head, holder);
    if (put(j, &self, sizeof self, err))
        return NB_ERR_IO;
    return scan(j, file.st_size, found, user, err);
}

nb_status nb_journal_resume(nb_journal *j, const char *path, const nb_journal_key *key,
                            nb_journal_found *found, void *user, nb_error *err)
{
    nb_status st = open_file(j, path, err);
    if (!st)
        st = go_on(j, key, found, user, err);
    if (st)
        nb_journal_close(j);
    return st;
}

int nb_journal_key_of(const char *path, nb_journal_key *key)
{
    head h;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    int there;
    if (fd < 0)
        return 0;
    there = get(fd, 0, &h, sizeof h) && memcmp(h.magic, magic, sizeof magic) == 0;
    close(fd);
    if (there)
        *key = h.key;
    return there;
}

nb_journal_data nb_journal_data_of(int frame, const void *data, size_t bytes)
{
    return (nb_journal_data){frame, data, bytes, hash_of((uint64_t)frame, data, bytes)};
}

nb_status nb_journal_append(nb_journal *j, const nb_journal_data *what, int64_t *offset,
                            nb_error *err)
{
    const record r = {mark, (uint64_t)what->frame, what->bytes, what->hash};
    int64_t start = j->end;
    nb_status st = put(j, &r, sizeof r, err);
    if (offset)
        *offset = j->end;
    if (!st)
        st = put(j, what->data, what->bytes, err);
    if (st && ftruncate(j->fd, start) == 0) /* a full disk: the earlier frames stay */
        j->end = start;
    return st;
}

int nb_journal_peek(const nb_journal *j, int64_t offset, void *data, size_t bytes)
{
    return get(j->fd, offset, data, bytes);
}

nb_status nb_journal_read(const nb_journal *j, int frame, int64_t offset, void *data,
                          size_t bytes, nb_error *err)
{
    record r;
    if (get(j->fd, offset - (int64_t)sizeof r, &r, sizeof r) && r.mark == mark &&
        r.frame == (uint64_t)frame && r.bytes == bytes &&
        get(j->fd, offset, data, bytes) && hash_of(r.frame, data, bytes) == r.hash)
        return NB_OK;
    return nb_fail(err, NB_ERR_IO,
                   "frame %d in %.300s has changed since it was written (by another "
                   "program or the disk); -resume makes it again",
                   frame, j->path);
}

void nb_journal_close(nb_journal *j)
{
    if (!j)
        return;
    if (j->fd >= 0)
        close(j->fd);
    j->fd = -1;
    if (j->locked)
        nb_unlock_beside(j->path);
    j->locked = 0;
}

void nb_journal_remove(nb_journal *j)
{
    if (!j || j->fd < 0)
        return;
    unlink(j->path); /* remove it while it is locked: a later file of that name is another one */
    nb_journal_close(j);
}
