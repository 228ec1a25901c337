/* SPDX-License-Identifier: MIT */
/** How the threads of a short run wait for each other: asleep, unless the user chose. */
#ifndef NB_CLI_WAIT_POLICY_H
#define NB_CLI_WAIT_POLICY_H

/** Take our choice out of the environment again, for programs that we start. */
void nb_wait_policy_forget(void);

#endif
