/* SPDX-License-Identifier: MIT */
#define NB_TIFF_LIB_ITSELF
#include "tiff_lib.h"

#include "../base/error.h"

#ifdef NB_HAVE_TIFF
#include <pthread.h>

#include "late_load.h"

/* Written once, under pthread_once: which library this process has. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static nb_tiff_lib library;
static char failure[NB_LATE_FAILURE];

static void load(void)
{
#define NB_TIFF_NAME(name) #name,
    static const char *const names[] = {NB_TIFF_FUNCTIONS(NB_TIFF_NAME)};
    nb_late_load(NB_TIFF_SONAME, names, sizeof names / sizeof *names, &library, failure);
}

nb_status nb_tiff_load(nb_error *err)
{
    pthread_once(&once, load);
    if (failure[0])
        return nb_fail(err, NB_ERR_UNSUPPORTED,
                       "TIFF: the library %s cannot be used: %s (install libtiff)",
                       NB_TIFF_SONAME, failure);
    return NB_OK;
}

const nb_tiff_lib *nb_tiff(void)
{
    return &library;
}
#endif
