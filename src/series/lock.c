/* SPDX-License-Identifier: MIT */
#include "lock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "../base/error.h"

enum { LOOKS = 30, NAME = NB_PATH_MAX + 32 };

nb_holder nb_holder_self(void)
{
    nb_holder h = {(int64_t)getpid(), ""};
    if (gethostname(h.host, sizeof h.host - 1) != 0)
        h.host[0] = '\0';
    return h;
}

void nb_lock_pause(void)
{
    const struct timespec pause = {0, 10000000};
    nanosleep(&pause, NULL);
}

nb_flock nb_lock_open_file(int fd)
{
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return NB_FLOCK_TAKEN;
    return errno == EWOULDBLOCK ? NB_FLOCK_BUSY : NB_FLOCK_NONE;
}

nb_status nb_lock_busy(const char *path, const nb_holder *other, nb_error *err)
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
            nb_lock_pause();
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
    const nb_holder self = nb_holder_self();
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
    const nb_holder self = nb_holder_self();
    int ok = dprintf(fd, "%lld %s\n", (long long)self.pid, self.host) > 0;
    ok &= close(fd) == 0;
    if (ok)
        return NB_OK;
    unlink(name);
    return nb_fail(err, NB_ERR_IO, "cannot write %.300s: %s", name,
                   errno == ENOSPC ? "No space left on device" : "input/output error");
}

nb_status nb_lock_beside(const char *path, nb_error *err)
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
    st = nb_lock_busy(path, &other, err);
    if (err)
        snprintf(err->message + strlen(err->message),
                 sizeof err->message - strlen(err->message),
                 " (if it no longer runs, remove %.100s.lock)", path);
    return st;
}

void nb_unlock_beside(const char *path)
{
    char name[NAME];
    snprintf(name, sizeof name, "%.*s.lock", NB_PATH_MAX, path);
    unlink(name);
}
