/* SPDX-License-Identifier: MIT */
/** Finds names of a run that are the same file. */
#ifndef NB_BASE_SAME_FILE_H
#define NB_BASE_SAME_FILE_H

#include "../nanobragg.h"

/** A family of numbered files. */
typedef struct nb_file_family {
    const char *flag;
    int count;
    /** Writes the path of file i (0..count-1) into path[NB_PATH_MAX]. */
    void (*name)(const void *user, int i, char *path);
    const void *user;
    int is_read; /* 1: inputs; 0: outputs */
} nb_file_family;

/** Refuse a run that would write over a file that it reads, or write one file twice. Files
 * that exist are compared by device and inode, others by their folder's and their name.
 * Character devices are allowed twice. The first million files of a family are checked. No
 * file is opened. Errors: NB_ERR_INPUT, one line with both flags and names; NB_ERR_NOMEM. */
nb_status nb_refuse_same_files(const nb_file_use *uses, int n_uses,
                               const nb_file_family *families, int n_families,
                               nb_error *err);

#endif
