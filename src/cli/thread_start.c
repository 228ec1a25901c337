/* SPDX-License-Identifier: MIT */
/* OpenMP's library, which the program contains (Makefile), ends the program with a message of its own where a
 * thread does not start.  The library has tried before that enough can (base/threads.h); a start
 * that fails all the same is repeated for a while, as threads that just ended may still count. */
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "../nanobragg.h"
#include "common.h"

typedef int start_function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

/* The linker's names (--wrap=pthread_create). */
start_function __wrap_pthread_create;
__attribute__((weak)) start_function __real_pthread_create;

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*work)(void *), void *user)
{
    const struct timespec pause = {0, 1000000};
    int failed = __real_pthread_create(thread, attributes, work, user);
    if (!failed || !attributes) /* ours have none, and a way without the thread */
        return failed;
    for (int i = 0; failed && i < 100; i++) {
        nanosleep(&pause, NULL);
        failed = __real_pthread_create(thread, attributes, work, user);
    }
    if (failed) {
        nb_cli_say("error",
                   "no more threads can be started here (a limit of processes or "
                   "memory); type -threads 1");
        nb_remove_temporary_files();
        _exit(1);
    }
    return 0;
}
