/* SPDX-License-Identifier: MIT */
/** A comparison as text and as JSON. */
#ifndef NB_CLI_DIFFERENCE_REPORT_H
#define NB_CLI_DIFFERENCE_REPORT_H

#include <stdio.h>

#include "thresholds.h"

/** The compared files, for the report. */
typedef struct nb_compared {
    const char *a_name, *b_name;
    const char *a_format, *b_format;
    const nb_difference *difference;
    const nb_thresholds *thresholds;
    int passed;
} nb_compared;

void nb_difference_text(FILE *out, const nb_compared *c);

/** *json is the caller's (nb_free).  Errors: NB_ERR_NOMEM. */
nb_status nb_difference_json(const nb_compared *c, char **json, nb_error *err);

#endif
