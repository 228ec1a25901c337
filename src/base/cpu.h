/* SPDX-License-Identifier: MIT */
/** Which vector instruction sets this processor and this build have. */
#ifndef NB_BASE_CPU_H
#define NB_BASE_CPU_H

#include "../nanobragg.h"

/** Whether kernels for isa may run here: compiled in, in the processor, and its
 * registers kept by the operating system.  SCALAR always; AUTO never. */
int nb_cpu_runs(nb_isa isa);

/** The instruction set for a request. AUTO gives the one that the environment variable
 * NANOBRAGG_ISA names, or the widest that runs here (SCALAR if none does). Errors:
 * NB_ERR_UNSUPPORTED when it does not run here (*isa: SCALAR), NB_ERR_INPUT when the variable
 * names none. */
nb_status nb_cpu_choose(nb_isa asked, nb_isa *isa, nb_error *err);

/** Name as the option -isa spells it. */
const char *nb_isa_name(nb_isa isa);

#endif
