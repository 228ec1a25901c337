/* SPDX-License-Identifier: MIT */
/** One pass over the pixels of a job: rows are shared out over threads, and sums over pixels have a
 * fixed order (pixels of a row, rows of a stripe, stripes), whatever the threads. */
#ifndef NB_DERIVE_PASS_H
#define NB_DERIVE_PASS_H

#include "slope_job.h"

enum {
    NB_PASS_STRIPES = 128,
    NB_PASS_PIECE = 256 /* pixels that are taken at once, at most: the slopes of all
                           parameters stay in a cache */
};

/** The pixels of a pass, in order.  Many passes over scenes of the same pixels may share a list. */
typedef struct nb_slope_pixels {
    nb_span *spans; /* owned, [n] */
    size_t n;
    size_t *first; /* owned, [rows + 1]: the spans of each row */
    int rows;
    uint64_t number; /* tells lists of a simulation apart, so that a device is sent each once; 0: it is used once */
} nb_slope_pixels;

/** Slopes of a piece of one row: of spans[0 .. n-1], whose pixels follow each other in each of the 1 + count
 * planes of values, `stride` apart. */
typedef struct nb_slope_values {
    const nb_span *spans;
    size_t n;
    const double *values;
    const float *floats; /* instead of values; else NULL */
    size_t stride;
    int stripe; /* rows of one stripe come in order, by one thread */
} nb_slope_values;

typedef struct nb_slope_pass {
    const nb_slope_job *job;
    const nb_slope_pixels *pixels; /* NULL: all of the region */
    nb_slope_way way;
    int threads; /* 0: all */
    int stripes; /* most of them; 0: NB_PASS_STRIPES */
    const nb_hooks *hooks;
    void *sink;
    void (*take)(void *sink, const nb_slope_values *row);
    /** Forget all that was taken: it comes again (audit.h).  NULL: what comes replaces it. */
    void (*again)(void *sink);
    /** Of a sink that only adds slopes times a loss by the pixels: fill dloss[pixels of the row] and give the
     * sums [count] that the stripe adds to.  The engine may then leave out the rows.  NULL: every row is taken. */
    double *(*weigh)(void *sink, const nb_slope_values *row, double *dloss);
    int floats;        /* it takes floats */
    nb_slope_row *row; /* NULL: that of the quickest engine */
} nb_slope_pass;

/** List the rendered pixels of a job; wanted: [pixels of the stack], 0: left out, or NULL.  Free the list after an error,
 * too.  Errors: NB_ERR_NOMEM. */
nb_status nb_slope_pixels_list(const nb_slope_job *job, const uint8_t *wanted,
                               nb_slope_pixels *out, nb_error *err);
void nb_slope_pixels_free(nb_slope_pixels *pixels); /* zeroed is fine */

/** Errors: NB_ERR_NOMEM, NB_ERR_CANCELLED. */
nb_status nb_slope_pass_run(const nb_slope_pass *pass, nb_error *err);

#endif
