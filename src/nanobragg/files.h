/* SPDX-License-Identifier: MIT */
/** The files that a run reads and writes. */
#ifndef NANOBRAGG_FILES_H
#define NANOBRAGG_FILES_H

#include "config.h"
#include "error.h"
#include "sim.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A file of a run and the flag that names it. */
typedef struct nb_file_use {
    const char *flag, *path;
    int written; /* 1: the file is written; 0: it is read */
} nb_file_use;
#define NB_FILES_MAX 48

/** Files of a single image of this configuration, also those with default names; the
 * written files come first. Fills list[NB_FILES_MAX] and returns their number. The paths
 * point into cfg or are static. */
int nb_config_files(const nb_config *cfg, nb_file_use *list);

/** Input files of this configuration, and outputs that belong to no image: the cache of
 * structure factors, dumps, geometry, report. Fills list[NB_FILES_MAX] and returns their
 * number. */
int nb_config_inputs(const nb_config *cfg, nb_file_use *list);

/** Like nb_config_files. With several panels, files that can hold only one panel are left
 * out. */
int nb_sim_files(const nb_sim *sim, nb_file_use *list);

/** Refuse to write a file that is also read, or one file twice. Checks the files of a
 * single image of cfg (or NULL) and n more (may be NULL). The check compares typed paths,
 * not names inside files. Links are followed; "-" is standard output. nb_sim_write and
 * nb_series_run make this check themselves. Errors: NB_ERR_INPUT, NB_ERR_NOMEM. */
nb_status nb_check_files(const nb_config *cfg, const nb_file_use *more, int n,
                         nb_error *err);

/** Read a whole file, unpacked if it is gzip or bzip2. The caller owns *data (nb_free),
 * which has *bytes bytes and a NUL and is NULL after an error. `flag`: option for
 * messages. Errors: NB_ERR_INPUT (cannot be opened, folder, damaged, larger than 1 GB
 * unpacked); NB_ERR_IO on a read error; NB_ERR_NOMEM; NB_ERR_UNSUPPORTED (no libbz2). */
nb_status nb_read_text(const char *path, const char *flag, char **data, size_t *bytes,
                       nb_error *err);

/** Remove temporary files of outputs that are being written, in all threads. For handlers
 * of signals that end the process: async-signal-safe. */
void nb_remove_temporary_files(void);

#ifdef __cplusplus
}
#endif
#endif
