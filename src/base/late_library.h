/* SPDX-License-Identifier: MIT */
/** Libraries that are loaded when a run first needs them. If they were linked, libtiff would
 * load ten other libraries at every start of the program, libhdf5 thirty. The start would take
 * two to seven times as long. FFTW is under the GPL and no part of our packages. */
#ifndef NB_BASE_LATE_LIBRARY_H
#define NB_BASE_LATE_LIBRARY_H

#include <pthread.h>
#include <stddef.h>

#include "../nanobragg.h"

/** A library to load: a static object, or one that only one thread uses. */
typedef struct nb_late_library {
    pthread_mutex_t lock; /* of the members that `load` sets */
    pthread_mutex_t use;  /* nb_late_library_enter holds it */
    const char *what;     /* start of the message: "TIFF: the library" */
    const char *soname;
    const char *package;      /* package to install; NULL: the message names none */
    const char *const *names; /* of its functions and variables */
    size_t count;
    void *slots; /* an array or a struct of `count` pointers in the order of the names */
    int global;  /* its symbols are visible to libraries that it loads */
    int tried;   /* loading is done; read by atomic built-ins, which C++ has, too */
    char failure[256]; /* reason why it cannot be used, or "" */
} nb_late_library;

#define NB_LATE_NAME(name) #name,
#define NB_LATE_MEMBER(name) __typeof__(name) *name##_;

/** For the header of a library: declares the struct nb_LIB_lib with a pointer for each function
 * and variable of LIST(X), the function nb_LIB_load, and the object nb_LIB with the pointers
 * after loading. */
#define NB_LATE_LIBRARY_DECLARE(lib, LIST)                                               \
    typedef struct nb_##lib##_lib {                                                      \
        LIST(NB_LATE_MEMBER)                                                             \
    } nb_##lib##_lib;                                                                    \
    nb_status nb_##lib##_load(nb_error *err);                                            \
    const nb_##lib##_lib *nb_##lib(void);

/** For the source of a library: defines these functions. WHAT begins the message; `late` is the
 * nb_late_library, and more of its members may follow PACKAGE. */
#define NB_LATE_LIBRARY_DEFINE(lib, LIST, WHAT, SONAME, ...)                             \
    static const char *const names[] = {LIST(NB_LATE_NAME)};                             \
    static nb_##lib##_lib library; /* written once */                                    \
    static nb_late_library late = {.lock = PTHREAD_MUTEX_INITIALIZER,                    \
                                   .use = PTHREAD_MUTEX_INITIALIZER,                     \
                                   .what = WHAT,                                         \
                                   .soname = SONAME,                                     \
                                   .names = names,                                       \
                                   .count = sizeof names / sizeof *names,                \
                                   .slots = &library,                                    \
                                   __VA_ARGS__};                                         \
    nb_status nb_##lib##_load(nb_error *err)                                             \
    {                                                                                    \
        return nb_late_library_load(&late, err);                                         \
    }                                                                                    \
    const nb_##lib##_lib *nb_##lib(void)                                                 \
    {                                                                                    \
        return &library;                                                                 \
    }

/** Load it and fill the slots, once; it stays loaded. From any thread. Errors:
 * NB_ERR_UNSUPPORTED, the same at each call. */
nb_status nb_late_library_load(nb_late_library *library, nb_error *err);

/** Let only one thread at a time use a library. The same thread must not enter twice. */
void nb_late_library_enter(nb_late_library *library);
void nb_late_library_leave(nb_late_library *library);

#endif
