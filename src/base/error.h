/* SPDX-License-Identifier: MIT */
/** Functions that fill an nb_error. Each accepts err == NULL. */
#ifndef NB_BASE_ERROR_H
#define NB_BASE_ERROR_H

#include "../nanobragg.h"

/** Set err and return code, so that `return nb_fail(err, NB_ERR_INPUT, "...")` reads
 * well. The text is one line, printf style; longer texts are cut. */
nb_status nb_fail(nb_error *err, nb_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** As nb_fail, for an error in an input file; line 0 means the whole file. The message
 * starts with "FILE:LINE: ". */
nb_status nb_fail_at(nb_error *err, nb_status code, const char *file, long line,
                     const char *format, ...) __attribute__((format(printf, 5, 6)));

/** Put `place` in front of the message of an NB_ERR_INPUT, unless it is already there.
 * Returns code. */
nb_status nb_fail_within(nb_error *err, nb_status code, const char *place);

/** Refuse a call if one of the pointers is NULL; `pointers` is like `a && b`. The
 * function needs a parameter `err`. */
#define NB_REFUSE_NULL(pointers)                                                         \
    do {                                                                                 \
        if (!(pointers))                                                                 \
            return nb_fail(err, NB_ERR_INPUT, "%s: NULL where it is not allowed (%s)",   \
                           __func__, #pointers);                                         \
    } while (0)

/** If `st`, the function's nb_status, is NB_OK, set `st` to the status of the call. */
#define NB_TRY(call)                                                                     \
    do {                                                                                 \
        if (!st)                                                                         \
            st = (call);                                                                 \
    } while (0)

/** Make the call, and return its error at once; `st` is the function's nb_status. */
#define NB_FORWARD(call)                                                                 \
    do {                                                                                 \
        if ((st = (call)))                                                               \
            return st;                                                                   \
    } while (0)

/** Return NB_ERR_NOMEM if the pointer is NULL; its allocation has filled err. */
#define NB_NEED(pointer)                                                                 \
    do {                                                                                 \
        if (!(pointer))                                                                  \
            return NB_ERR_NOMEM;                                                         \
    } while (0)

/** Set "cannot WHAT PATH: " and errno's text; err->file = PATH. Returns NB_ERR_IO. */
nb_status nb_fail_errno(nb_error *err, const char *what, const char *path);

/** Set "out of memory (N bytes for WHAT)". Returns NB_ERR_NOMEM. */
nb_status nb_fail_memory(nb_error *err, size_t bytes, const char *what);

/** Give the user one line through hooks->notice; hooks and its members may be NULL. */
void nb_notice(const nb_hooks *hooks, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
