/* SPDX-License-Identifier: MIT */
#include "engine.h"

#include <stdlib.h>

#include "../base/memory.h"

/** Keep a note and pass it to the caller.  Without memory it is only passed. */
static void keep(void *user, const char *text)
{
    nb_notes *notes = user;
    char **more = realloc(notes->line, ((size_t)notes->n + 1) * sizeof *more);
    if (more) {
        notes->line = more;
        more[notes->n] = nb_strdup(text, NULL);
        notes->n += more[notes->n] != NULL;
    }
    if (notes->caller.notice)
        notes->caller.notice(notes->caller.user, text);
}

static int pass_progress(void *user, double fraction)
{
    const nb_notes *notes = user;
    return notes->caller.progress(notes->caller.user, fraction);
}

nb_status nb_notes_keep(nb_hooks *hooks, nb_notes **out, nb_error *err)
{
    nb_notes *notes = nb_alloc(1, sizeof *notes, "notes", err);
    *out = notes;
    if (!notes)
        return NB_ERR_NOMEM;
    notes->caller = *hooks;
    *hooks = (nb_hooks){notes, keep, hooks->progress ? pass_progress : NULL};
    return NB_OK;
}

void nb_notes_free(nb_notes *notes)
{
    if (!notes)
        return;
    for (int i = 0; i < notes->n; i++)
        nb_free(notes->line[i]);
    free(notes->line);
    nb_free(notes);
}
