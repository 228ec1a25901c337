/* SPDX-License-Identifier: MIT */
/** cminpack, loaded when a run first needs it (base/late_library.h).  Include this instead of
 * <cminpack.h>; the functions are called by their own names. */
#ifndef NB_BASE_CMINPACK_LIB_H
#define NB_BASE_CMINPACK_LIB_H

#include "../nanobragg.h"

/** nb_cminpack_load, or NB_ERR_UNSUPPORTED in a build without cminpack.  `what` names who needs it in
 * the message. */
nb_status nb_cminpack_need(const char *what, nb_error *err);

#ifdef NB_HAVE_CMINPACK
#include <cminpack.h>

#include "late_library.h"

/* Every function of the library that we call. */
#define NB_CMINPACK_FUNCTIONS(X) X(lmder)

NB_LATE_LIBRARY_DECLARE(cminpack, NB_CMINPACK_FUNCTIONS)

#define lmder (nb_cminpack()->lmder_)
#endif
#endif
