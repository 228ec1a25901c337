/* SPDX-License-Identifier: MIT */
/** Building JSON with cJSON so that memory that runs out is noted once, at the end. */
#ifndef NB_API_JSON_NODE_H
#define NB_API_JSON_NODE_H

#ifdef NB_HAVE_CJSON
#include <cjson/cJSON.h>

#include "sim.h"

/** An object or an array, and where it is noted that memory ran out. */
typedef struct nb_json {
    cJSON *json;
    int *failed;
} nb_json;

nb_json nb_json_object(nb_json to, const char *key);
nb_json nb_json_array(nb_json to, const char *key);
/** Another object at the end of an array. */
nb_json nb_json_add_object(nb_json to);
void nb_json_add_text(nb_json to, const char *value);
void nb_json_text(nb_json to, const char *key, const char *value);
void nb_json_flag(nb_json to, const char *key, int value);
/** 17 digits; null if it is not finite. */
void nb_json_number(nb_json to, const char *key, double value);
void nb_json_numbers(nb_json to, const char *key, const double *v, int n);

/** Print and delete the tree; *text is the caller's (nb_free).  Errors: NB_ERR_NOMEM, which says
 * for what; also when something failed before. */
nb_status nb_json_print(nb_json root, const char *what, char **text, nb_error *err);

/** What nb_sim_config_json prints, into an object. */
void nb_sim_config_node(const nb_sim *sim, nb_json root);

#endif

#endif
