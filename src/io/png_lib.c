/* SPDX-License-Identifier: MIT */
#define NB_PNG_LIB_ITSELF
#include "png_lib.h"

#include "../base/late_library.h"

#ifdef NB_HAVE_PNG
#define NB_PNG_NAME(name) #name,
static const char *const names[] = {NB_PNG_FUNCTIONS(NB_PNG_NAME)};

/* Written once: which library this process has. */
static nb_png_lib library;
static nb_late_library late = {
    NB_LATE_LIBRARY("PNG: the library", NB_PNG_SONAME, "libpng", names, &library)};

nb_status nb_png_load(nb_error *err)
{
    return nb_late_library_load(&late, err);
}

const nb_png_lib *nb_png(void)
{
    return &library;
}
#endif
