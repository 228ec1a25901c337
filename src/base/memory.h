/* SPDX-License-Identifier: MIT */
/** Checked sizes and aligned memory.  Everything here is released with nb_free (free). */
#ifndef NB_BASE_MEMORY_H
#define NB_BASE_MEMORY_H

#include "../nanobragg.h"

/** Set *product to a*b.  Returns 0 if it does not fit in size_t. */
int nb_size_mul(size_t a, size_t b, size_t *product);

/** Allocate count*size bytes, 64-byte aligned, zeroed; count or size 0 is valid. NULL and
 * NB_ERR_NOMEM in err on overflow or exhaustion; `what`: for the message. */
void *nb_alloc(size_t count, size_t size, const char *what, nb_error *err);

/** Allocate as nb_alloc, not zeroed. */
void *nb_alloc_raw(size_t count, size_t size, const char *what, nb_error *err);

/** Allocate as nb_alloc_raw, in large pages if possible; for images and large tables. */
void *nb_alloc_large(size_t count, size_t size, const char *what, nb_error *err);

/** Move *list (or NULL) to memory for `room` items of `size` bytes. The first `used`
 * items are kept; the others are not zeroed. Errors: NB_ERR_NOMEM; *list is unchanged. */
nb_status nb_grow(void *list, size_t used, size_t room, size_t size, const char *what,
                  nb_error *err);

/** Make room for one more item: if *room items are used, double *room (at first 64). */
nb_status nb_reserve(void *list, size_t used, size_t *room, size_t size, const char *what,
                     nb_error *err);

/** Copy a string.  If memory is exhausted, returns NULL with NB_ERR_NOMEM in err. */
char *nb_strdup(const char *text, nb_error *err);

/** Return freed memory to the system, if the C library can (glibc); this may take a
 * millisecond. For memory that is rarely needed. */
void nb_memory_trim(void);

/** The nth allocation from now (1 = the next) fails, once; 0 switches off.  For tests. */
void nb_alloc_fail_after(long n);

/* --- Memory of the machine --- */

/** Memory that is free without swapping, bytes; INFINITY without /proc/meminfo. */
double nb_free_memory(void);
/** All memory of the machine, bytes; INFINITY if it is unknown. */
double nb_machine_memory(void);

#endif
