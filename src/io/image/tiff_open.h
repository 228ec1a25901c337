/* SPDX-License-Identifier: MIT */
/** libtiff, loaded when a run first needs it (base/late_library.h): include this instead of <tiffio.h>, and call TIFFClose as
 * NB_TIFF(Close).  A TIFF over the caller's bytes. */
#ifndef NB_IO_TIFF_OPEN_H
#define NB_IO_TIFF_OPEN_H

#ifdef NB_HAVE_TIFF
#include <tiffio.h>

#include "../../base/late_library.h"

/* Every function of the library that we call. */
/* clang-format off */
#if TIFFLIB_VERSION >= 20221213 /* 4.5 */
#define NB_TIFF_OPENING(X) \
    X(TIFFClientOpenExt) X(TIFFOpenOptionsAlloc) X(TIFFOpenOptionsFree) \
    X(TIFFOpenOptionsSetErrorHandlerExtR) X(TIFFOpenOptionsSetWarningHandlerExtR)
#else
#define NB_TIFF_OPENING(X) X(TIFFClientOpen)
#endif
#define NB_TIFF_FUNCTIONS(X) \
    NB_TIFF_OPENING(X) \
    X(TIFFClose) X(TIFFFlush) X(TIFFGetField) X(TIFFGetFieldDefaulted) \
    X(TIFFIsTiled) X(TIFFReadScanline) X(TIFFScanlineSize) X(TIFFSetField) \
    X(TIFFWriteEncodedStrip)
/* clang-format on */

NB_LATE_LIBRARY_DECLARE(tiff, NB_TIFF_FUNCTIONS)

#define NB_TIFF(name) (nb_tiff()->TIFF##name##_)

/* --- A TIFF over the caller's bytes. libtiff's first message is kept and not printed --- */

enum { NB_TIFF_MESSAGE = 200 };

/** A TIFF's bytes; the first member of what read, write and size get as their handle. */
typedef struct nb_tiff_stream {
    TIFFReadWriteProc read, write;
    TIFFSizeProc size;
    toff_t position;
    char message[NB_TIFF_MESSAGE]; /* the first of libtiff (before 4.5 it prints it on standard error) */
} nb_tiff_stream;

/** Open a TIFF; NULL on failure. *stream must outlive it. */
TIFF *nb_tiff_open(const char *name, const char *mode, nb_tiff_stream *stream);

#endif

#endif
