/* SPDX-License-Identifier: MIT */
#define NB_HDF5_LIB_ITSELF
#include "hdf5_lib.h"

#include "../base/late_library.h"

#ifdef NB_HAVE_HDF5
#define NB_HDF5_NAME(name) #name,
static const char *const names[] = {NB_HDF5_FUNCTIONS(NB_HDF5_NAME)
                                        NB_HDF5_VARIABLES(NB_HDF5_NAME)};

/* Written once: which library this process has. */
static nb_hdf5_lib library;
static nb_late_library late = {NB_LATE_LIBRARY("-hdf5: the HDF5 library", NB_HDF5_SONAME,
                                               "libhdf5", names, &library)};

nb_status nb_hdf5_load(nb_error *err)
{
    return nb_late_library_load(&late, err);
}

void nb_hdf5_enter(void)
{
    nb_late_library_enter(&late);
}

void nb_hdf5_leave(void)
{
    nb_late_library_leave(&late);
}

const nb_hdf5_lib *nb_hdf5(void)
{
    return &library;
}
#endif
