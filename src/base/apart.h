/* SPDX-License-Identifier: MIT */
/** Work that may crash, in a forked child process that hands its results over.  The child has no other
 * thread: it must not wait for one, use OpenMP or a device, or call back the user. */
#ifndef NB_BASE_APART_H
#define NB_BASE_APART_H

#include <stddef.h>
#include <sys/types.h>

#include "../nanobragg.h"

/** Results on their way: written by the child, read by the parent. */
typedef struct nb_passage {
    int fd, writing;
    nb_status failed; /* if set, the rest of the results is zero */
    int number;       /* its errno */
    nb_error *err;
} nb_passage;

/** Pass data[bytes], plain data: pointers in it are not followed. */
void nb_pass(nb_passage *p, void *data, size_t bytes);
/** Pass the array *array [count] of `size` bytes each. In the parent it gets new memory (nb_free),
 * or NULL after a failure or for count 0. */
void nb_pass_array(nb_passage *p, void **array, size_t count, size_t size,
                   const char *what);

/** The work of the child. */
typedef struct nb_apart_task {
    const char *file; /* input file, for messages */
    void *user;
    nb_status (*work)(void *user, nb_error *err); /* in the child */
    /** Passes the results after success. It runs in both processes: the same calls in the same
     * order. */
    void (*pass)(void *user, nb_passage *p);
    /** A child that stays: the parent writes these bytes before each piece of work; 0: one piece. */
    void *request;
    size_t request_bytes;
    void (*clear)(void *user); /* in such a child: frees the results, before the next request */
} nb_apart_task;

typedef struct nb_apart {
    pid_t child; /* 0 in the child itself */
    int fd;      /* one end of the pipe: the child writes, the parent reads */
    int ask;     /* one end of the requests of a child that stays; -1: none */
} nb_apart;

/** Fork; it returns in both processes. Locks that the child needs are taken before and released in
 * both.  stays: it answers requests. Errors: NB_ERR_NOMEM, NB_ERR_IO, without a child. */
nb_status nb_apart_fork(nb_apart *a, int stays, nb_error *err);
/** In the child: do the work, or answer all requests, and end the process. */
void nb_apart_serve(const nb_apart *a, const nb_apart_task *task)
    __attribute__((noreturn));
/** In the parent: wait for the results.  Errors: those of the work; NB_ERR_INPUT with the name of the
 * file when the child crashed, or took minutes; NB_ERR_NOMEM. */
nb_status nb_apart_take(const nb_apart *a, const nb_apart_task *task, nb_error *err);

/** In the parent of a child that stays, from one thread at a time: ask and wait for the results.  *alive becomes 0 when
 * the child is gone.  The kernel ends the child with the thread that forked it, so another one may be worth
 * asking.  Errors: as nb_apart_take. */
nb_status nb_apart_ask(const nb_apart *a, const nb_apart_task *task, int *alive,
                       nb_error *err);
/** End a child that stays and is alive. */
void nb_apart_end(const nb_apart *a);

#endif
