/* SPDX-License-Identifier: MIT */
#include "xraylib_lib.h"

#include "error.h"

#ifdef NB_HAVE_XRAYLIB
NB_LATE_LIBRARY_DEFINE(xraylib, NB_XRAYLIB_FUNCTIONS, "xraylib: the library",
                       NB_XRAYLIB_SONAME, .package = "libxrl11")

nb_status nb_xraylib_need(const char *what, const char *instead, nb_error *err)
{
    nb_error why = {0};
    nb_status status = nb_xraylib_load(&why);
    return status ? nb_fail(err, status, "%s: %s; or type %s", what, why.message, instead)
                  : NB_OK;
}
#else
nb_status nb_xraylib_need(const char *what, const char *instead, nb_error *err)
{
    return nb_fail(
        err, NB_ERR_UNSUPPORTED,
        "%s: this build has no xraylib: install libxrl-dev and build again, or "
        "type %s",
        what, instead);
}
#endif
