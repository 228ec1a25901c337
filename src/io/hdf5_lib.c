/* SPDX-License-Identifier: MIT */
#define NB_HDF5_LIB_ITSELF
#include "hdf5_lib.h"

#include "../base/error.h"

#ifdef NB_HAVE_HDF5
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

/* Written once, under pthread_once: which library this process has. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static nb_hdf5_lib library;
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
    void *handle = dlopen(NB_HDF5_SONAME, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *why = dlerror();
        strncat(failure, why ? why : "dlopen failed", sizeof failure - 1);
        return;
    }
#define NB_HDF5_FIND(name) find(handle, #name, &library.name##_);
    NB_HDF5_FUNCTIONS(NB_HDF5_FIND)
    NB_HDF5_VARIABLES(NB_HDF5_FIND)
}

nb_status nb_hdf5_load(nb_error *err)
{
    pthread_once(&once, load);
    if (failure[0])
        return nb_fail(err, NB_ERR_UNSUPPORTED,
                       "-hdf5: the HDF5 library %s cannot be used: %s (install libhdf5)",
                       NB_HDF5_SONAME, failure);
    return NB_OK;
}

const nb_hdf5_lib *nb_hdf5(void)
{
    return &library;
}
#endif
