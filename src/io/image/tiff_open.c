/* SPDX-License-Identifier: MIT */
#include "tiff_open.h"

#ifdef NB_HAVE_TIFF
#include <stdio.h>

#if TIFFLIB_VERSION >=                                                                   \
    20221213 /* libtiff 4.5 passes messages to the caller instead of printing them */
static int on_error(TIFF *tiff, void *user, const char *module, const char *format,
                    va_list args)
{
    char *message = user;
    (void)tiff;
    (void)module;
    if (!message[0])
        vsnprintf(message, NB_TIFF_MESSAGE, format, args);
    return 1;
}

static int on_warning(TIFF *tiff, void *user, const char *module, const char *format,
                      va_list args)
{
    (void)tiff;
    (void)user;
    (void)module;
    (void)format;
    (void)args;
    return 1;
}

TIFF *nb_tiff_open(const char *name, const char *mode, void *handle, const nb_tiff_io *io,
                   char message[NB_TIFF_MESSAGE])
{
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    TIFF *tiff = NULL;
    if (!options)
        return NULL;
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, message);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, message);
    tiff = TIFFClientOpenExt(name, mode, handle, io->read, io->write, io->seek, io->close,
                             io->size, NULL, NULL, options);
    TIFFOpenOptionsFree(options);
    return tiff;
}
#else
TIFF *nb_tiff_open(const char *name, const char *mode, void *handle, const nb_tiff_io *io,
                   char message[NB_TIFF_MESSAGE])
{
    (void)message;
    return TIFFClientOpen(name, mode, handle, io->read, io->write, io->seek, io->close,
                          io->size, NULL, NULL);
}
#endif

#else
typedef int nb_tiff_open_is_not_in_this_build;
#endif
