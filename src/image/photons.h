/* SPDX-License-Identifier: MIT */
/** An image of expected photons in memory, on a device, or both. */
#ifndef NB_IMAGE_PHOTONS_H
#define NB_IMAGE_PHOTONS_H

#include "../base/row_sums.h"
#include "../physics/scene.h"
#include "kernels.h"
#include "mix.h"
#include "product.h"

/* --- Functions of a device that keeps the image that it rendered --- */

struct nb_diffuse_plane;
struct nb_footprint_plan;
struct nb_mix;

/** State of a renderer; opaque to others. */
typedef struct nb_backend_state nb_backend_state;

typedef struct nb_image_device {
    /** True if the device makes this product. Otherwise the CPU makes it from photons
     * that it fetches. */
    int (*makes)(const nb_backend_state *state, const nb_product *product);
    /** Fill sums[rows of the region] of the image that was rendered last. */
    nb_status (*sums)(nb_backend_state *state, const nb_scene *scene, nb_row_sums *sums,
                      nb_error *err);
    /** Make n <= NB_PRODUCTS_MAX products of the last image, with the same integers as
     * src/image. They stay until the next make or render. Sets overloads. */
    nb_status (*make)(nb_backend_state *state, const nb_scene *scene,
                      nb_product *const *products, int n, nb_error *err);
    /** Copy rows first to first + rows - 1 of product i, or of the photons (i = -1), to
     * out. Several threads may ask at once for different rows. */
    nb_status (*fetch)(nb_backend_state *state, int i, int first, int rows, void *out,
                       nb_error *err);
    /** Lend memory that the device writes directly, for fetch. Returns NULL if all memory
     * is lent or too small. The caller returns the memory with `give`. */
    void *(*take)(nb_backend_state *state, size_t bytes);
    void (*give)(nb_backend_state *state, void *memory);
    /** Allocate memory like that of `take`, which outlives the renderer. This function
     * may be NULL. */
    void *(*allocate)(int device_index, size_t bytes);
    void (*release)(void *memory); /* NULL is allowed */
    /** Find the finished last image and its device. The renderer owns *pixels. */
    nb_status (*locate)(nb_backend_state *state, float **pixels, int *device,
                        nb_error *err);
    /** Give the caller the memory of the last image (discard frees it). The renderer
     * takes `other`, or (NULL) allocates memory for the next image. */
    void (*replace)(nb_backend_state *state, float *other, size_t bytes);
    /** Wait for all work of this process on the device. */
    nb_status (*settle)(int device, nb_error *err);
    /** Copy from memory of the device to memory of the host. */
    nb_status (*copy)(int device, const float *from, float *out, size_t bytes,
                      nb_error *err);
    void (*discard)(int device, float *pixels);
    /* The next three functions are all NULL, or none is. */
    /** Keep the last image, of this number of pixels, for `add_aside`. */
    nb_status (*set_aside)(nb_backend_state *state, size_t pixels, nb_error *err);
    /** nb_footprint_spread of the last image, to float precision. Only for displacements
     * up to NB_DEVICE_FARTHEST pixels. */
    nb_status (*spread)(nb_backend_state *state, const struct nb_footprint_plan *plan,
                        const nb_scene *scene, const nb_scene *sources, nb_error *err);
    /** Add the image set aside to the last image, which has the same number of pixels. */
    nb_status (*add_aside)(nb_backend_state *state, size_t pixels, nb_error *err);
    /** Apply nb_mix_absorb and nb_mix_apply to the last image, with the background from
     * mix->under. If this function is NULL, mix in memory. */
    nb_status (*mix)(nb_backend_state *state, const nb_scene *scene,
                     const struct nb_mix *mix, nb_error *err);
    /** After rendering, make the light of the next mix as nb_diffuse_plane_fill, on the
     * device alone. With add = 1, add it to the light that is there. If the function is
     * NULL or returns NB_ERR_DEVICE, make the light in memory. */
    nb_status (*light)(nb_backend_state *state, const struct nb_diffuse_plane *plane,
                       int add, nb_error *err);
} nb_image_device;

/* limit of the pixels by which light may move, as shared memory is small */
enum { NB_DEVICE_FARTHEST = 20 };

typedef struct nb_photons {
    const nb_scene *scene; /* rendered scene; its raster is a rectangle of all pixels */
    /* scene with the rows of the panels if their widths differ, or NULL */
    const nb_scene *stack;
    const float *pixels;             /* [spixels][fpixels], or NULL if not in memory */
    const nb_image_device *device;   /* device that keeps the image, or NULL */
    nb_backend_state *state;         /* state of the device */
    const nb_image_kernels *kernels; /* kernels of all steps on the CPU */
    int threads;                     /* threads of the CPU; 0: all */
    const nb_hooks *hooks;           /* hooks of the caller, or NULL */
    nb_mix mix;                      /* additions to the scene */
    float *own;                      /* owned; memory of nb_photons_memory, or NULL */
} nb_photons;

/** Scene whose rows are those of the panels. */
static inline const nb_scene *nb_photons_stack(const nb_photons *photons)
{
    return photons->stack ? photons->stack : photons->scene;
}

/** Allocate memory of the image, if the machine has it. Errors: NB_ERR_NOMEM. */
nb_status nb_photons_memory(nb_photons *photons, nb_error *err);

/** Bring the photons into memory, and set pixels. NB_ERR_NOMEM, NB_ERR_DEVICE,
 * NB_ERR_INTERNAL (neither memory nor device has an image). */
nb_status nb_photons_fetch(nb_photons *photons, nb_error *err);

/** Forget the image, and keep its memory for the next image. */
void nb_photons_forget(nb_photons *photons);

#endif
