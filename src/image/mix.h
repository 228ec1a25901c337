/* SPDX-License-Identifier: MIT */
/** What an image adds to its scene: more crystals, light, background, a factor for each
 * pixel (A or T), and light after the factors. pixel = T (A (crystals + light) +
 * background) + add. */
#ifndef NB_IMAGE_MIX_H
#define NB_IMAGE_MIX_H

#include <stddef.h>
#include <stdint.h>

#include "../nanobragg.h"
#include "../physics/hostdevice.h"
#include "../physics/panels.h"
#include "background.h"
#include "kernels.h"

/** Light that only a device holds until a caller needs it in memory. */
typedef struct nb_late_light {
    int missing;                                /* 1: the light is not in memory */
    nb_status (*make)(void *of, nb_error *err); /* copies the light into memory */
    void *of;                                   /* argument of `make` */
} nb_late_light;

/** Others own the arrays, as long as the photons live. Planes: [pixels of the stack]. */
typedef struct nb_mix {
    int n_more;
    const nb_scene *const *more; /* [n_more] crystals in addition to that of the scene */
    const float *light;          /* photons before the factors, or NULL */
    /* argument of nb_mix_need_light, which callers call before they read `light`; or
     * NULL */
    nb_late_light *late;
    /* factors of crystals and light, but not of the background; NULL: 1 */
    const float *absorb;
    const nb_background *background; /* NULL: the image has no background */
    const float *under; /* photons of the background / under_scale; NULL unless a device
                           keeps the image */
    double under_scale;
    uint64_t under_key;        /* hash of `under` */
    const float *transmission; /* factors in the form that nb_mix_factor reads; NULL: 1 */
    const float *add;          /* photons added after the factors, or NULL */
    double add_scale;          /* factor of `add` */
    const int32_t *acts;  /* [2 rows of the stack] first column and end of pixels with a
                            factor or addition; NULL: all. Not for `light` */
    const uint8_t *lit;   /* mask of the scene without pixels of factor 0, or NULL */
    double max;           /* largest factor; 0: 1 */
    uint64_t hash;        /* hash of transmission and add, for devices that keep them */
    uint64_t absorb_hash; /* hash of `absorb` */
} nb_mix;

/** Bring the light into memory. Errors: those of late->make. */
static inline nb_status nb_mix_need_light(const nb_mix *mix, nb_error *err)
{
    nb_late_light *late = mix->light ? mix->late : NULL;
    nb_status st = late && late->missing ? late->make(late->of, err) : NB_OK;
    if (late && !st)
        late->missing = 0;
    return st;
}

/** True if the mix adds nothing to the image of the scene. */
static inline int nb_mix_is_plain(const nb_mix *mix)
{
    return !mix->n_more && !mix->light && !mix->absorb && !mix->background &&
           !mix->transmission && !mix->add;
}

/** Factor of a number in a plane: positive numbers are the factor, 0 (fresh memory) is
 * the factor 1, negative numbers are the factor 0. */
NB_HD float nb_mix_factor(float written)
{
    return written > 0 ? written : written < 0 ? 0 : 1;
}

/** Factor of the Bragg light of a pixel. */
NB_HD float nb_mix_crystal(const nb_mix *mix, size_t pixel)
{
    const float factor = mix->transmission ? nb_mix_factor(mix->transmission[pixel]) : 1;
    return factor * (mix->absorb ? mix->absorb[pixel] : 1);
}

/** Photons added to a pixel after its factor: a float, since host and device must give
 * the same number. */
NB_HD double nb_mix_added(const nb_mix *mix, size_t pixel)
{
    return mix->add ? (float)(mix->add_scale * mix->add[pixel]) : 0;
}

/** Photons of the background that a device adds to a pixel. */
NB_HD float nb_mix_under(const nb_mix *mix, size_t pixel)
{
    return mix->under ? (float)(mix->under_scale * mix->under[pixel]) : 0;
}

/** Photons of crystals and light after absorption. */
NB_HD double nb_mix_absorbed(const nb_mix *mix, size_t pixel, double photons)
{
    const double light = mix->light ? mix->light[pixel] : 0;
    return mix->absorb[pixel] * (photons + light);
}

/** Value of a pixel from photons of crystals (after nb_mix_absorbed) and background. */
NB_HD double nb_mix_pixel(const nb_mix *mix, size_t pixel, double photons)
{
    const double light = mix->light && !mix->absorb ? mix->light[pixel] : 0;
    const double factor = mix->transmission ? nb_mix_factor(mix->transmission[pixel]) : 1;
    return (factor > 0 ? factor * (photons + light) : 0) + nb_mix_added(mix, pixel);
}

/** Photons of `light` in a pixel of the image. */
NB_HD float nb_mix_light(const nb_mix *mix, size_t pixel)
{
    const double light = mix->light ? mix->light[pixel] : 0;
    const double factor = mix->transmission ? nb_mix_factor(mix->transmission[pixel]) : 1;
    return (float)(factor * light * (mix->absorb ? mix->absorb[pixel] : 1));
}

/** A row of the stack: first pixel, and the columns where a mix acts. */
typedef struct nb_mix_row {
    int64_t start;
    int32_t first, end;
} nb_mix_row;

/** Columns where a mix acts in a row, inside of the region of interest. */
static inline nb_mix_row nb_mix_row_of(const nb_mix *mix, const nb_scene *scene, int row)
{
    const nb_panel *panel = &scene->panels[nb_panel_of_row(scene, row)];
    const nb_region r = nb_panel_region(scene, panel);
    const int s = row - panel->first_row;
    nb_mix_row out = {(int64_t)nb_row_start(scene, row), r.fmin, r.fmax + 1};
    if (mix->acts && !mix->light && !mix->background) {
        const int32_t *acts = mix->acts + 2 * (size_t)row;
        out.first = acts[0] > out.first ? acts[0] : out.first;
        out.end = acts[1] < out.end ? acts[1] : out.end;
    }
    if (s < r.smin || s > r.smax)
        out.end = 0;
    return out;
}

/** Apply absorption: image[pixels] has photons of all crystals. Pixels masked or outside
 * of the ROI stay. */
void nb_mix_absorb(const nb_mix *mix, const nb_scene *scene, int threads, float *image);

/** Apply the mix: image[pixels] has photons of all crystals. Pixels masked or outside of
 * the ROI stay. Bytes do not depend on threads. Errors: NB_ERR_NOMEM. */
nb_status nb_mix_apply(const nb_mix *mix, const nb_scene *scene, int threads,
                       float *image, nb_error *err);

/** Scene whose pixels are rendered for the mix. */
static inline nb_scene nb_mix_scene(const nb_mix *mix, const nb_scene *scene)
{
    nb_scene lit = *scene;
    if (mix->lit)
        lit.raster.mask = mix->lit;
    return lit;
}

#endif
