/* SPDX-License-Identifier: MIT */
#define NB_TIFF_LIB_ITSELF
#include "tiff_lib.h"

#include "../base/late_library.h"

#ifdef NB_HAVE_TIFF
#define NB_TIFF_NAME(name) #name,
static const char *const names[] = {NB_TIFF_FUNCTIONS(NB_TIFF_NAME)};

/* Written once: which library this process has. */
static nb_tiff_lib library;
static nb_late_library late = {
    NB_LATE_LIBRARY("TIFF: the library", NB_TIFF_SONAME, "libtiff", names, &library)};

nb_status nb_tiff_load(nb_error *err)
{
    return nb_late_library_load(&late, err);
}

const nb_tiff_lib *nb_tiff(void)
{
    return &library;
}
#endif
