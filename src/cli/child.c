/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* pipe2 */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "progress.h"
#include "common.h"

static nb_status fail(nb_error *err, const char *what, const char *name)
{
    int number = errno;
    memset(err, 0, sizeof *err);
    err->code = NB_ERR_IO;
    snprintf(err->message, sizeof err->message, "%s %.300s: %s", what, name,
             strerror(number));
    return err->code;
}

/** Runs in the child: only calls that are safe after fork. Does not return. An errno is
 * sent through the pipe; exec closes the pipe. */
static void become(char *const argv[], const char *folder, const int files[3],
                   int pipe_end)
{
    int number;
    for (int i = 0; i < 3; i++)
        if (dup2(files[i], i) < 0)
            goto failed;
    if (!chdir(folder))
        execvp(argv[0], argv);
failed:
    number = errno;
    if (write(pipe_end, &number, sizeof number) < 0)
        _exit(126);
    _exit(127);
}

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static nb_status await(pid_t child, int pipe_end, double start, nb_child_end *end,
                       nb_error *err)
{
    struct rusage used;
    int state, number = 0;
    ssize_t n;
    while ((n = read(pipe_end, &number, sizeof number)) < 0 && errno == EINTR)
        ;
    while (wait4(child, &state, 0, &used) < 0) {
        if (errno != EINTR)
            return fail(err, "cannot wait for", "the program");
        if (nb_stop_requested()) /* the signal may have been sent only to this process */
            kill(child, SIGTERM);
    }
    end->seconds = nb_clock() - start;
    end->user_seconds = seconds_of(used.ru_utime);
    end->system_seconds = seconds_of(used.ru_stime);
    end->peak_mib = (double)used.ru_maxrss / 1024;
    end->missing = n == (ssize_t)sizeof number ? number : 0;
    end->signal = WIFSIGNALED(state) ? WTERMSIG(state) : 0;
    end->exit_status = WIFEXITED(state) ? WEXITSTATUS(state) : 0;
    return NB_OK;
}

static nb_status start(char *const argv[], const char *folder, const int files[3],
                       nb_child_end *end, nb_error *err)
{
    int ends[2];
    double began;
    pid_t child;
    nb_status st;
    if (pipe2(ends, O_CLOEXEC))
        return fail(err, "cannot run", argv[0]);
    nb_wait_policy_forget();
    fflush(NULL);
    began = nb_clock();
    child = fork();
    if (child == 0)
        become(argv, folder, files, ends[1]);
    close(ends[1]);
    st = child < 0 ? fail(err, "cannot run", argv[0])
                   : await(child, ends[0], began, end, err);
    close(ends[0]);
    return st;
}

nb_status nb_child_run(char *const argv[], const char *folder, const char *output,
                       const char *errors, nb_child_end *end, nb_error *err)
{
    const int how = O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND;
    int files[3];
    nb_status st = NB_OK;
    memset(end, 0, sizeof *end);
    files[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    files[1] = open(output, how, 0666);
    files[2] = open(errors, how, 0666);
    if (files[0] < 0)
        st = fail(err, "cannot open", "/dev/null");
    else if (files[1] < 0)
        st = fail(err, "cannot write", output);
    else if (files[2] < 0)
        st = fail(err, "cannot write", errors);
    if (!st)
        st = start(argv, folder, files, end, err);
    for (int i = 0; i < 3; i++)
        if (files[i] >= 0)
            close(files[i]);
    return st;
}
