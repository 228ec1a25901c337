/* SPDX-License-Identifier: MIT */
/** The lines of a text, and the numbers of a line. */
#ifndef NB_IO_COMMON_LINES_H
#define NB_IO_COMMON_LINES_H

#include <stddef.h>

#include "../../nanobragg.h"

/** A reader of lines. Callers may change file, columns, between, comment and err. */
typedef struct nb_lines {
    const char *p, *end;    /* the rest of the line, without its comment */
    const char *next, *all; /* begin of the next line; end of the text */
    const char *file;       /* name of the file, for messages */
    const char *columns;    /* names of the columns, for messages */
    /* characters that separate numbers in addition to blanks, such as "," */
    const char *between;
    const char *comment; /* up to two characters that begin a comment, such as "#" */
    /* next position of each of these characters in the text; `all`: none follows;
     * NULL at first */
    const char *found[2];
    long line; /* number of the line, from 1 */
    nb_error *err;
} nb_lines;

/** Make a reader of the lines of n bytes. It skips a byte order mark; # is a comment. */
nb_lines nb_lines_of(const char *data, size_t n, const char *file, const char *columns,
                     nb_error *err);
/** Go to the next line; 0 after the last line. */
int nb_lines_next(nb_lines *lines);
/** Skip blanks and separators; 0 at the end of the line. */
int nb_lines_word(nb_lines *lines);
/** Read up to `limit` numbers of the line; returns their number, or -1 after
 * NB_ERR_INPUT. */
int nb_lines_numbers(nb_lines *lines, int limit, double *values);
/** Fail with NB_ERR_INPUT, the file and this line. */
nb_status nb_lines_fail(const nb_lines *lines, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
