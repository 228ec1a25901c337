/* SPDX-License-Identifier: MIT */
#include "bzip2_lib.h"

#ifdef NB_HAVE_BZIP2
NB_LATE_LIBRARY_DEFINE(bzip2, NB_BZIP2_FUNCTIONS, "bzip2: the library", NB_BZIP2_SONAME,
                       .package = "libbz2-1.0")
#else
typedef int nb_no_bzip2; /* no empty file in C */
#endif
