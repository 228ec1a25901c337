/* SPDX-License-Identifier: MIT */
/** Rows of the subcommands, each in the file of its name or in the file named here. */
#ifndef NB_CLI_SUBCOMMANDS_H
#define NB_CLI_SUBCOMMANDS_H

#include "sub.h"

extern const nb_sub_command nb_command_bench; /* python_verb.c */
extern const nb_sub_command nb_command_compare;
extern const nb_sub_command nb_command_extract;
extern const nb_sub_command nb_command_noise;
extern const nb_sub_command nb_command_refine;
extern const nb_sub_command nb_command_run_compare; /* python_verb.c */
extern const nb_sub_command nb_command_sf;
extern const nb_sub_command nb_command_view;

/** Replace this process by python3, which runs the module of the subcommand, the word
 * before line->words (python_verb.c). Returns the exit status if python3 cannot start. */
int nb_python_verb(void *target, nb_sub_line *line);

#endif
