/* SPDX-License-Identifier: MIT */
/** The reference of an image: bands of rows from the scalar renderer in double precision. */
#ifndef NB_BENCH_REFERENCE_H
#define NB_BENCH_REFERENCE_H

#include <stdint.h>

#include "check.h"
#include "job.h"

#define NB_BENCH_BANDS_MAX 64

/** Whole rows, spread evenly over the image from the first to the last. */
typedef struct nb_bench_reference {
    int fast, slow;
    int64_t steps; /* a pixel */
    int bands, band_rows;
    int first[NB_BENCH_BANDS_MAX]; /* row of each band */
    double seconds;                /* that it took */
    float *pixels;                 /* [bands][band_rows][fast], owned */
} nb_bench_reference;

/** Steps per pixel of a simulation.  Errors: NB_ERR_UNSUPPORTED (no JSON), NB_ERR_NOMEM. */
nb_status nb_bench_steps(const nb_sim *sim, int64_t *steps, nb_error *err);

/** Distribute this number of steps over rows of the image; fills bands, band_rows and
 * first. If all rows take fewer steps, one band has all rows. Otherwise there are at least
 * four rows. */
void nb_bench_bands(nb_bench_reference *r, double budget_steps);

/** Render the reference of a job, about budget_steps of it; phi_deg is the job's frame's.  Free
 * with nb_bench_reference_free. */
nb_status nb_bench_reference_make(const nb_bench_job *job, double phi_deg,
                                  double budget_steps, const nb_hooks *hooks,
                                  nb_bench_reference *out, nb_error *err);
void nb_bench_reference_free(nb_bench_reference *r);

/** Number of compared rows of the image. */
int nb_bench_reference_rows(const nb_bench_reference *r);

/** image[slow][fast] against the reference. */
nb_bench_figures nb_bench_reference_check(const nb_bench_reference *r, const float *image);

#endif
