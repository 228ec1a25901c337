/* SPDX-License-Identifier: MIT */
/** Common code of the cases of bench.c: arguments, clocks, medians, random structure
 * factors. */
#ifndef NB_TESTS_BENCH_LAB_H
#define NB_TESTS_BENCH_LAB_H

#include "../../cuda/backend/host.h"
#include "../support/scenes.h"
#include "model/scene_build.h"

/** The command line after the name of a case. */
typedef struct lab {
    const char *device;           /* cpu or cuda */
    const char *isa;              /* instruction set; NULL: all sets of this machine */
    int repeats, threads, pixels; /* 0: default of the case */
    int count;                    /* number of `words`: other words, as typed */
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
/** The typed number of repeats, or else `usual`; not more than LAB_MAX_REPEATS. */
int lab_repeats(const lab *l, int usual);
enum { LAB_MAX_REPEATS = 10001 };
/** The i-th of the other words, or `without` if fewer words are typed. */
const char *lab_word(const lab *l, int i, const char *without);
int lab_is_cuda(const lab *l);

/** Processor time of this process alone, in s. */
double lab_processor(void);
/** Median of x; the upper of the two middle values if n is even. Sorts x. */
double lab_median(double *x, int n);
int lab_ascending(const void *a, const void *b);
/** Allocate memory that the caller frees. Ends the program if it is exhausted. */
void *lab_memory(size_t bytes);

/** A configuration: the defaults without a file of -dump, and the flags in `words`. */
nb_config lab_config(const char *words);
/** Create the simulation of cfg; the caller frees it with nb_sim_free. */
nb_sim *lab_sim(const nb_config *cfg);
/** Open a device. Without a device, print `skip` with the reason and return NULL. */
nb_backend_state *lab_open_cuda(const char *name);

/** Make `tables` tables of random F for indices -box to box; *sf points to them. The
 * caller frees the returned memory. */
double *lab_random_F(nb_factor_table *sf, int box, int tables);

/** A pulse of a free-electron laser: wavelengths of different intensities. Each wavelength
 * has a table of F, or several share one. */
typedef struct lab_spectrum_case {
    int sources, tables; /* tables <= sources */
    int pixels;          /* pixels along an edge of 204.8 mm */
    int domains;         /* number of mosaic domains; 1 for a perfect crystal */
    double band;         /* range of the wavelengths, percent of 1 A */
    int box;             /* tables have the indices -box to box */
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
/** Inputs like s->inputs, with the first table for all wavelengths. */
nb_model_inputs lab_one_table(const lab_spectrum *s);

#endif
