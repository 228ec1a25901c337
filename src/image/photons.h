/* SPDX-License-Identifier: MIT */
/** An image of expected photons, and where it lies: in memory, on a device, or both. */
#ifndef NB_IMAGE_PHOTONS_H
#define NB_IMAGE_PHOTONS_H

#include "../base/row_sums.h"
#include "../physics/scene.h"
#include "kernels.h"
#include "mix.h"
#include "product.h"

/* --- What a device offers that keeps the image that it rendered --- */

struct nb_diffuse_plane;
struct nb_footprint_plan;
struct nb_mix;

/** A renderer's state; opaque to others. */
typedef struct nb_backend_state nb_backend_state;

typedef struct nb_image_device {
    /** Can it make this product?  If not, it is made of the photons that are fetched. */
    int (*makes)(const nb_backend_state *state, const nb_product *product);
    /** Fill sums[rows of the region] of the image rendered last. */
    nb_status (*sums)(nb_backend_state *state, const nb_scene *scene, nb_row_sums *sums,
                      nb_error *err);
    /** Make n <= NB_PRODUCTS_MOST products of it, which stay until the next make or render: the
     * same integers as src/image makes of the same photons.  Overloads are set. */
    nb_status (*make)(nb_backend_state *state, const nb_scene *scene,
                      nb_product *const *products, int n, nb_error *err);
    /** Rows first ... first + rows - 1 of product i, or of the photons (i = -1), to out.  Several
     * threads may ask at once for different rows. */
    nb_status (*fetch)(nb_backend_state *state, int i, int first, int rows, void *out,
                       nb_error *err);
    /** Memory that the device writes by itself, for fetch: one of few pieces of the renderer's own
     * (NULL: none left, or too small), back with give. */
    void *(*take)(nb_backend_state *state, size_t bytes);
    void (*give)(nb_backend_state *state, void *memory);
    /** The same that outlives the renderer; NULL: there is none. */
    void *(*allocate)(int device_index, size_t bytes);
    void (*release)(void *memory); /* NULL is fine */
    /** Where the image rendered last lies, finished, and on which device.  The renderer's. */
    nb_status (*locate)(nb_backend_state *state, float **pixels, int *device,
                        nb_error *err);
    /** That memory is the caller's from now on (discard); the renderer takes other memory of such an
     * image, or (NULL) makes some for the next. */
    void (*replace)(nb_backend_state *state, float *other, size_t bytes);
    /** Wait for all work of this process on the device. */
    nb_status (*settle)(int device, nb_error *err);
    /** Bytes of the device to memory of the host. */
    nb_status (*copy)(int device, const float *from, float *out, size_t bytes,
                      nb_error *err);
    void (*discard)(int device, float *pixels);
    /* The next three, or none of them (NULL). */
    /** The image rendered last, of so many pixels, is kept for `spread` or `add_aside` to add. */
    nb_status (*set_aside)(nb_backend_state *state, size_t pixels, nb_error *err);
    /** nb_footprint_spread of the image rendered last, to the digits of floats; rest: add the one that was set aside.
     * Only where light goes NB_DEVICE_FARTHEST pixels at most. */
    nb_status (*spread)(nb_backend_state *state, const struct nb_footprint_plan *plan,
                        const nb_scene *scene, const nb_scene *sources, int rest,
                        nb_error *err);
    /** Add it to the image rendered since then, of as many pixels. */
    nb_status (*add_aside)(nb_backend_state *state, size_t pixels, nb_error *err);
    /** nb_mix_absorb and nb_mix_apply to the image rendered last.  Where the mix has `absorb` and `rest` that is the rest's,
     * and the image was set aside.  NULL: mixed images are made in memory. */
    nb_status (*mix)(nb_backend_state *state, const nb_scene *scene,
                     const struct nb_mix *mix, nb_error *err);
    /** Make the light of the next mix, which is `missing` in memory: what nb_diffuse_plane_fill makes, after the scene was
     * rendered; add: to what is there.  NULL, or NB_ERR_DEVICE: light is made in memory. */
    nb_status (*light)(nb_backend_state *state, const struct nb_diffuse_plane *plane,
                       int add, nb_error *err);
} nb_image_device;

enum { NB_DEVICE_FARTHEST = 20 }; /* of a footprint: its light fits into shared memory */

typedef struct nb_photons {
    const nb_scene *scene; /* that it was rendered from; its raster is a rectangle of all pixels */
    const nb_scene *stack; /* with the rows of panels of unequal widths; NULL: those of scene */
    const float *pixels;             /* [spixels][fpixels]; NULL: not in memory */
    const nb_image_device *device;   /* that keeps it; NULL: none */
    nb_backend_state *state;         /* of the device */
    const nb_image_kernels *kernels; /* for all that is made of it on the CPU */
    int threads;                     /* of the CPU; 0: all */
    const nb_hooks *hooks;           /* may be NULL */
    nb_mix mix;                      /* what the image has beside the scene */
    float *own; /* owned: memory of its own; NULL until nb_photons_memory */
} nb_photons;

/** The scene whose rows are those of the panels. */
static inline const nb_scene *nb_photons_stack(const nb_photons *photons)
{
    return photons->stack ? photons->stack : photons->scene;
}

/** Allocate photons->own.  Errors: NB_ERR_NOMEM, before the system would lend more than there
 * is. */
nb_status nb_photons_memory(nb_photons *photons, nb_error *err);

/** Bring them into memory: pixels is set.  Errors: NB_ERR_NOMEM, NB_ERR_DEVICE, NB_ERR_INTERNAL (no
 * image anywhere). */
nb_status nb_photons_fetch(nb_photons *photons, nb_error *err);

/** There is no image any more; its memory stays. */
void nb_photons_forget(nb_photons *photons);

#endif
