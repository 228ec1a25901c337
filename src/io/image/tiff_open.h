/* SPDX-License-Identifier: MIT */
/** libtiff, loaded at the first use (base/late_library.h). Include this file instead of
 * <tiffio.h>, and call TIFFClose as NB_TIFF(Close). */
#ifndef NB_IO_TIFF_OPEN_H
#define NB_IO_TIFF_OPEN_H

#include <tiffio.h>

#include "../../base/late_library.h"

/* The functions of libtiff that nanobragg calls. */
/* clang-format off */
#if TIFFLIB_VERSION >= 20221213 /* libtiff has this function from version 4.5 on */
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

/* --- A TIFF whose bytes the caller reads and writes --- */

enum { NB_TIFF_MESSAGE = 200 };

/** First member of a struct of the caller; read, write and size get its address. */
typedef struct nb_tiff_stream {
    TIFFReadWriteProc read, write;
    TIFFSizeProc size;
    toff_t position;
    char message[NB_TIFF_MESSAGE]; /* first error; libtiff before 4.5 prints it instead */
} nb_tiff_stream;

/** Open a TIFF; NULL on failure. *stream must live until the TIFF is closed. */
TIFF *nb_tiff_open(const char *name, const char *mode, nb_tiff_stream *stream);

#endif
