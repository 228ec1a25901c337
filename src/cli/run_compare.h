/* SPDX-License-Identifier: MIT */
/** run-compare: a reference program and ours run on the same flags, and their images compared. */
#ifndef NB_CLI_RUN_COMPARE_H
#define NB_CLI_RUN_COMPARE_H

#include "child.h"
#include "run_flags.h"
#include "thresholds.h"

/** Exit statuses beside those of the program. */
typedef enum nb_trial_outcome {
    NB_TRIAL_PASSED = 0,
    NB_TRIAL_FAILED = 3,
    NB_TRIAL_MISSING = 4,
    NB_TRIAL_CRASHED = 5,
    NB_TRIAL_STATUS = 6,
    NB_TRIAL_SIZE = 7
} nb_trial_outcome;

typedef struct nb_trial_side {
    const char *name; /* ref, ours: the folder */
    char program[NB_PATH_MAX];
    int ran;
    nb_child_end end;
    int64_t image_bytes; /* of floatimage.bin; -1 without one */
} nb_trial_side;

typedef struct nb_trial {
    const char *out; /* folder; relative to the folder of the start */
    nb_thresholds thresholds;
    nb_run_flags flags;
    nb_trial_side ref, ours;
    int fast, slow; /* as -show_config says */
    nb_trial_outcome outcome;
    char message[512]; /* why it did not pass */
    int compared;
    nb_difference difference;
} nb_trial;

/** Write DIR/summary.json.  Errors: NB_ERR_IO, NB_ERR_NOMEM, NB_ERR_UNSUPPORTED. */
nb_status nb_trial_summary(const nb_trial *trial, nb_error *err);

/** The image's size, from the file with the output of -show_config. 0: not found. */
int nb_trial_size(const char *config, int *fast, int *slow);

/** Write DIR/NAME into path; 0 if it is too long. */
int nb_trial_path(const nb_trial *trial, const char *folder, const char *name,
                  char path[NB_PATH_MAX]);

#endif
