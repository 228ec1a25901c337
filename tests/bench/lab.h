/* SPDX-License-Identifier: MIT */
/** What the cases of the benchmark share: arguments, clocks, medians, made-up structure factors. */
#ifndef NB_TESTS_BENCH_LAB_H
#define NB_TESTS_BENCH_LAB_H

#include "../../cuda/backend/host.h"
#include "../support/scenes.h"
#include "model/scene_build.h"

/** The command line behind the name of a case. */
typedef struct lab {
    const char *device;           /* cpu or cuda */
    const char *isa;              /* NULL: all that run here */
    int repeats, threads, pixels; /* 0: as the case has them */
    int count;                    /* other words, as typed */
    char **words;
} lab;

/** The cases, a file each; 0, or how many of its rows failed. */
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

/** End the program with a message. */
void lab_stop(const char *what) __attribute__((noreturn));
void lab_need(nb_status st, const nb_error *err);
/** The repeats that were typed, else the usual ones; at most LAB_MOST. */
int lab_repeats(const lab *l, int usual);
enum { LAB_MOST = 10001 };
/** The word at i, or what it is without one. */
const char *lab_word(const lab *l, int i, const char *without);
int lab_is_cuda(const lab *l);

/** Processor seconds of this process: other work on the machine does not count. */
double lab_processor(void);
/** The upper one of an even number; x is sorted. */
double lab_median(double *x, int n);
int lab_ascending(const void *a, const void *b);
/** Memory that must be there. */
void *lab_memory(size_t bytes);

/** A configuration of these words, over the defaults and without files. */
nb_config lab_config(const char *words);
/** Its simulation, which the caller frees. */
nb_sim *lab_sim(const nb_config *cfg);
/** The device, opened; NULL, and a line that says why, where there is none. */
nb_backend_state *lab_open_cuda(const char *name);

/** Fill a table with random F of indices -box..box, `tables` of them; free what is returned. */
double *lab_random_F(nb_factor_table *sf, int box, int tables);

/** A pulse of a free-electron laser: wavelengths of uneven intensities, each with its own table of F, or
 * several with the same. */
typedef struct lab_spectrum_case {
    int sources, tables; /* tables <= sources */
    int pixels;          /* of 2048 x 2048 pixels of 0.1 mm the same area */
    int domains;         /* of mosaic, 1: a perfect crystal */
    double band;         /* of wavelength, percent of 1 A */
    int box;             /* of the tables */
} lab_spectrum_case;

enum { LAB_SOURCES = 1000 };

typedef struct lab_spectrum {
    nb_source_line lines[LAB_SOURCES];
    int table_of_source[LAB_SOURCES];
    double *F; /* owned: free */
    nb_model_inputs inputs;
    nb_config cfg;
} lab_spectrum;

void lab_spectrum_make(const lab_spectrum_case *c, lab_spectrum *s);
/** The same with one table for all. */
nb_model_inputs lab_one_table(const lab_spectrum *s);

#endif
