/* SPDX-License-Identifier: MIT */
#include "tiff_open.h"

#include <stdio.h>

NB_LATE_LIBRARY_DEFINE(tiff, NB_TIFF_FUNCTIONS, "TIFF: the library", NB_TIFF_SONAME,
                       .package = "libtiff")

static toff_t on_seek(thandle_t handle, toff_t offset, int whence)
{
    nb_tiff_stream *s = handle;
    const toff_t base = whence == SEEK_CUR   ? s->position
                        : whence == SEEK_END ? s->size(handle)
                                             : 0;
    return s->position = base + offset;
}

static int on_close(thandle_t handle)
{
    (void)handle; /* the caller closes the file */
    return 0;
}

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

TIFF *nb_tiff_open(const char *name, const char *mode, nb_tiff_stream *s)
{
    TIFFOpenOptions *options = NB_TIFF(OpenOptionsAlloc)();
    TIFF *tiff = NULL;
    if (!options)
        return NULL;
    NB_TIFF(OpenOptionsSetErrorHandlerExtR)(options, on_error, s->message);
    NB_TIFF(OpenOptionsSetWarningHandlerExtR)(options, on_warning, s->message);
    tiff = NB_TIFF(ClientOpenExt)(name, mode, s, s->read, s->write, on_seek, on_close,
                                  s->size, NULL, NULL, options);
    NB_TIFF(OpenOptionsFree)(options);
    return tiff;
}
#else
TIFF *nb_tiff_open(const char *name, const char *mode, nb_tiff_stream *s)
{
    return NB_TIFF(ClientOpen)(name, mode, s, s->read, s->write, on_seek, on_close,
                               s->size, NULL, NULL);
}
#endif
