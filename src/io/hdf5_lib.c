/* SPDX-License-Identifier: MIT */
#define NB_HDF5_LIB_ITSELF
#include "hdf5_lib.h"

#include "../base/error.h"

#ifdef NB_HAVE_HDF5
#include <pthread.h>

#include "late_load.h"

/* Written once, under pthread_once: which library this process has. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static nb_hdf5_lib library;
static char failure[NB_LATE_FAILURE];

static void load(void)
{
#define NB_HDF5_NAME(name) #name,
    static const char *const names[] = {NB_HDF5_FUNCTIONS(NB_HDF5_NAME)
                                            NB_HDF5_VARIABLES(NB_HDF5_NAME)};
    nb_late_load(NB_HDF5_SONAME, names, sizeof names / sizeof *names, &library, failure);
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
