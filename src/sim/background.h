/* SPDX-License-Identifier: MIT */
/** The tables of an amorphous background. */
#ifndef NB_API_BACKGROUND_H
#define NB_API_BACKGROUND_H

#include "sim.h"

/** Does the configuration have a material? */
int nb_config_has_background(const nb_config *cfg);

/** Read the table of -stol, -4stol or -Q, and find those of -background. */
nb_status nb_load_background(const nb_config *cfg, nb_amorphous_set *set, nb_error *err);

/** For a new simulation: an image that goes beyond its table, and flags without one. */
void nb_sim_advise_background(const nb_sim *sim);

/** The materials in words, "" without any: for masters.  Returns text. */
/** Photons of water and materials in the image, from the middles of some of its pixels: right to some percent. */
double nb_background_about(const nb_model *model);

const char *nb_background_words(const nb_config *cfg, char *text, size_t size);

#endif
