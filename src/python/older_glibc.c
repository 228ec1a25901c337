/* SPDX-License-Identifier: MIT */
/* Functions of newer versions of glibc that are made from older functions, for the wheel
 * and its stubs (mk/python.mk, mk/wheel_graft.py). So the wheel needs only glibc 2.28
 * (RHEL 8). */
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
INSIDE double hypot(double x, double y) /* glibc 2.35 has a new version of hypot */
{
    return nb_first_hypot(x, y);
}

/* stat is a function since glibc 2.33. Before that it was inline, and called these
 * functions. */
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

/* The names that the C++ library calls. */
__asm__(".globl stat64, fstat64, lstat64");
__asm__(".set stat64, stat; .set fstat64, fstat; .set lstat64, lstat");
#endif

extern char __libc_single_threaded;
INSIDE char __libc_single_threaded =
    0; /* new in glibc 2.32; the C++ library reads it. 0: threads may exist */

uint32_t arc4random(void);
INSIDE uint32_t arc4random(void) /* new in glibc 2.36; the C++ library calls it */
{
    uint32_t number;
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        abort();
    return number;
}
