/* SPDX-License-Identifier: MIT */
/** Build a tree of JSON. Memory may run out in any call; nb_json_print, the last call,
 * reports it. */
#ifndef NB_IO_COMMON_JSON_NODE_H
#define NB_IO_COMMON_JSON_NODE_H

#include <cjson/cJSON.h>
#include <stddef.h>
#include <stdint.h>

#include "../../nanobragg.h"
#include "../../physics/vec3.h"

/** An object or an array. *failed becomes 1 if memory is exhausted. */
typedef struct nb_json {
    cJSON *json;
    int *failed;
} nb_json;

nb_json nb_json_object(nb_json to, const char *key);
nb_json nb_json_array(nb_json to, const char *key);
/** Find a member of an object. */
nb_json nb_json_at(nb_json of, const char *key);
/** Add a new object at the end of an array. */
nb_json nb_json_add_object(nb_json to);
void nb_json_add_text(nb_json to, const char *value);
void nb_json_text(nb_json to, const char *key, const char *value);
void nb_json_flag(nb_json to, const char *key, int value);
/** Add a number, printed with up to 17 digits; null if the number is not finite. */
void nb_json_number(nb_json to, const char *key, double value);
void nb_json_whole(nb_json to, const char *key, int64_t value);
void nb_json_numbers(nb_json to, const char *key, const double *v, int n);
void nb_json_vector(nb_json to, const char *key, double scale, nb_vec3 v);

/** Add numbers v[n] at the end of an array. */
void nb_json_add_numbers(nb_json to, const double *v, int n);
void nb_json_add_number(nb_json to, double value);

/** Replace numbers by their shortest exact texts; returns 0 if memory is exhausted. */
int nb_json_write_numbers(cJSON *tree);
/** Print and delete the tree. Free *text with nb_free. Errors: NB_ERR_NOMEM, also if an
 * earlier call failed. what: name of the tree in the message. */
nb_status nb_json_print(nb_json root, const char *what, char **text, nb_error *err);

/* --- Text that grows --- */

/** A text. A struct of zeros is an empty text. */
typedef struct nb_draft {
    char *data; /* owned (nb_free), without a NUL */
    size_t n, room;
    /* 1: data is incomplete, because memory was exhausted or a piece was too long */
    int failed;
} nb_draft;

void nb_draft_bytes(nb_draft *t, const char *bytes, size_t n);
/** Append a formatted text of less than 8192 bytes. */
void nb_draft_put(nb_draft *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
