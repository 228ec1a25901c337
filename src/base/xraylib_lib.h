/* SPDX-License-Identifier: MIT */
/** xraylib, loaded when a run first needs it (base/late_library.h). Include this header
 * instead of <xraylib.h>; calls use the names of xraylib, from any thread. */
#ifndef NB_BASE_XRAYLIB_LIB_H
#define NB_BASE_XRAYLIB_LIB_H

#include "../nanobragg.h"

/** Load xraylib. Errors: NB_ERR_UNSUPPORTED, also in a build without xraylib. For the
 * message: `what` is the flag that needs xraylib, `instead` a flag that does not need
 * it. */
nb_status nb_xraylib_need(const char *what, const char *instead, nb_error *err);

#ifdef NB_HAVE_XRAYLIB
#include <xraylib.h>

#include "late_library.h"

/* Every function of the library that we call. */
/* clang-format off */
#define NB_XRAYLIB_FUNCTIONS(X) \
    X(CS_Total_CP) X(CS_Photo_CP) X(CS_Compt_CP) X(CompoundParser) X(ElementDensity) X(FreeCompoundData) \
    X(FF_Rayl) X(SF_Compt)
/* clang-format on */

NB_LATE_LIBRARY_DECLARE(xraylib, NB_XRAYLIB_FUNCTIONS)

#define CS_Total_CP (nb_xraylib()->CS_Total_CP_)
#define CS_Photo_CP (nb_xraylib()->CS_Photo_CP_)
#define CS_Compt_CP (nb_xraylib()->CS_Compt_CP_)
#define CompoundParser (nb_xraylib()->CompoundParser_)
#define ElementDensity (nb_xraylib()->ElementDensity_)
#define FreeCompoundData (nb_xraylib()->FreeCompoundData_)
#define FF_Rayl (nb_xraylib()->FF_Rayl_)
#define SF_Compt (nb_xraylib()->SF_Compt_)
#endif
#endif
