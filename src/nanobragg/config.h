/* SPDX-License-Identifier: MIT */
/** nb_config: everything that a user can ask for. */
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

/** Three numbers that may be unset (`set` = 0): a lab vector or three angles. */
typedef struct nb_opt3 {
    int set;
    double v[3];
} nb_opt3;

typedef enum nb_convention {
    NB_CONV_UNSET = 0, /* MOSFLM */
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
    NB_LAYER_UNSET = 0, /* NB_LAYER_MEAN; with compat NB_LAYER_FRONT */
    NB_LAYER_MEAN,      /* mean depth of the photons that stop in it */
    NB_LAYER_FRONT      /* front face */
} nb_layer_depth;
/** Places of the panels in the array of an HDF5 file. */
typedef enum nb_layout {
    NB_LAYOUT_STACK = 0, /* below each other */
    NB_LAYOUT_FILE       /* as in the geometry file, if they do not overlap there */
} nb_layout;
/** Solid angle of the pixels of a curved detector. */
typedef enum nb_curved_omega {
    NB_OMEGA_UNSET = 0, /* NB_OMEGA_SQUARE */
    NB_OMEGA_SQUARE, /* pixel^2/R^2: every pixel as if it were a square on the sphere */
    NB_OMEGA_EXACT   /* of the pixel's area on the sphere */
} nb_curved_omega;
/** Lists written with an image. */
typedef enum nb_truth { NB_TRUTH_NONE = 0, NB_TRUTH_SPOTS } nb_truth;
/** Wavelengths for the anomalous scattering of a model. */
typedef enum nb_anomalous_mode {
    NB_ANOMALOUS_UNSET = 0, /* NB_ANOMALOUS_EACH */
    NB_ANOMALOUS_EACH,      /* at those of the sources, in groups of anomalous_tol */
    NB_ANOMALOUS_MEAN,      /* at their weighted mean */
    NB_ANOMALOUS_OFF        /* none */
} nb_anomalous_mode;
typedef enum nb_hydrogens {
    NB_HYDROGENS_UNSET = 0, /* NB_HYDROGENS_KEEP */
    NB_HYDROGENS_KEEP,
    NB_HYDROGENS_DROP
} nb_hydrogens;
typedef enum nb_ncs_copies {
    NB_NCS_UNSET = 0, /* NB_NCS_IGNORE */
    NB_NCS_IGNORE,
    NB_NCS_APPLY
} nb_ncs_copies;
/** F of reflections without a value. */
typedef enum nb_fill {
    NB_FILL_UNSET = 0, /* NB_FILL_DEFAULT */
    NB_FILL_DEFAULT,   /* default_F */
    NB_FILL_SHELL,     /* the rms F of their shell of resolution */
    NB_FILL_MODEL      /* the model's F on the scale of the reflections */
} nb_fill;
typedef enum nb_sf_method {
    NB_SF_UNSET = 0, /* NB_SF_AUTO */
    NB_SF_AUTO,      /* direct sum of small models, FFT of others */
    NB_SF_DIRECT,
    NB_SF_FFT
} nb_sf_method;
#define NB_MODEL_ALL (-1)      /* model: the average of all */
#define NB_FSCALE_MODEL (-1.0) /* F_scale: reflections to the scale of the model */
#define NB_DOSE_AUTO (-1.0)    /* dose_MGy: from the fluence */
#define NB_F000_CALC (-1.0)    /* F000: that of the model */
#define NB_FUDGE_DARWIN (-1.0) /* fudge: a Gaussian crystal's integral is Darwin's */
/** Point spread function of the detector. */
typedef enum nb_psf_shape {
    NB_PSF_NONE = 0,
    NB_PSF_GAUSS,
    NB_PSF_FIBRE, /* fibre optics: g/(2 pi) (g^2 + r^2)^(-3/2) */
    NB_PSF_FIBER  /* other spelling; nb_config_set stores NB_PSF_FIBRE */
} nb_psf_shape;
typedef enum nb_tristate { NB_AUTO = -1, NB_OFF = 0, NB_ON = 1 } nb_tristate;

/** Numbers of planes of derivatives and of gradients of a loss. */
typedef enum nb_real_type { NB_REAL_FLOAT32 = 0, NB_REAL_FLOAT64 } nb_real_type;

/** Options for a picture of a float image; all zero: the default. */
typedef enum nb_colormap {
    NB_MAP_GREY = 0, /* dark spots on white paper */
    NB_MAP_INVERSE,  /* bright spots on black */
    NB_MAP_VIRIDIS,  /* dark blue, green, yellow */
    NB_MAP_HEAT      /* black, red, yellow, white */
} nb_colormap;
typedef enum nb_png_scale {
    NB_PNG_AUTO = 0,   /* 1 % to 99.5 % of the positive pixels, or three medians */
    NB_PNG_PERCENTILE, /* 0 to a percentile of the positive pixels */
    NB_PNG_RANGE       /* two values of the image */
} nb_png_scale;
typedef enum nb_png_show {
    NB_PNG_EXPECTED = 0, /* the expected photons */
    NB_PNG_NOISE         /* the counts of the noise image */
} nb_png_show;
typedef enum nb_png_blocks {
    NB_PNG_BRIGHTEST = 0, /* pixel of each block */
    NB_PNG_SUM            /* of its pixels */
} nb_png_blocks;
#define NB_RINGS_MAX 16
typedef struct nb_png_options {
    nb_png_show show; /* only for a simulation */
    nb_colormap colormap;
    nb_png_scale scale;
    double percentile, low, high;
    double gamma; /* colour = value^gamma; 0 unset (0.5) */
    int log;      /* colour = log(value), instead of gamma */
    int most;     /* pixels along an edge; larger images are shown in blocks; 0 any */
    nb_png_blocks blocks;        /* how */
    int rings;                   /* circles of equal resolution, and the beam centre */
    double ring_A[NB_RINGS_MAX]; /* d of each, A */
} nb_png_options;

/** Correlation of the displacements at r, in units of the correlation length. */
typedef enum nb_diffuse_halo {
    NB_HALO_EXP,  /* exp(-r) */
    NB_HALO_GAUSS /* exp(-r^2/2) */
} nb_diffuse_halo;

/** What F of the file is. */
typedef enum nb_diffuse_F {
    NB_DIFFUSE_MEAN,       /* of the moving crystal: it has the Debye-Waller factor */
    NB_DIFFUSE_UNPERTURBED /* without the displacements */
} nb_diffuse_F;

/** A seed that may be unset. */
typedef struct nb_seed {
    int set;
    int64_t value;
} nb_seed;

/* Room for members of later versions, in units of 8 bytes. */
#ifdef NB_TEST_PARAM
#define NB_CONFIG_ROOM 838
#else
#define NB_CONFIG_ROOM 839
#endif

/** Everything that a user can ask for, in users' units.
 * Unset: NaN for doubles, 0 for counts marked "0 unset", "" for files.  nb_config_defaults fills
 * it; nb_sim_create resolves what is unset and checks everything.  Plain data: copy it freely.
 * It has 65536 bytes in every version, and its members keep their places: a program that was compiled
 * with 0.3.0 or later runs with every later library. */
typedef struct nb_config {
    /* --- crystal --- */
    int cell_count;              /* how many of cell[] were typed, 0 = none */
    double cell[6];              /* a b c [A] alpha beta gamma [deg] */
    int cell_from_file;          /* the cell is that of a model or reflection file */
    char mat_file[NB_PATH_MAX];  /* MOSFLM A matrix */
    char hkl_file[NB_PATH_MAX];  /* structure factors, text */
    char dump_file[NB_PATH_MAX]; /* structure-factor cache; "" = Fdump.bin, see docs */
    double default_F;            /* electrons; NaN unset (0) */
    double N[3]; /* unit cells along a, b, c, at least 1, not only whole ones; 0 unset (1) */
    double xtal_size_mm[3]; /* crystal edge along a, b, c; NaN unset */
    double blocks; /* number of blocks of N cells that scatter independently; NaN unset (1) */
    double crystal_volume_um3; /* crystal in the beam; gives the blocks; NaN unset */
    int clip_crystal; /* of a crystal wider than the beam only the part in it scatters */
    nb_shape shape;
    double fudge; /* shape factor scale, 1 */
    nb_misset_mode misset_mode;
    double misset_deg[3];
    nb_seed misset_seed;
    double mosaic_spread_deg; /* NaN unset */
    nb_mosaic_model mosaic_model;
    nb_opt3 mosaic_aniso_deg; /* GAUSS: standard deviations about a*, c x a* and c, instead of the
                                 spread */
    int mosaic_domains;  /* 0 unset */
    nb_seed mosaic_seed; /* unset: 12345678 */
    nb_tristate interpolate;

    /* --- structure factors from models and reflection files --- */
    char pdb_file[NB_PATH_MAX]; /* atomic model, PDB or mmCIF */
    char cif_file[NB_PATH_MAX]; /* model or reflections, by content */
    char mtz_file[NB_PATH_MAX]; /* reflections, MTZ or structure-factor CIF */
    char mtz_label[128];        /* columns, "A" or "A,B"; "" the best ones */
    char space_group[64];       /* symbol or number; "" the file's */
    nb_anomalous_mode anomalous;
    double anomalous_tol; /* electrons; NaN unset (0.1) */
    char fprime[512];     /* "El:f':f'',..."; "" Cromer-Liberman */
    char fprime_table[NB_PATH_MAX];
    double k_sol, B_sol; /* e/A^3, A^2; NaN unset (0.435, small-molecule CIF 0; 46) */
    nb_hydrogens hydrogens;
    int model; /* from 1; NB_MODEL_ALL; 0 unset (1) */
    nb_ncs_copies ncs;
    double B_add;   /* A^2, 0 */
    double F_scale; /* NB_FSCALE_MODEL; NaN unset (1) */
    double F000;    /* electrons; NB_F000_CALC; NaN unset */
    nb_fill fill;
    nb_sf_method sf_method;
    char dump_mtz_file[NB_PATH_MAX], dump_hkl_file[NB_PATH_MAX]; /* written */

    /* --- beam --- */
    double lambda_A;   /* NaN unset (1); -lambda and -energy: last one wins */
    double energy_eV;  /* NaN unset */
    double fluence;    /* photons/m^2; NaN unset (1/r_e^2) */
    double flux;       /* photons/s; 0 off */
    double exposure_s; /* 1 */
    double beamsize_mm; /* NaN unset (0.1); a crystal given by size is cut to it along b, c */
    int polar_set;
    double polarization; /* Kahn factor, 0 */
    int nopolar;
    char source_file[NB_PATH_MAX];
    double hdiv_range_mrad, vdiv_range_mrad; /* NaN unset */
    double hdiv_step_mrad, vdiv_step_mrad;   /* NaN unset */
    int hdiv_steps, vdiv_steps;              /* 0 unset */
    int square_div;                          /* 0 = round cut */
    double dispersion_pct;                   /* NaN unset (0) */
    double dispersion_step_pct;              /* NaN unset */
    int dispersion_steps;                    /* 0 unset */

    /* --- spindle --- */
    double phi_deg;              /* NaN unset (0) */
    double osc_deg, phistep_deg; /* NaN unset */
    int phi_steps;               /* 0 unset */

    /* --- detector --- */
    int detpixels[2];                      /* fast, slow; 0 unset */
    double detsize_mm[2];                  /* fast, slow; NaN unset (102.4) */
    double pixel_mm;                       /* NaN unset (0.1) */
    double distance_mm, close_distance_mm; /* before the two-theta swing; NaN unset
                                              (distance 100) */
    double close_twotheta_deg; /* two-theta at which close_distance_mm was measured, as a header
                                  gives it; NaN unset (0: before the swing) */
    double Xbeam_mm, Ybeam_mm;   /* NaN unset; meaning by convention */
    double Xclose_mm, Yclose_mm; /* NaN unset */
    double orgx, orgy;           /* pixels, XDS; NaN unset */
    double rot_deg[3];           /* detector_rotx, roty, rotz; NaN unset (0) */
    double twotheta_deg;         /* NaN unset (0) */
    nb_convention convention;    /* last of -mosflm.. or CUSTOM from a vector flag */
    nb_pivot pivot;              /* explicit -pivot: wins in every convention */
    nb_pivot pivot_implied;      /* by the last flag that implies one; CUSTOM only */
    nb_opt3 fdet_vector, sdet_vector, odet_vector, beam_vector, polar_vector,
        spindle_axis, twotheta_axis; /* lab vectors, any length > 0; used in CUSTOM */
    nb_opt3 pix0_m; /* corner of the first pixel, metres: fixes the origin */
    int curved;
    nb_curved_omega curved_omega;
    int point_pixel;
    double thick_um; /* sensor; NaN unset (0) */
    double abs_um;   /* attenuation depth; NaN unset; 0 or inf: no absorption */
    char sensor[NB_SENSOR_MAX]; /* material "name[:density]" that gives abs_um; "" none */
    int thick_steps;            /* 0 unset */
    nb_layer_depth layer_depth;
    int oversample; /* 0 auto */
    int oversample_thick, oversample_polar, oversample_omega;
    int roi_set;
    int roi[4];                  /* fast min, fast max, slow min, slow max; inclusive */
    char mask_file[NB_PATH_MAX]; /* any image; not above 0 = do not render */
    char img_file[NB_PATH_MAX];  /* any image; header gives defaults */

    /* --- a detector from a file, instead of most of the above --- */
    char geom_file[NB_PATH_MAX]; /* CrystFEL */
    char expt_file[NB_PATH_MAX]; /* DIALS */
    int expt_number;             /* experiment of expt_file; -1 unset (0) */
    char nxmx_file[NB_PATH_MAX];
    const struct nb_detector_spec
        *detector; /* instead of reading the file: nb_config_load_geometry, or
                                                the caller's; NULL: none.  nb_sim_create copies it */
    char panel_list[NB_PATH_MAX]; /* names or numbers with commas: others are masked; "" all */
    nb_layout layout;             /* of panels in HDF5 */
    double beam_shift_mm[2];      /* -jitter_beam of such a detector; 0 */
    char geomout_file[NB_PATH_MAX], exptout_file[NB_PATH_MAX];

    /* --- other physics --- */
    double water_um; /* 0 */
    double dmin_A;   /* 0 off */
    /* F of a material without order against sin(theta)/lambda, 4 sin(theta)/lambda or
     * 4 pi sin(theta)/lambda; one of them */
    char stol_file[NB_PATH_MAX], stol4_file[NB_PATH_MAX], q_file[NB_PATH_MAX];
    double amorphous_thick_mm; /* its path along the beam; NaN unset (0.1) */
    double density;            /* g/cm3; NaN unset (1) */
    double molecule_mass;      /* g/mol; NaN unset (18) */
    double molecules;     /* its molecules in the beam, instead of the three; NaN unset */
    char background[512]; /* "name:mm,..." of water, vitreous, air, ice, nanoice; "" none */
    char stolout_file[NB_PATH_MAX];   /* table made of an image; nb_sim_write_stol */
    char stolimage_file[NB_PATH_MAX]; /* that image; "" img_file */
    double stol_step;                 /* 1/A; NaN unset (0.002) */
    int compat;                       /* definitions of nanoBragg, docs/differences.md */

    /* --- noise of source and detector: docs/physics.md, section 20 --- */
    double flicker;     /* r.m.s., a fraction; NaN unset (0) */
    double deadtime_ns; /* NaN unset (0) */
    int nopoisson;      /* expected photons instead of counts */
    nb_psf_shape psf;   /* point spread */
    double psf_fwhm_um; /* NaN unset (46) */
    double calibration; /* r.m.s. of the pixels' gain, a fraction; NaN unset (0) */
    nb_seed calib_seed; /* unset: 123456789 */
    char gainmap_file[NB_PATH_MAX]; /* float32 [pixels], factors of the gain */
    double gain;                    /* ADU/photon; NaN unset (1) */
    double readout_noise;           /* ADU, r.m.s.; NaN unset (0) */
    double saturation;              /* largest trusted value, ADU; NaN unset */

    /* --- outputs --- */
    char float_file[NB_PATH_MAX], int_file[NB_PATH_MAX], pgm_file[NB_PATH_MAX],
        noise_file[NB_PATH_MAX], png_file[NB_PATH_MAX], tiff_file[NB_PATH_MAX];
    int write_dump;                                     /* 1: the cache of -hkl */
    int write_float, write_int, write_pgm, write_noise; /* 1; png and tiff when named */
    int spindle_back; /* the convention's spindle is reversed, as a header has a negative rotation */
    int typed_files;                    /* typed files that hold one panel: NB_TYPED_* */
    int tiff_bits;                      /* 32 (float) or 16 (unsigned) */
    nb_png_options png;                 /* of png_file */
    char noise_float_file[NB_PATH_MAX]; /* ADU before rounding; written when named */
    double adc_offset;                  /* ADU, 40 */
    int adc_set; /* adc_offset is used in every file with noise, not only in SMV and floats */
    double scale;                  /* int image; 0 auto */
    double pgm_scale;              /* 0 auto */
    nb_truth truth;                /* SPOTS: the reflections of the image */
    char truth_file[NB_PATH_MAX];  /* of a single image; a series has them in -hdf5 */
    double truth_min;              /* photons of the weakest one listed, 1 */
    char report_file[NB_PATH_MAX]; /* the run as JSON: docs/formats.md */
    /* derivatives of the photons: docs/derivatives.md */
    char derivatives[4096]; /* parameters and groups, commas between */
    char deriv_file[NB_PATH_MAX], pullback_file[NB_PATH_MAX], grad_file[NB_PATH_MAX],
        gradhkl_file[NB_PATH_MAX];
    nb_real_type deriv_type;
    nb_seed seed; /* noise (and misset); unset: from the clock, reported */

    /* --- running --- */
    int threads; /* 0 auto */
    nb_isa isa;
    nb_precision precision;
    double tolerance; /* what a pixel may lack, as a part of the brightest; NaN unset (too little to change a file); 0: every step is calculated */
    double tolerance_photons; /* what a pixel may lack, in photons; NaN unset */
    char device[32]; /* one of nb_device_word; "" = auto.  Words that end in ":all" share the
                        frames of a series among the GPUs; one image is made by the first */
    double max_read_MB; /* largest memory for the content of a small input file; 0: 500. Ten times the size of the file is always allowed */
    int device_alone; /* the device belongs to this process: nb_sim_write may shut it down */
    char command_line[2048];        /* for file headers; may be empty */
    const struct nb_arrays *arrays; /* instead of files whose name is NB_MEMORY_...:
                                       nb_config_use_arrays; NULL: none */
    /* 0.3.0 ends here.  Each later member goes below the last one and takes its bytes from `reserved`;
     * nb_png_options does not grow. */
    char footprint[96]; /* of the Bragg light, "gauss:a:b:angle" or "box:a:b:angle", mm and deg; "" none */
    double stol_smooth; /* half width of the parabolas through stolout_file, 1/A; 0: none */
    int stol_rings;     /* and rings of ice stay in it */
    double mosaic_tail_deg; /* mean of a rotation to one side about the spindle; 0: none */
    /* --- a spectrum that the program makes: docs/physics.md, section 23 --- */
    char spectrum[NB_PATH_MAX]; /* gauss, tophat, twocolour, sase, seeded or a file; "" none */
    double bandwidth_pct;       /* of photon energy; NaN unset */
    double pulse_fs;            /* FWHM of the power; NaN unset */
    char split[64], line[64]; /* "width%[:part]" of twocolour, of seeded; "" unset */
    int wavelengths;          /* of each part; 0 unset (a rule) */
    char spectrum_out[NB_PATH_MAX];
    char draws_file[NB_PATH_MAX]; /* table of what -vary draws */
    char expt_image[256]; /* an image of expt_file: its experiment and its angle; "" none */
    /* --- shadows and added light: docs/physics.md, section 24 --- */
    char beamstop[512]; /* "disc:diameter[:t],bar:width:angle[:t],...", mm and deg; "" none */
    char transmission_file[NB_PATH_MAX]; /* factors of the pixels */
    char add_file[NB_PATH_MAX];          /* photons that are added behind them */
    double add_fluence;  /* photons/m^2 that add_file is for; 0: those of the image */
    char crystals[2048]; /* how many an image has (0 to 1000), their lines "[{...}, ...]", or a file of them; "" one */
    /* --- radiation damage: docs/physics.md, section 24 --- */
    double dose_MGy;        /* of one frame; NB_DOSE_AUTO; NaN unset (none) */
    char dose_material[64]; /* formula of what NB_DOSE_AUTO calculates with; "" H2O */
    double damage_B;        /* A^2/MGy; NaN unset (1; 0 with damage_half) */
    double damage_cell_pct; /* growth of the edges, %/MGy; 0 */
    double damage_half;     /* MGy/A; NaN unset */
    double damage_dose; /* MGy, in the middle of this image; NaN unset (half of dose_MGy) */
    char twin[256]; /* "law:x[;law:x]": turned lattices of the crystal, and their parts of it; "" none */
    char mosaic_blocks[NB_PATH_MAX]; /* rotations of the mosaic domains; "" they are drawn */
    char sum_file[NB_PATH_MAX];      /* the sum of all frames of a series */
    /* --- absorption by the crystal: docs/physics.md, section 24 --- */
    char absorb[96];    /* "sphere:diameter" or "box:x:y:z", um; "" none */
    char absorb_mu[64]; /* 1/mm, or "formula:density" (g/cm3) */
    /* --- diffuse scattering by liquid-like motions: docs/physics.md --- */
    double diffuse_sigma_A[3], diffuse_gamma_A[3]; /* along a*, c x a*, c; NaN unset */
    nb_diffuse_halo diffuse_halo;
    nb_diffuse_F diffuse_F;
    int diffuse_only; /* no Bragg light */
    char detector_name[64]; /* a name of nb_known_detectors, in any case, ":n" for n x n binning; "" none */
    char stream_file[NB_PATH_MAX]; /* CrystFEL stream of the crystals */
    int expand_list; /* -hkl is expanded though no flag asks for it: frames of a series change its F */
#ifdef NB_TEST_PARAM
    double test_param; /* for tests/params */
#endif
    uint64_t reserved[NB_CONFIG_ROOM]; /* 0; what is not 0 is refused: a member of a later version */
} nb_config;

/** Every field unset or at its default.  cfg is written whole. */
void nb_config_defaults(nb_config *cfg);

/** Word i of -device, NULL past the last: "auto", "cpu", then those of each kind of GPU.  A capital N
 * stands for a number, from 0.  Static memory. */
const char *nb_device_word(int i);
/** Errors: NB_ERR_INPUT for a text that is no word of -device. */
nb_status nb_device_check(const char *word, nb_error *err);

/** A detector that has a name: the defaults of -detector.  Modules of equal size stand in a grid, and no pixel of the
 * gaps between them is rendered. */
typedef struct nb_known_detector {
    const char *name;
    int modules[2], module[2],
        gap[2]; /* fast, slow; of a module and between two, pixels; modules 0: movable */
    int dead_columns;     /* in the middle of each module, where two sensors meet */
    int disc;             /* pixels outside the largest circle are dead */
    double pixel_um;      /* without binning */
    const char *sensor;   /* material */
    double sensor_um;     /* thickness */
    double saturation;    /* largest count; 0: what the file's type holds */
    int counting;         /* photons one by one: no offset */
    const char *binnings; /* "1 2 4"; NULL: none */
    const char *source;   /* where the figures are from */
} nb_known_detector;
/** All of them, *count rows; static memory. */
const nb_known_detector *nb_known_detectors(size_t *count);

#ifdef __cplusplus
}
#endif
#endif
