/* SPDX-License-Identifier: MIT */
#define NB_MPI_LIB_ITSELF
#include "mpi_lib.h"

#ifdef NB_HAVE_MPI
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "../base/error.h"

/* Written once, under pthread_once: which library this process has. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static nb_mpi_lib library;
static char failure[256];

/** dlsym's object pointer into a pointer of any type, as POSIX has it. */
static void find(void *handle, const char *name, void *slot)
{
    void *symbol = dlsym(handle, name);
    if (!symbol && !failure[0])
        strncat(strcat(failure, "it has no "), name, 100);
    memcpy(slot, &symbol, sizeof symbol);
}

static void load(void)
{
    /* global: Open MPI loads parts of itself that look for the library's symbols */
    void *handle = dlopen(NB_MPI_SONAME, RTLD_NOW | RTLD_GLOBAL);
    if (!handle) {
        const char *why = dlerror();
        strncat(failure, why ? why : "dlopen failed", sizeof failure - 1);
        return;
    }
#define NB_MPI_FIND(name) find(handle, #name, &library.name##_);
    NB_MPI_FUNCTIONS(NB_MPI_FIND)
    NB_MPI_VARIABLES(NB_MPI_FIND)
}

nb_status nb_mpi_load(nb_error *err)
{
    pthread_once(&once, load);
    if (failure[0])
        return nb_fail(err, NB_ERR_UNSUPPORTED, "the MPI library %s cannot be used: %s",
                       NB_MPI_SONAME, failure);
    return NB_OK;
}

const nb_mpi_lib *nb_mpi(void)
{
    return &library;
}
#else
typedef int nb_mpi_is_not_in_this_build;
#endif
