/* SPDX-License-Identifier: MIT */
#include "mpi_lib.h"

#ifdef NB_HAVE_MPI
NB_LATE_LIBRARY_DEFINE(mpi, NB_MPI_NAMES, "the MPI library", NB_MPI_SONAME,
                       .global = 1 /* Open MPI loads parts that look for its symbols */)
#else
typedef int nb_mpi_is_not_in_this_build;
#endif
