/* SPDX-License-Identifier: MIT */
#include "fftw_lib.h"

#include "error.h"

NB_LATE_LIBRARY_DEFINE(fftw, NB_FFTW_FUNCTIONS, "Fourier transforms: the library",
                       NB_FFTW_SONAME, .package = "libfftw3-double3")

nb_status nb_fftw_need(const char *what, nb_error *err)
{
    nb_error why = {0};
    nb_status status = nb_fftw_load(&why);
    return status ? nb_fail(err, status, "%s: %s", what, why.message) : NB_OK;
}

void nb_fftw_lock(void)
{
    nb_late_library_enter(&late);
}

void nb_fftw_unlock(void)
{
    nb_late_library_leave(&late);
}
