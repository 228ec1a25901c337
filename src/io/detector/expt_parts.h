/* SPDX-License-Identifier: MIT */
/** A place in a JSON text, with its pointer (RFC 6901) for messages. Only for expt*.c. */
#ifndef NB_IO_EXPT_PARTS_H
#define NB_IO_EXPT_PARTS_H

#include <cjson/cJSON.h>

#include "../../nanobragg.h"
#include "../common/panel_spec.h"
#include "expt.h"

typedef struct nb_node {
    const char *file;
    const cJSON *json; /* NULL if the place is missing */
    char pointer[120];
} nb_node;

/** Member or element of a node; json is NULL if it is missing. */
nb_node nb_node_member(const nb_node *node, const char *key);
nb_node nb_node_element(const nb_node *node, int i);

/** Make the node of `item`, which is element i of the array `node`. */
nb_node nb_node_item(const nb_node *node, const cJSON *item, int i);

/** True if the member exists and is not null. */
int nb_node_has(const nb_node *node, const char *key);

nb_status nb_node_fail(const nb_node *node, const char *what, nb_error *err);

/** Number of elements of an array; -1 if the node is no array. */
int nb_node_count(const nb_node *node);

/** Read a finite number. */
nb_status nb_node_number(const nb_node *node, double *value, nb_error *err);
/** Read a whole number from low to high. */
nb_status nb_node_whole(const nb_node *node, int low, int high, int *value, nb_error *err);
/** Read an array of exactly n finite numbers. */
nb_status nb_node_numbers(const nb_node *node, int n, double *values, nb_error *err);
/** Read a finite number from a member; *value does not change if the member is
 * missing. */
nb_status nb_node_optional(const nb_node *node, const char *key, double *value,
                           nb_error *err);
/** Read exactly n finite numbers from a member, which must exist. */
nb_status nb_node_member_numbers(const nb_node *node, const char *key, int n,
                                 double *values, nb_error *err);

/* --- The parts of an experiment --- */

/** An array of models. */
typedef struct nb_expt_table {
    nb_node list;
    const cJSON **item; /* owned; [n]: the elements, or NULL to search the list */
    int n;              /* -1 if the list is no array */
} nb_expt_table;

/** Find the model with the number experiment[key]; out->json is NULL without this key. */
nb_status nb_expt_model_of(const nb_expt_table *table, const nb_node *experiment,
                           const char *key, nb_node *out, nb_error *err);

/** Find the model in the array /KEY of the root, like nb_expt_model_of. */
nb_status nb_expt_model(const nb_node *root, const nb_node *experiment, const char *key,
                        nb_node *out, nb_error *err);

/** An experiment, and the named image. */
typedef struct nb_expt_choice {
    nb_node experiment;
    int number;
    int has_images; /* 1: the experiment belongs to measured images */
    int image;      /* number of the named image, as in image_range; 0 without a name */
} nb_expt_choice;

/** Choose the experiment that was typed as a number or as the name of an image. */
nb_status nb_expt_choose(const nb_node *root, const nb_geometry_typed *typed,
                         const nb_hooks *hooks, nb_expt_choice *out, nb_error *err);

/** Find the experiment of each image; out[of->count]. out[i].image is 0 if not found. */
nb_status nb_expt_find(const nb_node *root, const nb_expt_names *of, nb_expt_choice *out,
                       nb_error *err);

/** First number of image_range; 1 without image_range. */
int nb_expt_first_image(const nb_node *scan);
/** Number of images of a scan; 0 without image_range. */
int nb_expt_images(const nb_node *scan);

/** Models that may change with the scan. */
typedef struct nb_expt_varying {
    nb_node beam, goniometer, scan, crystal;
    double S[9]; /* the goniometer's setting rotation */
    const nb_hooks *hooks;
} nb_expt_varying;

/** Fill out->scan with the models that change along the scan; *out has phi_deg, osc_deg.
 * A: matrix of the crystal without goniometer; A at mid-scan replaces it if A changes. */
nb_status nb_expt_scan_points(const nb_expt_varying *of, nb_detector_spec *out,
                              double A[9], nb_error *err);

/** Read the panels of a detector with their hierarchy. *out is zero after an error. */
nb_status nb_expt_detector(const nb_node *detector, nb_detector_spec *out, nb_error *err);

#endif
