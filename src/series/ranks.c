/* SPDX-License-Identifier: MIT */
#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../base/error.h"
#include "../base/memory.h"

/* MPI is loaded only if mpirun started several processes: linking it would add 30 ms to
 * every start. Its constants are as in the MPI of the build: numbers in MPICH and
 * relatives, addresses of variables in Open MPI. */
#ifdef NB_HAVE_MPI
#include <mpi.h>

#include "../base/late_library.h"

/* Functions of MPI that this file calls, and Open MPI's variables for constants. */
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

#define CALL(name) nb_mpi()->name##_
#ifdef OPEN_MPI
#define ompi_mpi_byte (*nb_mpi()->ompi_mpi_byte_)
#define ompi_mpi_comm_world (*nb_mpi()->ompi_mpi_comm_world_)
#define ompi_mpi_errors_return (*nb_mpi()->ompi_mpi_errors_return_)
#define ompi_mpi_info_null (*nb_mpi()->ompi_mpi_info_null_)
#endif
#else /* a build without MPI has one process */
#define CALL(name) NO_##name
#define NO_MPI_Bcast(data, n, ...) ((void)(data), (void)(n))
#define NO_MPI_Allgather(mine, n, type, all, ...) ((void)(mine), (void)(n), (void)(all))
#define NO_MPI_Abort(...) ((void)0)
#define NO_MPI_Finalize() ((void)0)
#endif

/** Non-negative number in an environment variable, or -1. */
static int number(const char *name)
{
    const char *text = getenv(name);
    char *end;
    long n = text && *text ? strtol(text, &end, 10) : -1;
    return n >= 0 && n < 1 << 24 && *end == '\0' ? (int)n : -1;
}

static int first_of(const char *const names[], size_t count)
{
    int n = -1;
    for (size_t i = 0; i < count && n < 0; i++)
        n = number(names[i]);
    return n;
}

int nb_ranks_launched(int *rank)
{
    /* Variables of Hydra (MPICH, Intel MPI, MVAPICH) and Slurm's PMI, of Open MPI, and of
     * PMIx, for which a variable of Slurm has the number of processes. */
    static const char *const ranks[] = {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK"};
    static const char *const sizes[] = {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE",
                                        "SLURM_STEP_NUM_TASKS"};
    int here = first_of(ranks, 3), count = here >= 0 ? first_of(sizes, 3) : -1;
    if (here >= 0 && count < 1)
        count = here + 1;
    if (rank)
        *rank = here > 0 ? here : 0;
    return count > 1 ? count : 1;
}

struct nb_ranks {
    nb_place place;
    int initialized; /* 1: this file initialized MPI */
    int failed;
};

void nb_ranks_fail(nb_ranks *r)
{
    if (r)
        r->failed = 1;
}

nb_place nb_ranks_place(const nb_ranks *r)
{
    return r ? r->place : (nb_place){0, 1, 0, 1};
}

#ifdef NB_HAVE_MPI

static nb_status find_places(nb_ranks *r, nb_error *err)
{
    MPI_Comm host;
    int ok = CALL(MPI_Comm_rank)(MPI_COMM_WORLD, &r->place.rank) == MPI_SUCCESS &&
             CALL(MPI_Comm_size)(MPI_COMM_WORLD, &r->place.count) == MPI_SUCCESS &&
             CALL(MPI_Comm_split_type)(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0,
                                       MPI_INFO_NULL, &host) == MPI_SUCCESS;
    if (!ok)
        return nb_fail(err, NB_ERR_UNSUPPORTED, "MPI cannot number the processes");
    CALL(MPI_Comm_rank)(host, &r->place.local_rank);
    CALL(MPI_Comm_size)(host, &r->place.local_count);
    CALL(MPI_Comm_free)(&host);
    CALL(MPI_Comm_set_errhandler)(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    return NB_OK;
}

static nb_status begin(nb_ranks *r, int launched, nb_error *err)
{
    int was = 0, level;
    nb_status st;
    NB_FORWARD(nb_mpi_load(err));
    CALL(MPI_Initialized)(&was);
    if (!was &&
        CALL(MPI_Init_thread)(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS)
        return nb_fail(err, NB_ERR_UNSUPPORTED, "MPI cannot be started");
    r->initialized = !was;
    st = find_places(r, err);
    if (!st && r->place.count < launched)
        st = nb_fail(err, NB_ERR_UNSUPPORTED,
                     "%d processes were started, but the MPI of this build (%s) does not "
                     "find the others; start them with the mpirun of this MPI",
                     launched, NB_MPI_VERSION);
    return st;
}

#else

static nb_status begin(nb_ranks *r, int launched, nb_error *err)
{
    (void)r;
    return nb_fail(
        err, NB_ERR_UNSUPPORTED,
        "mpirun started %d processes, but this build has no MPI: each would write the "
        "same files (install libmpich-dev and rebuild, or start one process)",
        launched);
}

#endif

nb_status nb_ranks_join(nb_ranks **ranks, nb_error *err)
{
    NB_REFUSE_NULL(ranks);
    int launched = nb_ranks_launched(NULL);
    nb_status st;
    *ranks = NULL;
    if (launched < 2)
        return NB_OK;
    *ranks = nb_alloc(1, sizeof **ranks, "MPI", err);
    if (!*ranks)
        return NB_ERR_NOMEM;
    st = begin(*ranks, launched, err);
    if (st) {
        nb_ranks_leave(*ranks);
        *ranks = NULL;
    }
    return st;
}

void nb_ranks_leave(nb_ranks *r)
{
    /* wait, because mpirun may lose text that is printed just before the end */
    const struct timespec heard = {0, 300000000};
    if (!r)
        return;
    if (r->failed) {
        nanosleep(&heard, NULL);
        CALL(MPI_Abort)(MPI_COMM_WORLD, 1); /* does not return */
    }
    if (r->initialized)
        CALL(MPI_Finalize)();
    nb_free(r);
}

void nb_ranks_share(nb_ranks *r, void *data, size_t bytes)
{
    if (r)
        CALL(MPI_Bcast)(data, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

void nb_ranks_gather(nb_ranks *r, const void *mine, size_t bytes, void *all)
{
    if (r)
        CALL(MPI_Allgather)
    (mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
    else memcpy(all, mine, bytes);
}

static const char *rank_name(int rank, char name[32])
{
    snprintf(name, 32, "rank %d: ", rank);
    return name;
}

nb_status nb_ranks_agree(nb_ranks *r, nb_status status, nb_error *err)
{
    nb_error mine = {0}, *all;
    char place[32];
    if (!r)
        return status;
    if (status) {
        mine = *err;
        mine.code = status;
    }
    all = nb_alloc((size_t)r->place.count, sizeof *all, "errors", NULL);
    if (!all) { /* the other processes are waiting, so that no agreement is possible */
        nb_ranks_fail(r);
        return nb_fail_memory(err, sizeof *all, "errors");
    }
    nb_ranks_gather(r, &mine, sizeof mine, all);
    for (int i = r->place.count - 1; i >= 0; i--)
        if (all[i].code) {
            status = all[i].code;
            nb_fail(err, status, "%s%.500s", i ? rank_name(i, place) : "", all[i].message);
        }
    if (status && r->place.rank > 0) /* rank 0 prints the error */
        memset(err, 0, sizeof *err);
    nb_free(all);
    return status;
}

#ifdef NB_HAVE_MPI
NB_LATE_LIBRARY_DEFINE(mpi, NB_MPI_NAMES, "the MPI library", NB_MPI_SONAME,
                       .global = 1 /* Open MPI loads libraries that need its symbols */)
#endif
