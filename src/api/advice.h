/* SPDX-License-Identifier: MIT */
/** Lines about what a user may not know, through the notice hook. */
#ifndef NB_API_ADVICE_H
#define NB_API_ADVICE_H

#include "sim.h"

/** Of a simulation that was just made: odd units, one cell, sampling, structure factors, truth. */
void nb_sim_advise(const nb_sim *sim);

/** Of an image with less than a photon: why. */
void nb_sim_say_dark(const nb_sim *sim, const nb_stats *stats);

/** Before so many frames are rendered: how long, if it is above ten minutes. */
void nb_sim_say_long(const nb_sim *sim, int frames);

/** Is a number of the configuration likely to be in another unit?  Then text says which. */
int nb_sim_odd_unit(const nb_sim *sim, char *text, size_t size);

#endif
