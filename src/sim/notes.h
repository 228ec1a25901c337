/* SPDX-License-Identifier: MIT */
/** Notes are passed to the caller and kept for the report. */
#ifndef NB_SIM_NOTES_H
#define NB_SIM_NOTES_H

#include "../nanobragg.h"

typedef struct nb_notes {
    nb_hooks caller; /* whom everything is passed to */
    char **line;     /* owned; [n] */
    int n;
} nb_notes;

/** Keep a copy of each note that passes these hooks, which are changed.  *notes: nb_notes_free.  Errors:
 * NB_ERR_NOMEM. */
nb_status nb_notes_keep(nb_hooks *hooks, nb_notes **notes, nb_error *err);
void nb_notes_free(nb_notes *notes); /* NULL is fine */

#endif
