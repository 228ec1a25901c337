/* SPDX-License-Identifier: MIT */
/** The limits of a comparison: `corr=0.9999,peaks=0.95,sum=0.001`. */
#ifndef NB_CLI_COMPARE_H
#define NB_CLI_COMPARE_H

#include <stdio.h>

#include "../nanobragg.h"

#define NB_THRESHOLD_KEYS 10
#define NB_THRESHOLD_DEFAULT "corr=0.9999,peaks=0.95,sum=0.001"

/** The limits that were set; by key. */
typedef struct nb_thresholds {
    int set[NB_THRESHOLD_KEYS];
    double limit[NB_THRESHOLD_KEYS];
} nb_thresholds;

/** One key measured. */
typedef struct nb_threshold_result {
    const char *key;
    int at_least; /* the value must be at least the limit, else at most */
    double limit, value;
    int passed;
} nb_threshold_result;

/** Parse a list, which replaces the limits; `none` sets no limit. Errors: NB_ERR_INPUT. */
nb_status nb_thresholds_parse(const char *text, nb_thresholds *out, nb_error *err);

/* --- A comparison as text and as JSON --- */

/** The compared files, for the report. */
typedef struct nb_compared {
    const char *a_name, *b_name;
    const char *a_format, *b_format;
    const nb_difference *difference;
    const nb_thresholds *thresholds;
    int passed;
} nb_compared;

#endif
