/* SPDX-License-Identifier: MIT */
/** An image of expected photons, and where it lies: in memory, on a device, or both. */
#ifndef NB_IMAGE_PHOTONS_H
#define NB_IMAGE_PHOTONS_H

#include "device.h"
#include "kernels.h"
#include "mix.h"

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

/** Memory for an image, in large pages where the system has them: the first touch of 16384 small ones
 * takes longer than a picture.  NULL: there is none.  The caller's: free(). */
void *nb_image_memory(size_t bytes);

/** Allocate photons->own.  Errors: NB_ERR_NOMEM, before the system would lend more than there
 * is. */
nb_status nb_photons_memory(nb_photons *photons, nb_error *err);

/** Bring them into memory: pixels is set.  Errors: NB_ERR_NOMEM, NB_ERR_DEVICE, NB_ERR_INTERNAL (no
 * image anywhere). */
nb_status nb_photons_fetch(nb_photons *photons, nb_error *err);

/** There is no image any more; its memory stays. */
void nb_photons_forget(nb_photons *photons);

#endif
