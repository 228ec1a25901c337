/* SPDX-License-Identifier: MIT */
/** The lines of a text, and the numbers of a line. */
#ifndef NB_IO_COMMON_LINES_H
#define NB_IO_COMMON_LINES_H

#include <stddef.h>

#include "../../nanobragg.h"

/** All members of a new one but file, columns, between, comment and err are nb_lines_of's. */
typedef struct nb_lines {
    const char *p, *end;    /* the rest of the line, without its comment */
    const char *next, *all; /* the line behind it; the end of the text */
    const char *file;       /* for messages */
    const char *columns;    /* numbers of a line, in words */
    const char *between;    /* characters that separate numbers, besides blanks */
    const char *comment;    /* characters that begin a comment */
    long line;              /* number of the line, from 1 */
    nb_error *err;
} nb_lines;

/** The lines of n bytes, behind a byte order mark.  `#` begins a comment, a comma separates numbers. */
nb_lines nb_lines_of(const char *data, size_t n, const char *file, const char *columns,
                     nb_error *err);
/** Go to the next line; 0: there is none. */
int nb_lines_next(nb_lines *lines);
/** Skip blanks and separators; 0: the line ends. */
int nb_lines_word(nb_lines *lines);
/** Read at most `most` numbers of the line; returns how many.  -1: NB_ERR_INPUT, something else stands there. */
int nb_lines_numbers(nb_lines *lines, int most, double *values);
/** NB_ERR_INPUT at this line. */
nb_status nb_lines_fail(const nb_lines *lines, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
