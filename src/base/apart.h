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
    nb_status failed; /* the rest is zero then */
    int number;       /* its errno */
    nb_error *err;
} nb_passage;

/** data[bytes], which has no pointers that matter. */
void nb_pass(nb_passage *p, void *data, size_t bytes);
/** The array *array [count] of `size` bytes each, which has nb_alloc_raw's memory in the parent
 * (nb_free), NULL after a failure or for count 0. */
void nb_pass_array(nb_passage *p, void **array, size_t count, size_t size,
                   const char *what);

/** What is done. */
typedef struct nb_apart_task {
    const char *file; /* that is read, for messages */
    void *user;
    nb_status (*work)(void *user, nb_error *err); /* in the child */
    /** After success, in both: the same calls in the same order. */
    void (*pass)(void *user, nb_passage *p);
} nb_apart_task;

typedef struct nb_apart {
    pid_t child; /* 0 in the child itself */
    int fd;      /* of the pipe: the child writes, the parent reads */
} nb_apart;

/** Fork: it returns in both.  Locks that the child needs are held now, and are released by both.  Errors:
 * NB_ERR_NOMEM, NB_ERR_IO; there is no child then. */
nb_status nb_apart_fork(nb_apart *a, nb_error *err);
/** In the child: do it, and end. */
void nb_apart_serve(const nb_apart *a, const nb_apart_task *task)
    __attribute__((noreturn));
/** In the parent: wait for the results.  Errors: those of the work; NB_ERR_INPUT with the name of the
 * file when the child crashed, or took minutes; NB_ERR_NOMEM. */
nb_status nb_apart_take(const nb_apart *a, const nb_apart_task *task, nb_error *err);

#endif
