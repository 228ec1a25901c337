/* SPDX-License-Identifier: MIT */
#include "values.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

nb_value_state nb_value_number(const char *text, double *out)
{
    char *end;
    double x;

    /* strtod alone would take leading blanks, hexadecimal, "nan" and "infinity". */
    if (!*text || text[strspn(text, "0123456789+-.eE")])
        return NB_VALUE_NOT_A_NUMBER;
    x = strtod(text, &end);
    if (end == text || *end)
        return NB_VALUE_NOT_A_NUMBER;
    if (!isfinite(x))
        return NB_VALUE_TOO_LARGE;
    *out = x;
    return NB_VALUE_OK;
}

nb_value_state nb_value_whole(const char *text, int64_t *out)
{
    char *end;
    long long n;

    if (!*text || text[strspn(text, "0123456789+-")])
        return NB_VALUE_NOT_A_NUMBER;
    errno = 0;
    n = strtoll(text, &end, 10);
    if (end == text || *end)
        return NB_VALUE_NOT_A_NUMBER;
    if (errno == ERANGE)
        return NB_VALUE_TOO_LARGE;
    *out = n;
    return NB_VALUE_OK;
}

int nb_value_is_numeric(const char *text)
{
    double x;
    return nb_value_number(text, &x) != NB_VALUE_NOT_A_NUMBER;
}

int nb_value_in_range(double x, const nb_option_range *range)
{
    int low = range->open_min ? x > range->min : x >= range->min;
    int high = range->open_max ? x < range->max : x <= range->max;
    return low && high;
}

void nb_value_range_text(const nb_option_range *range, char *text, size_t size)
{
    const char *low = range->open_min ? "greater than" : "at least";
    const char *high = range->open_max ? "less than" : "at most";

    if (range->min <= -DBL_MAX && range->max >= DBL_MAX)
        snprintf(text, size, "any number");
    else if (range->max >= DBL_MAX)
        snprintf(text, size, "%s %.9g", low, range->min);
    else
        snprintf(text, size, "%s %.9g and %s %.9g", low, range->min, high, range->max);
}

nb_status nb_cli_fail(nb_error *err, const char *format, ...)
{
    va_list args;

    memset(err, 0, sizeof *err);
    err->code = NB_ERR_INPUT;
    va_start(args, format);
    vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    return NB_ERR_INPUT;
}
