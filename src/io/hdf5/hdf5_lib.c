/* SPDX-License-Identifier: MIT */
#include "hdf5_lib.h"

#include "../../base/late_library.h" /* so that this file is never empty */

#ifdef NB_HAVE_HDF5
NB_LATE_LIBRARY_DEFINE(hdf5, NB_HDF5_NAMES, "-hdf5: the HDF5 library", NB_HDF5_SONAME,
                       .package = "libhdf5")

void nb_hdf5_enter(void)
{
    nb_late_library_enter(&late);
}

void nb_hdf5_leave(void)
{
    nb_late_library_leave(&late);
}
#endif
