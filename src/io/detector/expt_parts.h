/* SPDX-License-Identifier: MIT */
/** A place in a JSON text, with its pointer (RFC 6901) for messages.  For expt*.c alone. */
#ifndef NB_IO_EXPT_PARTS_H
#define NB_IO_EXPT_PARTS_H

#include <cjson/cJSON.h>

#include "../../nanobragg.h"
#include "../common/panel_spec.h"
#include "expt.h"

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
/** A finite number of a member; without it *value stays. */
nb_status nb_node_optional(const nb_node *node, const char *key, double *value,
                           nb_error *err);
/** The same of a member, which must be there. */
nb_status nb_node_member_numbers(const nb_node *node, const char *key, int n,
                                 double *values, nb_error *err);

/** The parts of an experiment.  For expt*.c alone. */

/** An array of models. */
typedef struct nb_expt_table {
    nb_node list;
    const cJSON **item; /* owned; [n], its elements; NULL: look for each in the list */
    int n;              /* -1: it is none */
} nb_expt_table;

/** The element of the table that member `key` of the experiment names; json NULL: none. */
nb_status nb_expt_model_of(const nb_expt_table *table, const nb_node *experiment,
                           const char *key, nb_node *out, nb_error *err);

/** The element of the array /KEY that member `key` of the experiment names; json NULL: none. */
nb_status nb_expt_model(const nb_node *root, const nb_node *experiment, const char *key,
                        nb_node *out, nb_error *err);

/** An experiment, and the image of it that was named. */
typedef struct nb_expt_choice {
    nb_node experiment;
    int number;
    int has_images; /* it belongs to measured images */
    int image;      /* its number, as in image_range; 0: none is named */
} nb_expt_choice;

/** The experiment that is typed by its number or by the name of an image. */
nb_status nb_expt_choose(const nb_node *root, const nb_geometry_typed *typed,
                         const nb_hooks *hooks, nb_expt_choice *out, nb_error *err);

/** The experiment of each image; image is 0 where none has it.  of->count choices. */
nb_status nb_expt_find(const nb_node *root, const nb_expt_names *of, nb_expt_choice *out,
                       nb_error *err);

/** The first number of image_range; 1 without. */
int nb_expt_first_image(const nb_node *scan);
/** How many images a scan has; 0: it does not say. */
int nb_expt_images(const nb_node *scan);

/** Models that may change with the scan. */
typedef struct nb_expt_varying {
    nb_node beam, goniometer, scan, crystal;
    double S[9]; /* the goniometer's setting rotation */
    const nb_hooks *hooks;
} nb_expt_varying;

/** The scan, and what changes along it: out->scan, whose phi_deg and osc_deg are read.  A: of the crystal, before the
 * goniometer; of one that changes that in the middle of the scan afterwards. */
nb_status nb_expt_scan_points(const nb_expt_varying *of, nb_detector_spec *out,
                              double A[9], nb_error *err);

/** The panels of a detector, their hierarchy multiplied out.  *out is zero after an error. */
nb_status nb_expt_detector(const nb_node *detector, nb_detector_spec *out, nb_error *err);

#endif
