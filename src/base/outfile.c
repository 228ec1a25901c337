/* SPDX-License-Identifier: MIT */
#include "outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "coefficients.h"
#include "error.h"

/* --- Temporary names, for signal handlers --- The slots are static, because a handler
 * gets no argument. A slot's name is written only while its state is FILLING, and the
 * handler reads the name only when the state is LIVE. If all slots are used, a file is
 * still complete or absent; only a signal would leave a temporary file. */

enum { SLOTS = 32, FREE = 0, FILLING, LIVE, REMOVED };

static struct {
    atomic_int state;
    char name[sizeof((nb_outfile *)0)->temp];
} slots[SLOTS];

static void remember(const char *name)
{
    for (int i = 0; i < SLOTS; i++) {
        int expected = FREE;
        if (atomic_compare_exchange_strong(&slots[i].state, &expected, FILLING)) {
            snprintf(slots[i].name, sizeof slots[i].name, "%s", name);
            atomic_store(&slots[i].state, LIVE);
            return;
        }
    }
}

static void forget(const char *name)
{
    for (int i = 0; i < SLOTS; i++) {
        int state = atomic_load(&slots[i].state);
        if ((state == LIVE || state == REMOVED) && strcmp(slots[i].name, name) == 0) {
            atomic_store(&slots[i].state, FREE);
            return;
        }
    }
}

void nb_outfile_abort_all(void)
{
    int saved = errno;
    for (int i = 0; i < SLOTS; i++) {
        int expected = LIVE;
        if (atomic_compare_exchange_strong(&slots[i].state, &expected, REMOVED))
            unlink(slots[i].name);
    }
    errno = saved;
}

/* --- opening --- */

/** The start of the last component of a path. */
static size_t name_offset(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/** Write six characters that no other writer is likely to choose now. */
static void random_suffix(const nb_outfile *out, unsigned attempt, char suffix[7])
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    struct timespec now;
    uint64_t x;
    clock_gettime(CLOCK_MONOTONIC, &now);
    x = (uint64_t)now.tv_nsec * NB_GOLDEN_BITS ^ (uint64_t)getpid() << 32 ^
        (uint64_t)(uintptr_t)out ^ ((uint64_t)attempt << 20);
    for (int i = 0; i < 6; i++) {
        x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
        suffix[i] = letters[(x >> 32) % (sizeof letters - 1)];
    }
    suffix[6] = '\0';
}

/** Create the temporary file. It uses open with O_EXCL instead of mkstemp, because the
 * kernel then applies the umask. A program cannot read the umask without changing it for
 * all threads. */
static nb_status create_temp(nb_outfile *out, nb_error *err)
{
    enum {
        KEEP = 200
    }; /* bytes kept of the name, so that the temporary name fits in NAME_MAX */
    size_t start = name_offset(out->path);
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        char suffix[7];
        random_suffix(out, attempt, suffix);
        snprintf(out->temp, sizeof out->temp, "%.*s.%.*s.%s.part", (int)start, out->path,
                 KEEP, out->path + start, suffix);
        /* called before the file exists, so that a signal handler removes the file */
        remember(out->temp);
        out->fd = open(out->temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (out->fd >= 0)
            return NB_OK;
        forget(out->temp);
        if (errno != EEXIST && errno != EINTR)
            break;
    }
    out->temp[0] = '\0';
    return nb_fail_errno(err, "create", out->path);
}

/** Create or open the file that all writers share. errno EAGAIN: the file has vanished;
 * try again. */
static int open_shared(const nb_outfile *out, int *made)
{
    const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;
    int fd = open(out->temp, flags | O_CREAT | O_EXCL, 0666);
    *made = fd >= 0;
    if (*made || errno != EEXIST)
        return fd;
    fd = open(out->temp, flags);
    if (fd < 0 && errno == ENOENT)
        errno = EAGAIN;
    return fd;
}

nb_status nb_outfile_claim(nb_outfile *out, const char *path, int *no_locks, nb_error *err)
{
    const size_t start = name_offset(path);
    int made;
    nb_lock lock;
    memset(out, 0, sizeof *out);
    *no_locks = 0;
    snprintf(out->path, sizeof out->path, "%s", path);
    snprintf(out->temp, sizeof out->temp, "%.*s.%s.part", (int)start, path, path + start);
    for (;;) { /* repeat until the locked file is the file with this name */
        out->fd = open_shared(out, &made);
        if (out->fd < 0 && errno == EAGAIN)
            continue;
        if (out->fd < 0)
            return nb_fail_errno(err, "create", path);
        lock = nb_fd_lock(out->fd, F_WRLCK, 0);
        if (lock == NB_LOCK_BUSY || (lock == NB_LOCK_NONE && !made))
            break;
        if (nb_fd_is(out->fd, out->temp)) {
            out->is_claim = 1;
            remember(out->temp);
            return ftruncate(out->fd, 0) ? nb_fail_errno(err, "write", out->temp) : NB_OK;
        }
        close(out->fd);
    }
    *no_locks = lock == NB_LOCK_NONE;
    close(out->fd);
    out->fd = -1;
    return NB_OK;
}

/** Write through a symbolic link, as fopen would, instead of replacing it. */
static nb_status follow_link(nb_outfile *out, nb_error *err)
{
    struct stat st;
    char *real;
    size_t length;
    if (lstat(out->path, &st) != 0 || !S_ISLNK(st.st_mode))
        return NB_OK;
    real = realpath(out->path, NULL);
    if (!real) /* the link has no target: the file will replace the link */
        return errno == ENOENT ? NB_OK : nb_fail_errno(err, "create", out->path);
    length = strlen(real);
    if (length < sizeof out->path)
        memcpy(out->path, real, length + 1);
    free(real);
    if (length >= sizeof out->path)
        return nb_fail(err, NB_ERR_IO, "cannot create %.300s: its real name is too long",
                       out->path);
    return NB_OK;
}

static nb_status open_device(nb_outfile *out, nb_error *err)
{
    out->fd = open(out->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return out->fd >= 0 ? NB_OK : nb_fail_errno(err, "open", out->path);
}

int nb_outfile_is_stdout(const char *path)
{
    return strcmp(path, "-") == 0;
}

static nb_status open_stdout(nb_outfile *out, nb_error *err)
{
    snprintf(out->path, sizeof out->path, "standard output"); /* name for messages */
    out->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    return out->fd >= 0 ? NB_OK : nb_fail_errno(err, "open", out->path);
}

/** Copy mode and owner of the file that will be replaced. Only root can set another
 * owner. For other users the new file keeps only the group, if this is allowed. */
static nb_status keep_rights(nb_outfile *out, const struct stat *old, nb_error *err)
{
    nb_status status = NB_OK;
    if (fchown(out->fd, old->st_uid, old->st_gid) != 0 &&
        fchown(out->fd, (uid_t)-1, old->st_gid) != 0)
        errno = 0; /* only root can keep the owner */
    if (fchmod(out->fd, old->st_mode & 0777) != 0) {
        status = nb_fail_errno(err, "set permissions of", out->path);
        nb_outfile_abort(out);
    }
    return status;
}

nb_status nb_outfile_open(nb_outfile *out, const char *path, nb_error *err)
{
    struct stat st;
    size_t length = strlen(path);
    nb_status status;
    int exists;
    memset(out, 0, sizeof *out);
    out->fd = -1;
    if (nb_outfile_is_stdout(path))
        return open_stdout(out, err);
    if (length == 0 || length >= sizeof out->path)
        return nb_fail(err, NB_ERR_IO, "cannot create %.60s: its name %s", path,
                       length ? "is too long" : "is empty");
    memcpy(out->path, path, length + 1);
    exists = stat(path, &st) == 0;
    if (exists && S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return nb_fail_errno(err, "create", path);
    }
    if (exists && !S_ISREG(st.st_mode))
        return open_device(out, err);
    if (exists && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) !=
                      0) /* rename would replace a read-only file */
        return nb_fail_errno(err, "write", path);
    if ((status = follow_link(out, err)) || (status = create_temp(out, err)))
        return status;
    return exists ? keep_rights(out, &st, err) : NB_OK;
}

/* --- writing --- */

nb_status nb_outfile_write(nb_outfile *out, const void *data, size_t bytes, nb_error *err)
{
    const char *next = data;
    while (bytes > 0) {
        size_t piece = bytes < ((size_t)1 << 30) ? bytes : (size_t)1 << 30;
        ssize_t n = write(out->fd, next, piece);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return nb_fail_errno(err, "write", out->path);
        next += n;
        bytes -= (size_t)n;
    }
    return NB_OK;
}

nb_status nb_outfile_write_at(nb_outfile *out, const void *data, size_t bytes,
                              uint64_t offset, nb_error *err)
{
    return nb_fd_write(out->fd, data, bytes, offset) == bytes
               ? NB_OK
               : nb_fail_errno(err, "write", out->path);
}

/** Close a file. After EINTR Linux has closed it already. */
static int close_one(int fd)
{
    return close(fd) != 0 && errno != EINTR ? -1 : 0;
}

static int close_fd(nb_outfile *out)
{
    int fd = out->fd;
    out->fd = -1;
    return fd >= 0 ? close_one(fd) : 0;
}

static int sync_file(int fd)
{
    int failed;
    while ((failed = fsync(fd)) != 0 && errno == EINTR) {
    }
    return failed;
}

/** Rename over an older file. The older file is held open until then. If the rename
 * itself freed the older file, the folder would be locked meanwhile, and renames of other
 * threads would wait (4 to 20 ms for 64 MB). */
static int replace(const nb_outfile *out)
{
    int old = open(out->path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    int failed, number;
    while ((failed = rename(out->temp, out->path)) != 0 && errno == EINTR) {
    }
    number = errno;
    if (old >= 0)
        close(old);
    errno = number;
    return failed;
}

nb_status nb_outfile_commit(nb_outfile *out, nb_error *err)
{
    int is_file = out->temp[0] != '\0';
    nb_status status = NB_OK;
    if (out->fd < 0)
        return nb_fail(err, NB_ERR_INTERNAL, "commit of %.300s, which is not open",
                       out->path);
    if (!out->is_claim && close_fd(out) != 0)
        status = nb_fail_errno(err, "write", out->path);
    if (!is_file)
        return status;
    if (!status && replace(out) != 0)
        status = nb_fail_errno(err, "create", out->path);
    else if (!status && out->is_claim)
        /* close after the rename, because others take over an unlocked temporary file */
        close_fd(out);
    if (status) {
        nb_outfile_abort(out);
        return status;
    }
    forget(out->temp);
    out->temp[0] = '\0';
    return NB_OK;
}

/** Sync the folder. A failure loses no data, so it is not an error. */
static void sync_folder(const nb_outfile *out)
{
    char folder[NB_PATH_MAX];
    size_t n = name_offset(out->path);
    int fd;
    snprintf(folder, sizeof folder, "%.*s", n ? (int)n : 1, n ? out->path : ".");
    fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)fsync(fd);
    close(fd);
}

nb_status nb_outfile_commit_durably(nb_outfile *out, nb_error *err)
{
    int is_file = out->temp[0] != '\0';
    nb_status status;
    if (is_file && out->fd >= 0 && sync_file(out->fd) != 0) {
        status = nb_fail_errno(err, "write", out->path);
        nb_outfile_abort(out);
        return status;
    }
    status = nb_outfile_commit(out, err);
    if (!status && is_file)
        sync_folder(out);
    return status;
}

void nb_outfile_abort(nb_outfile *out)
{
    if (!out)
        return;
    if (out->temp[0]) {
        unlink(out->temp); /* removed before its lock ends */
        forget(out->temp);
        out->temp[0] = '\0';
    }
    close_fd(out);
}

nb_status nb_outfile_put(const char *path, const void *data, size_t bytes, nb_error *err)
{
    nb_outfile out;
    nb_status st = nb_outfile_open(&out, path, err);
    NB_TRY(nb_outfile_write(&out, data, bytes, err));
    NB_TRY(nb_outfile_commit(&out, err));
    if (st)
        nb_outfile_abort(&out);
    return st;
}
