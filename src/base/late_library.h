/* SPDX-License-Identifier: MIT */
/** Libraries that are loaded when a run first needs them. If they were linked, libtiff and
 * libpng would load ten other libraries at every start of the program, libhdf5 thirty. The
 * start would take two to seven times as long. */
#ifndef NB_BASE_LATE_LIBRARY_H
#define NB_BASE_LATE_LIBRARY_H

#include <pthread.h>
#include <stddef.h>

#include "../nanobragg.h"

/** A library to load; static, or used by one thread. NB_LATE_LIBRARY initialises it. */
typedef struct nb_late_library {
    pthread_mutex_t lock; /* of what `load` finds out */
    pthread_mutex_t use;  /* nb_late_library_enter holds it */
    const char *what;     /* begins the message: "PNG: the library" */
    const char *soname;
    const char *package;      /* package to install; NULL: the message names none */
    const char *const *names; /* of its functions and variables */
    size_t count;
    void *slots; /* an array or a struct of `count` pointers in the order of the names */
    int global;  /* its symbols are visible to libraries that it loads */
    int tried;
    char failure[256]; /* why it cannot be used, or "" */
} nb_late_library;

/** The first members: what, soname, package, an array of names and the struct for them. */
#define NB_LATE_LIBRARY(what_, soname_, package_, names_, slots_)                        \
    .lock = PTHREAD_MUTEX_INITIALIZER, .use = PTHREAD_MUTEX_INITIALIZER,                 \
    .what = (what_), .soname = (soname_), .package = (package_), .names = (names_),      \
    .count = sizeof(names_) / sizeof *(names_), .slots = (slots_)

/** Load it and fill the slots, once; it stays loaded. From any thread. Errors:
 * NB_ERR_UNSUPPORTED, the same at each call. */
nb_status nb_late_library_load(nb_late_library *library, nb_error *err);

/** Let only one thread at a time use a library. The same thread must not enter twice. */
void nb_late_library_enter(nb_late_library *library);
void nb_late_library_leave(nb_late_library *library);

#endif
