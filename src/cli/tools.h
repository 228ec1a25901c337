/* SPDX-License-Identifier: MIT */
/** The Python tools of src/tools. Their text is in the program, so that no folder must be found. */
#ifndef NB_CLI_TOOLS_H
#define NB_CLI_TOOLS_H

#include "../nanobragg.h"

extern const char nb_tool_report[], nb_tool_run_compare[];

/** Fill err: what the user typed needs python3, and it cannot be started. */
nb_status nb_tool_missing(const char *what, nb_error *err);

#endif
