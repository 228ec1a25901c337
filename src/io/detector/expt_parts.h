/* SPDX-License-Identifier: MIT */
/** A place in a JSON text, with its pointer (RFC 6901) for messages.  For expt*.c alone. */
#ifndef NB_IO_EXPT_PARTS_H
#define NB_IO_EXPT_PARTS_H

#include <cjson/cJSON.h>

#include "../../nanobragg.h"
#include "../common/panel_spec.h"

typedef struct nb_node {
    const char *file;
    const cJSON *json; /* NULL: not there */
    char pointer[120];
} nb_node;

/** Member or element of a node; json is NULL where there is none. */
nb_node nb_node_member(const nb_node *node, const char *key);
nb_node nb_node_element(const nb_node *node, int i);

/** An element that was found before, number i. */
nb_node nb_node_item(const nb_node *node, const cJSON *item, int i);

/** Is the member there, and not null? */
int nb_node_has(const nb_node *node, const char *key);

nb_status nb_node_fail(const nb_node *node, const char *what, nb_error *err);

/** Elements of an array; -1: it is none. */
int nb_node_count(const nb_node *node);

/** A finite number. */
nb_status nb_node_number(const nb_node *node, double *value, nb_error *err);
/** A whole number from low to high. */
nb_status nb_node_whole(const nb_node *node, int low, int high, int *value, nb_error *err);
/** An array of exactly n finite numbers. */
nb_status nb_node_numbers(const nb_node *node, int n, double *values, nb_error *err);
/** The same of a member, which must be there. */
nb_status nb_node_member_numbers(const nb_node *node, const char *key, int n,
                                 double *values, nb_error *err);

/** The parts of an experiment.  For expt*.c alone. */

/** The panels of a detector, their hierarchy multiplied out.  *out is zero after an error. */
nb_status nb_expt_detector(const nb_node *detector, nb_detector_spec *out, nb_error *err);

#endif
