/* SPDX-License-Identifier: MIT */
/** Slopes (derivatives) on the device: declarations for the files of this folder. */
#ifndef NB_CUDA_SLOPES_H
#define NB_CUDA_SLOPES_H

#include "../backend/state.h"

extern "C" {
#include "../../src/render/pixel_sums.h"
#include "../../src/render/sums.h"
#include "slope_tables.h"
}

/** Numbers of the pixels of a request: pixel i of span k has the number before[k] + i. */
typedef struct nb_cuda_pixels {
    const nb_span *spans;
    const int64_t *before; /* [n + 1] */
    int n;
    int width; /* length of every span; 0: lengths differ */
} nb_cuda_pixels;

/** A job: planes for the pixels from .. end - 1, and the inputs of the kernels that make
 * the planes. All addresses are on the device. */
typedef struct nb_cuda_slope_job {
    nb_term_tables tables;
    const nb_slope_job *job; /* job of the slopes, with its scene */
    const nb_panel *panels;
    const nb_sensor *sensors;
    nb_cuda_pixels pixels;
    const int *first; /* members of nb_contraction */
    const nb_contraction_term *terms;
    int planes, moves;
    int64_t origin; /* number of the first pixel in the planes */
    int64_t from, end;
    int64_t stride; /* length of a plane */
    double *out;    /* [planes][stride]; used if single is NULL */
    float *single;  /* planes as floats, or NULL */
} nb_cuda_slope_job;

/** Sums over the pixels of planes, for pixels origin ... end - 1. */
typedef struct nb_cuda_fit_job {
    nb_cuda_pixels pixels;
    const nb_slope_fit *fit;
    const double *planes; /* NULL: `single` has the planes */
    const float *single;  /* the planes as floats */
    int64_t origin, end, stride;
    int count, n;    /* count: named parameters; n: parameters and knots */
    double *partial; /* [slices][items] */
    int items, slices;
    int slice;  /* number of pixels that a block adds up */
    int begins; /* 1: set the sums; 0: add to the sums */
    /* slopes of the loss of a pullback, [end - origin]; NULL: the job is a fit */
    const double *dloss;
} nb_cuda_fit_job;

/** Additional data of plain jobs (slope_plain.h). */
typedef struct nb_cuda_plain {
    nb_plain_rows rows; /* on the device */
    nb_plain_frame frame;
    nb_plain_panel first; /* first of n_panels panels */
    int n_panels;
} nb_cuda_plain;

/** A pullback without planes (slope_pull.cu). single or precise: the slope of the loss,
 * [pixels of the stack]; the other one is NULL. */
typedef struct nb_cuda_pull_job {
    nb_cuda_slope_job all;
    nb_cuda_plain plain;
    const float *single;
    const double *precise;
    double *partial; /* [blocks][items] */
    int items, rounds, blocks;
} nb_cuda_pull_job;

/** The normal equations of a fit without planes and without knots (slope_gram.cu). */
typedef struct nb_cuda_gram_job {
    nb_cuda_slope_job all;
    nb_cuda_plain plain;
    const float *photons, *background; /* [pixels of the stack]; background may be NULL */
    nb_likelihood likelihood;
    double sigma;
    float image[2];                  /* photons of NB_PLAIN_IMAGE and NB_PLAIN_ONE */
    double *partial;                 /* [blocks][items] */
    int items, rounds, blocks, each; /* `each`: number of pixels of a lane in a round */
} nb_cuda_gram_job;

enum {
    /* the length of planes is a multiple of this number of pixels; a block of a pullback
     * adds up this number of pixels */
    NB_CUDA_SLICE = 1024,
    NB_CUDA_FIT_MAX = 170 /* limit of parameters and knots of a fit */
};

/* --- slopes_double.cu --- */
void nb_cuda_launch_slopes_double(const nb_cuda_slope_job *job, cudaStream_t stream);
/* --- slopes_fast.cu --- */
void nb_cuda_launch_slopes_fast(const nb_cuda_slope_job *job, const nb_term_case *how,
                                cudaStream_t stream);
/* --- slopes_plain.cu --- */
/** Make the planes of a plain job (nb_plain_rows_build). job->from is a multiple of 4,
 * and planes have room for whole batches of pixels. */
void nb_cuda_launch_slopes_plain(const nb_cuda_slope_job *job, const nb_cuda_plain *plain,
                                 const nb_term_case *how, cudaStream_t stream);
/* --- slope_pull.cu --- */
/** Set items, rounds and blocks of a pullback over this number of pixels. */
void nb_cuda_pull_plan(const nb_term_case *how, int64_t pixels, nb_cuda_pull_job *job);
/** Make sums[items] for nb_plain_contract. */
void nb_cuda_launch_pull_plain(const nb_cuda_pull_job *job, const nb_term_case *how,
                               double *sums, cudaStream_t stream);
/* --- slope_gram.cu --- */
/** Set items, rounds, blocks and `each` of normal equations for this number of pixels. */
void nb_cuda_gram_plan(const nb_term_case *how, int multiprocessors, int64_t pixels,
                       nb_cuda_gram_job *job);
/** Make sums[items] for nb_plain_equations. */
void nb_cuda_launch_gram(const nb_cuda_gram_job *job, const nb_term_case *how,
                         double *sums, cudaStream_t stream);
/* --- slope_sums.cu --- */
/** Set *bad = 1 if one of n numbers of this type is not finite. */
void nb_cuda_launch_finite(nb_real_type type, const void *numbers, size_t n, double *bad,
                           cudaStream_t stream);
/** Set sums[items] to the sums of partial[slices][items] over slices; if begins is 0, add
 * to sums[items]. */
void nb_cuda_launch_join(const double *partial, int slices, int items, int begins,
                         double *sums, cudaStream_t stream);
/** Set sums[items] to the gradient of a pullback, or add it (job->begins). The order of
 * sums depends only on the numbers of pixels. */
void nb_cuda_launch_pullback(const nb_cuda_fit_job *job, double *sums,
                             cudaStream_t stream);
/** Copy the numbers of from[pixels of the stack] for n pixels of the request, from number
 * `origin` on, to to[n]. type: type of `from`. */
void nb_cuda_launch_gather(const nb_cuda_pixels *pixels, nb_real_type type,
                           const void *from, int64_t origin, int64_t n, double *to,
                           cudaStream_t stream);

/* --- slope_fit.cu --- */
/** Number of pixels (nb_cuda_fit_job.slice) that a block adds up in a fit of up to
 * `pixels` pixels. */
int nb_cuda_fit_slice(int64_t pixels);
/** Set sums[items] to the loss, its gradient and the lower half of the Fisher matrix, or
 * add them (job->begins). The order of sums depends only on the numbers of pixels. */
void nb_cuda_launch_fit(const nb_cuda_fit_job *job, double *sums, cudaStream_t stream);

/* --- slope_products.cu --- */
/** nb_backend_device.makes_slopes */
int nb_cuda_makes_slopes(const nb_slope_job *job, int numbers, const char **why);

/* --- One pass over pixels: slopes.cu runs it, slope_products.cu makes products from its
 * planes --- */

/** A job and the pixels for which it is calculated. */
typedef struct nb_slope_task {
    const nb_slope_job *job;
    nb_precision precision;
    const nb_span *spans; /* in the order of the stack; each pixel occurs once */
    size_t n;
    uint64_t number; /* number of the list of spans (nb_sums) */
    const nb_hooks *hooks;
} nb_slope_task;

/** Memory that is kept between passes. */
struct nb_cuda_slopes {
    nb_cuda_mirror tables, spans; /* small arrays and structs; spans and pixel numbers */
    nb_cuda_mirror photons, background;
    /* nb_sums.number of the kept spans, and of the kept images; 0: unknown */
    uint64_t spans_of, pictures_of;
    nb_cuda_pixels pixels; /* the kept spans */
    int64_t n_pixels;
    nb_cuda_buffer planes, dloss, weights, partial, sums;
};

/** Which results a pass makes. */
typedef struct nb_cuda_pass_want {
    const nb_slope_fit *fit; /* fit, for normal equations; or NULL */
    int exact;               /* 1: planes must be doubles */
    /* 1: only sums over pixels are wanted, and no planes are needed */
    int pulls;
} nb_cuda_pass_want;

/** A pass over pixels. */
typedef struct nb_cuda_slope_pass {
    nb_backend_state *state;
    nb_cuda_slopes *memory;
    const nb_slope_task *task;
    nb_plan plan;
    nb_term_case how;
    int fast;
    nb_cuda_launch launch;     /* launch.scene has device addresses */
    nb_cuda_factor_squares F2; /* F^2, used if `fast` is 1 */
    nb_term_tables tables;     /* tables on the host, used if `fast` is 1 */
    /* rows on the host; its member planes is 0 if the job is not plain */
    nb_plain_rows plain;
    /* copy of `plain` with addresses on the device, for kernels */
    nb_cuda_plain plain_on_device;
    nb_contraction contraction;        /* on the host */
    nb_cuda_slope_job job;             /* on the device */
    const nb_slope_fit *fit;           /* on the device, with the observation; or NULL */
    const float *photons, *background; /* images of the observation, on the device */
    int pulls;                         /* 1: sums are made without planes */
    size_t bytes;                      /* size of a number of a plane, bytes */
    /* number of pixels: all; in the planes at a time; already calculated */
    int64_t pixels, chunk, done;
} nb_cuda_slope_pass;

/** Prepare all data for the launches. Close the pass after an error, too. */
nb_status nb_cuda_pass_open(nb_backend_state *state, const nb_slope_task *task,
                            const nb_cuda_pass_want *want, nb_cuda_slope_pass *pass,
                            nb_error *err);
void nb_cuda_pass_close(nb_cuda_slope_pass *pass);

/** Make the planes of the chunk that begins at pixel number `origin`. Errors:
 * NB_ERR_DEVICE, NB_ERR_CANCELLED. */
nb_status nb_cuda_pass_chunk(nb_cuda_slope_pass *pass, int64_t origin, nb_error *err);

/** Record the start of the kernels, for nb_cuda_kernel_seconds. */
nb_status nb_cuda_pass_begin(nb_cuda_slope_pass *pass, nb_error *err);

/** Record the end of the kernels so far, for nb_cuda_kernel_seconds. */
nb_status nb_cuda_pass_mark(nb_cuda_slope_pass *pass, nb_error *err);

#endif
