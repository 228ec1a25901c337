/* SPDX-License-Identifier: MIT */
/** What an image of photons has beside its scene: further crystals, light that no scene has, the factor of each pixel and
 * light that is added behind it:  pixel = T (crystals + background + light) + add. */
#ifndef NB_IMAGE_MIX_H
#define NB_IMAGE_MIX_H

#include <stddef.h>
#include <stdint.h>

#include "../nanobragg.h"
#include "../physics/hostdevice.h"
#include "../physics/panels.h"
#include "kernels.h"

/** Light that only a device has, until it is read in memory. */
typedef struct nb_late_light {
    int missing;                                /* not in memory */
    nb_status (*make)(void *of, nb_error *err); /* in memory */
    void *of;
} nb_late_light;

/** All arrays are another's and live as long as the photons.  Planes have the pixels of the stack.  Zeroed: nothing. */
typedef struct nb_mix {
    int n_more;
    const nb_scene *const *more; /* [n_more] crystals that were added to the scene's */
    const float *light;          /* photons before the factors; NULL: none */
    nb_late_light *late; /* readers of `light` in memory call nb_mix_need_light; NULL: it is there */
    const float *absorb; /* factors of light and crystals, not of the background; NULL: 1 */
    const nb_scene *rest;      /* the background alone, where there is one and `absorb` */
    const float *transmission; /* factors, as nb_mix_factor reads them; NULL: 1 */
    const float *add;          /* photons behind the factors; NULL: none */
    double add_scale;          /* of `add` */
    const int32_t *acts; /* [2 rows of the stack] the first column and the end of those where the factor is not 1
                            or something is added; NULL: everywhere.  Does not hold for `light` */
    const uint8_t *lit; /* the scene's mask without the pixels of factor 0; NULL: the scene's */
    double most;        /* largest factor; 0: 1 */
    uint64_t hash;        /* of transmission and add, for devices, which keep them */
    uint64_t absorb_hash; /* of `absorb`, the same */
} nb_mix;

/** Have the light in memory.  Errors: those of its maker. */
static inline nb_status nb_mix_need_light(const nb_mix *mix, nb_error *err)
{
    nb_late_light *late = mix->light ? mix->late : NULL;
    nb_status st = late && late->missing ? late->make(late->of, err) : NB_OK;
    if (late && !st)
        late->missing = 0;
    return st;
}

/** Is the image that of the scene alone? */
static inline int nb_mix_is_plain(const nb_mix *mix)
{
    return !mix->n_more && !mix->light && !mix->absorb && !mix->transmission && !mix->add;
}

/** The factor that a number of a plane means: a positive number itself, 0 the factor 1 (fresh memory has it), a negative
 * number the factor 0. */
NB_HD float nb_mix_factor(float written)
{
    return written > 0 ? written : written < 0 ? 0 : 1;
}

/** The factor of a pixel's Bragg light. */
NB_HD float nb_mix_crystal(const nb_mix *mix, size_t pixel)
{
    const float factor = mix->transmission ? nb_mix_factor(mix->transmission[pixel]) : 1;
    return factor * (mix->absorb ? mix->absorb[pixel] : 1);
}

/** Photons that a pixel gets behind its factor: a float, so that host and device agree. */
NB_HD double nb_mix_added(const nb_mix *mix, size_t pixel)
{
    return mix->add ? (float)(mix->add_scale * mix->add[pixel]) : 0;
}

/** Photons of crystals, background and light behind the crystal's absorption; of those `background` is not absorbed. */
NB_HD double nb_mix_absorbed(const nb_mix *mix, size_t pixel, double photons,
                             double background)
{
    const double light = mix->light ? mix->light[pixel] : 0;
    return mix->absorb[pixel] * (photons - background + light) + background;
}

/** A pixel from its photons of crystals and background, behind nb_mix_absorbed where there is absorption. */
NB_HD double nb_mix_pixel(const nb_mix *mix, size_t pixel, double photons)
{
    const double light = mix->light && !mix->absorb ? mix->light[pixel] : 0;
    const double factor = mix->transmission ? nb_mix_factor(mix->transmission[pixel]) : 1;
    return (factor > 0 ? factor * (photons + light) : 0) + nb_mix_added(mix, pixel);
}

/** The photons of the light in a pixel of the image. */
NB_HD float nb_mix_light(const nb_mix *mix, size_t pixel)
{
    const double light = mix->light ? mix->light[pixel] : 0;
    const double factor = mix->transmission ? nb_mix_factor(mix->transmission[pixel]) : 1;
    return (float)(factor * light * (mix->absorb ? mix->absorb[pixel] : 1));
}

/** A row of the stack: its first pixel, and the columns where a mix acts. */
typedef struct nb_mix_row {
    int64_t start;
    int32_t first, end;
} nb_mix_row;

/** Inside of the region of interest. */
static inline nb_mix_row nb_mix_row_of(const nb_mix *mix, const nb_scene *scene, int row)
{
    const nb_panel *panel = &scene->panels[nb_panel_of_row(scene, row)];
    const nb_region r = nb_panel_region(scene, panel);
    const int s = row - panel->first_row;
    nb_mix_row out = {(int64_t)nb_row_start(scene, row), r.fmin, r.fmax + 1};
    if (mix->acts && !mix->light) {
        const int32_t *acts = mix->acts + 2 * (size_t)row;
        out.first = acts[0] > out.first ? acts[0] : out.first;
        out.end = acts[1] < out.end ? acts[1] : out.end;
    }
    if (s < r.smin || s > r.smax)
        out.end = 0;
    return out;
}

/** Let the crystal absorb: image[pixels] has the photons of all crystals and the background, rest[pixels] those of
 * the background alone, or is NULL.  Masked pixels, and those outside of the region of interest, stay. */
void nb_mix_absorb(const nb_mix *mix, const nb_scene *scene,
                   const nb_image_kernels *kernels, int threads, const float *rest,
                   float *image);

/** Make the image of it: image[pixels] has the photons of all crystals and the background; masked pixels, and those
 * outside of the region of interest, stay.  The same bytes for any number of threads. */
void nb_mix_apply(const nb_mix *mix, const nb_scene *scene, int threads, float *image);

/** The scene whose pixels are rendered for it. */
static inline nb_scene nb_mix_scene(const nb_mix *mix, const nb_scene *scene)
{
    nb_scene lit = *scene;
    if (mix->lit)
        lit.raster.mask = mix->lit;
    return lit;
}

#endif
