/* SPDX-License-Identifier: MIT */
/** nb_config: everything that a user can ask for, by the names of params.h. */
#ifndef NANOBRAGG_CONFIG_H
#define NANOBRAGG_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NB_PATH_MAX 1024
#define NB_SENSOR_MAX 64

/** A text of nb_config, which copies share; "" if unset. nb_text_put replaces it. */
typedef const char *nb_text;
/** Replace a text (or NULL) by a copy. Errors: NB_ERR_NOMEM, and *to is unchanged. */
nb_status nb_text_put(nb_text *to, const char *text, nb_error *err);

/** Three numbers that may be unset (`set` = 0): a lab vector or three angles. */
typedef struct nb_opt3 {
    int set;
    double v[3];
} nb_opt3;

/* --- choices of parameters --- */

typedef enum nb_convention {
    NB_CONV_UNSET = 0, /* means MOSFLM */
    NB_CONV_MOSFLM,
    NB_CONV_XDS,
    NB_CONV_ADXV,
    NB_CONV_DENZO,
    NB_CONV_DIALS,
    NB_CONV_CUSTOM
} nb_convention;
typedef enum nb_pivot { NB_PIVOT_UNSET = 0, NB_PIVOT_BEAM, NB_PIVOT_SAMPLE } nb_pivot;
typedef enum nb_shape {
    NB_SHAPE_SQUARE = 0,
    NB_SHAPE_ROUND,
    NB_SHAPE_GAUSS,
    NB_SHAPE_TOPHAT
} nb_shape;
typedef enum nb_misset_mode {
    NB_MISSET_NONE = 0,
    NB_MISSET_FIXED,
    NB_MISSET_RANDOM
} nb_misset_mode;
/** How the rotations of mosaic domains are distributed (docs/physics.md, section 9). */
typedef enum nb_mosaic_model {
    NB_MOSAIC_NANOBRAGG = 0, /* the distribution of nanoBragg, up to the spread */
    NB_MOSAIC_UNIFORM,       /* uniform among all rotations up to the spread */
    NB_MOSAIC_GAUSS          /* normal, the spread is the standard deviation */
} nb_mosaic_model;
/** Axes of the covariance of the rotations of mosaic domains, at spindle 0. */
typedef enum nb_mosaic_frame { NB_MOSAIC_CRYSTAL, NB_MOSAIC_LAB } nb_mosaic_frame;
typedef enum nb_precision {
    NB_PRECISION_MIXED = 0,
    NB_PRECISION_DOUBLE,
    NB_PRECISION_SINGLE /* renders as NB_PRECISION_MIXED */
} nb_precision;
typedef enum nb_isa {
    NB_ISA_AUTO = 0,
    NB_ISA_SCALAR,
    NB_ISA_SSE2,
    NB_ISA_AVX2,
    NB_ISA_AVX512,
    NB_ISA_NEON
} nb_isa;
/** Position of a layer of the sensor within its thickness. */
typedef enum nb_layer_depth {
    NB_LAYER_UNSET = 0, /* means NB_LAYER_MEAN, with compat NB_LAYER_FRONT */
    NB_LAYER_MEAN,      /* mean depth of the photons that stop in the layer */
    NB_LAYER_FRONT      /* front face */
} nb_layer_depth;
/** Places of the panels in the array of an HDF5 file. */
typedef enum nb_layout {
    NB_LAYOUT_STACK = 0, /* below each other */
    /* places of the geometry file, if the panels do not overlap there */
    NB_LAYOUT_FILE
} nb_layout;
/** Solid angle of the pixels of a curved detector. */
typedef enum nb_curved_omega {
    NB_OMEGA_UNSET = 0, /* means NB_OMEGA_SQUARE */
    NB_OMEGA_SQUARE,    /* pixel^2/R^2, as if every pixel were a square on the sphere */
    NB_OMEGA_EXACT      /* the pixel's area on the sphere */
} nb_curved_omega;
/** Lists written with an image. */
typedef enum nb_truth { NB_TRUTH_NONE = 0, NB_TRUTH_SPOTS } nb_truth;
/** Wavelengths for the anomalous scattering of a model. */
typedef enum nb_anomalous_mode {
    NB_ANOMALOUS_UNSET = 0, /* means NB_ANOMALOUS_EACH */
    NB_ANOMALOUS_EACH,      /* at the source wavelengths, in groups of anomalous_tol */
    NB_ANOMALOUS_MEAN,      /* at the weighted mean of the wavelengths */
    NB_ANOMALOUS_OFF        /* without anomalous scattering */
} nb_anomalous_mode;
typedef enum nb_hydrogens {
    NB_HYDROGENS_UNSET = 0, /* means NB_HYDROGENS_KEEP */
    NB_HYDROGENS_KEEP,
    NB_HYDROGENS_DROP
} nb_hydrogens;
typedef enum nb_ncs_copies {
    NB_NCS_UNSET = 0, /* means NB_NCS_IGNORE */
    NB_NCS_IGNORE,
    NB_NCS_APPLY
} nb_ncs_copies;
/** F of reflections without a value. */
typedef enum nb_fill {
    NB_FILL_UNSET = 0, /* means NB_FILL_DEFAULT */
    NB_FILL_DEFAULT,   /* default_F */
    NB_FILL_SHELL,     /* the rms F of the reflection's shell of resolution */
    NB_FILL_MODEL      /* the model's F on the scale of the reflections */
} nb_fill;
typedef enum nb_sf_method {
    NB_SF_UNSET = 0, /* means NB_SF_AUTO */
    NB_SF_AUTO,      /* direct sum for small models, FFT for others */
    NB_SF_DIRECT,
    NB_SF_FFT
} nb_sf_method;
#define NB_MODEL_ALL (-1) /* value of `model`: the average of all models */
/* value of `F_scale`: bring the reflections to the scale of the model */
#define NB_FSCALE_MODEL (-1.0)
/* value of `dose_MGy`: calculate the dose from the fluence */
#define NB_DOSE_AUTO (-1.0)
#define NB_F000_CALC (-1.0) /* value of `F000`: calculate it from the model */
/* value of `fudge`: Darwin's integrated intensity for a Gaussian crystal */
#define NB_FUDGE_DARWIN (-1.0)
/** Point spread function of the detector. */
typedef enum nb_psf_shape {
    NB_PSF_NONE = 0,
    NB_PSF_GAUSS,
    NB_PSF_FIBRE, /* fibre optics: g/(2 pi) (g^2 + r^2)^(-3/2) */
    NB_PSF_FIBER  /* other spelling, which is stored as NB_PSF_FIBRE */
} nb_psf_shape;
/** Faults of a beamline: the flags of each word are the rows of src/params/realism.c. */
typedef enum nb_realism {
    NB_REALISM_NONE = 0,
    NB_REALISM_MX,  /* rotations at a synchrotron */
    NB_REALISM_SSX, /* stills at a synchrotron */
    NB_REALISM_XFEL /* stills at a free-electron laser */
} nb_realism;
typedef enum nb_tristate { NB_AUTO = -1, NB_OFF = 0, NB_ON = 1 } nb_tristate;

/** Correlation of the displacements at r, in units of the correlation length. */
typedef enum nb_diffuse_halo {
    NB_HALO_EXP,  /* exp(-r) */
    NB_HALO_GAUSS /* exp(-r^2/2) */
} nb_diffuse_halo;

/** Meaning of F in the file. */
typedef enum nb_diffuse_F {
    NB_DIFFUSE_MEAN,       /* F of the moving crystal, with the Debye-Waller factor */
    NB_DIFFUSE_UNPERTURBED /* F of the crystal without the displacements */
} nb_diffuse_F;

/** Type of the numbers in planes of derivatives and gradients of a loss. */
typedef enum nb_real_type { NB_REAL_FLOAT32 = 0, NB_REAL_FLOAT64 } nb_real_type;

/** Colours of a picture. */
typedef enum nb_colormap {
    NB_MAP_GREY = 0, /* dark spots on white paper */
    NB_MAP_INVERSE,  /* bright spots on black */
    NB_MAP_VIRIDIS,  /* dark blue, green, yellow */
    NB_MAP_HEAT      /* black, red, yellow, white */
} nb_colormap;
typedef enum nb_png_scale {
    /* from percentile 1 to 99.5 of the positive pixels, or to 3 medians if that is
     * higher */
    NB_PNG_AUTO = 0,
    NB_PNG_PERCENTILE, /* 0 to a percentile of the positive pixels */
    NB_PNG_RANGE       /* greys for pixel values from `low` to `high` */
} nb_png_scale;
typedef enum nb_png_show {
    NB_PNG_EXPECTED = 0, /* the expected photons */
    NB_PNG_NOISE         /* the counts of the noise image */
} nb_png_show;
typedef enum nb_png_blocks {
    NB_PNG_BRIGHTEST = 0, /* the brightest pixel of each block */
    NB_PNG_SUM            /* the sum of its pixels */
} nb_png_blocks;
#define NB_RINGS_MAX 16
/** Options for a picture of a float image; all zero: the defaults. */
typedef struct nb_png_options {
    nb_png_show show; /* pixels to show; only for a simulation */
    nb_colormap colormap;
    nb_png_scale scale;
    double percentile, low, high;
    double gamma; /* colour = value^gamma; 0 unset (0.5) */
    int log;      /* colour = log(value), instead of gamma */
    int max;      /* limit of pixels along an edge, 0: any; larger images show blocks */
    nb_png_blocks blocks; /* how a block is shown */
    int rings;            /* number of resolution rings, drawn with the beam centre */
    double ring_A[NB_RINGS_MAX]; /* d of each, A */
} nb_png_options;

/** A seed that may be unset. */
typedef struct nb_seed {
    int set;
    int64_t value;
} nb_seed;

/** Everything that a user can ask for. nb_config_set of params.h sets a value;
 * nb_sim_create resolves unset values and checks everything. */
typedef struct nb_config nb_config;

/** Make a configuration of defaults and unset values. NB_ERR_NOMEM: *cfg is NULL. */
nb_status nb_config_create(nb_config **cfg, nb_error *err);
/** Copy *from to *to. */
void nb_config_copy(nb_config *to, const nb_config *from);
void nb_config_free(nb_config *cfg); /* NULL is allowed */

/** Word i of -device, NULL after the last: "auto", "cpu", then the words of each kind of
 * GPU. A capital N stands for a number, from 0. Static memory. */
const char *nb_device_word(int i);
/** Check a word of -device. Errors: NB_ERR_INPUT for any other text. */
nb_status nb_device_check(const char *word, nb_error *err);

/** A detector with a name: the defaults of -detector. Modules of equal size form a grid.
 * Pixels in the gaps between modules are not rendered. Size and gap are in pixels. */
typedef struct nb_known_detector {
    const char *name;
    /* along fast and slow: number of modules (0: they can be moved), size of a module,
     * size of a gap */
    int modules[2], module[2], gap[2];
    /* number of dead columns in the middle of a module, where two sensors meet */
    int dead_columns;
    int disc;             /* 1: pixels outside the largest circle are dead */
    double pixel_um;      /* edge of a pixel without binning */
    const char *sensor;   /* material */
    double sensor_um;     /* thickness */
    double saturation;    /* largest count; 0: limit of the file's type */
    int counting;         /* 1: counts single photons, without an offset */
    const char *binnings; /* possible binnings, such as "1 2 4", or NULL */
    const char *source;   /* source of the numbers */
} nb_known_detector;
/** All detectors with a name, *count rows; static memory. */
const nb_known_detector *nb_known_detectors(size_t *count);

#ifdef __cplusplus
}
#endif
#endif
