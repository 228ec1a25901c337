/* SPDX-License-Identifier: MIT */
/** Checked sizes and aligned memory.  Everything here is released with nb_free (free). */
#ifndef NB_BASE_MEMORY_H
#define NB_BASE_MEMORY_H

#include "../nanobragg.h"

/** a*b into *product; 0 when it does not fit in size_t. */
int nb_size_mul(size_t a, size_t b, size_t *product);

/** count*size bytes, 64-byte aligned, zeroed; NULL and err filled (NB_ERR_NOMEM) on overflow or
 * exhaustion.  count or size 0 gives a valid pointer.  `what` names it in the message. */
void *nb_alloc(size_t count, size_t size, const char *what, nb_error *err);

/** As nb_alloc, not zeroed. */
void *nb_alloc_raw(size_t count, size_t size, const char *what, nb_error *err);

/** As nb_alloc_raw, in large pages if the system has them; for images and large tables. */
void *nb_alloc_large(size_t count, size_t size, const char *what, nb_error *err);

/** Give *list (a pointer; or NULL) memory for `room` items of `size` bytes, not zeroed, with the first `used` of its own.
 * Errors: NB_ERR_NOMEM, as nb_alloc; *list is as before then. */
nb_status nb_grow(void *list, size_t used, size_t room, size_t size, const char *what,
                  nb_error *err);

/** nb_grow, if there is no room for item number `used`: to twice the room, at least 64; *room counts the items. */
nb_status nb_reserve(void *list, size_t used, size_t *room, size_t size, const char *what,
                     nb_error *err);

/** A copy of a string; NULL and err filled if memory is exhausted. */
char *nb_strdup(const char *text, nb_error *err);

/** Return freed memory to the system, if the C library can (glibc); it may take a
 * millisecond. For memory that is needed rarely. */
void nb_memory_trim(void);

/** The nth allocation from now (1 = the next) fails, once; 0 switches off.  For tests. */
void nb_alloc_fail_after(long n);

/* --- Memory of the machine --- */

/** Memory that is free without swapping, bytes; INFINITY if /proc/meminfo cannot be read. */
double nb_free_memory(void);
/** All memory of the machine, bytes; INFINITY if it is unknown. */
double nb_machine_memory(void);

#endif
