/* SPDX-License-Identifier: MIT */
/** Notes are passed to the caller and kept for the report. */
#ifndef NB_API_NOTES_H
#define NB_API_NOTES_H

#include "sim.h"

/** Set the caller's hooks (may be NULL). With a report file, keep a copy of each note. */
void nb_sim_hear(nb_sim *sim, const nb_hooks *hooks);
/** Free the copies. */
void nb_sim_forget(nb_sim *sim);

#endif
