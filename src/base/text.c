/* SPDX-License-Identifier: MIT */
#include "text.h"

#include <ctype.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "c_locale.h"

#define LONGEST_NUMBER 1000
#define EXPONENT_CAP 100000 /* larger exponents overflow or underflow */

static int digit(const char *p, const char *end)
{
    return p < end && *p >= '0' && *p <= '9';
}

static const char *exact_double(const char *start, const char *stop, double *value)
{
    char copy[LONGEST_NUMBER + 1];
    size_t n = (size_t)(stop - start);
    NB_IN_C_LOCALE;
    memcpy(copy, start, n);
    copy[n] = '\0';
    *value = strtod(copy, NULL);
    return isfinite(*value) ? stop : NULL;
}

typedef struct decimal {
    uint64_t mantissa;
    int is_long;  /* 1: the mantissa has more than 19 digits and may have overflowed */
    int digits;   /* 1 after the first digit */
    int exponent; /* power of ten */
} decimal;

static const char *scan_digits(const char *p, const char *end, decimal *d, int shift)
{
    const char *first = p;
    uint64_t m = d->mantissa;
    int is_long = d->is_long;
    for (; digit(p, end); p++) {
        is_long |= m >= UINT64_C(1000000000000000000);
        m = m * 10 + (uint64_t)(*p - '0');
    }
    d->mantissa = m;
    d->is_long = is_long;
    d->digits |= p > first;
    d->exponent += shift * (int)(p - first < EXPONENT_CAP ? p - first : EXPONENT_CAP);
    return p;
}

static const char *scan_exponent(const char *p, const char *end, decimal *d)
{
    const char *q = p + 1;
    int negative, e = 0;
    if (p == end || (*p != 'e' && *p != 'E'))
        return p;
    negative = q < end && *q == '-';
    if (q < end && (*q == '-' || *q == '+'))
        q++;
    if (!digit(q, end))
        return p;
    for (; digit(q, end); q++)
        e = e < EXPONENT_CAP ? e * 10 + (*q - '0') : e;
    d->exponent += negative ? -e : e;
    return q;
}

/* A mantissa below 2^53 and a power of ten up to 10^22 are both exact doubles, so that
 * one division or product is correctly rounded (Clinger 1990). strtod converts all other
 * numbers. */
const char *nb_text_double(const char *p, const char *end, double *value)
{
    static const double ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char *start = p;
    decimal d = {0};
    int negative = p < end && *p == '-';
    double v;
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    p = scan_digits(p, end, &d, 0);
    if (p < end && *p == '.')
        p = scan_digits(p + 1, end, &d, -1);
    if (!d.digits)
        return NULL;
    p = scan_exponent(p, end, &d);
    if (p - start > LONGEST_NUMBER)
        return NULL;
    if (FLT_EVAL_METHOD != 0 || d.is_long || d.mantissa > (UINT64_C(1) << 53) ||
        d.exponent < -22 || d.exponent > 22)
        return exact_double(start, p, value);
    v = (double)d.mantissa;
    v = d.exponent < 0 ? v / ten[-d.exponent] : v * ten[d.exponent];
    *value = negative ? -v : v;
    return p;
}

const char *nb_text_int(const char *p, const char *end, int *value)
{
    const char *q = p < end && *p == '-' ? p + 1 : p;
    double v;
    int n = 0;
    for (; digit(q, end) && q - p < 9; q++)
        n = n * 10 + (*q - '0');
    if (q > p && q < end && nb_text_blank(*q) && q[-1] != '-') { /* the usual case */
        *value = *p == '-' ? -n : n;
        return q;
    }
    p = nb_text_double(p, end, &v);
    if (!p || !(fabs(v) <= INT_MAX) || v != (int)v)
        return NULL;
    *value = (int)v;
    return p;
}

int nb_text_number(const char *text, double *value)
{
    const char *end = text + strlen(text);
    while (nb_text_blank(*text))
        text++;
    text = nb_text_double(text, end, value);
    while (text && text < end && nb_text_blank(*text))
        text++;
    return text == end;
}

size_t nb_text_lines(const char *data, size_t n)
{
    size_t lines = 1;
#pragma omp simd reduction(+ : lines)
    for (size_t i = 0; i < n; i++)
        lines += data[i] == '\n';
    return lines;
}

const char *nb_text_body(const char *p, const char *end)
{
    return end - p >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0 ? p + 3 : p;
}

void nb_text_quote(const char *p, const char *end, char out[NB_TEXT_QUOTE])
{
    int n = 0;
    for (; p < end && *p != '\n' && !nb_text_blank(*p); p++) {
        if (n == NB_TEXT_QUOTE - 4) {
            memcpy(out + n, "...", 3);
            n += 3;
            break;
        }
        out[n++] = *p > ' ' && *p < 127 ? *p : '?';
    }
    out[n] = '\0';
}

double nb_typeable(double value)
{
    char text[NB_TEXT_NUMBER];
    NB_IN_C_LOCALE;
    snprintf(text, sizeof text, "%.12g", value);
    return strtod(text, NULL);
}

void nb_text_format(double value, char out[NB_TEXT_NUMBER])
{
    int digits = 15;
    NB_IN_C_LOCALE;
    do
        snprintf(out, NB_TEXT_NUMBER, "%.*g", digits, value);
    while (digits++ < 17 && strtod(out, NULL) != value);
}

int nb_text_edits(const char *a, const char *b)
{
    int row[NB_TEXT_QUOTE + 1], n = (int)strlen(b);
    if (n > NB_TEXT_QUOTE || strlen(a) > NB_TEXT_QUOTE)
        return NB_TEXT_QUOTE;
    for (int j = 0; j <= n; j++)
        row[j] = j;
    for (int i = 0; a[i]; i++) {
        int corner = row[0];
        row[0] = i + 1;
        for (int j = 0; j < n; j++) {
            int best =
                corner + (tolower((unsigned char)a[i]) != tolower((unsigned char)b[j]));
            best = row[j] + 1 < best ? row[j] + 1 : best;
            best = row[j + 1] + 1 < best ? row[j + 1] + 1 : best;
            corner = row[j + 1];
            row[j + 1] = best;
        }
    }
    return row[n];
}

int nb_text_word(const char **words, char word[NB_TEXT_WORD])
{
    const char *p = *words ? *words + strspn(*words, " ") : "";
    const size_t n = strcspn(p, " ");
    snprintf(word, NB_TEXT_WORD, "%.*s", (int)n, p);
    *words = p + n;
    return n > 0;
}
