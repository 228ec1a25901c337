/* SPDX-License-Identifier: MIT */
/** Text that grows. */
#ifndef NB_IO_DRAFT_H
#define NB_IO_DRAFT_H

#include <stddef.h>

/** All zero is an empty one. */
typedef struct nb_draft {
    char *data; /* owned (nb_free), without a NUL */
    size_t n, room;
    int failed; /* no memory, or a piece that is too long: data is not whole */
} nb_draft;

void nb_draft_bytes(nb_draft *t, const char *bytes, size_t n);
/** Less than 8192 bytes in one call. */
void nb_draft_put(nb_draft *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
