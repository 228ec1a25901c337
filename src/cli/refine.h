/* SPDX-License-Identifier: MIT */
/** What was typed behind `nanobragg refine`, and what is printed of a fit. */
#ifndef NB_CLI_REFINE_H
#define NB_CLI_REFINE_H

#include <stdio.h>

#include "sub.h"

enum { NB_REFINE_PAIRS = 48 };

typedef struct nb_refine_typed {
    nb_refine_options options;
    nb_refine_pair bounds[NB_REFINE_PAIRS], restraints[NB_REFINE_PAIRS];
    char names[2 * NB_REFINE_PAIRS][48]; /* of both */
    int n_names;
    const char *series, *orientations;
    const char *report, *exptout, *plots, *residual;
    int page_first, page_count; /* count 0: not typed */
} nb_refine_typed;

/** The flags of the command. */
extern const nb_sub_option nb_refine_flags[];

#endif
