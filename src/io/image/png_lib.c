/* SPDX-License-Identifier: MIT */
#include "png_lib.h"

#include "../../base/late_library.h" /* so that this file is never empty */

NB_LATE_LIBRARY_DEFINE(png, NB_PNG_FUNCTIONS, "PNG: the library", NB_PNG_SONAME,
                       .package = "libpng")
