/* SPDX-License-Identifier: MIT */
/* libgomp keeps a team of threads for the next parallel region. A forked child has the
 * list of this team but not its threads, and would wait for them without end. So a thread
 * that forks first ends its team. Parent and child start new teams when they need
 * them. */
#include "stop.h"

#include <pthread.h>
#include <stdatomic.h>

#if defined(_OPENMP) && !defined(__clang__) /* LLVM's OpenMP library does this itself */
#include <omp.h>
#define NB_ENDS_TEAM 1
#endif

/* device_used: 1 if this process uses a device; device_lost: 1 if its parent did */
static atomic_int device_used, device_lost;

static void before(void)
{
#ifdef NB_ENDS_TEAM
    (void)omp_pause_resource_all(omp_pause_soft);
#endif
}

static void in_child(void)
{
    atomic_store(&device_lost, atomic_load(&device_used));
}

__attribute__((constructor)) static void watch(void)
{
    (void)pthread_atfork(before, NULL, in_child);
}

void nb_fork_uses_device(void)
{
    atomic_store(&device_used, 1);
}

int nb_fork_lost_device(void)
{
    return atomic_load(&device_lost);
}
