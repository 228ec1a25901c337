/* SPDX-License-Identifier: MIT */
/* The paths of a CPU. A new path needs a line here and a file. */
#include "vector_paths.h"

/* If paths have equal estimates, the first one is taken; the last renders everything. */
#define PATHS(A)                                                                         \
    A(nb_path_simple)                                                                    \
    A(nb_path_fixed)                                                                     \
    A(nb_path_spots)                                                                     \
    A(nb_path_tiles)                                                                     \
    A(nb_path_slopes)                                                                    \
    A(nb_path_double)                                                                    \
    A(nb_path_reference)

#define DECLARE(path) extern const nb_path path;
#define ADDRESS(path) &path,

PATHS(DECLARE)

const nb_path *const nb_vector_paths[] = {PATHS(ADDRESS) NULL};
