/* SPDX-License-Identifier: MIT */
/** Whether cJSON ran out of memory: it drops what it cannot allocate, and returns NULL for a text
 * that is wrong as for want of memory. */
#ifndef NB_CLI_JSON_MEMORY_H
#define NB_CLI_JSON_MEMORY_H

#include "../nanobragg.h"

/** Watch cJSON's allocations from here on.  For the program, not for a library: the hooks are those
 * of the whole process. */
void nb_json_watch(void);

/** NB_ERR_NOMEM, with a message that begins with `what`, if one of them failed since; the program
 * is to end then.  Else NB_OK. */
nb_status nb_json_memory(const char *what, nb_error *err);

#endif
