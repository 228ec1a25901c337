/* SPDX-License-Identifier: MIT */
/* The wheel alone: functions that newer versions of glibc have, in the form of older ones.  So it runs on systems with
 * glibc 2.28, as RHEL 8 (mk/python.mk, mk/wheel_glibc.py).  The libraries of the wheel take them from its stubs. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>

#define INSIDE __attribute__((visibility("hidden")))

#if defined(__GLIBC__) && defined(__x86_64__)
#define FIRST "GLIBC_2.2.5"
#define STAT_VERSION 1
#elif defined(__GLIBC__) && defined(__aarch64__)
#define FIRST "GLIBC_2.17"
#define STAT_VERSION 0
#endif

#ifdef FIRST
double nb_first_hypot(double x, double y);
__asm__(".symver nb_first_hypot, hypot@" FIRST);
double hypot(double x, double y);
INSIDE double hypot(double x, double y) /* 2.35 has another version */
{
    return nb_first_hypot(x, y);
}

/* stat is a function since 2.33; it was inline, around these. */
int __xstat(int version, const char *path, struct stat *found);
int __fxstat(int version, int file, struct stat *found);
int __lxstat(int version, const char *path, struct stat *found);
__asm__(".symver __xstat, __xstat@" FIRST);
__asm__(".symver __fxstat, __fxstat@" FIRST);
__asm__(".symver __lxstat, __lxstat@" FIRST);

int stat(const char *restrict path, struct stat *restrict found)
{
    return __xstat(STAT_VERSION, path, found);
}

int fstat(int file, struct stat *found)
{
    return __fxstat(STAT_VERSION, file, found);
}

int lstat(const char *restrict path, struct stat *restrict found)
{
    return __lxstat(STAT_VERSION, path, found);
}

/* The same, as the C++ library calls them. */
__asm__(".globl stat64, fstat64, lstat64");
__asm__(".set stat64, stat; .set fstat64, fstat; .set lstat64, lstat");
#endif

extern char __libc_single_threaded;
INSIDE char __libc_single_threaded =
    0; /* since 2.32; of the C++ library: 0 is "perhaps not" */

uint32_t arc4random(void);
INSIDE uint32_t arc4random(void) /* since 2.36; of the C++ library */
{
    uint32_t number;
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        abort();
    return number;
}
