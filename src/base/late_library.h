/* SPDX-License-Identifier: MIT */
/** Libraries that are loaded when a run first needs them. If linked, libtiff would load
 * ten other libraries at every start of the program, libhdf5 thirty. The start would take
 * two to seven times as long. FFTW is under the GPL and not in our packages. */
#ifndef NB_BASE_LATE_LIBRARY_H
#define NB_BASE_LATE_LIBRARY_H

#include <pthread.h>
#include <stddef.h>

#include "../nanobragg.h"

/** A library to load. The object is static, or only one thread uses it. */
typedef struct nb_late_library {
    pthread_mutex_t lock; /* guards the members that nb_late_library_load sets */
    pthread_mutex_t use;  /* locked by nb_late_library_enter */
    const char *what;     /* start of the message, such as "TIFF: the library" */
    const char *soname;
    const char *package;      /* package to install, for the message; or NULL */
    const char *const *names; /* functions and variables of the library */
    size_t count;
    void *slots; /* an array or a struct of `count` pointers in the order of the names */
    int global;  /* 1: its symbols are visible to libraries that it loads */
    /* 1 after an attempt to load; read with atomic built-ins, which C++ also has */
    int tried;
    char failure[256]; /* reason why the library cannot be used, or "" */
} nb_late_library;

#define NB_LATE_NAME(name) #name,
#define NB_LATE_MEMBER(name) __typeof__(name) *name##_;

/** For the header of a library: declares the struct nb_LIB_lib with a pointer for each
 * function and variable of LIST(X), the function nb_LIB_load, and the function nb_LIB,
 * which returns the struct (nb_LIB_load fills it). */
#define NB_LATE_LIBRARY_DECLARE(lib, LIST)                                               \
    typedef struct nb_##lib##_lib {                                                      \
        LIST(NB_LATE_MEMBER)                                                             \
    } nb_##lib##_lib;                                                                    \
    nb_status nb_##lib##_load(nb_error *err);                                            \
    const nb_##lib##_lib *nb_##lib(void);

/** For the source of a library: defines these functions. WHAT begins the message. `late`
 * is the nb_late_library; initializers of more members may follow SONAME. */
#define NB_LATE_LIBRARY_DEFINE(lib, LIST, WHAT, SONAME, ...)                             \
    static const char *const names[] = {LIST(NB_LATE_NAME)};                             \
    static nb_##lib##_lib library; /* written only once */                               \
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

/** Load the library and fill the slots, once; the library stays loaded. From any thread.
 * Errors: NB_ERR_UNSUPPORTED, with the same message at each call. */
nb_status nb_late_library_load(nb_late_library *library, nb_error *err);

/** Let only one thread at a time use a library. The same thread must not enter twice. */
void nb_late_library_enter(nb_late_library *library);
void nb_late_library_leave(nb_late_library *library);

#endif
