/* SPDX-License-Identifier: MIT */
/* OpenMP's library, which the program contains (Makefile), ends the program with a message of its
 * own where a thread does not start or memory is not there. The library has tried before that
 * enough threads can start (base/threads.h); a start that fails all the same is repeated for a
 * while, as threads that just ended may still count. The linker redirects both calls to this file
 * (--wrap). */
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "../nanobragg.h"
#include "common.h"

typedef int start_function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

start_function __wrap_pthread_create;
__attribute__((weak)) start_function __real_pthread_create;
__attribute__((noreturn, format(printf, 1, 2))) void __wrap_gomp_fatal(const char *format,
                                                                       ...);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*work)(void *), void *user)
{
    const struct timespec moment = {0, 1000000};
    int failed = __real_pthread_create(thread, attributes, work, user);
    if (!attributes) /* our own threads have none, and can work without the thread */
        return failed;
    for (int i = 0; failed && i < 100; i++) {
        nanosleep(&moment, NULL);
        failed = __real_pthread_create(thread, attributes, work, user);
    }
    return failed;
}

void __wrap_gomp_fatal(const char *format, ...)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    char why[200], line[300];
    va_list args;
    while (atomic_flag_test_and_set(&told)) /* another thread is ending the program */
        pause();
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    snprintf(line, sizeof line,
             "threads need more than there is here (%s); type -threads 1", why);
    nb_cli_say("error", line);
    nb_remove_temporary_files();
    _exit(1);
}
