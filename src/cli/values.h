/* SPDX-License-Identifier: MIT */
/** One argument -> one value, strictly. */
#ifndef NB_CLI_VALUES_H
#define NB_CLI_VALUES_H

#include <stdint.h>

#include "option_table.h"

typedef enum nb_value_state {
    NB_VALUE_OK = 0,
    NB_VALUE_NOT_A_NUMBER,
    NB_VALUE_TOO_LARGE
} nb_value_state;

/** A finite decimal number; nothing before or after it. */
nb_value_state nb_value_number(const char *text, double *out);

/** A whole decimal number. */
nb_value_state nb_value_whole(const char *text, int64_t *out);

/** Does it have the form of a number of any size? */
int nb_value_is_numeric(const char *text);

/** Is x in the range? NaN is not. */
int nb_value_in_range(double x, const nb_option_range *range);

/** The range in words ("greater than 0"), into text[size]. */
void nb_value_range_text(const nb_option_range *range, char *text, size_t size);

/** Fill err with an NB_ERR_INPUT message and return it. */
nb_status nb_cli_fail(nb_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
