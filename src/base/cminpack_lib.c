/* SPDX-License-Identifier: MIT */
#include "cminpack_lib.h"

#include "error.h"

#ifdef NB_HAVE_CMINPACK
NB_LATE_LIBRARY_DEFINE(cminpack, NB_CMINPACK_FUNCTIONS, "least squares: the library",
                       NB_CMINPACK_SONAME, .package = "libcminpack1")

nb_status nb_cminpack_need(const char *what, nb_error *err)
{
    nb_error why = {0};
    nb_status status = nb_cminpack_load(&why);
    return status ? nb_fail(err, status, "%s: %s", what, why.message) : NB_OK;
}
#else
nb_status nb_cminpack_need(const char *what, nb_error *err)
{
    return nb_fail(
        err, NB_ERR_UNSUPPORTED,
        "%s: this build has no cminpack: install libcminpack-dev and build again", what);
}
#endif
