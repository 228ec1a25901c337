/* SPDX-License-Identifier: MIT */
/** Products of an image of expected photons. A stage changes the image; a product is a
 * requested image. */
#ifndef NB_IMAGE_PRODUCT_H
#define NB_IMAGE_PRODUCT_H

#include "../base/pixel_type.h"
#include "../nanobragg.h"

/** Stages in the order of the instrument (docs/physics.md, section 20). */
typedef enum nb_stage_kind {
    NB_STAGE_POISSON = 0, /* counts, as the first stage or after other stages */
    /* counts as nanoBragg makes them, in the order of the pixels: -compat */
    NB_STAGE_POISSON_COMPAT,
    /* before the counts: times `amount`, which is nb_flicker_factor */
    NB_STAGE_FLICKER,
    NB_STAGE_DEADTIME, /* before the counts, a mean m becomes m exp(-m amount) */
    /* spread of light to other pixels: `shape`, with the width `amount`, m */
    NB_STAGE_SPREAD,
    NB_STAGE_CALIBRATION, /* times 1 + `amount` g, at least 0; g: normal deviate */
    NB_STAGE_GAINMAP,     /* times map[pixel] */
    NB_STAGE_GAIN,        /* times the gain, plus the product's offset: ADU */
    NB_STAGE_READOUT      /* plus `amount` g */
} nb_stage_kind;

typedef struct nb_stage {
    nb_stage_kind kind;
    int64_t seed;
    uint32_t frame; /* frame; frames with the same seed have independent noise */
    double amount;
    nb_psf_shape shape;
    const float *map;         /* [pixels of the stack] */
    const double *of_panels;  /* [panels], or NULL for one `amount` for all */
    struct nb_fibres *fibres; /* kept transforms; not NULL for NB_PSF_FIBRE */
} nb_stage;

/** Index of the stage of this kind among n stages, or -1. */
int nb_stage_at(const nb_stage *stages, int n, nb_stage_kind kind);

enum {
    NB_STAGES_MAX = 8,  /* limit of stages of a detector */
    NB_PRODUCTS_MAX = 4 /* limit of different products on a device at once */
};

typedef struct nb_product {
    /* --- request --- */
    nb_pixel_type type;       /* F32: photons, or ADU; U16, I16, I32: nb_int_adu or
                           counts; U8: greys of the PGM */
    int stages;               /* number of stages before the product; U8: 0 */
    double scale;             /* scale of expected photons; unused after a stage */
    double adc_offset;        /* offset of U16, and of all types after NB_STAGE_GAIN */
    double trusted;           /* largest good value after NB_STAGE_GAIN */
    const double *trusted_of; /* [panels] of `trusted`, or NULL for one value for all */
    int ends_at_16_bits;      /* I32: cut at 65535, like the 16-bit image */
    int marks_masked;         /* masked pixels hold nb_masked_value, not the offset */
    void *pixels;    /* [spixels][fpixels], the caller's; NULL: see nb_product_rows */
    nb_stats *stats; /* statistics of F32, without solid angle; or NULL */
    /* --- result --- */
    /* number of pixels that were cut to fit the type; for U16, I16, I32 */
    int64_t overloads;
    /* last of the stages, for products that have only counts */
    nb_stage stage;
    nb_stage chain[NB_STAGES_MAX]; /* all stages */
    /* number of the product on the device; -1: the CPU makes it from the photons */
    int place;
    const struct nb_photons *photons;
    struct nb_compat_noise *stream; /* owned (nb_products_free) */
    struct nb_light *light;         /* light after NB_STAGE_SPREAD, in memory, or NULL */
    int owns_light;                 /* 1: nb_products_free frees `light` */
} nb_product;

/** True if p needs nb_chained_rows: it needs more than counts and an offset, or its type
 * is I16. */
static inline int nb_product_is_chained(const nb_product *p)
{
    return (p->stages > 0 && p->chain[p->stages - 1].kind >= NB_STAGE_FLICKER) ||
           p->type == NB_PIXEL_I16;
}

/** Value of a masked pixel of an integer file (docs/formats.md). */
static inline int nb_masked_value(nb_pixel_type type)
{
    return type == NB_PIXEL_U16 ? 65535 : -2;
}

#endif
