/* SPDX-License-Identifier: MIT */
#include "cairo_lib.h"

#ifdef NB_HAVE_CAIRO
#include "../base/late_library.h"

nb_status nb_cairo_load(nb_cairo *c, nb_error *err)
{
#define NB_CAIRO_NAME(name) "cairo_" #name,
    static const char *const names[] = {NB_CAIRO_FUNCTIONS(NB_CAIRO_NAME)};
    nb_late_library late = {
        NB_LATE_LIBRARY("no plots: the library", NB_CAIRO_SONAME, "libcairo2", names, c)};
    return nb_late_library_load(&late, err);
}
#else
typedef int nb_cairo_is_absent; /* a file must not be empty */
#endif
