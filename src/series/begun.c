/* SPDX-License-Identifier: MIT */
#include "work.h"

#include <stdio.h>
#include <string.h>

#include "../base/error.h"
#include "../base/outfile.h"

/** Content of the resume file. It has the machine's byte order, so a series must stay on
 * machines of one type. */
typedef struct content {
    char magic[8]; /* identifies the file; only the last byte differs between versions */
    nb_series_key key;
    int64_t sole; /* 1: no other run may join */
} content;

static const char magic[8] = {'N', 'B', 'S', 'E', 'R', 'I', 'E', '4'};
enum { MAGIC_OF_ALL = sizeof magic - 1 };

static nb_status fail_busy(const nb_begun *b, const char *why, nb_error *err)
{
    return nb_fail(err, NB_ERR_INPUT,
                   "%.280s: another run is writing a series of this name%s; wait until "
                   "it ends, or give another file name",
                   b->path, why);
}

static int is_same(const nb_series_key *a, const nb_series_key *b)
{
    return !memcmp(a, b, sizeof *a);
}

/** Compare the file, whose first n bytes are in c, with this series. *same: 1 if it
 * belongs to this series. */
static nb_status compare(const nb_begun *b, const content *c, size_t n,
                         const nb_series_key *key, int resume, int *same, nb_error *err)
{
    const size_t begin = n < MAGIC_OF_ALL ? n : MAGIC_OF_ALL;
    if (memcmp(c->magic, magic, begin) != 0)
        return nb_fail(err, NB_ERR_INPUT,
                       "%.300s is not the file of a series; move it away, or give "
                       "another file name",
                       b->path);
    *same =
        n == sizeof *c && !memcmp(c->magic, magic, sizeof magic) && is_same(&c->key, key);
    if (!resume || *same || n < sizeof magic)
        return NB_OK;
    if (n < sizeof *c || memcmp(c->magic, magic, sizeof magic) != 0)
        return nb_fail(err, NB_ERR_INPUT,
                       "-resume: %.300s is of another version of nanobragg; leave "
                       "-resume out to start again",
                       b->path);
    return nb_fail(
        err, NB_ERR_INPUT,
        "-resume: %.300s was begun with other flags or files; give the same, or "
        "leave -resume out to start again",
        b->path);
}

static nb_status write_content(const nb_begun *b, content *c, nb_error *err)
{
    memcpy(c->magic, magic, sizeof magic);
    return ftruncate(b->fd, 0) || nb_fd_write(b->fd, c, sizeof *c, 0) < sizeof *c
               ? nb_fail_errno(err, "write", b->path)
               : NB_OK;
}

/** Join the other run, which has locked the file. */
static nb_status join(nb_begun *b, const content *mine, nb_error *err)
{
    content c = {0};
    if (nb_fd_lock(b->fd, F_RDLCK, 1) != NB_LOCK_TAKEN)
        return nb_fail_errno(err, "lock", b->path);
    if (nb_fd_read(b->fd, &c, sizeof c, 0) < sizeof c || !is_same(&c.key, &mine->key))
        return fail_busy(b, ", with other flags or files", err);
    if (mine->sole || c.sole)
        return fail_busy(b, " with -sumfile, which one run makes", err);
    b->joined = 1;
    return NB_OK;
}

/** Begin or resume the series if this run has the lock, or if the file system has no
 * locks. */
static nb_status begin(nb_begun *b, nb_lock lock, content *mine, int resume, nb_error *err)
{
    content c = {0};
    const size_t n = nb_fd_read(b->fd, &c, sizeof c, 0);
    int same = 0;
    nb_status st;
    NB_FORWARD(compare(b, &c, n, &mine->key, resume, &same, err));
    if (lock == NB_LOCK_NONE && n > 0 && !resume)
        return nb_fail(
            err, NB_ERR_INPUT,
            "%.280s: a series of this name was begun, and this file system has "
            "no locks: type -resume, or remove this file if no run writes it",
            b->path);
    b->is_new = !resume || !same;
    return write_content(b, mine, err);
}

static nb_status open_file(nb_begun *b, nb_error *err)
{
    struct stat file;
    b->fd = open(b->path,
                 O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
    if (b->fd < 0 && errno != ELOOP)
        return nb_fail_errno(err, "create", b->path);
    if (b->fd < 0 || fstat(b->fd, &file) != 0 || !S_ISREG(file.st_mode))
        return nb_fail(err, NB_ERR_INPUT,
                       "%.300s: the file of the series has this name, but this is a link "
                       "or not a file; remove it, or give another file name",
                       b->path);
    return NB_OK;
}

nb_status nb_begun_open(nb_begun *b, const char *path, const nb_series_key *key, int sole,
                        int resume, nb_error *err)
{
    content mine = {.key = *key, .sole = sole};
    nb_lock lock;
    nb_status st;
    snprintf(b->path, sizeof b->path, "%s", path);
    while (!(st = open_file(b, err))) {
        lock = nb_fd_lock(b->fd, F_WRLCK, 0);
        st = lock == NB_LOCK_BUSY ? join(b, &mine, err)
                                  : begin(b, lock, &mine, resume, err);
        /* true if no run has removed the file meanwhile */
        if (st || nb_fd_is(b->fd, b->path))
            break;
        nb_begun_close(b);
    }
    if (st)
        nb_begun_close(b);
    return st;
}

void nb_begun_share(const nb_begun *b)
{
    (void)nb_fd_lock(b->fd, F_RDLCK, 0);
}

int nb_begun_alone(const nb_begun *b)
{
    return nb_fd_lock(b->fd, F_WRLCK, 0) != NB_LOCK_BUSY;
}

int nb_begun_key(const char *path, nb_series_key *key)
{
    content c = {0};
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    int there = fd >= 0 && nb_fd_read(fd, &c, sizeof c, 0) == sizeof c &&
                !memcmp(c.magic, magic, sizeof magic);
    if (fd >= 0)
        close(fd);
    if (there)
        *key = c.key;
    return there;
}

void nb_begun_close(nb_begun *b)
{
    if (b->fd >= 0)
        close(b->fd);
    b->fd = -1;
}

void nb_begun_remove(nb_begun *b, int alone)
{
    if (b->fd >= 0 && (!alone || nb_begun_alone(b)) && nb_fd_is(b->fd, b->path))
        unlink(b->path);
    nb_begun_close(b);
}
