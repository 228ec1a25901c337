/* SPDX-License-Identifier: MIT */
/** The scene and the settings of one measurement, as a command line and as a configuration. */
#ifndef NB_BENCH_JOB_H
#define NB_BENCH_JOB_H

#include "../run_flags.h"
#include "../../nanobragg.h"

typedef enum nb_bench_case {
    NB_BENCH_SIMPLE = 0, /* one step a pixel */
    NB_BENCH_HEAVY,      /* a thousand */
    NB_BENCH_XFEL,       /* ten thousand, of a large crystal: little of it is lit */
    NB_BENCH_OWN,        /* the user's flags */
    NB_BENCH_CASES
} nb_bench_case;

/** Flags of NB_BENCH_OWN; they are valid as long as the jobs. */
typedef struct nb_bench_own {
    char **flags;
    int count;
} nb_bench_own;

typedef struct nb_bench_job {
    nb_bench_case which;
    const nb_bench_own *own;
    int size;       /* pixels along an edge */
    int oversample; /* 0: the case's */
    int domains;    /* mosaic; 0: the case's */
    int threads;    /* 0: all */
    char device[32];
    nb_isa isa;
    nb_precision precision;
    const char *hkl;       /* structure factors instead of one F; NULL none */
    double osc;            /* a frame of a rotation, deg; 0 still */
    int reports;           /* the process prints its stages as JSON */
    const char *shape;     /* flag of the crystal's shape; NULL: the case's */
    const char *tolerance; /* of ours, as typed; NULL: the default */
    int row, rows;         /* only these; rows 0: all */
} nb_bench_job;

const char *nb_bench_case_name(nb_bench_case which);
/** The case's flags as one line for a report, own flags included. */
void nb_bench_case_text(nb_bench_case which, const nb_bench_own *own, char *text,
                        size_t size);

const char *nb_bench_isa_name(nb_isa isa);
const char *nb_bench_precision_name(nb_precision precision);
/** -1 when there is no such name. */
int nb_bench_isa_of(const char *name);
int nb_bench_precision_of(const char *name);

/** "simple 1024x1024 on cpu avx512 mixed, 2 threads", for messages. */
void nb_bench_job_text(const nb_bench_job *job, char *text, size_t size);

/** The command line of a program: all flags for ours, only the physics for others. Float
 * and integer image are written into its folder. Free with nb_run_flags_free. */
nb_status nb_bench_command(const nb_bench_job *job, const char *program, int is_ours,
                           nb_run_flags *out, nb_error *err);

/** The same as a configuration without output files.  Errors: NB_ERR_INPUT, NB_ERR_NOMEM. */
nb_status nb_bench_config(const nb_bench_job *job, nb_config *cfg, nb_error *err);

#endif
