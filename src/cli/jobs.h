/* SPDX-License-Identifier: MIT */
/** -jobs FILE: JSON lines, each exactly one object whose members are flags of one frame, e.g.
 * {"misset": [10, 20, 30], "fluence": 1e24, "nopolar": true}. */
#ifndef NB_CLI_JOBS_H
#define NB_CLI_JOBS_H

#include "flags.h"

typedef struct nb_jobs nb_jobs;

/** Read and check every line of cli->jobs_file.  *jobs: free with nb_jobs_free. */
nb_status nb_jobs_load(const nb_cli *cli, nb_jobs **jobs, nb_error *err);
/** The same for a text from `path`: `bytes` bytes and a NUL after them. The text must be
 * from malloc. It is freed with the jobs (at once after an error). */
nb_status nb_jobs_parse(char *data, size_t bytes, const char *path, const nb_config *base,
                        nb_jobs **jobs, nb_error *err);
void nb_jobs_free(nb_jobs *jobs); /* NULL is fine */

int nb_jobs_count(const nb_jobs *jobs);
/** Location of line `frame` (0..), "-jobs FILE:LINE", into text[size]. */
void nb_jobs_place(const nb_jobs *jobs, int frame, char *text, size_t size);
/** Hash of the file. */
uint64_t nb_jobs_tag(const nb_jobs *jobs);

/** The file's text; valid as long as jobs. */
const char *nb_jobs_text(const nb_jobs *jobs);
/** Write a sentence that names the flags without effect into line[size]; 0: there are none. */
int nb_jobs_ignored(const nb_jobs *jobs, char *line, size_t size);

/** Let line `frame` (0..) change cfg.  Thread-safe. */
nb_status nb_jobs_apply(const nb_jobs *jobs, int frame, nb_config *cfg, nb_error *err);

#endif
