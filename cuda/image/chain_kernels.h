/* SPDX-License-Identifier: MIT */
/** The stages of the noise on the device: launches.  All arrays are device addresses. */
#ifndef NB_CUDA_CHAIN_KERNELS_H
#define NB_CUDA_CHAIN_KERNELS_H

#include "../backend/internal.h"

#include "../../src/image/mix.h"
#include "../../src/image/pixel_stages.h"

/** A panel as the stages see it. */
typedef struct nb_cuda_chain_panel {
    int64_t first; /* its first pixel, in the stack */
    int columns, rows;
    nb_cuda_window lit; /* what is rendered of it, in its pixels */
    double gain;
    double trusted;     /* its largest trusted value; 0: none */
    int reach[2];       /* Gaussian: largest displacement along fast and slow */
    int64_t weights[2]; /* where that of displacement 0 lies */
} nb_cuda_chain_panel;

/** All stages of one product. */
typedef struct nb_cuda_chain {
    const float *image;
    const uint8_t *mask; /* or NULL */
    const nb_cuda_chain_panel *panels;
    int n_panels;
    int64_t pixels;
    nb_stage stages[NB_STAGES_MOST]; /* map: on the device */
    int n;
    int spread; /* the place of NB_STAGE_SPREAD; -1: none */
    double scale, adc_offset;
    nb_adu_range held;
    const double *weights; /* of the Gaussian */
    double *light;         /* what falls on the pixels: counts, then behind the spread */
    nb_mix mix;            /* of the photons */
    unsigned *doubts; /* counts with an error: [pixels / 32, rounded up]; NULL: without */
    void *out;
    unsigned long long *overloads; /* is added to */
} nb_cuda_chain;

/** Fill chain->light with what the stages before the spread make, settled. */
void nb_cuda_launch_counts(const nb_scene *scene, const nb_cuda_chain *chain,
                           gpuStream_t stream);
/** Spread chain->light by the Gaussian; between: as large. */
void nb_cuda_launch_gauss(const nb_cuda_chain *chain, double *between, gpuStream_t stream);
/** Fill chain->out from chain->light, or without a spread from the image. */
void nb_cuda_launch_chain(const nb_scene *scene, nb_pixel_type type,
                          const nb_cuda_chain *chain, gpuStream_t stream);

/** A transform of the fibre function for panels of one size. */
typedef struct nb_cuda_fibre_size {
    int columns, rows; /* of the panel */
    int wide, high;    /* of the transform */
    int n;             /* complex numbers of a row */
} nb_cuda_fibre_size;

/** data[high][2 n] = the function; fast and slow: edges of a pixel, g as in src/image/spread.h. */
void nb_cuda_launch_fibre_function(const nb_cuda_fibre_size *size, double fast,
                                   double slow, double g, double *data,
                                   gpuStream_t stream);
/** hat[high/2 + 1][n] = the real parts of data, over the transform's length. */
void nb_cuda_launch_fibre_hat(const nb_cuda_fibre_size *size, const double *data,
                              double *hat, gpuStream_t stream);
/** data[high][2 n] = light[rows][columns], else 0. */
/** Of so many panels of one size, one behind the other. */
void nb_cuda_launch_fibre_pad(const nb_cuda_fibre_size *size, int panels,
                              const double *light, double *data, gpuStream_t stream);
void nb_cuda_launch_fibre_multiply(const nb_cuda_fibre_size *size, int panels,
                                   const double *hat, double *data, gpuStream_t stream);
void nb_cuda_launch_fibre_crop(const nb_cuda_fibre_size *size, int panels,
                               const double *data, double *light, gpuStream_t stream);

#endif
