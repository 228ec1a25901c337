/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* pipe2, vmsplice */
#include "apart.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/uio.h>
#endif

#include "error.h"
#include "memory.h"

/* Limits of a child that does not end: seconds of processor time, and of the clock (a link to a
 * pipe). */
enum { BUSY_SECONDS = 60, WAIT_SECONDS = 300 };
enum { PIPE_BYTES = 1 << 20, LARGE_BYTES = 1 << 16, END_MARK = 0x6e62656e };
enum {
    NOT_PASSED = 97
}; /* exit status of the child: it could not write its results into the pipe */

/* --- the pipe --- */

static int write_all(int fd, const char *data, size_t bytes)
{
    while (bytes > 0) {
        ssize_t n = write(fd, data, bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return 0;
        data += n;
        bytes -= (size_t)n;
    }
    return 1;
}

static int read_all(int fd, char *data, size_t bytes)
{
    while (bytes > 0) {
        ssize_t n = read(fd, data, bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = EPIPE; /* the child has ended */
        if (n <= 0)
            return 0;
        data += n;
        bytes -= (size_t)n;
    }
    return 1;
}

void nb_pass(nb_passage *p, void *data, size_t bytes)
{
    if (!p->failed &&
        !(p->writing ? write_all(p->fd, data, bytes) : read_all(p->fd, data, bytes))) {
        p->failed = NB_ERR_IO;
        p->number = errno;
    }
    if (p->failed && !p->writing)
        memset(data, 0, bytes);
}

/** The pipe takes whole pages without a copy: the child must not change them until it ends. */
static size_t give_pages(int fd, const char *data, size_t bytes)
{
    size_t given = 0;
#ifdef __linux__
    while (bytes - given >= LARGE_BYTES) {
        struct iovec rest = {(void *)(uintptr_t)(data + given), bytes - given};
        ssize_t n = vmsplice(fd, &rest, 1, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break; /* an error in place of the rest */
        given += (size_t)n;
    }
#endif
    return given;
}

void nb_pass_array(nb_passage *p, void **array, size_t count, size_t size,
                   const char *what)
{
    size_t given = 0;
    if (!p->writing)
        *array = NULL;
    if (p->failed || count == 0)
        return;
    if (!p->writing && !(*array = nb_alloc_large(count, size, what, p->err))) {
        p->failed = NB_ERR_NOMEM;
        return;
    }
    if (p->writing)
        given = give_pages(p->fd, *array, count * size);
    nb_pass(p, (char *)*array + given, count * size - given);
    if (p->failed && !p->writing) {
        nb_free(*array);
        *array = NULL;
    }
}

/* --- the child --- */

/** Default signal handlers, and death with the parent: the caller's handlers must not run here. */
static void reset_signals(void)
{
    struct sigaction action;
    sigset_t none;
    memset(&action, 0, sizeof action);
    for (int i = 1; i < NSIG; i++) {
        action.sa_handler = i == SIGINT || i == SIGTERM || i == SIGHUP ? SIG_IGN : SIG_DFL;
        (void)sigaction(i, &action, NULL);
    }
    sigemptyset(&none);
    (void)pthread_sigmask(SIG_SETMASK, &none, NULL);
}

static void limit(int resource, rlim_t most)
{
    struct rlimit now;
    if (getrlimit(resource, &now) != 0)
        return;
    now.rlim_cur = now.rlim_max < most ? now.rlim_max : most;
    (void)setrlimit(resource, &now);
}

/** No core file, no message of the C library about a damaged heap, and no longer life than the
 * parent. */
static void settle(pid_t parent)
{
    int null;
#ifdef __linux__
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (getppid() != parent)
        _exit(1);
    reset_signals();
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, BUSY_SECONDS);
    alarm(WAIT_SECONDS);
#ifndef __SANITIZE_ADDRESS__ /* sanitizers also report errors of our own code here */
    if ((null = open("/dev/null", O_WRONLY | O_CLOEXEC)) >= 0)
        (void)dup2(null, STDERR_FILENO);
#else
    (void)null;
#endif
}

/** Pipe and socket of a child; asks[2] are -1 without requests. */
static nb_status connect_both(int stays, int ends[2], int asks[2], nb_error *err)
{
    asks[0] = asks[1] = -1;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return nb_fail(err, NB_ERR_IO, "no pipe to a process that reads: %s",
                       strerror(errno));
    if (!stays || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, asks) == 0)
        return NB_OK;
    close(ends[0]);
    close(ends[1]);
    return nb_fail(err, NB_ERR_IO, "no socket to a process that reads: %s",
                   strerror(errno));
}

static void close_end(int fd)
{
    if (fd >= 0)
        close(fd);
}

nb_status nb_apart_fork(nb_apart *a, int stays, nb_error *err)
{
    const pid_t self = getpid();
    int ends[2], asks[2];
    sigset_t all, before;
    nb_status st = connect_both(stays, ends, asks, err);
    if (st)
        return st;
    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    a->child = fork();
    if (a->child == 0) {
        close(ends[0]);
        close_end(asks[0]);
        a->fd = ends[1];
        a->ask = asks[1];
        settle(self);
        return NB_OK;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    close_end(asks[1]);
    a->fd = ends[0];
    a->ask = asks[0];
    if (a->child > 0) {
#ifdef F_SETPIPE_SZ
        (void)fcntl(a->fd, F_SETPIPE_SZ, (int)PIPE_BYTES);
#endif
        return NB_OK;
    }
    close(a->fd);
    close_end(a->ask);
    return nb_fail(err, NB_ERR_NOMEM,
                   "no process to read an HDF5 file could be started: %s; the limit of "
                   "processes or of memory is reached",
                   strerror(errno));
}

/** Do one piece of work and pass its results; 0: they cannot be passed. */
static int do_work(const nb_apart *a, const nb_apart_task *task)
{
    nb_error err;
    nb_passage p = {a->fd, 1, NB_OK, 0, NULL};
    int mark = END_MARK;
    memset(&err, 0, sizeof err);
    err.code = task->work(task->user, &err);
    nb_pass(&p, &err, sizeof err);
    if (!err.code)
        task->pass(task->user, &p);
    nb_pass(&p, &mark, sizeof mark);
    return !p.failed;
}

/** Another piece of work has the same limits. */
static void begin_again(void)
{
    struct rusage used;
    if (getrusage(RUSAGE_SELF, &used) == 0)
        limit(RLIMIT_CPU,
              (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec + 1 + BUSY_SECONDS));
    alarm(WAIT_SECONDS);
}

void nb_apart_serve(const nb_apart *a, const nb_apart_task *task)
{
    int passed = 1;
    if (a->ask < 0)
        _exit(do_work(a, task) ? 0 : NOT_PASSED);
    alarm(0);
    while (passed && read_all(a->ask, task->request, task->request_bytes)) {
        task->clear(task->user); /* the parent has read all of it */
        begin_again();
        passed = do_work(a, task);
        alarm(0);
    }
    _exit(passed ? 0 : NOT_PASSED);
}

/* --- the parent --- */

/** Exit status of the child; 0 if another waiter took it. */
static int wait_for(pid_t child)
{
    int status = 0;
    pid_t got;
    do
        got = waitpid(child, &status, 0);
    while (got < 0 && errno == EINTR);
    return got == child ? status : 0;
}

/** Fill the error of a child that did not deliver its results; pipe_number: errno of the pipe,
 * EPIPE at its end. */
static nb_status died(const char *file, int status, int pipe_number, nb_error *err)
{
    const int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (pipe_number != EPIPE || (WIFEXITED(status) && WEXITSTATUS(status) == NOT_PASSED))
        return nb_fail_at(err, NB_ERR_IO, file, 0,
                          "what a process read of it was not handed over: %s",
                          strerror(pipe_number));
    if (number == SIGKILL)
        return nb_fail_at(err, NB_ERR_NOMEM, file, 0,
                          "the process that read it was killed: not enough memory?");
    if (number == SIGALRM || number == SIGXCPU)
        return nb_fail_at(err, NB_ERR_INPUT, file, 0,
                          "is damaged, or its disk does not answer: the HDF5 library was "
                          "still reading it after %d s",
                          (int)(number == SIGALRM ? WAIT_SECONDS : BUSY_SECONDS));
    return nb_fail_at(err, NB_ERR_INPUT, file, 0,
                      "is damaged, or the memory is full: the HDF5 library crashed while "
                      "reading it");
}

/** Read the results; 0: they did not arrive, and p says why. */
static int take_results(const nb_apart_task *task, nb_passage *p, nb_error *said)
{
    int mark = 0;
    nb_pass(p, said, sizeof *said);
    if (!p->failed && !said->code)
        task->pass(task->user, p);
    nb_pass(p, &mark, sizeof mark);
    return !p->failed && mark == END_MARK;
}

/** Wait for the child, whose results arrived or not. */
static nb_status finish(const nb_apart *a, const nb_apart_task *task, const nb_passage *p,
                        int arrived, nb_error *err)
{
    int status;
    close(a->fd); /* a child that still writes then ends */
    close_end(a->ask);
    status = wait_for(a->child);
    if (p->failed == NB_ERR_NOMEM)
        return p->failed;
    return arrived ? NB_OK : died(task->file, status, p->failed ? p->number : EPIPE, err);
}

/** What the child said. */
static nb_status pass_on(const nb_error *said, nb_error *err)
{
    if (said->code && err)
        *err = *said;
    return said->code;
}

nb_status nb_apart_take(const nb_apart *a, const nb_apart_task *task, nb_error *err)
{
    nb_error said;
    nb_passage p = {a->fd, 0, NB_OK, 0, err};
    const int arrived = take_results(task, &p, &said);
    nb_status st = finish(a, task, &p, arrived, err);
    return st ? st : pass_on(&said, err);
}

nb_status nb_apart_ask(const nb_apart *a, const nb_apart_task *task, int *alive,
                       nb_error *err)
{
    nb_error said;
    nb_passage p = {a->fd, 0, NB_OK, 0, err};
    ssize_t sent;
    do /* a few bytes, into an empty socket */
        sent = send(a->ask, task->request, task->request_bytes, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if ((*alive = take_results(task, &p, &said)))
        return pass_on(&said, err);
    return finish(a, task, &p, 0, err);
}

void nb_apart_end(const nb_apart *a)
{
    (void)kill(a->child, SIGKILL);
    close(a->fd);
    close_end(a->ask);
    (void)wait_for(a->child);
}
