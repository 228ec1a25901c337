/* SPDX-License-Identifier: MIT */
/** The report of several pictures: a line for each, in their order, of all processes. */
#ifndef NB_REFINE_LINES_H
#define NB_REFINE_LINES_H

#include "../base/outfile.h"

typedef struct nb_lines {
    nb_ranks *ranks;
    int count;
    char **line; /* owned; [count], those that wait for an earlier one, or (not rank 0) to be sent */
    uint8_t *told; /* owned; [count]: this picture is done */
    int next;      /* the first that is not in the file */
    int written;   /* lines in the file */
    int ended;     /* processes that have sent all, at rank 0 */
    int lost; /* pictures that were not refined, or did not converge: of all processes, at rank 0 */
    nb_outfile file; /* of rank 0 */
    int is_open, is_page;
    nb_status status; /* why the file cannot be written, */
    nb_error error;   /* and what is said of it */
} nb_lines;

/** path NULL: there is no file; then only `lost` is counted.  A name in .html: the lines are put into a page.  nb_lines_close, after an error too.  Errors: NB_ERR_NOMEM,
 * NB_ERR_IO. */
nb_status nb_lines_open(nb_lines *lines, const char *path, int count, nb_ranks *ranks,
                        nb_error *err);

/** A picture is done.  line: without its end, from nb_alloc and the lines' afterwards; NULL: it has none.  One call at a
 * time.  Returns what is wrong with the file. */
nb_status nb_lines_put(nb_lines *lines, int picture, char *line, int lost);

/** Send what there is to rank 0, or receive it there.  From the thread that joined the processes, while no other calls
 * nb_lines_put. */
void nb_lines_exchange(nb_lines *lines);

/** All pictures of this process are done: send the rest, and at rank 0 wait for that of the others.  Then the lines of
 * pictures that were never done are not waited for.  All processes call it. */
void nb_lines_end(nb_lines *lines);

/** A last line behind all pictures, at rank 0. */
nb_status nb_lines_add(nb_lines *lines, const char *line);

/** The file gets its name; what was written is kept after the error `st`, too, but not of a page.  Returns st, or the error of the file. */
nb_status nb_lines_close(nb_lines *lines, nb_status st, nb_error *err);

#endif
