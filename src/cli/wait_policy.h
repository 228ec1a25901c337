/* SPDX-License-Identifier: MIT */
/** Makes waiting threads of a short run sleep, unless the user chose otherwise. */
#ifndef NB_CLI_WAIT_POLICY_H
#define NB_CLI_WAIT_POLICY_H

/** Remove our setting from the environment, for programs that we start. */
void nb_wait_policy_forget(void);

#endif
