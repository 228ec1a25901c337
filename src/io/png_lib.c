/* SPDX-License-Identifier: MIT */
#define NB_PNG_LIB_ITSELF
#include "png_lib.h"

#include "../base/error.h"

#ifdef NB_HAVE_PNG
#include <pthread.h>

#include "late_load.h"

/* Written once, under pthread_once: which library this process has. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static nb_png_lib library;
static char failure[NB_LATE_FAILURE];

static void load(void)
{
#define NB_PNG_NAME(name) #name,
    static const char *const names[] = {NB_PNG_FUNCTIONS(NB_PNG_NAME)};
    nb_late_load(NB_PNG_SONAME, names, sizeof names / sizeof *names, &library, failure);
}

nb_status nb_png_load(nb_error *err)
{
    pthread_once(&once, load);
    if (failure[0])
        return nb_fail(err, NB_ERR_UNSUPPORTED,
                       "PNG: the library %s cannot be used: %s (install libpng)",
                       NB_PNG_SONAME, failure);
    return NB_OK;
}

const nb_png_lib *nb_png(void)
{
    return &library;
}
#endif
