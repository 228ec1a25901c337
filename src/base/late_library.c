/* SPDX-License-Identifier: MIT */
#include "late_library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "error.h"

static void load(nb_late_library *l)
{
    void *handle = dlopen(l->soname, RTLD_NOW | (l->global ? RTLD_GLOBAL : RTLD_LOCAL));
    if (!handle) {
        const char *why = dlerror();
        snprintf(l->failure, sizeof l->failure, "%s", why ? why : "dlopen failed");
        return;
    }
    for (size_t i = 0; i < l->count; i++) {
        void *symbol = dlsym(handle, l->names[i]);
        if (!symbol && !l->failure[0])
            snprintf(l->failure, sizeof l->failure, "it has no %.100s", l->names[i]);
        /* POSIX allows the conversion of this pointer to a pointer of any type */
        memcpy((char *)l->slots + i * sizeof symbol, &symbol, sizeof symbol);
    }
}

nb_status nb_late_library_load(nb_late_library *l, nb_error *err)
{
    if (!__atomic_load_n(&l->tried, __ATOMIC_ACQUIRE)) {
        pthread_mutex_lock(&l->lock);
        if (!__atomic_load_n(&l->tried, __ATOMIC_ACQUIRE))
            load(l);
        __atomic_store_n(&l->tried, 1, __ATOMIC_RELEASE);
        pthread_mutex_unlock(&l->lock);
    }
    if (!l->failure[0])
        return NB_OK;
    return nb_fail(err, NB_ERR_UNSUPPORTED, "%s %s cannot be used: %s%s%s%s", l->what,
                   l->soname, l->failure, l->package ? " (install " : "",
                   l->package ? l->package : "", l->package ? ")" : "");
}

void nb_late_library_enter(nb_late_library *l)
{
    pthread_mutex_lock(&l->use);
}

void nb_late_library_leave(nb_late_library *l)
{
    pthread_mutex_unlock(&l->use);
}
