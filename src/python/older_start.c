/* SPDX-License-Identifier: MIT */
/* Start of the wheel's program with older versions of glibc; see older_glibc.c. */
#include <stdlib.h> /* defines __GLIBC__ */

#if defined(__GLIBC__) && (defined(__x86_64__) || defined(__aarch64__))
#ifdef __x86_64__
#define FIRST "GLIBC_2.2.5"
#else
#define FIRST "GLIBC_2.17"
#endif

typedef int main_call(int count, char **words, char **environment);
int nb_first_start(main_call *run, int count, char **words, main_call *begin,
                   void (*end)(void), void (*loader_end)(void), void *stack);
__asm__(".symver nb_first_start, __libc_start_main@" FIRST);
/* the linker defines these */
extern main_call *const __init_array_start[], *const __init_array_end[];

static int construct(int count, char **words, char **environment)
{
    for (main_call *const *call = __init_array_start; call < __init_array_end; call++)
        (*call)(count, words, environment);
    return 0;
}

/* glibc before 2.34 calls the constructors of a program by `begin`. A program linked with
 * a later glibc passes null; the later glibc then calls the constructors itself. */
int __libc_start_main(main_call *run, int count, char **words, main_call *begin,
                      void (*end)(void), void (*loader_end)(void), void *stack);
__attribute__((visibility("hidden"))) int __libc_start_main(main_call *run, int count,
                                                            char **words, main_call *begin,
                                                            void (*end)(void),
                                                            void (*loader_end)(void),
                                                            void *stack)
{
    (void)begin;
    return nb_first_start(run, count, words, construct, end, loader_end, stack);
}
#endif
