/* SPDX-License-Identifier: MIT */
#include "store.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "memory.h"

/** Header in front of each object. */
typedef struct head {
    atomic_int holders;
    void (*clear)(void *object);
    max_align_t object[];
} head;

static head *head_of(const void *object)
{
    return (head *)((char *)object - offsetof(head, object));
}

void *nb_shared_new(size_t bytes, void (*clear)(void *object), const char *what,
                    nb_error *err)
{
    head *h = bytes > SIZE_MAX - sizeof *h ? nb_alloc(SIZE_MAX, 2, what, err)
                                           : nb_alloc(1, sizeof *h + bytes, what, err);
    if (!h)
        return NULL;
    atomic_init(&h->holders, 1);
    h->clear = clear;
    return h->object;
}

void *nb_shared_copy(const void *from, size_t bytes, const char *what, nb_error *err)
{
    void *to = from ? nb_shared_new(bytes, NULL, what, err) : NULL;
    if (to)
        memcpy(to, from, bytes);
    return to;
}

void *nb_shared_hold(const void *object)
{
    if (object)
        atomic_fetch_add(&head_of(object)->holders, 1);
    return (void *)object;
}

int nb_shared_is_own(const void *object)
{
    return atomic_load(&head_of(object)->holders) == 1;
}

void nb_shared_drop(const void *object)
{
    head *h = object ? head_of(object) : NULL;
    if (!h || atomic_fetch_sub(&h->holders, 1) > 1)
        return;
    if (h->clear)
        h->clear(h->object);
    nb_free(h);
}
