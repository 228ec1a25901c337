/* SPDX-License-Identifier: MIT */
/** Which names of a run are names of one file. */
#ifndef NB_BASE_SAME_FILE_H
#define NB_BASE_SAME_FILE_H

#include "../nanobragg.h"

/** Numbered files, all written. */
typedef struct nb_file_family {
    const char *flag;
    int count;
    /** The path of file i (0..count-1) into path[NB_PATH_MAX]. */
    void (*name)(const void *user, int i, char *path);
    const void *user;
} nb_file_family;

/** Refuse a run that would write a file which it also reads, or write one file twice.  Files
 * that exist are compared by device and inode, others by their folder's and their name.
 * Character devices never collide.  Of a family the first million files are looked at.  Nothing is
 * opened.
 * Errors: NB_ERR_INPUT, one line with both flags and names; NB_ERR_NOMEM. */
nb_status nb_refuse_same_files(const nb_file_use *uses, int n_uses,
                               const nb_file_family *families, int n_families,
                               nb_error *err);

#endif
