/* SPDX-License-Identifier: MIT */
#include "cairo_lib.h"

#ifdef NB_HAVE_CAIRO
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static nb_status fail(nb_error *err, const char *why)
{
    memset(err, 0, sizeof *err);
    err->code = NB_ERR_UNSUPPORTED;
    snprintf(err->message, sizeof err->message,
             "no plots: the library %s cannot be used: %.300s (install libcairo2)",
             NB_CAIRO_SONAME, why);
    return NB_ERR_UNSUPPORTED;
}

/** dlsym's object pointer into a pointer of any type, as POSIX has it. */
static int find(void *handle, const char *name, void *slot)
{
    void *symbol = dlsym(handle, name);
    memcpy(slot, &symbol, sizeof symbol);
    return symbol != NULL;
}

nb_status nb_cairo_load(nb_cairo *c, nb_error *err)
{
    void *handle = dlopen(NB_CAIRO_SONAME, RTLD_NOW | RTLD_LOCAL);
    int ok = 1;
    if (!handle) {
        const char *why = dlerror();
        return fail(err, why ? why : "dlopen failed");
    }
#define NB_CAIRO_FIND(name) ok &= find(handle, "cairo_" #name, &c->name);
    NB_CAIRO_FUNCTIONS(NB_CAIRO_FIND)
    if (ok)
        return NB_OK;
    return fail(err, "it lacks a function");
}
#else
typedef int nb_cairo_is_absent; /* a file must not be empty */
#endif
