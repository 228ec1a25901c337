/* SPDX-License-Identifier: MIT */
/** A limit of the memory that a file may need. */
#ifndef NB_IO_DECLARED_H
#define NB_IO_DECLARED_H

#include "../../nanobragg.h"

/** A header can declare any size, and a few compressed bytes can grow to gigabytes. A file
 * of `stored` bytes may need `wanted` bytes if they are at most ten times as many, or at
 * most most_MB (0 or below: NB_DECLARED_MB). Errors: NB_ERR_INPUT, which names -max_read. */
nb_status nb_declared_check(const char *name, double wanted, double stored,
                            double most_MB, nb_error *err);

#define NB_DECLARED_MB 500
#define NB_DECLARED_RATIO 10

#endif
