/* SPDX-License-Identifier: MIT */
/** The image that stays on the device (nb_backend_device), and operations on it there:
 * integers, sums, noise, point spread, footprint, diffuse light, mixing. */
#ifndef NB_CUDA_IMAGE_H
#define NB_CUDA_IMAGE_H

#include "../../src/image/adu.h"
#include "../../src/image/mix.h"
#include "../../src/image/photons.h"
#include "../backend/host.h"
#include "../backend/state.h"

extern "C" {
#include "../../src/image/footprint.h"
}

nb_status nb_cuda_products_open(nb_cuda_products *made, nb_error *err);
void nb_cuda_products_close(nb_cuda_products *made);

/* --- The image for other code (lend.cu) --- */
nb_status nb_cuda_locate(nb_backend_state *state, float **pixels, int *device,
                         nb_error *err);
void nb_cuda_replace(nb_backend_state *state, float *other, size_t bytes);
nb_status nb_cuda_settle(int device, nb_error *err);
nb_status nb_cuda_copy(int device, const float *from, float *out, size_t bytes,
                       nb_error *err);
void nb_cuda_discard(int device, float *pixels);

extern const nb_backend_device nb_cuda_device_entries;

/* --- Integers and sums: launches --- */

/** Make out[rows][columns] from image, and add the number of overloads to *overloads. All
 * addresses, including those of the scene's arrays, are on the device. */
void nb_cuda_launch_product(const nb_scene *scene, const float *image,
                            const nb_product *product, void *out,
                            unsigned long long *overloads, cudaStream_t stream);

/** Make the sums of rows, out[rows of the region]. */
void nb_cuda_launch_sums(const nb_scene *scene, const float *image, nb_row_sums *out,
                         cudaStream_t stream);

/* --- The stages of the noise --- */

/** Begin a new image: forget the light of the last image. */
void nb_cuda_chain_begin(nb_backend_state *state);

/** Make a product with more stages than counts and an offset, in products.image[i].
 * scene: the product's scene; its arrays are on the device, panels and sensors on the
 * host. The number of overloads is added to *overloads, on the device. All products
 * between two nb_cuda_chain_begin have the same stages. Errors: NB_ERR_NOMEM,
 * NB_ERR_DEVICE. */
nb_status nb_cuda_chain_make(nb_backend_state *state, const nb_scene *scene,
                             const nb_product *product, int i,
                             unsigned long long *overloads, nb_error *err);

void nb_cuda_chain_release(nb_cuda_chains *chains);

/* --- The stages of the noise: launches. All arrays are device addresses --- */

/** A panel for the stages. */
typedef struct nb_cuda_chain_panel {
    int64_t first; /* first pixel in the stack */
    int columns, rows;
    nb_cuda_window lit; /* rendered part, in the panel's pixels */
    double gain;
    double trusted;     /* largest trusted value; 0: no limit */
    int reach[2];       /* Gaussian: largest displacement along fast and slow */
    int64_t weights[2]; /* index of the weight of displacement 0, along fast and slow */
} nb_cuda_chain_panel;

/** All stages of one product. */
typedef struct nb_cuda_chain {
    const float *image;
    const uint8_t *mask; /* mask, or NULL */
    const nb_cuda_chain_panel *panels;
    int n_panels;
    int64_t pixels;
    nb_stage stages[NB_STAGES_MAX]; /* member `map` is on the device */
    int n;
    int spread; /* index of NB_STAGE_SPREAD in stages, or -1 */
    double scale, adc_offset;
    nb_adu_range held;
    const double *weights; /* weights of the Gaussian */
    double *light; /* light of pixels: first counts, then the light after the spread */
    void *out;
    unsigned long long *overloads; /* the number of overloads is added to this */
} nb_cuda_chain;

/** Fill chain->light by the stages before the spread. */
void nb_cuda_launch_counts(const nb_cuda_chain *chain, cudaStream_t stream);
/** Spread chain->light by the Gaussian; between: memory of the same size. */
void nb_cuda_launch_gauss(const nb_cuda_chain *chain, double *between,
                          cudaStream_t stream);
/** Fill chain->out from chain->light, or without a spread from the image. */
void nb_cuda_launch_chain(nb_pixel_type type, const nb_cuda_chain *chain,
                          cudaStream_t stream);

/* --- fibre.cu: the fibres' point spread, an exact linear convolution as in
 * src/image/fibre.c --- */
void nb_cuda_fibres_release(nb_cuda_fibres *fibres);

/** Spread the light of several adjacent panels of one size and kind in place, each panel
 * separately. fwhm: m. Errors: NB_ERR_NOMEM, NB_ERR_DEVICE (out of device memory, library
 * missing). */
nb_status nb_cuda_fibre_spread(nb_cuda_fibres *fibres, const nb_panel *panel, int panels,
                               double fwhm, double *light, cudaStream_t stream,
                               nb_error *err);
/** True if two panels have the same point spread, so that one call serves both. */
int nb_cuda_fibre_alike(const nb_panel *a, const nb_panel *b);

/** Sizes of a transform for panels of one size. */
typedef struct nb_cuda_fibre_size {
    int columns, rows; /* size of the panel */
    int wide, high;    /* size of the transform */
    int n;             /* complex numbers per row */
} nb_cuda_fibre_size;

/** Set data[high][2 n] to the fibre function. fast, slow: edges of a pixel in m; g: see
 * src/image/fibre.h. */
void nb_cuda_launch_fibre_function(const nb_cuda_fibre_size *size, double fast,
                                   double slow, double g, double *data,
                                   cudaStream_t stream);
/** Set hat[high/2 + 1][n] to the real parts of data, divided by wide * high. */
void nb_cuda_launch_fibre_hat(const nb_cuda_fibre_size *size, const double *data,
                              double *hat, cudaStream_t stream);
/** Copy light[rows][columns] to data[high][2 n], which is 0 elsewhere, for `panels`
 * adjacent panels of one size. */
void nb_cuda_launch_fibre_pad(const nb_cuda_fibre_size *size, int panels,
                              const double *light, double *data, cudaStream_t stream);
void nb_cuda_launch_fibre_multiply(const nb_cuda_fibre_size *size, int panels,
                                   const double *hat, double *data, cudaStream_t stream);
void nb_cuda_launch_fibre_crop(const nb_cuda_fibre_size *size, int panels,
                               const double *data, double *light, cudaStream_t stream);

/* --- The footprint of the Bragg light (src/image/footprint.h): entries of
 * nb_image_device --- */
nb_status nb_cuda_set_aside(nb_backend_state *state, size_t pixels, nb_error *err);
nb_status nb_cuda_spread(nb_backend_state *state, const nb_footprint_plan *plan,
                         const nb_scene *scene, const nb_scene *sources, nb_error *err);

void nb_cuda_footprint_release(nb_cuda_footprint *footprint);

/* --- Fourier transforms, by the vendor's library, which is loaded at the first use --- */

/** Load the library. Errors: NB_ERR_DEVICE with its name, the same at each call. */
nb_status nb_cuda_fft_need(nb_error *err);

/** The forward and the back transform of one size, in double precision, in place, without
 * scaling. Real data: `high` rows of `wide` numbers, with memory for 2 (wide/2 + 1) numbers
 * in each row. Transformed data: `high` rows of wide/2 + 1 complex numbers. */
typedef struct nb_cuda_fft nb_cuda_fft;
/** Plan both transforms for `images` adjacent images at once. *work: bytes of work memory
 * that either transform needs. */
nb_status nb_cuda_fft_new(int wide, int high, int images, cudaStream_t stream,
                          nb_cuda_fft **fft, size_t *work, nb_error *err);
void nb_cuda_fft_free(nb_cuda_fft *fft); /* NULL is allowed */
nb_status nb_cuda_fft_forward(nb_cuda_fft *fft, double *data, void *work, nb_error *err);
nb_status nb_cuda_fft_back(nb_cuda_fft *fft, double *data, void *work, nb_error *err);

/* --- Diffuse light on the device (src/light/diffuse_plane.h) --- */

/** The function `light` of nb_image_device. */
nb_status nb_cuda_make_light(nb_backend_state *state,
                             const struct nb_diffuse_plane *plane, int add, nb_error *err);

void nb_cuda_diffuse_release(nb_cuda_diffuse *light);

/* --- Planes that are mixed with the image on the device (src/image/mix.h) --- */

/** Set *mask to the scene's mask on the device, or to NULL without a mask. This mask may
 * differ from the mask of the last render. */
nb_status nb_cuda_mask(nb_backend_state *state, const nb_scene *scene,
                       const uint8_t **mask, nb_error *err);

/* --- entries of nb_image_device --- */
nb_status nb_cuda_add_aside(nb_backend_state *state, size_t pixels, nb_error *err);
nb_status nb_cuda_mix_image(nb_backend_state *state, const nb_scene *scene,
                            const nb_mix *mix, nb_error *err);

void nb_cuda_mix_release(nb_cuda_mix *mix);

#endif
