/* SPDX-License-Identifier: MIT */
#include "tiff_open.h"

#include "../../base/late_library.h" /* so that this file is never empty */

#ifdef NB_HAVE_TIFF
NB_LATE_LIBRARY_DEFINE(tiff, NB_TIFF_FUNCTIONS, "TIFF: the library", NB_TIFF_SONAME,
                       .package = "libtiff")
#endif
