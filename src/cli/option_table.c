/* SPDX-License-Identifier: MIT */
/* A row: what the user types, where it goes and within which limits, what help says. */
#include "option_table.h"

#include <float.h>
#include <limits.h>

#include "effects.h"

#define CLI(member) .offset = offsetof(nb_cli, member)
#define CFG(member) .offset = offsetof(nb_cli, cfg.member)
#define GROUP(title)                                                                     \
    {                                                                                    \
        .name = title, .kind = NB_OPT_GROUP                                              \
    }

#define ANY .range = {-DBL_MAX, DBL_MAX, 0, 0}
#define ABOVE(low) .range = {low, DBL_MAX, 1, 0}
#define AT_LEAST(low) .range = {low, DBL_MAX, 0, 0}
#define WITHIN(low, high) .range = {low, high, 0, 0}
#define BETWEEN(low, high) .range = {low, high, 1, 1}
#define UP_TO(low, high) .range = {low, high, 0, 1}
#define COUNTED .range = {1, 1e9, 0, 0}
#define PIXEL_INDEX .range = {0, 1e6, 0, 0}

#define FLAG(where, number) .kind = NB_OPT_FLAG, CLI(where), .constant = number
#define NUMBER(where) .kind = NB_OPT_NUMBER, CFG(where)
#define WHOLE(where) .kind = NB_OPT_INT, CFG(where), .value = "n"
#define VECTOR(where) .kind = NB_OPT_VECTOR, CFG(where), .value = "x y z"
#define PATH(where) .kind = NB_OPT_PATH, CFG(where), .value = "file"
#define SEED(where) .kind = NB_OPT_SEED, CFG(where), .value = "n"
#define WORD(where, list) .kind = NB_OPT_WORD, CFG(where), .words = list

/* clang-format off */
static const nb_option_word pivots[] = {
    {"beam", NB_PIVOT_BEAM}, {"sample", NB_PIVOT_SAMPLE}, {NULL, 0}};
static const nb_option_word mosaic_models[] = {
    {"nanobragg", NB_MOSAIC_NANOBRAGG}, {"uniform", NB_MOSAIC_UNIFORM},
    {"gauss", NB_MOSAIC_GAUSS}, {NULL, 0}};
static const nb_option_word precisions[] = {
    {"single", NB_PRECISION_SINGLE}, {"mixed", NB_PRECISION_MIXED},
    {"double", NB_PRECISION_DOUBLE}, {NULL, 0}};
static const nb_option_word isas[] = {
    {"auto", NB_ISA_AUTO}, {"scalar", NB_ISA_SCALAR}, {"sse2", NB_ISA_SSE2},
    {"avx2", NB_ISA_AVX2}, {"avx512", NB_ISA_AVX512}, {"neon", NB_ISA_NEON}, {NULL, 0}};
static const nb_option_word colormaps[] = {
    {"grey", NB_MAP_GREY}, {"inverse", NB_MAP_INVERSE}, {"viridis", NB_MAP_VIRIDIS},
    {"heat", NB_MAP_HEAT}, {NULL, 0}};
static const nb_option_word png_shows[] = {
    {"expected", NB_PNG_EXPECTED}, {"noise", NB_PNG_NOISE}, {NULL, 0}};
static const nb_option_word hdf5_types[] = {
    {"uint16", NB_HDF5_U16}, {"int32", NB_HDF5_I32}, {"float32", NB_HDF5_F32}, {NULL, 0}};
static const nb_option_word compressions[] = {
    {"none", NB_COMPRESS_NONE}, {"gzip", NB_COMPRESS_GZIP}, {"bslz4", NB_COMPRESS_BSLZ4},
    {NULL, 0}};
static const nb_option_word truths[] = {
    {"none", NB_TRUTH_NONE}, {"spots", NB_TRUTH_SPOTS}, {NULL, 0}};
static const nb_option_word layer_depths[] = {
    {"mean", NB_LAYER_MEAN}, {"front", NB_LAYER_FRONT}, {NULL, 0}};
static const nb_option_word curved_omegas[] = {
    {"square", NB_OMEGA_SQUARE}, {"exact", NB_OMEGA_EXACT}, {NULL, 0}};
static const nb_option_word tiff_bits[] = {{"16", 16}, {"32", 32}, {NULL, 0}};

static const nb_option rows[] = {
GROUP("Crystal"),
{"cell", NULL, .kind = NB_OPT_CELL, CFG(cell), .value = "a [b c al be ga]",
    .unit = "A, deg",
    .help = "unit cell; b and c left out equal a, angles left out or 0 are 90"},
{"mat", "matrix", PATH(mat_file),
    .help = "MOSFLM orientation matrix: nine numbers, a* b* c* in columns, times the "
        "wavelength"},
{"misset", NULL, .kind = NB_OPT_MISSET, CFG(misset_deg), ANY, .value = "x y z | random",
    .unit = "deg", .fallback = "0 0 0",
    .help = "rotate the crystal about lab x, then y, then z; or a random orientation"},
{"misset_seed", NULL, SEED(misset_seed), .fallback = "that of -seed",
    .help = "seed of the random orientation"},
{"N", NULL, WHOLE(N), .copies = 3, COUNTED, .unit = "cells", .fallback = "1",
    .help = "unit cells along a, b and c"},
{"Na", NULL, WHOLE(N[0]), COUNTED, .unit = "cells", .fallback = "1",
    .help = "unit cells along a"},
{"Nb", NULL, WHOLE(N[1]), COUNTED, .unit = "cells", .fallback = "1",
    .help = "unit cells along b"},
{"Nc", NULL, WHOLE(N[2]), COUNTED, .unit = "cells", .fallback = "1",
    .help = "unit cells along c"},
{"samplesize", "sample_size xtalsize xtal_size", NUMBER(xtal_size_mm), .copies = 3,
    ABOVE(0), .value = "s", .unit = "mm",
    .help = "crystal edge along a, b and c, instead of -N"},
{"sample_x", "sample_thick xtal_x xtal_thick", NUMBER(xtal_size_mm[0]), ABOVE(0),
    .value = "s", .unit = "mm", .help = "crystal edge along a"},
{"sample_y", "sample_width xtal_y xtal_width width", NUMBER(xtal_size_mm[1]), ABOVE(0),
    .value = "s", .unit = "mm", .help = "crystal edge along b"},
{"sample_z", "sample_heigh sample_height xtal_z xtal_heigh xtal_height heigh height",
    NUMBER(xtal_size_mm[2]), ABOVE(0), .value = "s", .unit = "mm",
    .help = "crystal edge along c"},
{"crystal_volume", "xtal_volume", NUMBER(crystal_volume_um3), ABOVE(0), .value = "v",
    .unit = "um3", .fallback = "one block",
    .help = "crystal that the beam lights, made of blocks of -N cells that scatter independently: "
        "multiplies its photons, not the water's"},
{"blocks", NULL, NUMBER(blocks), ABOVE(0), .value = "n", .fallback = "1",
    .help = "number of such blocks, instead of -crystal_volume"},
{"square_xtal", NULL, FLAG(cfg.shape, NB_SHAPE_SQUARE), .fallback = "on",
    .help = "parallelepiped: grating function sin(pi N h)/sin(pi h)"},
{"round_xtal", NULL, FLAG(cfg.shape, NB_SHAPE_ROUND),
    .help = "spheroid: spherical spot function"},
{"gauss_xtal", NULL, FLAG(cfg.shape, NB_SHAPE_GAUSS),
    .help = "Gaussian spots without fringes"},
{"tophat_spots", "binary_spots", FLAG(cfg.shape, NB_SHAPE_TOPHAT),
    .help = "spots of constant intensity with a sharp edge"},
{"fudge", NULL, NUMBER(fudge), ABOVE(0), .value = "x", .fallback = "1",
    .help = "scale of the shape function's width (round, gauss, tophat)"},
{"mosaic", "mosaici mosaicity mosaic_spr mosaic_spread", NUMBER(mosaic_spread_deg),
    WITHIN(0, 180), .value = "angle", .unit = "deg", .fallback = "0",
    .help = "mosaic spread: largest rotation of a domain; with -mosaic_model gauss the "
        "standard deviation"},
{"mosaic_model", NULL, WORD(mosaic_model, mosaic_models),
    .value = "nanobragg | uniform | gauss", .fallback = "nanobragg",
    .help = "distribution of the domains' rotations: the old program's draw, uniform (180 deg "
        "is a powder), or normal"},
{"mosaic_aniso", NULL, .kind = NB_OPT_POINT, CFG(mosaic_aniso_deg), WITHIN(0, 180),
    .value = "a b c", .unit = "deg",
    .help = "with -mosaic_model gauss, instead of -mosaic: standard deviations about the "
        "crystal's a*, c x a* and c"},
{"mosaic_dom", "mosaic_domains", WHOLE(mosaic_domains), COUNTED,
    .fallback = "10 with -mosaic, else 1", .help = "number of mosaic domains"},
{"mosaic_seed", NULL, SEED(mosaic_seed), .fallback = "12345678",
    .help = "seed of the domains' orientations"},
{"density", "sample_den sample_density", .kind = NB_OPT_NUMBER, CLI(no_effect), ABOVE(0),
    .value = "rho", .unit = "g/cm3", .help = "accepted without effect",
    .note = "has no effect on the image: no amorphous sample is modelled yet"},
{"MW", "molec molecular_weight", .kind = NB_OPT_NUMBER, CLI(no_effect), ABOVE(0),
    .value = "mass", .unit = "g/mol", .help = "accepted without effect",
    .note = "has no effect on the image: no amorphous sample is modelled yet"},

GROUP("Structure factors"),
{"hkl", NULL, PATH(hkl_file),
    .help = "text file of h k l F, one reflection of P1 a line"},
{"default_F", NULL, NUMBER(default_F), AT_LEAST(0), .value = "F", .unit = "electrons",
    .fallback = "0", .help = "structure factor of every reflection that the file lacks"},
{"dump", NULL, PATH(dump_file), .fallback = "Fdump.bin",
    .help = "binary cache of the structure factors: read without -hkl, written with it"},
{"interpolate", NULL, FLAG(cfg.interpolate, NB_ON), .fallback = "on if a side has N <= 2",
    .help = "tricubic interpolation of F between reflections"},
{"nointerpolate", NULL, FLAG(cfg.interpolate, NB_OFF),
    .help = "F of the nearest reflection"},
{"dmin", NULL, NUMBER(dmin_A), AT_LEAST(0), .value = "d", .unit = "A",
    .fallback = "0 (off)", .help = "no Bragg scattering beyond this resolution"},

GROUP("Beam"),
{"lambda", "wave wavelength", NUMBER(lambda_A), ABOVE(0), .effect = nb_effect_lambda,
    .value = "l", .unit = "A", .fallback = "1",
    .help = "wavelength; the last of -lambda and -energy holds"},
{"energy", NULL, NUMBER(energy_eV), ABOVE(0), .effect = nb_effect_energy, .value = "E",
    .unit = "eV", .help = "photon energy, instead of -lambda"},
{"fluence", NULL, NUMBER(fluence), ABOVE(0), .value = "x", .unit = "photons/m2",
    .fallback = "1.26e29, so that I = F^2",
    .help = "photons per area that pass the crystal"},
{"flux", NULL, NUMBER(flux), AT_LEAST(0), .value = "x", .unit = "photons/s",
    .fallback = "0 (off)", .help = "with -exposure and -beamsize, instead of -fluence"},
{"exposure", NULL, NUMBER(exposure_s), ABOVE(0), .value = "t", .unit = "s",
    .fallback = "1", .help = "exposure time"},
{"beamsize", NULL, NUMBER(beamsize_mm), ABOVE(0), .value = "s", .unit = "mm",
    .fallback = "0.1",
    .help = "side of the square beam; clips the crystal along b and c"},
{"polar", NULL, NUMBER(polarization), WITHIN(-1, 1), .effect = nb_effect_polar,
    .value = "K", .fallback = "0",
    .help = "Kahn polarization factor, 0 unpolarized; undoes -nopolar"},
{"nopolar", NULL, FLAG(cfg.nopolar, 1), .help = "no polarization factor at all"},
{"sourcefile", NULL, PATH(source_file),
    .help = "text file of X Y Z weight wavelength(m), one source a line; replaces "
        "divergence and dispersion"},
{"divergence", NULL, NUMBER(hdiv_range_mrad), AT_LEAST(0), .effect = nb_effect_divergence,
    .value = "r", .unit = "mrad", .fallback = "0",
    .help = "full width of both divergences"},
{"hdivrange", "hdiv", NUMBER(hdiv_range_mrad), AT_LEAST(0), .value = "r", .unit = "mrad",
    .fallback = "0", .help = "full width of the horizontal divergence"},
{"vdivrange", "vdiv", NUMBER(vdiv_range_mrad), AT_LEAST(0), .value = "r", .unit = "mrad",
    .fallback = "0", .help = "full width of the vertical divergence"},
{"hdivstep", NULL, NUMBER(hdiv_step_mrad), ABOVE(0), .value = "d", .unit = "mrad",
    .fallback = "from range and count", .help = "step of the horizontal divergence"},
{"vdivstep", NULL, NUMBER(vdiv_step_mrad), ABOVE(0), .value = "d", .unit = "mrad",
    .fallback = "from range and count", .help = "step of the vertical divergence"},
{"divsteps", NULL, WHOLE(hdiv_steps), COUNTED, .effect = nb_effect_divsteps,
    .fallback = "2 with a range", .help = "directions in both divergences"},
{"hdivsteps", NULL, WHOLE(hdiv_steps), COUNTED, .fallback = "2 with a range",
    .help = "directions in the horizontal divergence"},
{"vdivsteps", NULL, WHOLE(vdiv_steps), COUNTED, .fallback = "2 with a range",
    .help = "directions in the vertical divergence"},
{"round_div", NULL, FLAG(cfg.square_div, 0), .fallback = "on",
    .help = "leave out the corners of the divergence grid"},
{"square_div", NULL, FLAG(cfg.square_div, 1),
    .help = "keep the corners of the divergence grid"},
{"dispersion", NULL, NUMBER(dispersion_pct), UP_TO(0, 200), .value = "r",
    .unit = "percent", .fallback = "0",
    .help = "full width of the spectrum about the wavelength"},
{"dispsteps", NULL, WHOLE(dispersion_steps), COUNTED, .fallback = "2 with -dispersion",
    .help = "wavelengths in the spectrum"},
{"dispstep", NULL, NUMBER(dispersion_step_pct), BETWEEN(0, 200), .value = "d",
    .unit = "percent", .fallback = "from range and count",
    .help = "step between wavelengths"},
{"coherent", NULL, FLAG(no_effect_flag, 1),
    .help = "accepted without effect",
    .note = "has no effect: sources are summed as intensities"},

GROUP("Spindle"),
{"phi", NULL, NUMBER(phi_deg), ANY, .value = "angle", .unit = "deg", .fallback = "0",
    .help = "spindle angle at the start"},
{"osc", NULL, NUMBER(osc_deg), AT_LEAST(0), .value = "angle", .unit = "deg",
    .fallback = "0 (still)", .help = "rotation during the exposure"},
{"phistep", NULL, NUMBER(phistep_deg), AT_LEAST(0), .value = "angle", .unit = "deg",
    .fallback = "from -osc and -phisteps", .help = "rotation between two steps; 0 is unset"},
{"phisteps", NULL, WHOLE(phi_steps), COUNTED, .fallback = "2 with -osc, else 1",
    .help = "spindle angles in the exposure; without -osc all are at -phi"},
{"spindle_axis", NULL, VECTOR(spindle_axis), .effect = nb_effect_custom,
    .fallback = "by convention", .help = "spindle direction; convention CUSTOM"},

GROUP("Detector"),
{"detpixels", NULL, WHOLE(detpixels), .copies = 2, WITHIN(1, 100000), .unit = "pixels",
    .fallback = "from -detsize", .help = "pixels along both axes"},
{"detpixels_f", "detpixels_x", WHOLE(detpixels[0]), WITHIN(1, 100000), .unit = "pixels",
    .fallback = "from -detsize", .help = "pixels along the fast axis"},
{"detpixels_s", "detpixels_y", WHOLE(detpixels[1]), WITHIN(1, 100000), .unit = "pixels",
    .fallback = "from -detsize", .help = "pixels along the slow axis"},
{"detsize", NULL, NUMBER(detsize_mm), .copies = 2, ABOVE(0), .value = "s", .unit = "mm",
    .fallback = "102.4", .help = "side of the detector, both axes"},
{"detsize_f", "detsize_x", NUMBER(detsize_mm[0]), ABOVE(0), .value = "s", .unit = "mm",
    .fallback = "102.4", .help = "side along the fast axis"},
{"detsize_s", "detsize_y", NUMBER(detsize_mm[1]), ABOVE(0), .value = "s", .unit = "mm",
    .fallback = "102.4", .help = "side along the slow axis"},
{"pixel", NULL, NUMBER(pixel_mm), ABOVE(0), .value = "s", .unit = "mm", .fallback = "0.1",
    .help = "side of a pixel"},
{"distance", NULL, NUMBER(distance_mm), ABOVE(0), .effect = nb_effect_pivot_beam,
    .value = "d", .unit = "mm", .fallback = "100",
    .help = "crystal to detector along the beam, before the -twotheta swing; -pivot beam keeps "
        "it, -pivot sample keeps the close distance that follows from it"},
{"close_distance", NULL, NUMBER(close_distance_mm), ABOVE(0),
    .effect = nb_effect_pivot_sample, .value = "d", .unit = "mm",
    .fallback = "from -distance",
    .help = "crystal to the nearest point of the detector plane, before the -twotheta swing; "
        "-pivot sample keeps it, -pivot beam keeps the distance that follows from it"},
{"detector_thick", NULL, NUMBER(thick_um), AT_LEAST(0), .value = "t", .unit = "um",
    .fallback = "0", .help = "thickness of the sensor"},
{"detector_abs", "detector_absorb", .kind = NB_OPT_DEPTH, CFG(abs_um), AT_LEAST(0),
    .value = "depth | inf", .unit = "um", .fallback = "the thickness",
    .help = "attenuation depth of the sensor; inf or 0: no absorption"},
{"detector_thicksteps", "thicksteps", WHOLE(thick_steps), COUNTED,
    .fallback = "2 with a thickness, else 1", .help = "layers of the sensor"},
{"layer_depth", NULL, WORD(layer_depth, layer_depths), .value = "mean | front",
    .fallback = "mean; front with -compat",
    .help = "where a layer stands: at the mean depth of the photons that stop in it, or at its "
        "front face"},
{"curved_det", NULL, FLAG(cfg.curved, 1), .help = "every pixel at the same distance"},
{"curved_omega", NULL, WORD(curved_omega, curved_omegas), .value = "square | exact",
    .fallback = "square",
    .help = "solid angle with -curved_det: pixel^2/R^2, or the pixel's area on the sphere"},
{"point_pixel", NULL, FLAG(cfg.point_pixel, 1), .help = "solid angle without obliquity"},
{"roi", NULL, .kind = NB_OPT_INT, CFG(roi), .count = 4, PIXEL_INDEX, .effect = nb_effect_roi,
    .value = "xmin xmax ymin ymax", .unit = "pixels", .fallback = "whole image",
    .help = "render only these pixels (fast, slow), limits included"},
{"mask", NULL, PATH(mask_file),
    .help = "image (SMV, CBF, TIFF, PGM, HDF5, floats): pixels of 0 or below are not rendered; "
        "its header gives defaults"},
{"img", NULL, PATH(img_file),
    .help = "image (SMV, CBF, HDF5) whose header gives defaults; of others the size"},

GROUP("Beam centre and orientation of the detector"),
{"mosflm", NULL, FLAG(cfg.convention, NB_CONV_MOSFLM), .effect = nb_effect_pivot_beam,
    .fallback = "on", .help = "MOSFLM axes and beam centre"},
{"xds", NULL, FLAG(cfg.convention, NB_CONV_XDS), .effect = nb_effect_pivot_sample,
    .help = "XDS axes and origin"},
{"adxv", NULL, FLAG(cfg.convention, NB_CONV_ADXV), .effect = nb_effect_pivot_beam,
    .help = "ADXV axes and beam centre"},
{"denzo", NULL, FLAG(cfg.convention, NB_CONV_DENZO), .effect = nb_effect_pivot_beam,
    .help = "DENZO: MOSFLM without its half pixel"},
{"dials", NULL, FLAG(cfg.convention, NB_CONV_DIALS), .effect = nb_effect_pivot_beam,
    .help = "DIALS axes and origin"},
{"Xbeam", NULL, NUMBER(Xbeam_mm), ANY, .effect = nb_effect_pivot_beam, .value = "x",
    .unit = "mm", .fallback = "centre", .help = "beam centre x, meaning by convention"},
{"Ybeam", NULL, NUMBER(Ybeam_mm), ANY, .effect = nb_effect_pivot_beam, .value = "y",
    .unit = "mm", .fallback = "centre", .help = "beam centre y, meaning by convention"},
{"Xclose", NULL, NUMBER(Xclose_mm), ANY, .effect = nb_effect_pivot_sample, .value = "x",
    .unit = "mm", .fallback = "centre", .help = "point nearest to the crystal, x"},
{"Yclose", NULL, NUMBER(Yclose_mm), ANY, .effect = nb_effect_pivot_sample, .value = "y",
    .unit = "mm", .fallback = "centre", .help = "point nearest to the crystal, y"},
{"ORGX", NULL, NUMBER(orgx), ANY, .effect = nb_effect_pivot_sample, .value = "x",
    .unit = "pixels", .fallback = "centre",
    .help = "XDS origin: nearest point, fast axis, first pixel's centre is 1"},
{"ORGY", NULL, NUMBER(orgy), ANY, .effect = nb_effect_pivot_sample, .value = "y",
    .unit = "pixels", .fallback = "centre",
    .help = "XDS origin: nearest point, slow axis"},
{"detector_rotx", NULL, NUMBER(rot_deg[0]), ANY, .value = "angle", .unit = "deg",
    .fallback = "0", .help = "rotate the detector about lab x, first"},
{"detector_roty", NULL, NUMBER(rot_deg[1]), ANY, .value = "angle", .unit = "deg",
    .fallback = "0", .help = "rotate the detector about lab y, second"},
{"detector_rotz", NULL, NUMBER(rot_deg[2]), ANY, .value = "angle", .unit = "deg",
    .fallback = "0", .help = "rotate the detector about lab z, third"},
{"twotheta", NULL, NUMBER(twotheta_deg), ANY, .effect = nb_effect_pivot_sample,
    .value = "angle", .unit = "deg", .fallback = "0",
    .help = "swing about the two-theta axis, last"},
{"pivot", NULL, WORD(pivot, pivots), .value = "beam | sample",
    .fallback = "by convention",
    .help = "what a rotation of the detector keeps: the beam centre or the crystal's "
        "place"},
{"fdet_vector", NULL, VECTOR(fdet_vector), .effect = nb_effect_custom,
    .fallback = "by convention", .help = "direction of the fast axis; convention CUSTOM"},
{"sdet_vector", NULL, VECTOR(sdet_vector), .effect = nb_effect_custom,
    .fallback = "by convention", .help = "direction of the slow axis; convention CUSTOM"},
{"odet_vector", NULL, VECTOR(odet_vector), .effect = nb_effect_custom,
    .fallback = "by convention",
    .help = "direction of the detector's normal, any length; convention CUSTOM"},
{"beam_vector", NULL, VECTOR(beam_vector), .effect = nb_effect_custom,
    .fallback = "by convention", .help = "direction of the beam; convention CUSTOM"},
{"polar_vector", NULL, VECTOR(polar_vector), .effect = nb_effect_custom,
    .fallback = "by convention",
    .help = "direction of the polarization; convention CUSTOM"},
{"twotheta_axis", NULL, VECTOR(twotheta_axis), .effect = nb_effect_custom,
    .fallback = "by convention", .help = "axis of -twotheta; convention CUSTOM"},
{"pix0_vector", NULL, .kind = NB_OPT_POINT, CFG(pix0_m), ANY, .value = "x y z",
    .unit = "m", .help = "outer corner of the first pixel; fixes the origin"},
{"pix0_vector_mm", NULL, .kind = NB_OPT_POINT, CFG(pix0_m), ANY,
    .effect = nb_effect_pix0_mm, .value = "x y z", .unit = "mm",
    .help = "as -pix0_vector, in mm"},

GROUP("Sampling and background"),
{"oversample", NULL, WHOLE(oversample), WITHIN(1, 10000),
    .fallback = "enough for the crystal's fringes",
    .help = "samples along each side of a pixel"},
{"oversample_thick", NULL, FLAG(cfg.oversample_thick, 1),
    .help = "accepted; capture is always exact for every sample and layer"},
{"oversample_polar", NULL, FLAG(cfg.oversample_polar, 1),
    .help = "polarization of every sample, not of the pixel's first"},
{"oversample_omega", NULL, FLAG(cfg.oversample_omega, 1),
    .help = "solid angle of every sample, not of the pixel's first"},
{"water", NULL, NUMBER(water_um), AT_LEAST(0), .value = "w", .unit = "um",
    .fallback = "0", .help = "edge of a cube of water that scatters as background"},
{"stol", NULL, .kind = NB_OPT_REFUSED, .value = "file", .help = "refused",
    .note = "is refused until the amorphous background lands; leave it out"},
{"4stol", NULL, .kind = NB_OPT_REFUSED, .value = "file", .help = "refused",
    .note = "is refused until the amorphous background lands; leave it out"},
{"Q", NULL, .kind = NB_OPT_REFUSED, .value = "file", .help = "refused",
    .note = "is refused until the amorphous background lands; leave it out"},
{"stolout", NULL, .kind = NB_OPT_PATH, CLI(no_effect_file), .value = "file",
    .help = "accepted without effect",
    .note = "has no effect: there is no amorphous background to write yet"},
{"compat", NULL, FLAG(cfg.compat, 1),
    .help = "definitions of the old nanoBragg, for comparison: see docs/differences.md"},

GROUP("Files written"),
{"floatfile", "floatimage", PATH(float_file), .effect = nb_effect_write_float,
    .fallback = "floatimage.bin",
    .help = "photons a pixel, 32-bit floats, fast axis first; - as the name of one file, here "
        "and below, is standard output"},
{"nofloat", NULL, FLAG(cfg.write_float, 0), .help = "no float image"},
{"intfile", "intimage", PATH(int_file), .effect = nb_effect_write_int,
    .fallback = "intimage.img", .help = "scaled image without noise, SMV"},
{"noint", NULL, FLAG(cfg.write_int, 0), .help = "no integer image"},
{"scale", NULL, NUMBER(scale), AT_LEAST(0), .value = "x",
    .fallback = "0 (55000 at the maximum)", .help = "factor of the integer image"},
{"adc", "adcoffset", NUMBER(adc_offset), WITHIN(0, 65535), .value = "x", .unit = "ADU",
    .fallback = "40", .help = "offset added to both SMV images"},
{"noisefile", "noiseimage", PATH(noise_file), .effect = nb_effect_write_noise,
    .fallback = "noiseimage.img", .help = "image with Poisson noise, SMV"},
{"nonoise", NULL, FLAG(cfg.write_noise, 0), .help = "no noise image"},
{"seed", NULL, SEED(seed), .fallback = "from the clock, reported",
    .help = "seed of the noise, and of -misset random without -misset_seed"},
{"pgmfile", "pgmimage", PATH(pgm_file), .effect = nb_effect_write_pgm,
    .fallback = "image.pgm", .help = "8-bit grey picture"},
{"nopgm", NULL, FLAG(cfg.write_pgm, 0), .help = "no PGM picture"},
{"pgmscale", NULL, NUMBER(pgm_scale), AT_LEAST(0), .effect = nb_effect_write_pgm,
    .value = "x", .fallback = "0 (50 / rms deviation)",
    .help = "factor of the PGM picture; switches it on"},
{"pngfile", "pngimage", PATH(png_file), .help = "picture to look at, PNG"},
{"pngshow", NULL, WORD(png.show, png_shows), .value = "expected | noise",
    .fallback = "expected", .help = "what the PNG picture shows: expected photons or the counts "
        "of the noise image"},
{"colormap", NULL, WORD(png.colormap, colormaps),
    .value = "grey | inverse | viridis | heat", .fallback = "grey (dark on white)",
    .help = "colours of the PNG picture"},
{"pngscale", NULL, .kind = NB_OPT_TEXT, .convert = nb_convert_png_scale,
    .value = "auto | P | lo:hi", .fallback = "auto",
    .help = "values from white to black: 1 % to 99.5 % of the pixels, 0 to the percentile P, "
        "or from lo to hi photons"},
{"pnggamma", NULL, NUMBER(png.gamma), .range = {0.01, 100, 0, 0}, .value = "g",
    .fallback = "0.5", .help = "colour = value^g; 1 is linear"},
{"pnglog", NULL, FLAG(cfg.png.log, 1), .help = "colour = logarithm of the value"},
{"pngrings", NULL, .kind = NB_OPT_TEXT, .convert = nb_convert_png_rings,
    .value = "d,d,...", .unit = "A",
    .help = "circles of these resolutions (up to 16) and a cross at the beam centre"},
{"tifffile", "tiffimage", PATH(tiff_file), .help = "image as TIFF"},
{"tiffbits", NULL, WORD(tiff_bits, tiff_bits), .value = "16 | 32", .fallback = "32",
    .help = "TIFF samples: 32-bit photons or 16-bit integers"},
{"truth", NULL, WORD(truth, truths), .value = "none | spots", .fallback = "none",
    .help = "list the reflections in the image: h k l, place, photons; of a series in -hdf5"},
{"truthfile", NULL, PATH(truth_file), .fallback = "spots.tsv",
    .help = "where -truth spots of a single image goes, as text"},
{"truth_min", NULL, NUMBER(truth_min), AT_LEAST(0), .value = "n", .unit = "photons",
    .fallback = "1", .help = "weakest reflection that -truth lists"},

{"report", NULL, PATH(report_file),
    .help = "the run as JSON: all settings, statistics, cut pixels, files, notes and times"},

GROUP("Series"),
{"frames", NULL, .kind = NB_OPT_INT, CLI(series.frames), COUNTED, .value = "n",
    .help = "rotation series: so many frames, each of the width -osc"},
{"stills", NULL, .kind = NB_OPT_INT, CLI(series.stills), COUNTED, .value = "n",
    .help = "so many shots, each with its own seed"},
{"jobs", NULL, .kind = NB_OPT_PATH, CLI(jobs_file), .value = "file",
    .help = "one JSON object a line and frame; its members are flags of that frame"},
{"output", NULL, .kind = NB_OPT_PATH, CLI(series.output), .value = "img_%05d.cbf",
    .help = "a file for each frame: .img .cbf .tif .png or .bin, numbered from 1"},
{"hdf5", NULL, .kind = NB_OPT_PATH, CLI(series.hdf5_file), .value = "file",
    .help = "NXmx master of the series; data files go beside it"},
{"hdf5type", NULL, .kind = NB_OPT_WORD, CLI(series.hdf5_type), .words = hdf5_types,
    .value = "uint16 | int32 | float32", .fallback = "uint16",
    .help = "pixels in HDF5: photons with noise, or float32 without"},
{"compress", NULL, .kind = NB_OPT_WORD, CLI(series.compress), .words = compressions,
    .value = "none | gzip | bslz4", .fallback = "gzip",
    .help = "of HDF5: shuffle and deflate, or bitshuffle and LZ4"},
{"frames_per_file", NULL, .kind = NB_OPT_INT, CLI(series.frames_per_file), COUNTED,
    .value = "n", .fallback = "100", .help = "frames in an HDF5 data file"},
{"orientations", NULL, .kind = NB_OPT_PATH, CLI(series.orientations),
    .value = "random | file", .fallback = "that of -misset",
    .help = "of stills: uniform over all rotations, or misset angles or matrices of a file"},
{"spectra", NULL, .kind = NB_OPT_PATH, CLI(series.spectra), .value = "file",
    .help = "of stills: a line for each shot, pairs of wavelength (A) and weight"},
{"jitter_fluence", NULL, .kind = NB_OPT_NUMBER, CLI(series.jitter_fluence_pct), WITHIN(0, 1000),
    .value = "x", .unit = "%", .fallback = "0",
    .help = "standard deviation from still to still"},
{"jitter_lambda", NULL, .kind = NB_OPT_NUMBER, CLI(series.jitter_lambda_pct), WITHIN(0, 20),
    .value = "x", .unit = "%", .fallback = "0",
    .help = "standard deviation of the wavelength"},
{"jitter_cell", NULL, .kind = NB_OPT_NUMBER, CLI(series.jitter_cell_pct), WITHIN(0, 20),
    .value = "x", .unit = "%", .fallback = "0",
    .help = "standard deviation of the cell's edges, all by one factor"},
{"jitter_mosaic", NULL, .kind = NB_OPT_NUMBER, CLI(series.jitter_mosaic_pct), WITHIN(0, 1000),
    .value = "x", .unit = "%", .fallback = "0",
    .help = "standard deviation of the mosaic spread"},
{"jitter_beam", NULL, .kind = NB_OPT_NUMBER, CLI(series.jitter_beam_mm), AT_LEAST(0),
    .value = "x", .unit = "mm", .fallback = "0",
    .help = "standard deviation of the beam centre, along fast and slow"},
{"resume", NULL, FLAG(series.resume, 1),
    .help = "keep the frames that the same command finished before it was stopped"},

GROUP("Running"),
{"device", NULL, .kind = NB_OPT_DEVICE, CFG(device),
    .value = "auto | cpu | cuda | cuda:N | cuda:all", .fallback = "auto",
     .help = "where to render; all: the frames of a series on every GPU"},
{"threads", NULL, WHOLE(threads), WITHIN(0, 4096), .fallback = "0 (every processor)",
    .help = "processor threads"},
{"isa", NULL, WORD(isa, isas), .value = "name", .fallback = "auto",
    .help = "widest processor instructions: auto, scalar, sse2, avx2, avx512 or neon"},
{"precision", NULL, WORD(precision, precisions), .value = "single | mixed | double",
    .fallback = "mixed", .help = "arithmetic of the pixel loop"},
{"max_read", NULL, NUMBER(max_read_MB), .range = {1, 1e9, 0, 0}, .value = "m",
    .unit = "MB", .fallback = "500",
    .help = "memory that a small compressed input file may fill; ten times the file's size is "
        "always allowed"},
{"show_config", "echo_config", FLAG(show_config, 1),
    .help = "print the resolved configuration as JSON and stop"},
{"trace_pixel", NULL, .kind = NB_OPT_INT, CLI(trace_pixel), .count = 2, PIXEL_INDEX,
    .effect = nb_effect_trace, .value = "f s", .unit = "pixels",
    .help = "print every intermediate quantity of one pixel and stop"},
{"printout", NULL, FLAG(printout, 1), .help = "print the last sample of every pixel"},
{"printout_pixel", NULL, .kind = NB_OPT_INT, CLI(printout_pixel), .count = 2, PIXEL_INDEX,
    .effect = nb_effect_printout_pixel, .value = "f s", .unit = "pixels",
    .help = "as -printout, of one pixel"},
{"progress", NULL, FLAG(progress, 1), .fallback = "on",
    .help = "progress bar, if standard error is a terminal"},
{"noprogress", NULL, FLAG(progress, 0), .help = "no progress bar"},
{"quiet", NULL, FLAG(quiet, 1), .help = "no report"},
{"time", NULL, .kind = NB_OPT_TIME, CLI(time), .value = "[json]",
    .help = "print the time of each stage, as a table or as JSON"},

GROUP("Help"),
{"help", "h", .kind = NB_OPT_HELP, CLI(action), .value = "[group | flag | word]",
    .help = "print this, or only a group (-help detector), a flag or what has a word in it"},
{"help-man", NULL, FLAG(action, NB_DO_HELP_MAN), .help = "print the man page (troff)"},
{"help-markdown", NULL, FLAG(action, NB_DO_HELP_MARKDOWN),
    .help = "print docs/options.md"},
{"help-bash", NULL, FLAG(action, NB_DO_HELP_BASH), .help = "print the bash completion"},
{"help-flags", NULL, FLAG(action, NB_DO_HELP_FLAGS),
    .help = "print every flag, one a line"},
{"version", NULL, FLAG(action, NB_DO_VERSION),
    .help = "print the version and the optional parts"},
};
/* clang-format on */

_Static_assert(sizeof rows / sizeof *rows <= NB_OPTION_MAX, "raise NB_OPTION_MAX");

const nb_option *nb_option_table(size_t *count)
{
    *count = sizeof rows / sizeof *rows;
    return rows;
}

const char *const *nb_device_words(void)
{
    static const char *const words[] = {"auto", "cpu", "cuda", "cuda:all", NULL};
    return words;
}
