/* SPDX-License-Identifier: MIT */
/** Objects with counted references: the last holder frees them. */
#ifndef NB_BASE_SHARED_H
#define NB_BASE_SHARED_H

#include <stddef.h>

#include "../nanobragg.h"

/** Make a zeroed object with one holder. clear frees what the object owns, before its own
 * memory; NULL: it owns nothing. `what` names it in the message. Errors: NULL, and
 * NB_ERR_NOMEM in err. */
void *nb_shared_new(size_t bytes, void (*clear)(void *object), const char *what,
                    nb_error *err);

/** Make a copy of `bytes` bytes with one holder. NULL gives NULL, without an error. */
void *nb_shared_copy(const void *from, size_t bytes, const char *what, nb_error *err);

/** Add a holder. Returns object. NULL is allowed. From any thread. */
void *nb_shared_hold(const void *object);

/** Is there one holder alone?  The holder asks. */
int nb_shared_is_own(const void *object);

/** Remove a holder. NULL is allowed. From any thread. */
void nb_shared_drop(const void *object);

#endif
