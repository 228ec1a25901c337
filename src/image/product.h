/* SPDX-License-Identifier: MIT */
/** What is made of an image of expected photons.  A stage turns it into the next thing; a product
 * is an image that somebody asked for. */
#ifndef NB_IMAGE_PRODUCT_H
#define NB_IMAGE_PRODUCT_H

#include "../base/pixel_type.h"
#include "../nanobragg.h"

typedef enum nb_stage_kind {
    NB_STAGE_POISSON = 0,   /* counts: noise.h */
    NB_STAGE_POISSON_COMPAT /* nanoBragg's counts, pixel after pixel: -compat */
} nb_stage_kind;

typedef struct nb_stage {
    nb_stage_kind kind;
    int64_t seed;
    uint32_t frame; /* images of one seed are independent when their frames differ */
    double error;   /* relative, of the expected photons; 0: they are taken as they are */
} nb_stage;

enum {
    NB_STAGES_MOST = 1,  /* of a detector */
    NB_PRODUCTS_MOST = 4 /* so many different ones lie on a device at once */
};

typedef struct nb_product {
    /* asked for */
    nb_pixel_type type; /* F32: the photons themselves; U16, I32: nb_int_adu or counts; U8: greys
                           of the PGM */
    int stages;         /* how many of the stages come before it; F32, U8: 0 */
    double scale;        /* of the expected photons; not used after a stage */
    double adc_offset;   /* U16 */
    int ends_at_16_bits; /* I32: cut at 65535, as the 16-bit image is */
    void *pixels; /* [spixels][fpixels], the caller's: filled.  NULL: see nb_product_rows */
    nb_stats *stats; /* F32: filled, but for the solid angle; NULL: not wanted */
    /* made */
    int64_t overloads; /* pixels that were cut to fit the type; U16, I32 */
    nb_stage stage;    /* the last of `stages` */
    int place;         /* the device's number for it; -1: made from the photons */
    const struct nb_photons *photons;
    struct nb_compat_noise *stream; /* owned: nb_products_free */
} nb_product;

#endif
