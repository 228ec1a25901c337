/* SPDX-License-Identifier: MIT */
/** Build JSON with cJSON; exhausted memory is reported once, at the end. */
#ifndef NB_API_JSON_NODE_H
#define NB_API_JSON_NODE_H

#include <cjson/cJSON.h>

#include "sim.h"

/** An object or an array, and the flag for exhausted memory. */
typedef struct nb_json {
    cJSON *json;
    int *failed;
} nb_json;

nb_json nb_json_object(nb_json to, const char *key);
nb_json nb_json_array(nb_json to, const char *key);
/** A new object at the end of an array. */
nb_json nb_json_add_object(nb_json to);
void nb_json_add_text(nb_json to, const char *value);
void nb_json_text(nb_json to, const char *key, const char *value);
void nb_json_flag(nb_json to, const char *key, int value);
/** 17 digits; null if it is not finite. */
void nb_json_number(nb_json to, const char *key, double value);
void nb_json_numbers(nb_json to, const char *key, const double *v, int n);

/** The same at the end of an array. */
void nb_json_add_numbers(nb_json to, const double *v, int n);

/** Print and delete the tree. Free *text with nb_free. Errors: NB_ERR_NOMEM, with the name
 * of the object; also if an earlier call failed. */
nb_status nb_json_print(nb_json root, const char *what, char **text, nb_error *err);

/** The resolved configuration, into an object. */
void nb_sim_config_node(const nb_sim *sim, nb_json root);
/** How the structure factors were made, under "structure_factors"; nothing when they are read. */
void nb_sim_factors_node(const nb_sim *sim, nb_json root);
/** Every parameter that differs from its default (typed, or from a header), without the names of
 * the files that are written. */
void nb_sim_parameters_node(const nb_sim *sim, nb_json root);

#endif
