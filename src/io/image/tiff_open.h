/* SPDX-License-Identifier: MIT */
/** A TIFF over the caller's bytes. libtiff's first message is kept and not printed. */
#ifndef NB_IO_TIFF_OPEN_H
#define NB_IO_TIFF_OPEN_H

#ifdef NB_HAVE_TIFF
#include "tiff_lib.h"

enum { NB_TIFF_MESSAGE = 200 };

/** Access to the bytes; each function gets the handle of nb_tiff_open. */
typedef struct nb_tiff_io {
    TIFFReadWriteProc read, write;
    TIFFSeekProc seek;
    TIFFCloseProc close;
    TIFFSizeProc size;
} nb_tiff_io;

/** Open a TIFF; NULL on failure. message must be "" and outlive the TIFF; it gets the first
 * message of libtiff (libtiff before 4.5 prints it on standard error). */
TIFF *nb_tiff_open(const char *name, const char *mode, void *handle, const nb_tiff_io *io,
                   char message[NB_TIFF_MESSAGE]);

#endif
#endif
