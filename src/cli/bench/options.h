/* SPDX-License-Identifier: MIT */
/** The flags of `nanobragg bench`. */
#ifndef NB_BENCH_OPTIONS_H
#define NB_BENCH_OPTIONS_H

#include "../sub.h"
#include "job.h"

#define NB_BENCH_LIST_MAX 16
#define NB_BENCH_PEERS_MAX 4
#define NB_BENCH_DEVICES_MAX 4
#define NB_BENCH_ISAS_MAX 6

typedef struct nb_bench_list {
    int count; /* 0: not typed */
    int v[NB_BENCH_LIST_MAX];
} nb_bench_list;

typedef enum nb_bench_sweep {
    NB_SWEEP_SIZE = 0,
    NB_SWEEP_PRECISION,
    NB_SWEEP_THREADS,
    NB_SWEEP_OVERSAMPLE,
    NB_SWEEP_DOMAINS,
    NB_SWEEP_BATCH,
    NB_SWEEP_BREAKDOWN,
    NB_SWEEPS
} nb_bench_sweep;

typedef struct nb_bench_options {
    nb_bench_list sizes, oversamples, domains, threads, batches;
    nb_bench_list cases, isas, precisions; /* their numbers */
    nb_bench_list sweeps;
    int device_count; /* 0: cpu, and each GPU that starts */
    char devices[NB_BENCH_DEVICES_MAX][32];
    int repeats, at; /* 0: not typed */
    double limit;    /* seconds; 0: not typed */
    int quick;
    const char *peers[NB_BENCH_PEERS_MAX]; /* NAME=PROGRAM */
    int peer_count;
    const char *peer_results[NB_BENCH_PEERS_MAX]; /* files */
    int peer_results_count;
    const char *outdir, *name, *from; /* NULL: not typed */
    nb_bench_own own;
} nb_bench_options;

/** Does a word of -device stand for one device that the user has chosen? */
int nb_bench_names_device(const char *word);

extern const nb_sub_option nb_bench_option_table[];
const char *nb_bench_sweep_name(nb_bench_sweep sweep);

/** Everything not typed. */
void nb_bench_defaults(void *target);
/** Set the defaults and check the typed values; cores: of this machine. Errors: NB_ERR_INPUT. */
nb_status nb_bench_resolve(nb_bench_options *o, int cores, nb_error *err);
/** Measure and report; the exit status.  command: for the report. */
int nb_bench_run(nb_bench_options *o, const char *command, nb_error *err);
int nb_bench_wants(const nb_bench_options *o, nb_bench_sweep sweep);

#endif
