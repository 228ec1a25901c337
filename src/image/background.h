/* SPDX-License-Identifier: MIT */
/** Light that needs no crystal and changes slowly over the detector: scattering by
 * sin(theta)/lambda of water and of materials without order. docs/physics.md has the
 * formula.
 *
 * A pixel is the sum over layers of the sensor and over directions of the beam of weight
 * x mean scattering. Tiles have polynomials of the weight (solid angle, polarization,
 * captured fraction), of the sine of half the scattering angle, and of the variance of
 * the sine over the rays of a pixel. A curve has the scattering of all wavelengths of a
 * direction, as cubics in equal cells of the sine. Where the cubic or its mean over a
 * pixel is wrong, as at a kink of a table, the cell is NaN, and its pixels are summed ray
 * by ray. */
#ifndef NB_IMAGE_BACKGROUND_H
#define NB_IMAGE_BACKGROUND_H

#include <stdint.h>

#include "../nanobragg.h"
#include "../physics/amorphous.h"
#include "kernels.h"

/** A kind of background. */
typedef struct nb_background_kind {
    const char *name;
    int flat; /* 1: the scattering is the same at every angle */
    int (*has)(const nb_scene *sc);
    /** Scattering at sin(theta)/lambda = stol, 1/m; electrons^2 per step (sample) of the
     * image. */
    double (*scattering)(const nb_scene *sc, double stol);
    /** Factor of the scattering that changes slowly with the direction; NULL: 1. */
    double (*factor)(const nb_scene *sc, const nb_source *source, nb_vec3 direction);
    /** Extend a hash by everything that the scattering and its factor depend on. */
    uint64_t (*hash)(const nb_scene *sc, uint64_t key);
} nb_background_kind;

/** All kinds, NULL-terminated. */
extern const nb_background_kind *const nb_background_kinds[];

int nb_has_background(const nb_scene *sc);

/** Scattering of all kinds from a source into a direction, electrons^2 per step. */
double nb_background_scattering(const nb_scene *sc, const nb_source *source,
                                nb_vec3 direction);
/** Fraction of the light along a ray that a layer captures [times the solid angle]. */
double nb_background_captured(const nb_scene *sc, const nb_ray *ray);
/** Photons of the background in pixel (f, s) of a panel: the sum over all rays. */
double nb_pixel_background(const nb_scene *sc, int panel, int f, int s);

/** Everything that the background needs, except for the scale of the image. */
typedef struct nb_background nb_background;

/** Hash of everything that *nb_background depends on; 0: the scene has no background. */
uint64_t nb_background_key(const nb_scene *sc);
/** Make the background for scenes of one key; if kernels is NULL, all rays are summed.
 * The caller frees *out (nb_background_free). Errors: NB_ERR_NOMEM. */
nb_status nb_background_make(const nb_scene *sc, const nb_image_kernels *kernels,
                             int threads, nb_background **out, nb_error *err);
void nb_background_free(nb_background *background); /* NULL is allowed */

/** Add the photons of n pixels from (f, s) of a panel on to to[n]. The bytes of a pixel
 * do not depend on its neighbours. Returns the number of pixels summed ray by ray. */
int nb_background_add(const nb_background *background, const nb_scene *sc, int panel,
                      int f, int s, int n, float *to);
/** Factor by which an image multiplies the pixels of nb_background_plane. */
double nb_background_scale(const nb_background *background, const nb_scene *sc);
/** Make plane[pixels of the stack]: in the region, photons / nb_background_scale;
 * elsewhere 0. Both functions give the same bytes. */
void nb_background_plane(const nb_background *background, const nb_scene *sc, int threads,
                         float *plane);

#endif
