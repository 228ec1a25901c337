/* SPDX-License-Identifier: MIT */
/** Numbers in text, the same in every locale.  A text is the bytes p..end, not
 * NUL-terminated. Grammar of a number: [+-] digits [. digits] [e [+-] digits], at least
 * one digit before the exponent; no hexadecimal, no inf, no nan. */
#ifndef NB_BASE_TEXT_H
#define NB_BASE_TEXT_H

#include <stddef.h>

#define NB_TEXT_QUOTE 40  /* bytes of a quoted token, NUL included */
#define NB_TEXT_NUMBER 32 /* bytes of a formatted number, NUL included */
#define NB_TEXT_WORD 48   /* bytes of a word of a list, NUL included */

/** True for white space inside a line, CR included, so that CR LF ends a line like LF. */
static inline int nb_text_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/** The double nearest to the number that starts at p (round half to even).  Returns the
 * first byte after the number; NULL without a number, if it overflows, or if it has over
 * 1000 characters. */
const char *nb_text_double(const char *p, const char *end, double *value);

/** A whole number that fits an int; 1.0 and 1e1 are whole numbers, 1.5 is not. The result
 * is like that of nb_text_double. */
const char *nb_text_int(const char *p, const char *end, int *value);

/** The number in a NUL-terminated text, with blanks around it allowed; 0 if the text is
 * not a number. */
int nb_text_number(const char *text, double *value);

/** Number of lines in n bytes of text: newlines plus one. */
size_t nb_text_lines(const char *data, size_t n);

/** The first byte after a UTF-8 byte order mark, or p. */
const char *nb_text_body(const char *p, const char *end);

/** Copy the token at p, up to a blank or a line end, for a message. A long token is cut;
 * "?" replaces bytes that are not printable ASCII. */
void nb_text_quote(const char *p, const char *end, char out[NB_TEXT_QUOTE]);

/** Copy the next word of a blank-separated list; *words moves behind it. Returns 0 at the
 * end. */
int nb_text_word(const char **words, char word[NB_TEXT_WORD]);

/** Number of letters to insert, remove or change to make b from a; case is ignored (V. I.
 * Levenshtein, 1966). NB_TEXT_QUOTE if a or b has more than NB_TEXT_QUOTE letters. */
int nb_text_edits(const char *a, const char *b);

/** A number rounded to twelve digits, so that it can be typed. */
double nb_typeable(double value);

/** The shortest of 15, 16, 17 significant digits that reads back as the same double. */
void nb_text_format(double value, char out[NB_TEXT_NUMBER]);

#endif
