/* SPDX-License-Identifier: MIT */
#include "wait_policy.h"

#include <stdlib.h>
#include <string.h>

#define NAME "OMP_WAIT_POLICY"

/* Part of the environment while it is set; putenv makes no copy and takes no const. */
static char passive[] = NAME "=passive";

/** Runs before OpenMP reads the environment, which it does once. libgomp reads it in a
 * constructor of default priority. That constructor runs after this one because the program
 * contains libgomp (Makefile). clang's library reads it when threads are first needed. */
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
