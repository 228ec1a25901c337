/* SPDX-License-Identifier: MIT */
#include "wait_policy.h"

#include <stdlib.h>
#include <string.h>

#define NAME "OMP_WAIT_POLICY"

/* Part of the environment while ours; putenv takes no copy and wants no const. */
static char passive[] = NAME "=passive";

/** Before OpenMP's own start, which reads the environment once: libgomp in a constructor of default
 * priority, which comes after this one because the program holds libgomp (Makefile); clang's when
 * threads are first wanted. */
__attribute__((constructor(101))) static void choose(void)
{
    if (!getenv(NAME) && !getenv("GOMP_SPINCOUNT") && !getenv("KMP_BLOCKTIME"))
        (void)putenv(passive);
}

void nb_wait_policy_forget(void)
{
    if (getenv(NAME) == strchr(passive, '=') + 1)
        (void)unsetenv(NAME);
}
