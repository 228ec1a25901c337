/* SPDX-License-Identifier: MIT */
/** All forms in which the table of flags can be printed. */
#ifndef NB_CLI_HELP_H
#define NB_CLI_HELP_H

#include <stdio.h>

#include "flags.h"

void nb_help_usage(FILE *out);   /* a few lines, for a call without arguments */
void nb_help_options(FILE *out); /* -help */
/** -help TOPIC: the flag of that name, the groups whose title has this word, other flags with it
 * in name, values or help, and subcommands. With a dash (-help -psf) that flag alone.
 * NB_ERR_INPUT if there is nothing. */
nb_status nb_help_topic(FILE *out, const char *topic, nb_error *err);
/** Flags, subcommands and examples; mk/help_pages.py makes docs/options.md, the man page and the completion of it. */
void nb_help_json(FILE *out);
void nb_help_version(FILE *out); /* version and optional parts */

/** One flag as in -help. */
void nb_help_flag(FILE *out, const nb_flag *flag);

/** Print every flag of a group. */
void nb_help_group(FILE *out, const char *group,
                   void (*print)(FILE *out, const nb_flag *flag));

/** Print text from column `column` on, broken before column 90 and indented by `indent`. */
void nb_help_wrap(FILE *out, const char *text, int column, int indent);

/** One example of use, and its result. */
typedef struct nb_help_example {
    const char *command, *what;
} nb_help_example;

/** Examples of -help and the man page; ends with a NULL command. */
extern const nb_help_example nb_help_examples[];

#endif
