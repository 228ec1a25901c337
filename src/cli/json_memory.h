/* SPDX-License-Identifier: MIT */
/** Did cJSON run out of memory? It drops items that it cannot allocate. It returns NULL for
 * a wrong text and also if memory is exhausted. */
#ifndef NB_CLI_JSON_MEMORY_H
#define NB_CLI_JSON_MEMORY_H

#include "../nanobragg.h"

/** Watch cJSON's allocations from now on. For the program, not for a library: the hooks
 * belong to the whole process. */
void nb_json_watch(void);

/** NB_ERR_NOMEM, with a message that begins with `what`, if an allocation failed since; the
 * program must then end. Else NB_OK. */
nb_status nb_json_memory(const char *what, nb_error *err);

#endif
