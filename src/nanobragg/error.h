/* SPDX-License-Identifier: MIT */
/** Status and error of every call that can fail, and how to free returned memory. */
#ifndef NANOBRAGG_ERROR_H
#define NANOBRAGG_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum nb_status {
    NB_OK = 0,
    NB_ERR_INPUT = 1, /* bad flag, value, file content or combination: exit status 2 */
    NB_ERR_IO = 2,    /* a file could not be read or written: exit status 1 */
    NB_ERR_NOMEM = 3, /* out of memory: exit status 1 */
    NB_ERR_UNSUPPORTED = 4, /* not in this build or on this machine: exit status 2 */
    NB_ERR_DEVICE = 5,      /* accelerator failed: exit status 1 */
    NB_ERR_CANCELLED = 6,   /* the progress hook requested a stop: exit status 130 */
    NB_ERR_INTERNAL = 7     /* a bug in the library: exit status 1 */
} nb_status;

/** An error. `message` is one line without newline that names the flag or file, the value
 * and what to change. `file`/`line` are set for errors in an input file (line 0: whole
 * file). */
typedef struct nb_error {
    nb_status code;
    long line;
    char file[256];
    char message[512];
} nb_error;

const char *nb_status_name(nb_status code);
void nb_free(void *memory); /* NULL is allowed */

#ifdef __cplusplus
}
#endif
#endif
