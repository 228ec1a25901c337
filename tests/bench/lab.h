/* SPDX-License-Identifier: MIT */
/** Common code of the benchmark's cases: arguments, clocks, medians, random structure
 * factors. */
#ifndef NB_TESTS_BENCH_LAB_H
#define NB_TESTS_BENCH_LAB_H

#include "../../cuda/backend/host.h"
#include "../support/scenes.h"
#include "model/scene_build.h"

/** The command line after the name of a case. */
typedef struct lab {
    const char *device;           /* cpu or cuda */
    const char *isa;              /* NULL: all sets of this machine */
    int repeats, threads, pixels; /* 0: default of the case */
    int count;                    /* other words, as typed */
    char **words;
} lab;

/** The cases, one per file; each returns the number of failed rows. */
int lab_choose(const lab *l);
int lab_derive(const lab *l);
int lab_device(const lab *l);
int lab_errors(const lab *l);
int lab_factors(const lab *l);
int lab_host(const lab *l);
int lab_kernels(const lab *l);
int lab_noise(const lab *l);
int lab_panels(const lab *l);
int lab_resolve(const lab *l);
int lab_sensor(const lab *l);
int lab_spots(const lab *l);
int lab_sweep(const lab *l);
int lab_tables(const lab *l);

/** Ends the program with a message. */
void lab_stop(const char *what) __attribute__((noreturn));
void lab_need(nb_status st, const nb_error *err);
/** The typed number of repeats, else `usual`; at most LAB_MAX_REPEATS. */
int lab_repeats(const lab *l, int usual);
enum { LAB_MAX_REPEATS = 10001 };
/** The word at i, else `without`. */
const char *lab_word(const lab *l, int i, const char *without);
int lab_is_cuda(const lab *l);

/** Processor seconds of this process, without other work on the machine. */
double lab_processor(void);
/** Median, the upper one of an even number; sorts x. */
double lab_median(double *x, int n);
int lab_ascending(const void *a, const void *b);
/** Memory; ends the program if exhausted. */
void *lab_memory(size_t bytes);

/** A configuration by words, over the defaults and without files. */
nb_config lab_config(const char *words);
/** The simulation of cfg; the caller frees it. */
nb_sim *lab_sim(const nb_config *cfg);
/** The opened device; NULL, and a line with the reason, without a device. */
nb_backend_state *lab_open_cuda(const char *name);

/** Fills a table with random F of indices -box..box, for `tables` tables; the caller frees
 * the result. */
double *lab_random_F(nb_factor_table *sf, int box, int tables);

/** A pulse of a free-electron laser: wavelengths of uneven intensities, each with a table
 * of F, or several with the same table. */
typedef struct lab_spectrum_case {
    int sources, tables; /* tables <= sources */
    int pixels;          /* along an edge; area of 2048 x 2048 pixels of 0.1 mm */
    int domains;         /* mosaic domains, 1: a perfect crystal */
    double band;         /* range of wavelength, percent of 1 A */
    int box;             /* edge of the tables */
} lab_spectrum_case;

enum { LAB_SOURCES = 1000 };

typedef struct lab_spectrum {
    nb_source_line lines[LAB_SOURCES];
    int table_of_source[LAB_SOURCES];
    double *F; /* the caller frees it */
    nb_model_inputs inputs;
    nb_config cfg;
} lab_spectrum;

void lab_spectrum_make(const lab_spectrum_case *c, lab_spectrum *s);
/** The same with one table for all wavelengths. */
nb_model_inputs lab_one_table(const lab_spectrum *s);

#endif
