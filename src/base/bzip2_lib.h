/* SPDX-License-Identifier: MIT */
/** libbz2, loaded when a file first needs it (base/late_library.h).  Include this instead of
 * <bzlib.h>; the functions are called by their own names. */
#ifndef NB_BASE_BZIP2_LIB_H
#define NB_BASE_BZIP2_LIB_H

#ifdef NB_HAVE_BZIP2
#include <bzlib.h>

#include "late_library.h"

#define NB_BZIP2_FUNCTIONS(X)                                                            \
    X(BZ2_bzDecompressInit) X(BZ2_bzDecompress) X(BZ2_bzDecompressEnd)

NB_LATE_LIBRARY_DECLARE(bzip2, NB_BZIP2_FUNCTIONS)

#define BZ2_bzDecompressInit (nb_bzip2()->BZ2_bzDecompressInit_)
#define BZ2_bzDecompress (nb_bzip2()->BZ2_bzDecompress_)
#define BZ2_bzDecompressEnd (nb_bzip2()->BZ2_bzDecompressEnd_)
#endif
#endif
