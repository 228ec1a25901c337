/* SPDX-License-Identifier: MIT */
#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../base/error.h"
#include "../base/fd.h"
#include "../base/hash.h"
#include "../base/memory.h"
#include "record.h"

enum { LOOKS = 30, NAME = NB_PATH_MAX + 32 };

static nb_holder holder_self(void)
{
    nb_holder h = {(int64_t)getpid(), ""};
    if (gethostname(h.host, sizeof h.host - 1) != 0)
        h.host[0] = '\0';
    return h;
}

/* Pause before reading again what another process is writing. */
static void lock_pause(void)
{
    const struct timespec pause = {0, 10000000};
    nanosleep(&pause, NULL);
}

/* Lock the open file until it is closed.  NONE: its file system has no locks. */
static nb_flock lock_open_file(int fd)
{
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return NB_FLOCK_TAKEN;
    return errno == EWOULDBLOCK ? NB_FLOCK_BUSY : NB_FLOCK_NONE;
}

/* "PATH: process P on host H is making this series", NB_ERR_INPUT. */
static nb_status lock_busy(const char *path, const nb_holder *other, nb_error *err)
{
    char who[128] = "another process";
    if (other->pid > 0)
        snprintf(who, sizeof who, "process %lld on host %.63s", (long long)other->pid,
                 other->host);
    return nb_fail(err, NB_ERR_INPUT,
                   "%.280s: %s is writing this series; wait until "
                   "it ends, or give another file name",
                   path, who);
}

/** The text of a lock file, "PID HOST"; its writer may not have written it yet. */
static nb_holder read_lock(const char *name)
{
    nb_holder other = {0, ""};
    for (int look = 0; look < LOOKS && !other.pid; look++) {
        char text[128] = "", *host = NULL;
        int fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
        if (fd >= 0)
            close(fd);
        if (n < 0)
            break;
        if (n > 0 && text[n - 1] == '\n') {
            text[n - 1] = '\0';
            other.pid = strtoll(text, &host, 10);
            snprintf(other.host, sizeof other.host, "%s", *host == ' ' ? host + 1 : "");
        } else {
            lock_pause();
        }
    }
    return other;
}

static int same_holder(const nb_holder *a, const nb_holder *b)
{
    return a->pid == b->pid && strcmp(a->host, b->host) == 0;
}

/** Is the lock file from a process of this host that no longer runs? */
static int is_stale(const nb_holder *other)
{
    const nb_holder self = holder_self();
    return other->pid > 0 && strcmp(other->host, self.host) == 0 &&
           kill((pid_t)other->pid, 0) != 0 && errno == ESRCH;
}

/** Remove a stale lock file. If another process has replaced it in the meantime, that file
 * is restored. */
static void set_aside(const char *name, const nb_holder *stale)
{
    char aside[NAME + 32];
    nb_holder taken;
    snprintf(aside, sizeof aside, "%s.%lld", name, (long long)getpid());
    if (rename(name, aside) != 0)
        return;
    taken = read_lock(aside);
    if (!same_holder(&taken, stale) && link(aside, name) != 0)
        return;
    unlink(aside);
}

static nb_status write_lock(int fd, const char *name, nb_error *err)
{
    const nb_holder self = holder_self();
    int ok = dprintf(fd, "%lld %s\n", (long long)self.pid, self.host) > 0;
    ok &= close(fd) == 0;
    if (ok)
        return NB_OK;
    unlink(name);
    return nb_fail(err, NB_ERR_IO, "cannot write %.300s: %s", name,
                   errno == ENOSPC ? "No space left on device" : "input/output error");
}

/* For file systems without locks: create PATH.lock, which names this process. A lock file of a
 * process of this host that no longer runs is replaced. Errors: NB_ERR_INPUT names the
 * other process, NB_ERR_IO. */
static nb_status lock_beside(const char *path, nb_error *err)
{
    char name[NAME];
    nb_holder other = {0, ""};
    nb_status st;
    snprintf(name, sizeof name, "%.*s.lock", NB_PATH_MAX, path);
    for (int attempt = 0; attempt < LOOKS; attempt++) {
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (fd >= 0)
            return write_lock(fd, name, err);
        if (errno != EEXIST)
            return nb_fail(err, NB_ERR_IO, "cannot create %.300s", name);
        other = read_lock(name);
        if (!is_stale(&other))
            break;
        set_aside(name, &other);
    }
    st = lock_busy(path, &other, err);
    if (err)
        snprintf(err->message + strlen(err->message),
                 sizeof err->message - strlen(err->message),
                 " (if it no longer runs, remove %.100s.lock)", path);
    return st;
}

static void unlock_beside(const char *path)
{
    char name[NAME];
    snprintf(name, sizeof name, "%.*s.lock", NB_PATH_MAX, path);
    unlink(name);
}

/* Native byte order: a journal is continued on the same kind of machine. */
typedef struct head {
    char magic[8]; /* the same in all versions except the last byte */
    nb_journal_owner owner;
} head;

typedef struct entry {
    uint64_t mark, frame, bytes, hash;
} entry;

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
        if (get(fd, offsetof(head, owner.holder), &other, sizeof other) && other.pid > 0)
            break;
        other.pid = 0;
        lock_pause();
    }
    other.host[sizeof other.host - 1] = '\0';
    return other;
}

/** If the file system has no locks, the lock file of the whole series is enough. */
static nb_status lock(nb_journal *j, nb_error *err)
{
    nb_holder other;
    nb_status st = NB_OK;
    switch (lock_open_file(j->fd)) {
    case NB_FLOCK_TAKEN:
        break;
    case NB_FLOCK_BUSY:
        other = read_holder(j->fd);
        return lock_busy(j->path, &other, err);
    default:
        if (j->sole && !(st = lock_beside(j->path, err)))
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
    h.owner = j->owner = (nb_journal_owner){*key, holder_self()};
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
static nb_status check_record(nb_journal *j, int64_t size, entry *r, buffer *b,
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
    entry r;
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
    if (memcmp(&h.owner.key, key, sizeof *key) != 0)
        return nb_fail(err, NB_ERR_INPUT,
                       "-resume: %.300s was begun with other flags or files; give the "
                       "same, or leave -resume out to start again",
                       j->path);
    j->owner = (nb_journal_owner){*key, holder_self()};
    j->end = offsetof(head, owner);
    if (put(j, &j->owner, sizeof j->owner, err))
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

int nb_journal_owner_of(const char *path, nb_journal_owner *owner)
{
    head h;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    int there;
    if (fd < 0)
        return 0;
    there = get(fd, 0, &h, sizeof h) && memcmp(h.magic, magic, sizeof magic) == 0;
    close(fd);
    if (there)
        *owner = h.owner;
    return there;
}

int nb_journal_key_of(const char *path, nb_journal_key *key)
{
    nb_journal_owner owner;
    const int there = nb_journal_owner_of(path, &owner);
    if (there)
        *key = owner.key;
    return there;
}

nb_status nb_journal_fail_lost(const char *path, nb_error *err)
{
    return nb_fail(
        err, NB_ERR_IO,
        "%.280s was removed or replaced while this series was written: another "
        "run may use its file names; give each run its own",
        path);
}

nb_status nb_journal_check(const char *path, const nb_journal_owner *owner, nb_error *err)
{
    nb_journal_owner now;
    if (nb_journal_owner_of(path, &now) && !memcmp(&now, owner, sizeof now))
        return NB_OK;
    return nb_journal_fail_lost(path, err);
}

nb_journal_data nb_journal_data_of(int frame, const void *data, size_t bytes)
{
    return (nb_journal_data){frame, data, bytes, hash_of((uint64_t)frame, data, bytes)};
}

nb_status nb_journal_append(nb_journal *j, const nb_journal_data *what, int64_t *offset,
                            nb_error *err)
{
    const entry r = {mark, (uint64_t)what->frame, what->bytes, what->hash};
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

/* Read some data of a record, unchecked; 0: the record is shorter. */
static int journal_peek(const nb_journal *j, int64_t offset, void *data, size_t bytes)
{
    return get(j->fd, offset, data, bytes);
}

nb_status nb_journal_read(const nb_journal *j, int frame, int64_t offset, void *data,
                          size_t bytes, nb_error *err)
{
    entry r;
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
        unlock_beside(j->path);
    j->locked = 0;
}

void nb_journal_remove(nb_journal *j)
{
    if (!j || j->fd < 0)
        return;
    if (!nb_journal_check(j->path, &j->owner, NULL))
        unlink(j->path); /* while it is locked: a later file of that name is another one */
    nb_journal_close(j);
}

enum { ALIGN = 16 };

_Static_assert(sizeof(nb_record_tail) + ALIGN <= NB_RECORD_MORE, "room for the tail");

/** Where the list begins. */
static size_t list_at(size_t chunk_bytes)
{
    return (chunk_bytes + ALIGN - 1) / ALIGN * ALIGN;
}

nb_status nb_record_add(nb_slot *slot, const nb_reflections *list, nb_error *err)
{
    size_t at = list_at(slot->chunk_bytes), bytes = list->count * sizeof *list->list;
    size_t all = at + bytes + sizeof(nb_record_tail);
    nb_record_tail tail = {slot->chunk_bytes,
                           nb_hdf5_hash(slot->chunk, slot->chunk_bytes),
                           slot->inputs,
                           {(int64_t)list->count, list->background, list->unassigned,
                            list->diffuse, list->off_panels},
                           slot->truth.facts};
    char *record;
    if (all > slot->room) {
        if (nb_grow(&slot->chunk, slot->chunk_bytes, all, 1, "frame", err))
            return NB_ERR_NOMEM;
        slot->room = all;
    }
    record = slot->chunk;
    memset(record + slot->chunk_bytes, 0, at - slot->chunk_bytes);
    if (bytes)
        memcpy(record + at, list->list, bytes);
    memcpy(record + at + bytes, &tail, sizeof tail);
    slot->chunk_bytes = all;
    slot->hash = nb_journal_data_of(slot->frame, record, all).hash;
    slot->truth.list = tail.list;
    return NB_OK;
}

static int fits(const nb_record_tail *tail, size_t bytes)
{
    return tail->list.count >= 0 && tail->chunk_bytes <= bytes &&
           (uint64_t)tail->list.count <= bytes / sizeof(nb_reflection) &&
           list_at(tail->chunk_bytes) + (size_t)tail->list.count * sizeof(nb_reflection) +
                   sizeof *tail ==
               bytes;
}

int nb_record_peek(const nb_journal *j, int64_t offset, size_t bytes, nb_record_tail *tail)
{
    return bytes >= sizeof *tail &&
           journal_peek(j, offset + (int64_t)(bytes - sizeof *tail), tail, sizeof *tail) &&
           fits(tail, bytes);
}

nb_record_tail nb_record_tail_of(const void *record, size_t bytes)
{
    nb_record_tail tail;
    memcpy(&tail, (const char *)record + bytes - sizeof tail, sizeof tail);
    return tail;
}

nb_reflections nb_record_list(void *record, const nb_record_tail *tail)
{
    nb_reflections list = {0};
    list.list = (void *)((char *)record + list_at(tail->chunk_bytes));
    list.count = (size_t)tail->list.count;
    list.background = tail->list.background;
    list.unassigned = tail->list.unassigned;
    list.diffuse = tail->list.diffuse;
    list.off_panels = tail->list.off_panels;
    return list;
}
