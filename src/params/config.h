/* SPDX-License-Identifier: MIT */
/** The members of nb_config and nb_series. */
#ifndef NB_PARAMS_CONFIG_H
#define NB_PARAMS_CONFIG_H

#include "../nanobragg.h"

/** All values in users' units.  Unset: NaN for doubles, 0 for counts marked "0 unset", "" for files.  nb_config_defaults fills it;
 * nb_config_copy copies it, and nb_config_drop frees what it holds. */
struct nb_config {
    /* --- crystal --- */
    int cell_count;     /* how many of cell[] were typed, 0 = none */
    double cell[6];     /* a b c [A] alpha beta gamma [deg] */
    int cell_from_file; /* the cell is that of a model or reflection file */
    nb_text mat_file;   /* MOSFLM A matrix */
    nb_text hkl_file;   /* structure factors, text */
    nb_text dump_file;  /* structure-factor cache; "" = Fdump.bin, see docs */
    double default_F;   /* electrons; NaN unset (0) */
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
    nb_text pdb_file;    /* atomic model, PDB or mmCIF */
    nb_text cif_file;    /* model or reflections, by content */
    nb_text mtz_file;    /* reflections, MTZ or structure-factor CIF */
    nb_text mtz_label;   /* columns, "A" or "A,B"; "" the best ones */
    nb_text space_group; /* symbol or number; "" the file's */
    nb_anomalous_mode anomalous;
    double anomalous_tol; /* electrons; NaN unset (0.1) */
    nb_text fprime;       /* "El:f':f'',..."; "" Cromer-Liberman */
    nb_text fprime_table;
    double k_sol, B_sol; /* e/A^3, A^2; NaN unset (0.435, small-molecule CIF 0; 46) */
    nb_hydrogens hydrogens;
    int model; /* from 1; NB_MODEL_ALL; 0 unset (1) */
    nb_ncs_copies ncs;
    double B_add;   /* A^2, 0 */
    double F_scale; /* NB_FSCALE_MODEL; NaN unset (1) */
    double F000;    /* electrons; NB_F000_CALC; NaN unset */
    nb_fill fill;
    nb_sf_method sf_method;
    nb_text dump_mtz_file, dump_hkl_file; /* written */

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
    nb_text source_file;
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
    nb_text sensor;  /* material "name[:density]" that gives abs_um; "" none */
    int thick_steps; /* 0 unset */
    nb_layer_depth layer_depth;
    int oversample; /* 0 auto */
    int oversample_thick, oversample_polar, oversample_omega;
    int roi_set;
    int roi[4];        /* fast min, fast max, slow min, slow max; inclusive */
    nb_text mask_file; /* any image; not above 0 = do not render */
    nb_text img_file;  /* any image; header gives defaults */

    /* --- a detector from a file, instead of most of the above --- */
    nb_text geom_file; /* CrystFEL */
    nb_text expt_file; /* DIALS */
    int expt_number;   /* experiment of expt_file; -1 unset (0) */
    nb_text nxmx_file;
    const struct nb_detector_spec
        *detector;           /* instead of reading the file: nb_config_load_geometry, or
                                                the caller's; NULL: none.  nb_sim_create copies it */
    nb_text panel_list;      /* names or numbers with commas: others are masked; "" all */
    nb_layout layout;        /* of panels in HDF5 */
    double beam_shift_mm[2]; /* -jitter_beam of such a detector; 0 */
    nb_text geomout_file, exptout_file;

    /* --- other physics --- */
    double water_um; /* 0 */
    double dmin_A;   /* 0 off */
    /* F of a material without order against sin(theta)/lambda, 4 sin(theta)/lambda or
     * 4 pi sin(theta)/lambda; one of them */
    nb_text stol_file, stol4_file, q_file;
    double amorphous_thick_mm; /* its path along the beam; NaN unset (0.1) */
    double density;            /* g/cm3; NaN unset (1) */
    double molecule_mass;      /* g/mol; NaN unset (18) */
    double molecules;   /* its molecules in the beam, instead of the three; NaN unset */
    nb_text background; /* "name:mm,..." of water, vitreous, air, ice, nanoice; "" none */
    nb_text stolout_file;   /* table made of an image; nb_sim_write_stol */
    nb_text stolimage_file; /* that image; "" img_file */
    double stol_step;       /* 1/A; NaN unset (0.002) */
    int compat;             /* definitions of nanoBragg, docs/differences.md */

    /* --- noise of source and detector: docs/physics.md, section 20 --- */
    double flicker;       /* r.m.s., a fraction; NaN unset (0) */
    double deadtime_ns;   /* NaN unset (0) */
    int nopoisson;        /* expected photons instead of counts */
    nb_psf_shape psf;     /* point spread */
    double psf_fwhm_um;   /* NaN unset (46) */
    double calibration;   /* r.m.s. of the pixels' gain, a fraction; NaN unset (0) */
    nb_seed calib_seed;   /* unset: 123456789 */
    nb_text gainmap_file; /* float32 [pixels], factors of the gain */
    double gain;          /* ADU/photon; NaN unset (1) */
    double readout_noise; /* ADU, r.m.s.; NaN unset (0) */
    double saturation;    /* largest trusted value, ADU; NaN unset */

    /* --- outputs --- */
    nb_text float_file, int_file, pgm_file, noise_file, png_file, tiff_file;
    int write_dump;                                     /* 1: the cache of -hkl */
    int write_float, write_int, write_pgm, write_noise; /* 1; png and tiff when named */
    int spindle_back; /* the convention's spindle is reversed, as a header has a negative rotation */
    int typed_files;          /* typed files that hold one panel: NB_TYPED_* */
    int tiff_bits;            /* 32 (float) or 16 (unsigned) */
    nb_png_options png;       /* of png_file */
    nb_text noise_float_file; /* ADU before rounding; written when named */
    double adc_offset;        /* ADU, 40 */
    int adc_set; /* adc_offset is used in every file with noise, not only in SMV and floats */
    double scale;        /* int image; 0 auto */
    double pgm_scale;    /* 0 auto */
    nb_truth truth;      /* SPOTS: the reflections of the image */
    nb_text truth_file;  /* of a single image; a series has them in -hdf5 */
    double truth_min;    /* photons of the weakest one listed, 1 */
    nb_text report_file; /* the run as JSON: docs/formats.md */
    /* derivatives of the photons: docs/derivatives.md */
    nb_text derivatives; /* parameters and groups, commas between */
    nb_text deriv_file, pullback_file, grad_file, gradhkl_file;
    nb_real_type deriv_type;
    nb_seed seed; /* noise (and misset); unset: from the clock, reported */

    /* --- running --- */
    int threads; /* 0 auto */
    nb_isa isa;
    nb_precision precision;
    double tolerance; /* what a pixel may lack, as a part of the brightest; NaN unset (too little to change a file); 0: every step is calculated */
    double tolerance_photons; /* what a pixel may lack, in photons; NaN unset */
    nb_text device; /* one of nb_device_word; "" = auto.  Words that end in ":all" share the
                        frames of a series among the GPUs; one image is made by the first */
    double max_read_MB; /* largest memory for the content of a small input file; 0: 500. Ten times the size of the file is always allowed */
    int device_alone; /* the device belongs to this process: nb_sim_write may shut it down */
    nb_text command_line;           /* for file headers; may be empty */
    const struct nb_arrays *arrays; /* instead of files whose name is NB_MEMORY_...:
                                       nb_config_use_arrays; NULL: none */
    nb_text footprint; /* of the Bragg light, "gauss:a:b:angle" or "box:a:b:angle", mm and deg; "" none */
    double stol_smooth; /* half width of the parabolas through stolout_file, 1/A; 0: none */
    int stol_rings;     /* and rings of ice stay in it */
    double mosaic_tail_deg; /* mean of a rotation to one side about the spindle; 0: none */
    /* --- a spectrum that the program makes: docs/physics.md, section 23 --- */
    nb_text spectrum;     /* gauss, tophat, twocolour, sase, seeded or a file; "" none */
    double bandwidth_pct; /* of photon energy; NaN unset */
    double pulse_fs;      /* FWHM of the power; NaN unset */
    nb_text split, line;  /* "width%[:part]" of twocolour, of seeded; "" unset */
    int wavelengths;      /* of each part; 0 unset (a rule) */
    nb_text spectrum_out;
    nb_text draws_file; /* table of what -vary draws */
    nb_text expt_image; /* an image of expt_file: its experiment and its angle; "" none */
    /* --- shadows and added light: docs/physics.md, section 24 --- */
    nb_text beamstop; /* "disc:diameter[:t],bar:width:angle[:t],...", mm and deg; "" none */
    nb_text transmission_file; /* factors of the pixels */
    nb_text add_file;          /* photons that are added behind them */
    double add_fluence; /* photons/m^2 that add_file is for; 0: those of the image */
    nb_text crystals; /* how many an image has (0 to 1000), their lines "[{...}, ...]", or a file of them; "" one */
    /* --- radiation damage: docs/physics.md, section 24 --- */
    double dose_MGy;        /* of one frame; NB_DOSE_AUTO; NaN unset (none) */
    nb_text dose_material;  /* formula of what NB_DOSE_AUTO calculates with; "" H2O */
    double damage_B;        /* A^2/MGy; NaN unset (1; 0 with damage_half) */
    double damage_cell_pct; /* growth of the edges, %/MGy; 0 */
    double damage_half;     /* MGy/A; NaN unset */
    double damage_dose; /* MGy, in the middle of this image; NaN unset (half of dose_MGy) */
    nb_text twin; /* "law:x[;law:x]": turned lattices of the crystal, and their parts of it; "" none */
    nb_text mosaic_blocks; /* rotations of the mosaic domains; "" they are drawn */
    nb_text sum_file;      /* the sum of all frames of a series */
    /* --- absorption by the crystal: docs/physics.md, section 24 --- */
    nb_text absorb;    /* "sphere:diameter" or "box:x:y:z", um; "" none */
    nb_text absorb_mu; /* 1/mm, or "formula:density" (g/cm3) */
    /* --- diffuse scattering by liquid-like motions: docs/physics.md --- */
    double diffuse_sigma_A[3], diffuse_gamma_A[3]; /* along a*, c x a*, c; NaN unset */
    nb_diffuse_halo diffuse_halo;
    nb_diffuse_F diffuse_F;
    int diffuse_only; /* no Bragg light */
    nb_text detector_name; /* a name of nb_known_detectors, in any case, ":n" for n x n binning; "" none */
    nb_text stream_file; /* CrystFEL stream of the crystals */
    int expand_list; /* -hkl is expanded though no flag asks for it: frames of a series change its F */
#ifdef NB_TEST_PARAM
    double test_param; /* for tests/params */
#endif
};

/** Many images from one configuration.  nb_series_defaults fills it; all zero but for texts: no output. */
struct nb_series {
    int frames;        /* a rotation: frame k (0..) at phi + k*osc */
    int stills;        /* or number of shots */
    nb_text output;    /* file names with one %d; the extension chooses the format */
    nb_text hdf5_file; /* NXmx master */
    nb_hdf5_type hdf5_type;
    nb_compression compress;
    int frames_per_file;  /* of the HDF5 data files; 0: 100 */
    nb_text orientations; /* stills: "random" or a file; "" as configured */
    nb_text spectra;      /* stills: a file with a spectrum for each shot */
    double jitter_fluence_pct, jitter_lambda_pct, jitter_cell_pct, jitter_mosaic_pct;
    double jitter_beam_mm; /* standard deviations from shot to shot; 0 none */
    nb_text input; /* input images instead of rendered ones; "": frames are rendered. See nb_series_run */
    int input_size[2]; /* of headerless ones, pixels fast and slow; 0: square, or the detector's */
    int input_pedestal_set;
    double input_pedestal; /* their value without photons, when set; else that of their header */
    double input_unit; /* photons of one unit of their pixels; 0: 1 */
    int resume;        /* keep the frames that an earlier, interrupted run finished */
    nb_text vary; /* "NAME:law:number:...,...": numbers that differ between frames; "" none */
    nb_text only_frame; /* "k" or "a-b": frames of the series that are made, from 0; "": all.  Needs cfg->seed */
    double time_limit_s; /* stop as after an interrupt; 0: never */
    nb_series_calls calls;
};

/** Every field unset or at its default.  cfg is written whole: what it held is not freed. */
void nb_config_defaults(nb_config *cfg);
/** Free the texts, which are "" afterwards.  NULL is fine. */
void nb_config_drop(nb_config *cfg);
/** The same of a series. */
void nb_series_defaults(nb_series *series);
void nb_series_drop(nb_series *series);

#endif
