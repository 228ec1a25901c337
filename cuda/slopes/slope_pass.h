/* SPDX-License-Identifier: MIT */
/** One pass over pixels on the device: for slopes.cu, which runs it, and slope_products.cu, which makes something of its
 * planes. */
#ifndef NB_CUDA_SLOPE_PASS_H
#define NB_CUDA_SLOPE_PASS_H

#include "slopes.h"

/** Pixels of a job. */
typedef struct nb_slope_task {
    const nb_slope_job *job;
    nb_precision precision;
    const nb_span *spans; /* in order; each pixel once */
    size_t n;
    uint64_t number; /* of their list (nb_sums) */
    const nb_hooks *hooks;
} nb_slope_task;

/** What stays between passes. */
struct nb_cuda_slopes {
    nb_cuda_mirror tables, spans; /* small arrays and structs; spans and their numbers */
    nb_cuda_mirror photons, background;
    uint64_t spans_of, pictures_of; /* numbers of the lists that these are of; 0: others */
    nb_cuda_pixels pixels;          /* of spans_of */
    int64_t n_pixels;
    nb_cuda_buffer planes, dloss, weights, partial, sums;
};

/** What a pass is to make. */
typedef struct nb_cuda_pass_want {
    const nb_slope_fit *fit; /* of normal equations, or NULL */
    int exact;               /* planes of doubles */
    int pulls; /* only sums over pixels: no planes where there is another way */
} nb_cuda_pass_want;

/** A pass over pixels. */
typedef struct nb_cuda_slope_pass {
    nb_backend_state *state;
    nb_cuda_slopes *own;
    const nb_slope_task *task;
    nb_plan plan;
    nb_term_case how;
    int fast;
    nb_cuda_launch launch;             /* its scene has the device's addresses */
    nb_cuda_factor_squares F2;         /* fast */
    nb_term_tables tables;             /* fast; on the host */
    nb_plain_rows plain;               /* on the host; planes 0: not plain */
    nb_cuda_plain plain_there;         /* the same for kernels */
    nb_contraction contraction;        /* on the host */
    nb_cuda_slope_job job;             /* on the device */
    const nb_slope_fit *fit;           /* there, of a normal equation's observation */
    const float *photons, *background; /* the same */
    int pulls;                         /* sums need no planes: there are none */
    size_t bytes;                      /* of a number of a plane */
    int64_t pixels, chunk, done;       /* chunk: pixels at a time */
} nb_cuda_slope_pass;

/** Everything that launches need.  Close it after an error, too. */
nb_status nb_cuda_pass_open(nb_backend_state *state, const nb_slope_task *task,
                            const nb_cuda_pass_want *want, nb_cuda_slope_pass *pass,
                            nb_error *err);
void nb_cuda_pass_close(nb_cuda_slope_pass *pass);

/** The planes of the chunk that begins at a pixel.  Errors: NB_ERR_DEVICE, NB_ERR_CANCELLED. */
nb_status nb_cuda_pass_chunk(nb_cuda_slope_pass *pass, int64_t origin, nb_error *err);

/** The beginning of the kernels, for nb_cuda_kernel_seconds. */
nb_status nb_cuda_pass_begin(nb_cuda_slope_pass *pass, nb_error *err);

/** The end of the kernels so far, for nb_cuda_kernel_seconds. */
nb_status nb_cuda_pass_mark(nb_cuda_slope_pass *pass, nb_error *err);

#endif
