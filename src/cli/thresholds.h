/* SPDX-License-Identifier: MIT */
/** The limits of a comparison: `corr=0.9999,peaks=0.95,sum=0.001`. */
#ifndef NB_CLI_THRESHOLDS_H
#define NB_CLI_THRESHOLDS_H

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

/** The k-th key of a comparison; 0 when it is not set. */
int nb_thresholds_result(const nb_thresholds *t, const nb_difference *d, int k,
                         nb_threshold_result *out);

/** Are all limits met, and all pixels finite? */
int nb_thresholds_passed(const nb_thresholds *t, const nb_difference *d);

#endif
