/* SPDX-License-Identifier: MIT */
/** A text that grows; exhausted memory is reported once, at the end. */
#ifndef NB_API_REPORT_TEXT_H
#define NB_API_REPORT_TEXT_H

#include <stddef.h>

#include "../nanobragg.h"

typedef struct nb_report_text {
    char *data;
    size_t used, size;
    int failed;
} nb_report_text;

/** Add up to 511 bytes, printf style. */
void nb_report_put(nb_report_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** The text to *out (nb_free), or the error. */
nb_status nb_report_end(nb_report_text *text, char **out, nb_error *err);

#endif
