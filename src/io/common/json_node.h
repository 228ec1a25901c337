/* SPDX-License-Identifier: MIT */
/** A tree of JSON that is being made; exhausted memory is reported once, at the end. */
#ifndef NB_IO_COMMON_JSON_NODE_H
#define NB_IO_COMMON_JSON_NODE_H

#include <cjson/cJSON.h>
#include <stddef.h>
#include <stdint.h>

#include "../../nanobragg.h"
#include "../../physics/vec3.h"

/** An object or an array, and the flag for exhausted memory. */
typedef struct nb_json {
    cJSON *json;
    int *failed;
} nb_json;

nb_json nb_json_object(nb_json to, const char *key);
nb_json nb_json_array(nb_json to, const char *key);
/** A member of an object. */
nb_json nb_json_at(nb_json of, const char *key);
/** A new object at the end of an array. */
nb_json nb_json_add_object(nb_json to);
void nb_json_add_text(nb_json to, const char *value);
void nb_json_text(nb_json to, const char *key, const char *value);
void nb_json_flag(nb_json to, const char *key, int value);
/** 17 digits; null if it is not finite. */
void nb_json_number(nb_json to, const char *key, double value);
void nb_json_whole(nb_json to, const char *key, int64_t value);
void nb_json_numbers(nb_json to, const char *key, const double *v, int n);
void nb_json_vector(nb_json to, const char *key, double scale, nb_vec3 v);

/** The same at the end of an array. */
void nb_json_add_numbers(nb_json to, const double *v, int n);
void nb_json_add_number(nb_json to, double value);

/** Write the numbers of a tree as digits, of which cJSON would print 15 or 17.  Returns 0 if memory is exhausted. */
int nb_json_write_numbers(cJSON *tree);
/** Print and delete the tree. Free *text with nb_free. Errors: NB_ERR_NOMEM, with the name
 * of the object; also if an earlier call failed. */
nb_status nb_json_print(nb_json root, const char *what, char **text, nb_error *err);

/* --- Text that grows --- */

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
