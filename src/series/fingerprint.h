/* SPDX-License-Identifier: MIT */
/** Does a run belong to the frames of an earlier one?  Two numbers say so: the fingerprint of the
 * series, and for a frame with input files of its own what those contain. */
#ifndef NB_SERIES_FINGERPRINT_H
#define NB_SERIES_FINGERPRINT_H

#include "frames.h"

/** The fingerprint of everything that changes a pixel of a frame: flags, and the contents of the files
 * that `base` has loaded.  Not the renderer, for processes that share a series. */
uint64_t nb_fingerprint(const nb_sim *base, const nb_frames *frames);

/** Continue a fingerprint with the renderer, if its last digits show in the outputs. */
uint64_t nb_fingerprint_renderer(uint64_t hash, const nb_sim *base,
                                 const nb_frames *frames);

/** The renderer with which `hash` continues to `whole`; NULL: none, other things differ. */
const char *nb_fingerprint_maker(uint64_t hash, uint64_t whole);

/** Whether both name the same input files. */
int nb_same_inputs(const nb_config *a, const nb_config *b);

/** The first input file, from row *i of the table of parameters on, that cfg names and base does not:
 * *i becomes its row.  Returns 0 when there is no such file. */
int nb_own_input(const nb_config *cfg, const nb_config *base, size_t *i,
                 const char **flag, const char **path);

/** The contents of the files that cfg names and base does not; 0: there are none. */
uint64_t nb_own_inputs(const nb_config *cfg, const nb_config *base);

/** The names of those files, with commas, into names[size]. */
void nb_own_input_names(const nb_config *cfg, const nb_config *base, char *names,
                        size_t size);

#endif
