/* SPDX-License-Identifier: MIT */
/* Every parameter: its names, the field that holds it, its limits, and what the help says. */
#include <float.h>
#include <math.h>

#include "after.h"
#include "params.h"

/* Short names for this table. */
enum {
    PIXELS = NB_PARAM_PIXELS,
    PNG = NB_PARAM_PNG,
    TIFF = NB_PARAM_TIFF,
    ADU = NB_PARAM_ADU,
    HDF5 = NB_PARAM_HDF5,
    INPUT = NB_PARAM_INPUT,
    OUTPUT = NB_PARAM_OUTPUT,
    RUNNING = NB_PARAM_RUNNING,
    SINGLE = NB_PARAM_SINGLE,
    SERIES = NB_PARAM_SERIES,
    VIEW = NB_PARAM_VIEW,
    INNER = NB_PARAM_INNER,
    FILLS = NB_PARAM_FILLS,
    NONE = 0
};

#define LARGE 1e300
#define ANY .low = -DBL_MAX, .high = DBL_MAX
#define ABOVE(min) .low = min, .high = LARGE, .open = NB_OPEN_LOW
#define AT_LEAST(min) .low = min, .high = LARGE
#define WITHIN(min, max) .low = min, .high = max
#define ABOVE_TO(min, max) .low = min, .high = max, .open = NB_OPEN_LOW
#define BETWEEN(min, max) .low = min, .high = max, .open = NB_OPEN_LOW | NB_OPEN_HIGH
#define COUNTED .low = 1, .high = 1e9
#define DIRECTION .low = -1e100, .high = 1e100

#define IN(type, member)                                                                 \
    .offset = offsetof(type, member), .size = sizeof(((type *)0)->member)
#define ROW(what, marks) .group = GROUP, .kind = NB_KIND_##what, .flags = marks
#define FIELD(what, marks, member) ROW(what, marks), IN(nb_config, member)
#define OF_SERIES(what, marks, member) ROW(what, SERIES | marks), IN(nb_series, member)

#define SWITCH(marks, member) FIELD(SWITCH, marks, member)
#define PRESET(member, number) FIELD(PRESET, VIEW, member), .low = number, .high = number
#define NO_FILE(member) FIELD(PRESET, VIEW | SINGLE, member)
#define WHOLE(marks, member) FIELD(INTEGER, marks, member)
#define NUMBER(marks, member) FIELD(NUMBER, marks, member), .unset = NAN
#define NUMBER_FROM(marks, member, start) FIELD(NUMBER, marks, member), .unset = start
#define VECTOR(member) FIELD(VECTOR, PIXELS, member), DIRECTION
#define CHOICE(marks, member, list) FIELD(CHOICE, marks, member), .choices = list
#define PATH(marks, member) FIELD(FILE, marks, member)
#define SEED(member) FIELD(SEED, PIXELS, member)
#define JITTER(member) OF_SERIES(NUMBER, PIXELS, member)
#define KEY(number, text) .header = text, .place = number

/* clang-format off */
/* Names by value.  An empty name belongs to the value "unset", which nobody can write. */
static const char *const shapes[] = {"square", "round", "gauss", "tophat", NULL};
static const char *const misset_modes[] = {"none", "fixed", "random", NULL};
static const char *const mosaic_models[] = {"nanobragg", "uniform", "gauss", NULL};
static const char *const conventions[] = {
    "", "mosflm", "xds", "adxv", "denzo", "dials", "custom", NULL};
static const char *const pivots[] = {"", "beam", "sample", NULL};
static const char *const layer_depths[] = {"", "mean", "front", NULL};
static const char *const curved_omegas[] = {"", "square", "exact", NULL};
static const char *const png_shows[] = {"expected", "noise", NULL};
static const char *const colormaps[] = {"grey", "inverse", "viridis", "heat", NULL};
static const char *const tiff_bits[] = {"16", "32", NULL};
static const char *const truths[] = {"none", "spots", NULL};
static const char *const hdf5_types[] = {"uint16", "int32", "float32", NULL};
static const char *const compressions[] = {"gzip", "none", "bslz4", NULL};
static const char *const isas[] = {"auto", "scalar", "sse2", "avx2", "avx512", "neon", NULL};
static const char *const precisions[] = {"mixed", "single", "double", NULL};

static const nb_param rows[] = {
#define GROUP "Crystal"
{"cell", NULL, FIELD(CELL, PIXELS, cell), ABOVE_TO(1e-30, 1e9), .value = "a [b c al be ga]",
    .unit = "A, deg",
    .help = "unit cell; b and c default to a, angles that are left out or 0 to 90"},
{"cell_count", NULL, WHOLE(PIXELS | INNER, cell_count), WITHIN(0, 6),
    .help = "how many numbers of the cell are given"},
{"mat", "matrix", PATH(INPUT, mat_file),
    .help = "MOSFLM orientation matrix: nine numbers, a* b* c* in columns, times the "
        "wavelength"},
{"misset", NULL, FIELD(MISSET, PIXELS, misset_deg), ANY, .value = "x y z | random",
    .unit = "deg", .fallback = "0 0 0",
    .help = "rotate the crystal about lab x, then y, then z; or a random orientation"},
{"misset_mode", NULL, CHOICE(PIXELS | INNER, misset_mode, misset_modes),
    .help = "where the rotation comes from"},
{"misset_seed", NULL, SEED(misset_seed), .fallback = "that of -seed",
    .help = "seed of the random orientation"},
{"N", NULL, WHOLE(PIXELS | FILLS, N), COUNTED, .unit = "cells", .fallback = "1",
    .help = "unit cells along a, b and c"},
{"Na", NULL, WHOLE(VIEW, N[0]), COUNTED, .unit = "cells", .fallback = "1",
    .help = "unit cells along a"},
{"Nb", NULL, WHOLE(VIEW, N[1]), COUNTED, .unit = "cells", .fallback = "1",
    .help = "unit cells along b"},
{"Nc", NULL, WHOLE(VIEW, N[2]), COUNTED, .unit = "cells", .fallback = "1",
    .help = "unit cells along c"},
{"samplesize", "sample_size xtalsize xtal_size", NUMBER(PIXELS | FILLS, xtal_size_mm),
    ABOVE(0), .value = "s", .unit = "mm", .help = "crystal edge along a, b and c, instead of -N"},
{"sample_x", "sample_thick xtal_x xtal_thick", NUMBER(VIEW, xtal_size_mm[0]), ABOVE(0),
    .value = "s", .unit = "mm", .help = "crystal edge along a"},
{"sample_y", "sample_width xtal_y xtal_width width", NUMBER(VIEW, xtal_size_mm[1]), ABOVE(0),
    .value = "s", .unit = "mm", .help = "crystal edge along b"},
{"sample_z", "sample_heigh sample_height xtal_z xtal_heigh xtal_height heigh height",
    NUMBER(VIEW, xtal_size_mm[2]), ABOVE(0), .value = "s", .unit = "mm",
    .help = "crystal edge along c"},
{"crystal_volume", "xtal_volume", NUMBER(PIXELS, crystal_volume_um3), ABOVE(0), .value = "v",
    .unit = "um3", .fallback = "one block",
    .help = "crystal volume in the beam, made of blocks of -N cells that scatter independently; "
        "multiplies the crystal's photons, not the water's"},
{"blocks", NULL, NUMBER(PIXELS, blocks), ABOVE(0), .value = "n", .fallback = "1",
    .help = "number of such blocks, instead of -crystal_volume"},
{"shape", NULL, CHOICE(PIXELS | INNER, shape, shapes), .help = "shape of the crystal"},
{"square_xtal", NULL, PRESET(shape, NB_SHAPE_SQUARE), .fallback = "on",
    .help = "parallelepiped: grating function sin(pi N h)/sin(pi h)"},
{"round_xtal", NULL, PRESET(shape, NB_SHAPE_ROUND), .help = "spheroid: spherical spot function"},
{"gauss_xtal", NULL, PRESET(shape, NB_SHAPE_GAUSS), .help = "Gaussian spots without fringes"},
{"tophat_spots", "binary_spots", PRESET(shape, NB_SHAPE_TOPHAT),
    .help = "spots of constant intensity with a sharp edge"},
{"fudge", NULL, NUMBER_FROM(PIXELS, fudge, 1), ABOVE(0), .value = "x",
    .help = "scale of the shape function's width (round, gauss, tophat)"},
{"mosaic", "mosaici mosaicity mosaic_spr mosaic_spread", NUMBER(PIXELS, mosaic_spread_deg),
    WITHIN(0, 180), .value = "angle", .unit = "deg", .fallback = "0",
    .help = "mosaic spread: largest rotation of a domain; with -mosaic_model gauss the "
        "standard deviation"},
{"mosaic_model", NULL, CHOICE(PIXELS, mosaic_model, mosaic_models),
    .help = "distribution of the domains' rotations: that of the old program, uniform (180 deg "
        "is a powder), or normal"},
{"mosaic_aniso", NULL, FIELD(POINT, PIXELS, mosaic_aniso_deg), WITHIN(0, 180), .value = "a b c",
    .unit = "deg",
    .help = "with -mosaic_model gauss, instead of -mosaic: standard deviations about the "
        "crystal's a*, c x a* and c"},
{"mosaic_dom", "mosaic_domains", WHOLE(PIXELS, mosaic_domains), COUNTED,
    .fallback = "10 with -mosaic, else 1", .help = "number of mosaic domains"},
{"mosaic_seed", NULL, SEED(mosaic_seed), .fallback = "12345678",
    .help = "seed of the domains' orientations"},

#undef GROUP
#define GROUP "Structure factors"
{"hkl", NULL, PATH(INPUT, hkl_file), .help = "text file of h k l F, one reflection of P1 a line"},
{"default_F", NULL, NUMBER(PIXELS, default_F), WITHIN(0, 1e150), .value = "F",
    .unit = "electrons", .fallback = "0",
    .help = "structure factor of every reflection that the file lacks"},
{"dump", NULL, PATH(INPUT, dump_file), .fallback = "Fdump.bin",
    .help = "binary cache of the structure factors: read without -hkl, written with it"},
{"interpolate", NULL, SWITCH(PIXELS, interpolate), .unset = NB_AUTO, WITHIN(NB_AUTO, NB_ON),
    .fallback = "on if a side has N <= 2",
    .help = "tricubic interpolation of F between reflections"},
{"nointerpolate", NULL, PRESET(interpolate, NB_OFF), .help = "F of the nearest reflection"},
{"dmin", NULL, NUMBER_FROM(PIXELS, dmin_A, 0), AT_LEAST(0), .value = "d", .unit = "A",
    .fallback = "0 (off)", .help = "no Bragg scattering beyond this resolution"},

#undef GROUP
#define GROUP "Beam"
{"lambda", "wave wavelength", NUMBER(PIXELS, lambda_A), WITHIN(1e-6, 1e6),
    .after = nb_after_lambda, .value = "l", .unit = "A", .fallback = "1", KEY(32, "LAMBDA"),
    .help = "wavelength; the last of -lambda and -energy holds"},
{"energy", NULL, NUMBER(PIXELS, energy_eV), WITHIN(1e-2, 1e10), .after = nb_after_energy,
    .value = "E", .unit = "eV", KEY(33, "ENERGY"), .help = "photon energy, instead of -lambda"},
{"fluence", NULL, NUMBER(PIXELS, fluence), AT_LEAST(0), .value = "x", .unit = "photons/m2",
    .fallback = "1.26e29, so that I = F^2", .help = "photons per area that pass the crystal"},
{"flux", NULL, NUMBER_FROM(PIXELS, flux, 0), AT_LEAST(0), .value = "x", .unit = "photons/s",
    .fallback = "0 (off)", .help = "with -exposure and -beamsize, instead of -fluence"},
{"exposure", NULL, NUMBER_FROM(PIXELS, exposure_s, 1), ABOVE(0), .value = "t", .unit = "s",
    .help = "exposure time"},
{"beamsize", NULL, NUMBER(PIXELS, beamsize_mm), ABOVE(0), .value = "s", .unit = "mm",
    .fallback = "0.1", .help = "side of the square beam; clips the crystal along b and c"},
{"polar", NULL, NUMBER_FROM(PIXELS, polarization, 0), WITHIN(-1, 1), .after = nb_after_polar,
    .value = "K", .fallback = "0", .help = "Kahn polarization factor, 0 unpolarized; undoes -nopolar"},
{"polar_set", NULL, SWITCH(PIXELS | INNER, polar_set), .help = "a polarization is given"},
{"nopolar", NULL, SWITCH(PIXELS, nopolar), .help = "no polarization factor at all"},
{"sourcefile", NULL, PATH(INPUT, source_file),
    .help = "text file of X Y Z weight wavelength(m), one source a line; replaces divergence and "
        "dispersion"},
{"divergence", NULL, NUMBER(VIEW, hdiv_range_mrad), AT_LEAST(0), .after = nb_after_divergence,
    .value = "r", .unit = "mrad", .fallback = "0", .help = "full width of both divergences"},
{"hdivrange", "hdiv", NUMBER(PIXELS, hdiv_range_mrad), AT_LEAST(0), .value = "r", .unit = "mrad",
    .fallback = "0", .help = "full width of the horizontal divergence"},
{"vdivrange", "vdiv", NUMBER(PIXELS, vdiv_range_mrad), AT_LEAST(0), .value = "r", .unit = "mrad",
    .fallback = "0", .help = "full width of the vertical divergence"},
{"hdivstep", NULL, NUMBER(PIXELS, hdiv_step_mrad), ABOVE(0), .value = "d", .unit = "mrad",
    .fallback = "from range and count", .help = "step of the horizontal divergence"},
{"vdivstep", NULL, NUMBER(PIXELS, vdiv_step_mrad), ABOVE(0), .value = "d", .unit = "mrad",
    .fallback = "from range and count", .help = "step of the vertical divergence"},
{"divsteps", NULL, WHOLE(VIEW, hdiv_steps), COUNTED, .after = nb_after_divsteps,
    .fallback = "2 with a range", .help = "directions in both divergences"},
{"hdivsteps", NULL, WHOLE(PIXELS, hdiv_steps), COUNTED, .fallback = "2 with a range",
    .help = "directions in the horizontal divergence"},
{"vdivsteps", NULL, WHOLE(PIXELS, vdiv_steps), COUNTED, .fallback = "2 with a range",
    .help = "directions in the vertical divergence"},
{"round_div", NULL, PRESET(square_div, 0), .fallback = "on",
    .help = "leave out the corners of the divergence grid"},
{"square_div", NULL, SWITCH(PIXELS, square_div), .help = "keep the corners of the divergence grid"},
{"dispersion", NULL, NUMBER(PIXELS, dispersion_pct), WITHIN(0, 199), .value = "r",
    .unit = "percent", .fallback = "0", .help = "full width of the spectrum about the wavelength"},
{"dispsteps", NULL, WHOLE(PIXELS, dispersion_steps), COUNTED, .fallback = "2 with -dispersion",
    .help = "wavelengths in the spectrum"},
{"dispstep", NULL, NUMBER(PIXELS, dispersion_step_pct), BETWEEN(0, 200), .value = "d",
    .unit = "percent", .fallback = "from range and count", .help = "step between wavelengths"},

#undef GROUP
#define GROUP "Spindle"
{"phi", NULL, NUMBER(PIXELS, phi_deg), ANY, .value = "angle", .unit = "deg", .fallback = "0",
    KEY(34, "PHI"), .help = "spindle angle at the start"},
{"osc", NULL, NUMBER(PIXELS, osc_deg), WITHIN(0, 1e6), .value = "angle", .unit = "deg",
    .fallback = "0 (still)", KEY(35, "OSC"), .help = "rotation during the exposure"},
{"phistep", NULL, NUMBER(PIXELS, phistep_deg), WITHIN(0, 1e6), .value = "angle", .unit = "deg",
    .fallback = "from -osc and -phisteps", KEY(36, "PHISTEP"),
    .help = "rotation between two steps; 0 is unset"},
{"phisteps", NULL, WHOLE(PIXELS, phi_steps), COUNTED, .fallback = "2 with -osc, else 1",
    KEY(37, "PHISTEPS"), .help = "spindle angles in the exposure; without -osc all are at -phi"},
{"spindle_axis", NULL, VECTOR(spindle_axis), .after = nb_after_custom,
    .fallback = "by convention", KEY(26, "SPINDLE"), .help = "spindle direction; convention CUSTOM"},

#undef GROUP
#define GROUP "Detector"
{"detpixels", NULL, WHOLE(PIXELS | FILLS, detpixels), WITHIN(1, 100000), .unit = "pixels",
    .fallback = "from -detsize", KEY(4, "DETPIXELS"), .help = "pixels along both axes"},
{"detpixels_f", "detpixels_x", WHOLE(VIEW, detpixels[0]), WITHIN(1, 100000), .unit = "pixels",
    .fallback = "from -detsize", .help = "pixels along the fast axis"},
{"detpixels_s", "detpixels_y", WHOLE(VIEW, detpixels[1]), WITHIN(1, 100000), .unit = "pixels",
    .fallback = "from -detsize", .help = "pixels along the slow axis"},
{"detsize", NULL, NUMBER(PIXELS | FILLS, detsize_mm), ABOVE_TO(0, 1e12), .value = "s",
    .unit = "mm", .fallback = "102.4", .help = "side of the detector, both axes"},
{"detsize_f", "detsize_x", NUMBER(VIEW, detsize_mm[0]), ABOVE_TO(0, 1e12), .value = "s",
    .unit = "mm", .fallback = "102.4", KEY(5, "DETSIZE_F"), .help = "side along the fast axis"},
{"detsize_s", "detsize_y", NUMBER(VIEW, detsize_mm[1]), ABOVE_TO(0, 1e12), .value = "s",
    .unit = "mm", .fallback = "102.4", KEY(6, "DETSIZE_S"), .help = "side along the slow axis"},
{"pixel", NULL, NUMBER(PIXELS, pixel_mm), ABOVE_TO(0, 1e6), .value = "s", .unit = "mm",
    .fallback = "0.1", KEY(7, "PIXEL"), .help = "side of a pixel"},
{"distance", NULL, NUMBER(PIXELS, distance_mm), ABOVE_TO(0, 1e12),
    .after = nb_after_pivot_beam, .value = "d", .unit = "mm", .fallback = "100",
    KEY(8, "DISTANCE"),
    .help = "crystal to detector along the beam, before the -twotheta swing; -pivot beam keeps "
        "it, -pivot sample keeps the close distance that follows from it"},
{"close_distance", NULL, NUMBER(PIXELS, close_distance_mm), ABOVE_TO(0, 1e12),
    .after = nb_after_pivot_sample, .value = "d", .unit = "mm", .fallback = "from -distance",
    KEY(9, "CLOSE_DISTANCE"),
    .help = "crystal to the nearest point of the detector plane, before the -twotheta swing; "
        "-pivot sample keeps it, -pivot beam keeps the distance that follows from it"},
{"close_twotheta", NULL, NUMBER(PIXELS | INNER, close_twotheta_deg), ANY, .value = "angle",
    .unit = "deg", KEY(10, "CLOSE_TWOTHETA"),
    .help = "two-theta at which the close distance was measured, as an image's header says"},
{"detector_thick", NULL, NUMBER(PIXELS, thick_um), WITHIN(0, 1e9), .value = "t", .unit = "um",
    .fallback = "0", .help = "thickness of the sensor"},
{"detector_abs", "detector_absorb", FIELD(DEPTH, PIXELS, abs_um), .unset = NAN, AT_LEAST(0),
    .value = "depth | inf", .unit = "um", .fallback = "the thickness",
    .help = "attenuation depth of the sensor; inf or 0: no absorption"},
{"detector_thicksteps", "thicksteps", WHOLE(PIXELS, thick_steps), WITHIN(1, 100000),
    .fallback = "2 with a thickness, else 1", .help = "layers of the sensor"},
{"layer_depth", NULL, CHOICE(PIXELS, layer_depth, layer_depths),
    .fallback = "mean; front with -compat", KEY(31, "LAYER_DEPTH"),
    .help = "position of a layer: the mean depth of the photons that stop in it, or its front "
        "face"},
{"curved_det", NULL, SWITCH(PIXELS, curved), KEY(29, "CURVED"),
    .help = "every pixel at the same distance"},
{"curved_omega", NULL, CHOICE(PIXELS, curved_omega, curved_omegas), .fallback = "square",
    KEY(30, "CURVED_OMEGA"),
    .help = "solid angle with -curved_det: pixel^2/R^2, or the pixel's area on the sphere"},
{"point_pixel", NULL, SWITCH(PIXELS, point_pixel), .help = "solid angle without obliquity"},
{"roi", NULL, FIELD(ROI, PIXELS, roi), WITHIN(0, 1e6), .value = "xmin xmax ymin ymax",
    .unit = "pixels", .fallback = "whole image",
    .help = "render only these pixels (fast, slow), limits included"},
{"roi_set", NULL, SWITCH(PIXELS | INNER, roi_set), .help = "a region of interest is given"},
{"mask", NULL, PATH(INPUT, mask_file),
    .help = "image (SMV, CBF, TIFF, PGM, HDF5, floats): pixels of 0 or below are not rendered; "
        "its header gives defaults"},
{"img", NULL, PATH(INPUT, img_file),
    .help = "image (SMV, CBF, HDF5) whose header gives defaults; of others the size"},

#undef GROUP
#define GROUP "Beam centre and orientation of the detector"
{"convention", NULL, CHOICE(PIXELS | INNER, convention, conventions), .fallback = "mosflm",
    KEY(1, "CONVENTION"), .help = "axes of the detector and meaning of the beam centre"},
{"mosflm", NULL, PRESET(convention, NB_CONV_MOSFLM), .after = nb_after_pivot_beam,
    .fallback = "on", .help = "MOSFLM axes and beam centre"},
{"xds", NULL, PRESET(convention, NB_CONV_XDS), .after = nb_after_pivot_sample,
    .help = "XDS axes and origin"},
{"adxv", NULL, PRESET(convention, NB_CONV_ADXV), .after = nb_after_pivot_beam,
    .help = "ADXV axes and beam centre"},
{"denzo", NULL, PRESET(convention, NB_CONV_DENZO), .after = nb_after_pivot_beam,
    .help = "DENZO: MOSFLM without its half pixel"},
{"dials", NULL, PRESET(convention, NB_CONV_DIALS), .after = nb_after_pivot_beam,
    .help = "DIALS axes and origin"},
{"Xbeam", NULL, NUMBER(PIXELS, Xbeam_mm), ANY, .after = nb_after_pivot_beam, .value = "x",
    .unit = "mm", .fallback = "centre", KEY(11, "XBEAM"),
    .help = "beam centre x, meaning by convention"},
{"Ybeam", NULL, NUMBER(PIXELS, Ybeam_mm), ANY, .after = nb_after_pivot_beam, .value = "y",
    .unit = "mm", .fallback = "centre", KEY(12, "YBEAM"),
    .help = "beam centre y, meaning by convention"},
{"Xclose", NULL, NUMBER(PIXELS, Xclose_mm), ANY, .after = nb_after_pivot_sample, .value = "x",
    .unit = "mm", .fallback = "centre", KEY(13, "XCLOSE"),
    .help = "point nearest to the crystal, x"},
{"Yclose", NULL, NUMBER(PIXELS, Yclose_mm), ANY, .after = nb_after_pivot_sample, .value = "y",
    .unit = "mm", .fallback = "centre", KEY(14, "YCLOSE"),
    .help = "point nearest to the crystal, y"},
{"ORGX", NULL, NUMBER(PIXELS, orgx), ANY, .after = nb_after_pivot_sample, .value = "x",
    .unit = "pixels", .fallback = "centre", KEY(15, "ORGX"),
    .help = "XDS origin: nearest point, fast axis, first pixel's centre is 1"},
{"ORGY", NULL, NUMBER(PIXELS, orgy), ANY, .after = nb_after_pivot_sample, .value = "y",
    .unit = "pixels", .fallback = "centre", KEY(16, "ORGY"),
    .help = "XDS origin: nearest point, slow axis"},
{"detector_rot", NULL, NUMBER(PIXELS | INNER, rot_deg), ANY, .unit = "deg",
    .help = "rotations of the detector about lab x, y and z"},
{"detector_rotx", NULL, NUMBER(VIEW, rot_deg[0]), ANY, .value = "angle", .unit = "deg",
    .fallback = "0", KEY(17, "ROTX"), .help = "rotate the detector about lab x, first"},
{"detector_roty", NULL, NUMBER(VIEW, rot_deg[1]), ANY, .value = "angle", .unit = "deg",
    .fallback = "0", KEY(18, "ROTY"), .help = "rotate the detector about lab y, second"},
{"detector_rotz", NULL, NUMBER(VIEW, rot_deg[2]), ANY, .value = "angle", .unit = "deg",
    .fallback = "0", KEY(19, "ROTZ"), .help = "rotate the detector about lab z, third"},
{"twotheta", NULL, NUMBER(PIXELS, twotheta_deg), ANY, .after = nb_after_pivot_sample,
    .value = "angle", .unit = "deg", .fallback = "0", KEY(20, "TWOTHETA"),
    .help = "swing about the two-theta axis, last"},
{"pivot", NULL, CHOICE(PIXELS, pivot, pivots), .fallback = "by convention", KEY(2, "PIVOT"),
    .help = "what a rotation of the detector keeps: the beam centre or the crystal's place"},
{"pivot_implied", NULL, CHOICE(PIXELS | INNER, pivot_implied, pivots), KEY(3, "PIVOT_IMPLIED"),
    .help = "the pivot that the last distance, beam centre or convention implies"},
{"fdet_vector", NULL, VECTOR(fdet_vector), .after = nb_after_custom, .fallback = "by convention",
    KEY(21, "FDET"), .help = "direction of the fast axis; convention CUSTOM"},
{"sdet_vector", NULL, VECTOR(sdet_vector), .after = nb_after_custom, .fallback = "by convention",
    KEY(22, "SDET"), .help = "direction of the slow axis; convention CUSTOM"},
{"odet_vector", NULL, VECTOR(odet_vector), .after = nb_after_custom, .fallback = "by convention",
    KEY(23, "ODET"), .help = "direction of the detector's normal, any length; convention CUSTOM"},
{"beam_vector", NULL, VECTOR(beam_vector), .after = nb_after_custom, .fallback = "by convention",
    KEY(24, "BEAM"), .help = "direction of the beam; convention CUSTOM"},
{"polar_vector", NULL, VECTOR(polar_vector), .after = nb_after_custom,
    .fallback = "by convention", KEY(25, "POLAR_AXIS"),
    .help = "direction of the polarization; convention CUSTOM"},
{"twotheta_axis", NULL, VECTOR(twotheta_axis), .after = nb_after_custom,
    .fallback = "by convention", KEY(27, "TWOTHETA_AXIS"),
    .help = "axis of -twotheta; convention CUSTOM"},
{"pix0_vector", NULL, FIELD(POINT, PIXELS, pix0_m), DIRECTION, .unit = "m", KEY(28, "PIX0"),
    .help = "outer corner of the first pixel; fixes the origin"},
{"pix0_vector_mm", NULL, FIELD(POINT_MM, VIEW, pix0_m), DIRECTION, .unit = "mm",
    .help = "as -pix0_vector, in mm"},

#undef GROUP
#define GROUP "Sampling and background"
{"oversample", NULL, WHOLE(PIXELS, oversample), WITHIN(1, 10000),
    .fallback = "enough for the crystal's fringes", .help = "samples along each side of a pixel"},
{"oversample_thick", NULL, SWITCH(PIXELS, oversample_thick),
    .help = "accepted; capture is always exact for every sample and layer"},
{"oversample_polar", NULL, SWITCH(PIXELS, oversample_polar),
    .help = "polarization of every sample, not of the pixel's first"},
{"oversample_omega", NULL, SWITCH(PIXELS, oversample_omega),
    .help = "solid angle of every sample, not of the pixel's first"},
{"water", NULL, NUMBER_FROM(PIXELS, water_um, 0), WITHIN(0, 1e9), .value = "w", .unit = "um",
    .fallback = "0", .help = "edge of a cube of water that scatters as background"},
{"compat", NULL, SWITCH(PIXELS, compat),
    .help = "definitions of the old nanoBragg, for comparison: see docs/differences.md"},

#undef GROUP
#define GROUP "Files written"
{"floatfile", "floatimage", PATH(OUTPUT | SINGLE, float_file), .after = nb_after_float_file,
    .fallback = "floatimage.bin",
    .help = "photons a pixel, 32-bit floats, fast axis first; - as the name of one file, here "
        "and below, is standard output"},
{"write_float", NULL, SWITCH(SINGLE | INNER, write_float), .unset = 1, .help = "write the float image"},
{"nofloat", NULL, NO_FILE(write_float), .help = "no float image"},
{"intfile", "intimage", PATH(OUTPUT | SINGLE, int_file), .after = nb_after_int_file,
    .fallback = "intimage.img", .help = "scaled image without noise, SMV"},
{"write_int", NULL, SWITCH(SINGLE | INNER, write_int), .unset = 1, .help = "write the integer image"},
{"noint", NULL, NO_FILE(write_int), .help = "no integer image"},
{"scale", NULL, NUMBER_FROM(PIXELS, scale, 0), AT_LEAST(0), .value = "x",
    .fallback = "0 (55000 at the maximum)", .help = "factor of the integer image"},
{"adc", "adcoffset", NUMBER_FROM(ADU, adc_offset, 40), WITHIN(0, 65535), .value = "x",
    .unit = "ADU", .help = "offset added to both SMV images"},
{"noisefile", "noiseimage", PATH(OUTPUT | SINGLE, noise_file), .after = nb_after_noise_file,
    .fallback = "noiseimage.img", .help = "image with Poisson noise, SMV"},
{"write_noise", NULL, SWITCH(PIXELS | INNER, write_noise), .unset = 1, .help = "write the noise image"},
{"nonoise", NULL, PRESET(write_noise, 0), .help = "no noise image"},
{"seed", NULL, SEED(seed), .fallback = "from the clock, reported",
    .help = "seed of the noise, and of -misset random without -misset_seed"},
{"pgmfile", "pgmimage", PATH(OUTPUT | SINGLE, pgm_file), .after = nb_after_pgm,
    .fallback = "image.pgm", .help = "8-bit grey picture"},
{"write_pgm", NULL, SWITCH(SINGLE | INNER, write_pgm), .unset = 1, .help = "write the PGM picture"},
{"nopgm", NULL, NO_FILE(write_pgm), .help = "no PGM picture"},
{"pgmscale", NULL, NUMBER_FROM(SINGLE, pgm_scale, 0), AT_LEAST(0), .after = nb_after_pgm,
    .value = "x", .fallback = "0 (50 / rms deviation)",
    .help = "factor of the PGM picture; switches it on"},
{"pngfile", "pngimage", PATH(OUTPUT | SINGLE, png_file), .help = "picture to look at, PNG"},
{"pngshow", NULL, CHOICE(PNG, png.show, png_shows),
    .help = "what the PNG picture shows: expected photons or the counts of the noise image"},
{"colormap", NULL, CHOICE(PNG, png.colormap, colormaps), .fallback = "grey (dark on white)",
    .help = "colours of the PNG picture"},
{"pngscale", NULL, FIELD(PNG_SCALE, PNG, png.scale), WITHIN(NB_PNG_AUTO, NB_PNG_RANGE),
    .value = "auto | P | lo:hi", .fallback = "auto",
    .help = "values from white to black: 1 % to 99.5 % of the pixels, 0 to the percentile P, "
        "or from lo to hi photons"},
{"png_percentile", NULL, NUMBER_FROM(PNG | INNER, png.percentile, 0), ANY,
    .help = "the percentile of -pngscale"},
{"png_low", NULL, NUMBER_FROM(PNG | INNER, png.low, 0), ANY, .help = "the lo of -pngscale"},
{"png_high", NULL, NUMBER_FROM(PNG | INNER, png.high, 0), ANY, .help = "the hi of -pngscale"},
{"pnggamma", NULL, NUMBER_FROM(PNG, png.gamma, 0), WITHIN(0.01, 100), .value = "g",
    .fallback = "0.5", .help = "colour = value^g; 1 is linear"},
{"pnglog", NULL, SWITCH(PNG, png.log), .help = "colour = logarithm of the value"},
{"pngrings", NULL, FIELD(PNG_RINGS, PNG, png.ring_A), ABOVE(0), .value = "d,d,...", .unit = "A",
    .help = "circles of these resolutions (up to 16) and a cross at the beam centre"},
{"png_ring_count", NULL, WHOLE(PNG | INNER, png.rings), WITHIN(0, NB_RINGS_MAX),
    .help = "how many circles are given"},
{"tifffile", "tiffimage", PATH(OUTPUT | SINGLE, tiff_file), .help = "image as TIFF"},
{"tiffbits", NULL, WHOLE(TIFF, tiff_bits), .unset = 32, WITHIN(16, 32), .choices = tiff_bits,
    .help = "TIFF samples: 32-bit photons or 16-bit integers"},
{"truth", NULL, CHOICE(PIXELS, truth, truths),
    .help = "list the reflections in the image: h k l, place, photons; of a series in -hdf5"},
{"truthfile", NULL, PATH(OUTPUT | SINGLE, truth_file), .fallback = "spots.tsv",
    .help = "text file for the list of -truth spots, of a single image"},
{"truth_min", NULL, NUMBER_FROM(HDF5, truth_min, 1), AT_LEAST(0), .value = "n",
    .unit = "photons", .help = "weakest reflection that -truth lists"},
{"report", NULL, PATH(OUTPUT, report_file),
    .help = "the run as JSON: all settings, statistics, cut pixels, files, notes and times"},

#undef GROUP
#define GROUP "Series"
{"frames", NULL, OF_SERIES(INTEGER, PIXELS, frames), COUNTED,
    .help = "rotation series: so many frames, each of the width -osc"},
{"stills", NULL, OF_SERIES(INTEGER, PIXELS, stills), COUNTED,
    .help = "so many shots, each with its own seed"},
{"output", NULL, OF_SERIES(FILE, OUTPUT, output), .value = "img_%05d.cbf",
    .help = "a file for each frame: .img .cbf .tif .png or .bin, numbered from 1"},
{"hdf5", NULL, OF_SERIES(FILE, OUTPUT, hdf5_file),
    .help = "NXmx master of the series; data files go beside it"},
{"hdf5type", NULL, OF_SERIES(CHOICE, HDF5, hdf5_type), .choices = hdf5_types,
    .help = "pixels in HDF5: photons with noise, or float32 without"},
{"compress", NULL, OF_SERIES(CHOICE, HDF5, compress), .choices = compressions,
    .help = "of HDF5: shuffle and deflate, or bitshuffle and LZ4"},
{"frames_per_file", NULL, OF_SERIES(INTEGER, NONE, frames_per_file), COUNTED,
    .fallback = "100", .help = "frames in an HDF5 data file"},
{"orientations", NULL, OF_SERIES(FILE, INPUT, orientations), .value = "random | file",
    .fallback = "that of -misset",
    .help = "of stills: uniform over all rotations, or misset angles or matrices of a file"},
{"spectra", NULL, OF_SERIES(FILE, INPUT, spectra),
    .help = "of stills: a line for each shot, pairs of wavelength (A) and weight"},
{"jitter_fluence", NULL, JITTER(jitter_fluence_pct), WITHIN(0, 1000), .value = "x", .unit = "%",
    .fallback = "0", .help = "standard deviation from still to still"},
{"jitter_lambda", NULL, JITTER(jitter_lambda_pct), WITHIN(0, 20), .value = "x", .unit = "%",
    .fallback = "0", .help = "standard deviation of the wavelength"},
{"jitter_cell", NULL, JITTER(jitter_cell_pct), WITHIN(0, 20), .value = "x", .unit = "%",
    .fallback = "0", .help = "standard deviation of the cell's edges, all by one factor"},
{"jitter_mosaic", NULL, JITTER(jitter_mosaic_pct), WITHIN(0, 1000), .value = "x", .unit = "%",
    .fallback = "0", .help = "standard deviation of the mosaic spread"},
{"jitter_beam", NULL, JITTER(jitter_beam_mm), WITHIN(0, 1e12), .value = "x", .unit = "mm",
    .fallback = "0", .help = "standard deviation of the beam centre, along fast and slow"},
{"resume", NULL, OF_SERIES(SWITCH, NONE, resume),
    .help = "keep the frames that the same command finished before it was stopped"},

#undef GROUP
#define GROUP "Running"
{"device", NULL, FIELD(DEVICE, RUNNING, device), .fallback = "auto",
    .help = "where to render; all: the frames of a series on every GPU"},
{"threads", NULL, WHOLE(RUNNING, threads), WITHIN(0, 4096), .fallback = "0 (every processor)",
    .help = "processor threads"},
{"isa", NULL, CHOICE(RUNNING, isa, isas), .help = "widest processor instructions"},
{"precision", NULL, CHOICE(PIXELS | RUNNING, precision, precisions),
    .help = "arithmetic of the pixel loop"},
{"max_read", NULL, NUMBER_FROM(NONE, max_read_MB, 0), WITHIN(1, 1e9), .value = "m", .unit = "MB",
    .fallback = "500",
    .help = "memory that a small compressed input file may fill; ten times the file's size is "
        "always allowed"},
{"device_alone", NULL, SWITCH(RUNNING | INNER, device_alone),
    .help = "the device belongs to this process, which may shut it down early"},
{"command_line", NULL, FIELD(TEXT, INNER, command_line), .help = "for the headers of files"},
#ifdef NB_TEST_PARAM /* tests/params: every reader of this table must show it */
{"test_param", "test_synonym", NUMBER(PIXELS, test_param), WITHIN(0, 10), .value = "t",
    .unit = "furlong", KEY(99, "TEST_PARAM"), .help = "a parameter for tests"},
#endif
#undef GROUP
};
/* clang-format on */

const nb_param *nb_params(size_t *count)
{
    if (count)
        *count = sizeof rows / sizeof *rows;
    return rows;
}
