/* SPDX-License-Identifier: MIT */
/* The wheel alone: functions that newer versions of glibc have, in the form of older ones.  So it runs on systems with
 * glibc 2.34, as RHEL 9 (mk/python.mk). */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

#if defined(__GLIBC__) && defined(__x86_64__)
double nb_older_hypot(double x, double y);
__asm__(".symver nb_older_hypot, hypot@GLIBC_2.2.5");
double hypot(double x, double y);
__attribute__((visibility("hidden"))) double hypot(double x,
                                                   double y) /* 2.35 has another version */
{
    return nb_older_hypot(x, y);
}
#endif

uint32_t arc4random(void);
__attribute__((visibility("hidden"))) uint32_t arc4random(
    void) /* since 2.36; of the C++ library */
{
    uint32_t number;
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        abort();
    return number;
}
