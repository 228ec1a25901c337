/* SPDX-License-Identifier: MIT */
/** MPI, loaded when mpirun started this process with others. If it were linked, every start
 * of the program would take thirty milliseconds more. Include this instead of <mpi.h>; the
 * functions are called by their own names. The types are those of the implementation used
 * for the build (MPICH and relatives: numbers; Open MPI: addresses of its variables). */
#ifndef NB_SERIES_MPI_LIB_H
#define NB_SERIES_MPI_LIB_H

#ifdef NB_HAVE_MPI
#include <mpi.h>

#include "../base/late_library.h"

/* Every function of the library that we call, and the variables of its constants. */
/* clang-format off */
#define NB_MPI_FUNCTIONS(X) \
    X(MPI_Abort) X(MPI_Allgather) X(MPI_Bcast) X(MPI_Comm_free) \
    X(MPI_Comm_rank) X(MPI_Comm_set_errhandler) X(MPI_Comm_size) X(MPI_Comm_split_type) \
    X(MPI_Finalize) X(MPI_Init_thread) X(MPI_Initialized)
#ifdef OPEN_MPI
#define NB_MPI_VARIABLES(X) \
    X(ompi_mpi_byte) X(ompi_mpi_comm_world) X(ompi_mpi_errors_return) X(ompi_mpi_info_null)
#else
#define NB_MPI_VARIABLES(X)
#endif
/* clang-format on */

#define NB_MPI_NAMES(X) NB_MPI_FUNCTIONS(X) NB_MPI_VARIABLES(X)
NB_LATE_LIBRARY_DECLARE(mpi, NB_MPI_NAMES)

#define MPI_Abort (nb_mpi()->MPI_Abort_)
#define MPI_Allgather (nb_mpi()->MPI_Allgather_)
#define MPI_Bcast (nb_mpi()->MPI_Bcast_)
#define MPI_Comm_free (nb_mpi()->MPI_Comm_free_)
#define MPI_Comm_rank (nb_mpi()->MPI_Comm_rank_)
#define MPI_Comm_set_errhandler (nb_mpi()->MPI_Comm_set_errhandler_)
#define MPI_Comm_size (nb_mpi()->MPI_Comm_size_)
#define MPI_Comm_split_type (nb_mpi()->MPI_Comm_split_type_)
#define MPI_Finalize (nb_mpi()->MPI_Finalize_)
#define MPI_Init_thread (nb_mpi()->MPI_Init_thread_)
#define MPI_Initialized (nb_mpi()->MPI_Initialized_)
#ifdef OPEN_MPI
#define ompi_mpi_byte (*nb_mpi()->ompi_mpi_byte_)
#define ompi_mpi_comm_world (*nb_mpi()->ompi_mpi_comm_world_)
#define ompi_mpi_errors_return (*nb_mpi()->ompi_mpi_errors_return_)
#define ompi_mpi_info_null (*nb_mpi()->ompi_mpi_info_null_)
#endif
#endif
#endif
