/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE /* declares madvise */
#include "memory.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "error.h"

#ifndef NB_ALLOC_MAX /* small in fuzzing builds */
#define NB_ALLOC_MAX (SIZE_MAX / 2)
#endif

/* If it is n > 0, the nth allocation from now fails; 0: no failure. Only tests set it. */
static atomic_long fail_countdown;

void nb_alloc_fail_after(long n)
{
    atomic_store(&fail_countdown, n);
}

static int told_to_fail(void)
{
    if (atomic_load_explicit(&fail_countdown, memory_order_relaxed) <= 0)
        return 0;
    return atomic_fetch_sub(&fail_countdown, 1) == 1;
}

int nb_size_mul(size_t a, size_t b, size_t *product)
{
    return !__builtin_mul_overflow(a, b, product);
}

void *nb_alloc_raw(size_t count, size_t size, const char *what, nb_error *err)
{
    size_t bytes;
    void *memory;
    if (!nb_size_mul(count, size, &bytes) || bytes > NB_ALLOC_MAX) {
        nb_fail(err, NB_ERR_NOMEM, "size overflow (%zu x %zu bytes for %s)", count, size,
                what);
        return NULL;
    }
    if (bytes == 0)
        bytes = 1;
    if (told_to_fail() || posix_memalign(&memory, 64, bytes) != 0) {
        nb_fail_memory(err, bytes, what);
        return NULL;
    }
    return memory;
}

void *nb_alloc(size_t count, size_t size, const char *what, nb_error *err)
{
    void *memory = nb_alloc_raw(count, size, what, err);
    if (memory)
        memset(memory, 0, count * size);
    return memory;
}

void *nb_alloc_large(size_t count, size_t size, const char *what, nb_error *err)
{
    void *memory = nb_alloc_raw(count, size, what, err);
#ifdef MADV_HUGEPAGE
    const uintptr_t large = (uintptr_t)2 << 20, begin = (uintptr_t)memory;
    const uintptr_t from = (begin + large - 1) / large * large;
    const uintptr_t to = (begin + count * size) / large * large;
    if (memory && from < to)
        (void)madvise((char *)memory + (from - begin), to - from, MADV_HUGEPAGE);
#endif
    return memory;
}

nb_status nb_grow(void *list, size_t used, size_t room, size_t size, const char *what,
                  nb_error *err)
{
    void *larger = nb_alloc_raw(room, size, what, err), *old;
    if (!larger)
        return NB_ERR_NOMEM;
    memcpy(&old, list, sizeof old);
    if (used)
        memcpy(larger, old, used * size);
    nb_free(old);
    memcpy(list, &larger, sizeof larger);
    return NB_OK;
}

nb_status nb_reserve(void *list, size_t used, size_t *room, size_t size, const char *what,
                     nb_error *err)
{
    const size_t more = *room ? 2 * *room : 64;
    if (used < *room)
        return NB_OK;
    if (nb_grow(list, *room ? used : 0, more, size, what, err))
        return NB_ERR_NOMEM;
    *room = more;
    return NB_OK;
}

char *nb_strdup(const char *text, nb_error *err)
{
    size_t n = strlen(text) + 1;
    char *copy = nb_alloc_raw(n, 1, "text", err);
    if (copy)
        memcpy(copy, text, n);
    return copy;
}

void nb_memory_trim(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

void nb_free(void *memory)
{
    free(memory);
}
