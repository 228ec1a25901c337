/* SPDX-License-Identifier: MIT */
#define NB_MPI_LIB_ITSELF
#include "mpi_lib.h"

#ifdef NB_HAVE_MPI
#include "../base/late_library.h"

#define NB_MPI_NAME(name) #name,
static const char *const names[] = {NB_MPI_FUNCTIONS(NB_MPI_NAME)
                                        NB_MPI_VARIABLES(NB_MPI_NAME)};

/* Written once: which library this process has. */
static nb_mpi_lib library;
static nb_late_library late = {
    NB_LATE_LIBRARY("the MPI library", NB_MPI_SONAME, NULL, names, &library),
    .global = 1 /* Open MPI loads parts of itself that look for its symbols */
};

nb_status nb_mpi_load(nb_error *err)
{
    return nb_late_library_load(&late, err);
}

const nb_mpi_lib *nb_mpi(void)
{
    return &library;
}
#else
typedef int nb_mpi_is_not_in_this_build;
#endif
