/* SPDX-License-Identifier: MIT */
/** What is made of an image of expected photons.  A stage turns it into the next thing; a product
 * is a requested image. */
#ifndef NB_IMAGE_PRODUCT_H
#define NB_IMAGE_PRODUCT_H

#include "../base/pixel_type.h"
#include "../nanobragg.h"

/** In the order of the instrument (docs/physics.md, section 20). */
typedef enum nb_stage_kind {
    NB_STAGE_POISSON = 0,    /* counts: noise.h; alone, or after what comes before them */
    NB_STAGE_POISSON_COMPAT, /* nanoBragg's counts, pixel after pixel: -compat */
    NB_STAGE_FLICKER,        /* before the counts: times `amount`, nb_flicker_factor */
    NB_STAGE_DEADTIME,       /* before the counts: m exp(-m amount) */
    NB_STAGE_SPREAD,      /* light of a pixel in others: `shape`, `amount` its width, m */
    NB_STAGE_CALIBRATION, /* times 1 + `amount` g, not below 0 */
    NB_STAGE_GAINMAP,     /* times map[pixel] */
    NB_STAGE_GAIN,        /* times the gain, plus the product's offset: ADU */
    NB_STAGE_READOUT      /* plus `amount` g */
} nb_stage_kind;

typedef struct nb_stage {
    nb_stage_kind kind;
    int64_t seed;
    uint32_t frame; /* images of one seed are independent when their frames differ */
    double amount;
    nb_psf_shape shape;
    const float *map;        /* [pixels of the stack] */
    const double *of_panels; /* [panels], instead of `amount`; NULL: one for all */
    struct nb_fibres *fibres; /* transforms of NB_PSF_FIBRE that are kept; not NULL there */
} nb_stage;

enum {
    NB_STAGES_MOST = 8,  /* of a detector */
    NB_PRODUCTS_MOST = 4 /* so many different ones lie on a device at once */
};

typedef struct nb_product {
    /* asked for */
    nb_pixel_type type; /* F32: the photons themselves, or ADU; U16, I16, I32: nb_int_adu or
                           counts; U8: greys of the PGM */
    int stages;         /* how many of the stages come before it; U8: 0 */
    double scale;       /* of the expected photons; not used after a stage */
    double adc_offset;        /* U16; of all types after NB_STAGE_GAIN */
    double trusted;           /* largest value that counts as good, after NB_STAGE_GAIN */
    const double *trusted_of; /* [panels], also; NULL: one for all */
    int ends_at_16_bits;      /* I32: cut at 65535, as the 16-bit image is */
    int marks_masked;         /* masked pixels hold nb_masked_value, not the offset */
    void *pixels; /* [spixels][fpixels], the caller's: filled.  NULL: see nb_product_rows */
    nb_stats *stats; /* F32: filled, but for the solid angle; NULL: not wanted */
    /* made */
    int64_t overloads; /* pixels that were cut to fit the type; U16, I16, I32 */
    nb_stage stage;    /* the last of `stages`, when that is one of counts */
    nb_stage chain[NB_STAGES_MOST]; /* all of them */
    int place; /* the device's number for it; -1: made from the photons */
    const struct nb_photons *photons;
    struct nb_compat_noise *stream; /* owned: nb_products_free */
    struct nb_light *light;         /* behind NB_STAGE_SPREAD, in memory; NULL: none */
    int owns_light;                 /* nb_products_free */
} nb_product;

/** Is it more than counts and an offset, or of a type that only those have? */
static inline int nb_product_is_chained(const nb_product *p)
{
    return (p->stages > 0 && p->chain[p->stages - 1].kind >= NB_STAGE_FLICKER) ||
           p->type == NB_PIXEL_I16;
}

/** What a masked pixel of an integer file holds (docs/formats.md). */
static inline int nb_masked_value(nb_pixel_type type)
{
    return type == NB_PIXEL_U16 ? 65535 : -2;
}

#endif
