/* SPDX-License-Identifier: MIT */
#include "threads.h"

#include <pthread.h>

static void *wait_at(void *gate)
{
    pthread_mutex_lock(gate);
    pthread_mutex_unlock(gate);
    return NULL;
}

/** Returns how many of `wanted` threads the system can start now. */
static int try_threads(int wanted)
{
    enum { LIMIT = 1024 };
    pthread_t threads[LIMIT];
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    int started = 0;
    pthread_mutex_lock(&gate);
    while (started < wanted && started < LIMIT &&
           !pthread_create(&threads[started], NULL, wait_at, &gate))
        started++;
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    return started < LIMIT ? started : wanted;
}

int nb_threads_there(int wanted)
{
    static _Thread_local int known = 1;
    int there;
    if (wanted <= known)
        return wanted;
    /* one more than OpenMP starts, because some threads may end late */
    there = try_threads(wanted);
    if (there == wanted)
        known = wanted;
    return there == wanted ? wanted : there > 3 ? there / 2 : 1;
}

int nb_thread_count(int asked)
{
#ifdef _OPENMP
    int n = nb_threads_asked(asked), limit = nb_max_threads();
    return nb_threads_there(n < limit ? n : limit);
#else
    (void)asked;
    return 1;
#endif
}
