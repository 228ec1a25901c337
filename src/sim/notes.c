/* SPDX-License-Identifier: MIT */
/* Notices are kept for the report as they pass to the caller. */
#include "notes.h"

#include <stdlib.h>

#include "../base/memory.h"

/** Without memory a note is passed on but not kept. */
static void keep(void *user, const char *line)
{
    nb_sim *sim = user;
    char **more = realloc(sim->notes, ((size_t)sim->n_notes + 1) * sizeof *more);
    if (more) {
        sim->notes = more;
        more[sim->n_notes] = nb_strdup(line, NULL);
        sim->n_notes += more[sim->n_notes] != NULL;
    }
    if (sim->caller.notice)
        sim->caller.notice(sim->caller.user, line);
}

static int pass_progress(void *user, double fraction)
{
    const nb_sim *sim = user;
    return sim->caller.progress(sim->caller.user, fraction);
}

void nb_sim_hear(nb_sim *sim, const nb_hooks *hooks)
{
    if (hooks)
        sim->hooks = *hooks;
    if (!sim->cfg.report_file[0])
        return;
    sim->caller = sim->hooks;
    sim->hooks.user = sim;
    sim->hooks.notice = keep;
    sim->hooks.progress = sim->caller.progress ? pass_progress : NULL;
}

void nb_sim_forget(nb_sim *sim)
{
    for (int i = 0; i < sim->n_notes; i++)
        nb_free(sim->notes[i]);
    free(sim->notes);
    sim->notes = NULL;
    sim->n_notes = 0;
}
