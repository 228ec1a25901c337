/* SPDX-License-Identifier: MIT */
#include "late_load.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

void nb_late_load(const char *soname, const char *const *names, size_t count, void *slots,
                  char failure[NB_LATE_FAILURE])
{
    void *handle = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
    failure[0] = '\0';
    if (!handle) {
        const char *why = dlerror();
        snprintf(failure, NB_LATE_FAILURE, "%s", why ? why : "dlopen failed");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        void *symbol = dlsym(handle, names[i]);
        if (!symbol && !failure[0])
            snprintf(failure, NB_LATE_FAILURE, "it has no %.100s", names[i]);
        /* an object pointer into a pointer of any type, as POSIX has it */
        memcpy((char *)slots + i * sizeof symbol, &symbol, sizeof symbol);
    }
}
