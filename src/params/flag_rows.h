/* SPDX-License-Identifier: MIT */
/* Every parameter: its member, names, limits and help. config.h makes structs from these
 * rows, table.c the table. MEMBER makes a row and a member of nb_config, SERIES_MEMBER a
 * row and a member of nb_series. ROW makes a further row of a member or of
 * nb_png_options. Unset values are NaN, 0 or "". */
/* clang-format off */
#define GROUP "Crystal", CRYSTAL
MEMBER(double cell[6], "cell", NULL, FIELD(CELL, PIXELS, cell), ABOVE_TO(1e-30, 1e9), .after = nb_after_cell,
    .value = "a [b c al be ga]",
    .unit = "A, deg",
    .help = "unit cell; missing edges equal a, missing angles are 90")
MEMBER(int cell_count, "cell_count", NULL, WHOLE(PIXELS | INNER, cell_count), WITHIN(0, 6),
    .help = "how many numbers of the cell are given")
MEMBER(int cell_from_file, "cell_from_file", NULL, SWITCH(INNER, cell_from_file), .help = "the cell is that of a model or reflection file")
MEMBER(nb_text mat_file, "mat", "matrix", PATH(INPUT, mat_file),
    .help = "MOSFLM orientation matrix (a* b* c* times the wavelength)")
MEMBER(double misset_deg[3], "misset", NULL, FIELD(MISSET, PIXELS, misset_deg), ANY, .value = "x y z | random",
    .unit = "deg", .fallback = "0 0 0",
    .help = "rotation of the crystal about lab x, then y, then z; or a random orientation")
MEMBER(nb_misset_mode misset_mode, "misset_mode", NULL, CHOICE(PIXELS | INNER, misset_mode, NAMES("none", "fixed", "random")),
    .help = "where the rotation comes from")
MEMBER(nb_seed misset_seed, "misset_seed", NULL, SEED(misset_seed), .fallback = "that of -seed", .help = "seed of the random orientation")
MEMBER(double N[3], "N", NULL, NUMBER_FROM(PIXELS | FILLS | VARIES, N, 0), OR(xtal_size_mm), COUNTED, .value = "n", .unit = "cells", .fallback = "1",
    .help = "unit cells of a block along a, b and c; 10.4 is allowed")
ROW("Na", NULL, NUMBER_FROM(VIEW | VARIES, N[0], 0), OR(xtal_size_mm[0]), COUNTED, .value = "n", .unit = "cells",
    .fallback = "1", .help = "unit cells of a block along a, b, c")
ROW("Nb", NULL, NUMBER_FROM(VIEW | VARIES, N[1], 0), OR(xtal_size_mm[1]), COUNTED, .value = "n", .unit = "cells",
    .fallback = "1", .help = "unit cells of a block along a, b, c")
ROW("Nc", NULL, NUMBER_FROM(VIEW | VARIES, N[2], 0), OR(xtal_size_mm[2]), COUNTED, .value = "n", .unit = "cells", .fallback = "1",
    .help = "unit cells of a block along a, b, c")
MEMBER(double xtal_size_mm[3], "samplesize", "sample_size xtalsize xtal_size", NUMBER(PIXELS | FILLS | VARIES, xtal_size_mm), OR(N),
    ABOVE(0), .value = "s", .unit = "mm", .help = "edge of a block along a, b and c, instead of -N")
ROW("sample_x", "sample_thick xtal_x xtal_thick", NUMBER(VIEW | VARIES, xtal_size_mm[0]), OR(N[0]), ABOVE(0),
    .value = "s", .unit = "mm", .help = "edge of a block along a, b, c")
ROW("sample_y", "sample_width xtal_y xtal_width width", NUMBER(VIEW | VARIES, xtal_size_mm[1]), OR(N[1]), ABOVE(0),
    .value = "s", .unit = "mm", .help = "edge of a block along a, b, c")
ROW("sample_z", "sample_heigh sample_height xtal_z xtal_heigh xtal_height heigh height",
    NUMBER(VIEW | VARIES, xtal_size_mm[2]), OR(N[2]), ABOVE(0), .value = "s", .unit = "mm",
    .help = "edge of a block along a, b, c")
MEMBER(double crystal_volume_um3, "crystal_volume", "xtal_volume", NUMBER(PIXELS | VARIES, crystal_volume_um3), OR(blocks), ABOVE(0), .value = "v",
    .unit = "um3", .fallback = "one block",
    .help = "volume of the crystal in the beam: many blocks of -N cells that scatter independently")
MEMBER(double crystal_size_um[3], "crystal_size", NULL, NUMBER(PIXELS | EACH, crystal_size_um), OR(blocks), ABOVE(0),
    .after = nb_after_crystal_size, .value = "s", .unit = "um", .help = "edges of the crystal in the beam, for -crystal_volume")
MEMBER(double blocks, "blocks", NULL, NUMBER(PIXELS | VARIES, blocks), OR(crystal_volume_um3), ABOVE(0), .value = "n", .fallback = "1",
    .help = "number of blocks, instead of -crystal_volume")
MEMBER(int clip_crystal, "clip_crystal", NULL, SWITCH(PIXELS, clip_crystal),
    .help = "only the part of the crystal (a cube) in the beam of -beamsize scatters")
MEMBER(nb_shape shape, "shape", NULL, CHOICE(PIXELS | INNER, shape, shapes), .help = "shape of the crystal")
NB_SHAPES(SHAPE_ROW)
MEMBER(double fudge, "fudge", NULL, FIELD(NUMBER_OR, PIXELS | VARIES, fudge), .unset = 1, .choices = NAMES("darwin"), ABOVE(0),
    .value = "x | darwin",
    .help = "scale of the shape function's width (round, gauss, tophat); darwin: 0.98960, with which intensities of "
        "gauss are Darwin's and not 0.9844 of them")
MEMBER(double mosaic_spread_deg, "mosaic", "mosaici mosaicity mosaic_spr mosaic_spread", NUMBER(PIXELS | VARIES, mosaic_spread_deg),
    WITHIN(0, 180), .value = "angle", .unit = "deg", .fallback = "0",
    .help = "mosaic spread: largest rotation of a domain; with -mosaic_model gauss the standard deviation")
MEMBER(nb_mosaic_model mosaic_model, "mosaic_model", NULL, CHOICE(PIXELS, mosaic_model, NAMES("nanobragg", "uniform", "gauss")),
    .help = "distribution of the rotations: that of nanoBragg, uniform (180 deg is a powder), or normal, as in real crystals")
MEMBER(nb_opt3 mosaic_aniso_deg, "mosaic_aniso", NULL, FIELD(POINT, PIXELS, mosaic_aniso_deg), WITHIN(0, 180), .value = "a b c",
    .unit = "deg",
    .help = "instead of -mosaic: standard deviations about a*, c x a* and c of the crystal")
MEMBER(double mosaic_tensor_deg2[6], "mosaic_tensor", NULL, NUMBER(PIXELS, mosaic_tensor_deg2), WITHIN(-32400, 32400),
    .value = "xx yy zz xy xz yz", .unit = "deg^2",
    .help = "instead of -mosaic, with -mosaic_model gauss: covariance of the rotation vector about the axes of -mosaic_frame")
MEMBER(nb_mosaic_frame mosaic_frame, "mosaic_frame", NULL, CHOICE(PIXELS, mosaic_frame, NAMES("crystal", "lab")),
    .help = "axes of -mosaic_tensor: a*, c x a* and c of the crystal, or x, y, z of the lab at spindle 0; they turn with the crystal")
MEMBER(double mosaic_tail_deg, "mosaic_tail", NULL, NUMBER_FROM(PIXELS, mosaic_tail_deg, 0), WITHIN(-90, 90), .value = "t", .unit = "deg",
    .fallback = "0 (off)",
    .help = "a tail of the rocking curve: each domain is also turned about the spindle, by an exponential law with the mean t")
MEMBER(int mosaic_domains, "mosaic_dom", "mosaic_domains", WHOLE(PIXELS, mosaic_domains), COUNTED,
    .fallback = "10 with -mosaic, else 1", .help = "number of mosaic domains")
MEMBER(nb_text mosaic_blocks, "mosaic_blocks", NULL, PATH(INPUT | IMAGE, mosaic_blocks),
    .help = "rotations of the mosaic domains instead of drawn ones, a line each: a vector (deg) or a matrix about a*, c x a* and c, "
        "and a weight or none")
MEMBER(nb_seed mosaic_seed, "mosaic_seed", NULL, SEED(mosaic_seed), .fallback = "12345678", .help = "seed of the domains' orientations")
MEMBER(nb_text twin, "twin", NULL, FIELD(TEXT, PIXELS, twin), LONGEST(256), .value = "law:x[;law:x]", .fallback = "none",
    .help = "twin law on h, k, l, as k,h,-l (fractions are allowed), and its part of the crystal")
MEMBER(nb_text crystals, "crystals", NULL, FIELD(TEXT, PIXELS | IMAGE, crystals), LONGEST(2048), .value = "n | file", .fallback = "1",
    .help = "crystals in the image, the second and further ones in random orientations; or a file with a JSON object of "
        "flags a line and crystal, as {\"N\": 10, \"hkl\": \"b.hkl\"}")
MEMBER(double dose_MGy, "dose", NULL, FIELD(NUMBER_OR, PIXELS, dose_MGy), .unset = NAN, .choices = NAMES("auto"),
    WITHIN(0, 1e4), .value = "x | auto", .unit = "MGy", .fallback = "none",
    .help = "dose of one frame of a rotation, which damages the crystal; auto: from the fluence")
MEMBER(nb_text dose_material, "dose_material", NULL, FIELD(TEXT, PIXELS, dose_material), LONGEST(64), .value = "formula", .fallback = "H2O",
    .help = "what -dose auto calculates with")
MEMBER(double damage_B, "damage_B", NULL, NUMBER(PIXELS | VARIES, damage_B), WITHIN(0, 1000), .value = "b", .unit = "A^2/MGy",
    .help = "growth of the B factor by dose (default: 1; with -damage_half 0)")
MEMBER(double damage_cell_pct, "damage_cell", NULL, NUMBER_FROM(PIXELS | VARIES, damage_cell_pct, 0), WITHIN(-10, 10), .value = "x", .unit = "%/MGy",
    .fallback = "0", .help = "growth of the cell's edges by dose")
MEMBER(double damage_half, "damage_half", NULL, NUMBER(PIXELS | VARIES, damage_half), ABOVE_TO(0, 1e6), .value = "H", .unit = "MGy/A",
    .fallback = "off", .help = "intensities of spacing d halve at the dose H d")
MEMBER(int expand_list, "expand_list", NULL, SWITCH(INNER, expand_list), .help = "the list of -hkl is expanded")
MEMBER(double damage_dose, "damage_dose", NULL, NUMBER(PIXELS | INNER, damage_dose), WITHIN(0, 1e12), .unit = "MGy",
    .help = "dose in the middle of this frame")
MEMBER(double diffuse_sigma_A[3], "diffuse_sigma", NULL, NUMBER(PIXELS | EACH | VARIES, diffuse_sigma_A), WITHIN(0, 5),
    .value = "s [s2 s3]", .unit = "A", .fallback = "0 (off)",
    .help = "diffuse scattering by liquid-like motions: r.m.s. displacement, along all axes, or along a*, c x a* and c")
MEMBER(double diffuse_gamma_A[3], "diffuse_gamma", NULL, NUMBER(PIXELS | EACH | VARIES, diffuse_gamma_A), ABOVE_TO(0, 1000),
    .value = "g [g2 g3]", .unit = "A",
    .help = "lengths along these axes over which the displacements are correlated")
MEMBER(nb_diffuse_halo diffuse_halo, "diffuse_halo", NULL, CHOICE(PIXELS, diffuse_halo, NAMES("exp", "gauss")),
    .help = "correlation at the distance r, in units of gamma: exp(-r), or exp(-r^2/2)")
MEMBER(nb_diffuse_F diffuse_F, "diffuse_F", NULL, CHOICE(PIXELS, diffuse_F, NAMES("mean", "unperturbed")),
    .help = "what F is: that of the moving crystal, as measured F and models with B are, or without these displacements, "
        "which then weaken the Bragg light")
MEMBER(int diffuse_only, "diffuse_only", NULL, SWITCH(PIXELS, diffuse_only), .help = "no Bragg light of the crystal")
#undef GROUP
#define GROUP "Structure factors", CRYSTAL | FACTORS
MEMBER(nb_text hkl_file, "hkl", NULL, PATH(INPUT, hkl_file),
    .help = "text file of h k l F, one reflection a line; P1, or of the group of -sg")
MEMBER(nb_text pdb_file, "pdb", NULL, PATH(INPUT, pdb_file),
    .help = "atomic model, PDB or mmCIF: cell, space group and F")
MEMBER(nb_text cif_file, "cif", NULL, PATH(INPUT, cif_file),
    .help = "model or structure-factor CIF; a file with both is a model, unless -mtzlabel is typed")
MEMBER(nb_text mtz_file, "mtz", NULL, PATH(INPUT, mtz_file),
    .help = "reflections, MTZ or structure-factor CIF: cell, space group and F")
MEMBER(nb_text mtz_label, "mtzlabel", "ciflabel label", FIELD(TEXT, PIXELS | SUM, mtz_label), LONGEST(128), .value = "A[,B]",
    .fallback = "F(+), F(-), else the best column",
    .help = "columns: amplitude or intensity; a pair of (+) and (-); F and D; F and phase")
MEMBER(nb_text space_group, "sg", "spacegroup", FIELD(TEXT, PIXELS | ON_F | SUM, space_group), LONGEST(64), .value = "name", .fallback = "the file's",
    .help = "space group, as symbol or number; -hkl is expanded by it")
MEMBER(nb_anomalous_mode anomalous, "anomalous", NULL, CHOICE(PIXELS | MODEL, anomalous, NAMES("", "each", "mean", "off")), .fallback = "each",
    .help = "f' and f'' at each wavelength of the sources, at their mean, or none")
MEMBER(double anomalous_tol, "anomalous_tol", NULL, NUMBER(PIXELS | MODEL, anomalous_tol), WITHIN(0, 1e6), .value = "x",
    .unit = "electrons", .fallback = "0.1",
    .help = "largest difference of f' and f'' between wavelengths that share a table of F")
MEMBER(nb_text fprime, "fprime", NULL, FIELD(TEXT, PIXELS | MODEL, fprime), LONGEST(512), .value = "El:f':f''[,...]", .unit = "electrons",
    .fallback = "Cromer-Liberman", .help = "f' and f'' of elements, at all wavelengths")
MEMBER(nb_text fprime_table, "fprime_table", NULL, PATH(INPUT | MODEL, fprime_table),
    .help = "measured f' and f'': element, energy in eV, f', f'' a line")
/* P. V. Afonine et al., Acta Cryst. D61, 850 (2005) */
MEMBER(double k_sol, "ksol", "k_sol", NUMBER(PIXELS | MODEL, k_sol), WITHIN(0, 100), .value = "k", .unit = "e/A^3",
    .fallback = "0.435; small-molecule CIF: 0", .help = "density of the bulk solvent; 0: none")
MEMBER(double B_sol, "bsol", "b_sol", NUMBER(PIXELS | MODEL, B_sol), WITHIN(0, 1e6), .value = "B", .unit = "A^2",
    .fallback = "46", .help = "B factor of the bulk solvent")
MEMBER(nb_hydrogens hydrogens, "hydrogens", NULL, CHOICE(PIXELS | MODEL, hydrogens, NAMES("", "keep", "drop")), .fallback = "keep",
    .help = "hydrogens of the file; none are added")
MEMBER(int model, "model", NULL, FIELD(NUMBER_OR, PIXELS | MODEL, model), .choices = NAMES("all"), COUNTED, .value = "n | all",
    .fallback = "1", .help = "which model of an ensemble, from 1, or the average of all")
MEMBER(nb_ncs_copies ncs, "ncs", NULL, CHOICE(PIXELS | MODEL, ncs, NAMES("", "ignore", "apply")), .fallback = "ignore",
    .help = "copies by strict NCS operators that the file does not mark as given")
MEMBER(double B_add, "Badd", NULL, NUMBER_FROM(PIXELS | ON_F | VARIES, B_add, 0), WITHIN(-1000, 1e6), .value = "B", .unit = "A^2",
    .help = "multiply F by exp(-B s^2/4)")
MEMBER(double F_scale, "Fscale", NULL, FIELD(NUMBER_OR, PIXELS | ON_F | VARIES, F_scale), .unset = NAN, .choices = NAMES("model"),
    ABOVE_TO(0, 1e100), .value = "x | model", .fallback = "1",
    .help = "multiply F, or bring reflections to the scale of the model")
MEMBER(double F000, "F000", NULL, FIELD(NUMBER_OR, PIXELS | ON_F | SUM, F000), .unset = NAN, .choices = NAMES("calc"),
    WITHIN(0, 1e100), .value = "x | calc", .unit = "electrons",
    .fallback = "0; of reflections: as if missing", .help = "F of 0 0 0, or that of the model")
MEMBER(nb_fill fill, "fill", NULL, CHOICE(PIXELS | ON_F | SUM, fill, NAMES("", "default", "shell", "model")), .fallback = "default",
    .help = "F of missing reflections: -default_F, the rms of their shell, or the model's")
MEMBER(nb_sf_method sf_method, "sf_method", NULL, CHOICE(PIXELS | SUM, sf_method, NAMES("", "auto", "direct", "fft")), .fallback = "auto",
    .help = "sum over the model: atom by atom, or by FFT to 1e-6")
MEMBER(nb_text dump_mtz_file, "dump_mtz", NULL, PATH(OUTPUT | ON_F | SUM, dump_mtz_file), .help = "write the structure factors used as MTZ")
MEMBER(nb_text dump_hkl_file, "dump_hkl", NULL, PATH(OUTPUT | ON_F | SUM, dump_hkl_file),
    .help = "write the structure factors used as text for -hkl")
MEMBER(double default_F, "default_F", NULL, NUMBER(PIXELS | VARIES, default_F), WITHIN(0, 1e150), .value = "F",
    .unit = "electrons", .fallback = "0",
    .help = "F of each reflection that the file does not have")
MEMBER(nb_text dump_file, "dump", NULL, PATH(INPUT | IMAGE, dump_file), .fallback = "Fdump.bin",
    .help = "binary cache of F: written with -hkl, read without it")
MEMBER(int write_dump, "write_dump", NULL, SWITCH(INNER, write_dump), .unset = 1, .help = "write the cache of -hkl")
ROW("nodump", NULL, FIELD(PRESET, VIEW | SINGLE | IMAGE, write_dump), .help = "no cache beside -hkl")
MEMBER(nb_tristate interpolate, "interpolate", NULL, SWITCH(PIXELS, interpolate), .unset = NB_AUTO, WITHIN(NB_AUTO, NB_ON),
    .fallback = "on if a side has N <= 2",
    .help = "tricubic interpolation of F between reflections")
ROW("nointerpolate", NULL, PRESET(interpolate, NB_OFF), .help = "F of the nearest reflection")
MEMBER(double dmin_A, "dmin", NULL, NUMBER_FROM(PIXELS, dmin_A, 0), AT_LEAST(0), .value = "d", .unit = "A",
    .fallback = "0 (off); with a model: what the detector sees",
    .help = "no Bragg scattering beyond this resolution")
#undef GROUP
#define GROUP "Beam", NONE
MEMBER(double lambda_A, "lambda", "wave wavelength", NUMBER(PIXELS | VARIES, lambda_A), OR(energy_eV), WITHIN(1e-6, 1e6),
    .after = nb_after_lambda, .value = "l", .unit = "A", .fallback = "1", KEY(32, "LAMBDA"),
    .help = "wavelength; of -lambda and -energy the last is used")
MEMBER(double energy_eV, "energy", NULL, NUMBER(PIXELS | VARIES, energy_eV), OR(lambda_A), WITHIN(1e-2, 1e10), .after = nb_after_energy,
    .value = "E", .unit = "eV", KEY(33, "ENERGY"), .help = "photon energy, instead of -lambda")
MEMBER(double fluence, "fluence", NULL, NUMBER(PIXELS | VARIES, fluence), OR(flux), AT_LEAST(0), .value = "x", .unit = "photons/m2",
    .fallback = "1.2593201528622709e29, so that I = F^2", .help = "photons per area on the crystal")
MEMBER(double flux, "flux", NULL, NUMBER_FROM(PIXELS | VARIES, flux, 0), AT_LEAST(0), .value = "x", .unit = "photons/s",
    .fallback = "0 (off)", .help = "with -exposure and -beamsize, instead of -fluence")
MEMBER(double attenuator, "attenuator", NULL, NUMBER_FROM(PIXELS, attenuator, 1), WITHIN(0, 1), .value = "t", .fallback = "1",
    .help = "fraction of -fluence or -flux that an attenuator lets through")
MEMBER(double exposure_s, "exposure", NULL, NUMBER_FROM(PIXELS | VARIES, exposure_s, 1), ABOVE(0), .value = "t", .unit = "s", .help = "exposure time")
MEMBER(double beamsize_mm, "beamsize", NULL, NUMBER(PIXELS | VARIES, beamsize_mm), ABOVE(0), .value = "s", .unit = "mm",
    .fallback = "0.1", .help = "edge of the square beam; also cuts -samplesize along b and c")
MEMBER(nb_text footprint, "footprint", NULL, FIELD(TEXT, PIXELS, footprint), LONGEST(96), .value = "shape:a:b[:angle]", .unit = "mm, deg",
    .fallback = "none", .help = "cross-section of crystal or beam across the beam, which widens the Bragg spots: gauss with "
        "full widths at half maximum a and b, or box with edges a and b; angle: from the horizontal (-polar_vector) to "
        "the axis of a, about the beam")
MEMBER(double polarization, "polar", NULL, NUMBER_FROM(PIXELS | VARIES, polarization, 0), WITHIN(-1, 1), .after = nb_after_polar,
    .value = "K", .fallback = "0", .help = "Kahn polarization factor; 0: unpolarized")
MEMBER(int polar_set, "polar_set", NULL, SWITCH(PIXELS | INNER, polar_set), .help = "a polarization is given")
MEMBER(int nopolar, "nopolar", NULL, SWITCH(PIXELS, nopolar), .help = "no polarization factor at all")
MEMBER(nb_text source_file, "sourcefile", NULL, PATH(INPUT, source_file),
    .help = "text file of X Y Z weight wavelength (m), one source a line, instead of divergence and dispersion")
ROW("divergence", NULL, NUMBER(VIEW | VARIES, hdiv_range_mrad), AT_LEAST(0), .after = nb_after_divergence,
    .value = "r", .unit = "mrad", .fallback = "0", .help = "full width of the divergence: both, horizontal, vertical")
MEMBER(double hdiv_range_mrad, "hdivrange", "hdiv", NUMBER(PIXELS | VARIES, hdiv_range_mrad), AT_LEAST(0), .value = "r", .unit = "mrad",
    .fallback = "0", .help = "full width of the divergence: both, horizontal, vertical")
MEMBER(double vdiv_range_mrad, "vdivrange", "vdiv", NUMBER(PIXELS | VARIES, vdiv_range_mrad), AT_LEAST(0), .value = "r", .unit = "mrad",
    .fallback = "0", .help = "full width of the divergence: both, horizontal, vertical")
MEMBER(double hdiv_step_mrad, "hdivstep", NULL, NUMBER(PIXELS, hdiv_step_mrad), ABOVE(0), .value = "d", .unit = "mrad",
    .fallback = "from range and count", .help = "step of the divergence: horizontal, vertical")
MEMBER(double vdiv_step_mrad, "vdivstep", NULL, NUMBER(PIXELS, vdiv_step_mrad), ABOVE(0), .value = "d", .unit = "mrad",
    .fallback = "from range and count", .help = "step of the divergence: horizontal, vertical")
ROW("divsteps", NULL, WHOLE(VIEW, hdiv_steps), COUNTED, .after = nb_after_divsteps,
    .fallback = "2 with a range", .help = "directions in the divergence: both, horizontal, vertical")
MEMBER(int hdiv_steps, "hdivsteps", NULL, WHOLE(PIXELS, hdiv_steps), COUNTED, .fallback = "2 with a range",
    .help = "directions in the divergence: both, horizontal, vertical")
MEMBER(int vdiv_steps, "vdivsteps", NULL, WHOLE(PIXELS, vdiv_steps), COUNTED, .fallback = "2 with a range",
    .help = "directions in the divergence: both, horizontal, vertical")
ROW("round_div", NULL, PRESET(square_div, 0), .fallback = "on", .help = "round beam: no corners of the grid of directions")
MEMBER(int square_div, "square_div", NULL, SWITCH(PIXELS, square_div), .help = "square beam: with the corners")
MEMBER(double dispersion_pct, "dispersion", NULL, NUMBER(PIXELS | VARIES, dispersion_pct), WITHIN(0, 199), .value = "r",
    .unit = "percent", .fallback = "0", .help = "full width of the spectrum about the wavelength")
MEMBER(int dispersion_steps, "dispsteps", NULL, WHOLE(PIXELS, dispersion_steps), COUNTED, .fallback = "2 with -dispersion",
    .help = "wavelengths in the spectrum")
MEMBER(double dispersion_step_pct, "dispstep", NULL, NUMBER(PIXELS, dispersion_step_pct), BETWEEN(0, 200), .value = "d",
    .unit = "percent", .fallback = "from range and count", .help = "step between wavelengths")
MEMBER(nb_text spectrum, "spectrum", NULL, FIELD(TEXT, PIXELS, spectrum), LONGEST(NB_PATH_MAX), .value = "kind | file",
    .fallback = "one wavelength",
    .help = "spectrum about the wavelength: gauss, tophat, twocolour, sase, seeded; or a file of photon energy (eV) and "
        "photons per eV")
MEMBER(double bandwidth_pct, "bandwidth", NULL, NUMBER(PIXELS | VARIES, bandwidth_pct), ABOVE_TO(0, 50), .value = "w", .unit = "percent",
    .help = "full width at half maximum of -spectrum in photon energy; of tophat the full width")
MEMBER(double pulse_fs, "pulse_length", NULL, NUMBER(PIXELS | VARIES, pulse_fs), ABOVE_TO(0, 1e6), .value = "t", .unit = "fs",
    .help = "full width at half maximum of the pulse's power: the width of the spikes of sase and seeded")
MEMBER(nb_text split, "split", NULL, FIELD(TEXT, PIXELS, split), LONGEST(64), .value = "w[:x]", .unit = "percent",
    .help = "distance of the colours of twocolour, and the part of the photons in the upper one (0.5)")
MEMBER(nb_text line, "line", NULL, FIELD(TEXT, PIXELS, line), LONGEST(64), .value = "w[:x]", .unit = "percent",
    .help = "full width at half maximum of the seeded line, and its mean part of the photons (0.5)")
MEMBER(int wavelengths, "wavelengths", NULL, WHOLE(PIXELS, wavelengths), WITHIN(1, 10000), .value = "n",
    .fallback = "half a reflection's width apart",
    .help = "wavelengths of -spectrum; of each colour, or of the line and its background")
MEMBER(nb_text spectrum_out, "spectrumout", NULL, PATH(OUTPUT, spectrum_out),
    .help = "write wavelengths and weights of -spectrum, a line for -spectra")
#undef GROUP
#define GROUP "Spindle", NONE
MEMBER(double phi_deg, "phi", NULL, NUMBER(PIXELS | VARIES, phi_deg), ANY, .value = "angle", .unit = "deg", .fallback = "0",
    KEY(34, "PHI"), .help = "spindle angle at the start")
MEMBER(double osc_deg, "osc", NULL, NUMBER(PIXELS | VARIES, osc_deg), WITHIN(0, 1e6), .value = "angle", .unit = "deg",
    .fallback = "0 (still)", KEY(35, "OSC"), .help = "rotation during the exposure")
MEMBER(double phistep_deg, "phistep", NULL, NUMBER(PIXELS, phistep_deg), WITHIN(0, 1e6), .value = "angle", .unit = "deg",
    .fallback = "from -osc and -phisteps", KEY(36, "PHISTEP"),
    .help = "rotation between two steps")
MEMBER(int phi_steps, "phisteps", NULL, WHOLE(PIXELS, phi_steps), COUNTED, .fallback = "automatic with -osc, else 1",
    KEY(37, "PHISTEPS"), .help = "spindle angles in the exposure")
MEMBER(nb_opt3 spindle_axis, "spindle_axis", NULL, VECTOR(PLACES, spindle_axis), .after = nb_after_custom,
    .fallback = "by convention", KEY(26, "SPINDLE"), .help = "direction of the spindle; selects the custom convention")
#undef GROUP
#define GROUP "Detector", NONE
MEMBER(nb_text detector_name, "detector", NULL, FIELD(TEXT, PIXELS, detector_name), LONGEST(64), .value = "name[:binning]",
    .help = "a detector by name, as eiger2_16m or rayonix_mx340hs:2: size, gaps, pixel, sensor, largest count, where these "
        "are not typed; -help detectors lists them")
MEMBER(int detpixels[2], "detpixels", NULL, WHOLE(PIXELS | FILLS, detpixels), WITHIN(1, 100000), .unit = "pixels",
    .fallback = "from -detsize", KEY(4, "DETPIXELS"), .help = "pixels along both axes, fast, slow")
ROW("detpixels_f", "detpixels_x", WHOLE(VIEW, detpixels[0]), WITHIN(1, 100000), .unit = "pixels",
    .fallback = "from -detsize", .help = "pixels along both axes, fast, slow")
ROW("detpixels_s", "detpixels_y", WHOLE(VIEW, detpixels[1]), WITHIN(1, 100000), .unit = "pixels",
    .fallback = "from -detsize", .help = "pixels along both axes, fast, slow")
MEMBER(double detsize_mm[2], "detsize", NULL, NUMBER(PIXELS | FILLS, detsize_mm), ABOVE_TO(0, 1e12), .value = "s",
    .unit = "mm", .fallback = "102.4", .help = "edge of the detector along both axes, fast, slow")
ROW("detsize_f", "detsize_x", NUMBER(VIEW | PLACED, detsize_mm[0]), ABOVE_TO(0, 1e12), .value = "s",
    .unit = "mm", .fallback = "102.4", KEY(5, "DETSIZE_F"), .help = "edge of the detector along both axes, fast, slow")
ROW("detsize_s", "detsize_y", NUMBER(VIEW | PLACED, detsize_mm[1]), ABOVE_TO(0, 1e12), .value = "s",
    .unit = "mm", .fallback = "102.4", KEY(6, "DETSIZE_S"), .help = "edge of the detector along both axes, fast, slow")
MEMBER(double pixel_mm, "pixel", NULL, NUMBER(PIXELS | REPLACED, pixel_mm), ABOVE_TO(0, 1e6), .value = "s", .unit = "mm",
    .fallback = "0.1", KEY(7, "PIXEL"), .help = "edge of a pixel")
MEMBER(double distance_mm, "distance", NULL, NUMBER(PIXELS | PLACES | VARIES, distance_mm), OR(close_distance_mm), ABOVE_TO(0, 1e12),
    .after = nb_after_pivot_beam, .value = "d", .unit = "mm", .fallback = "100",
    KEY(8, "DISTANCE"),
    .help = "crystal to detector along the beam, at two-theta 0; -pivot beam keeps it")
MEMBER(double close_distance_mm, "close_distance", NULL, NUMBER(PIXELS | PLACED | VARIES, close_distance_mm), OR(distance_mm), ABOVE_TO(0, 1e12),
    .after = nb_after_pivot_sample, .value = "d", .unit = "mm", .fallback = "from -distance",
    KEY(9, "CLOSE_DISTANCE"),
    .help = "crystal to the nearest point of the detector's plane, at two-theta 0; -pivot sample keeps it")
MEMBER(double close_twotheta_deg, "close_twotheta", NULL, NUMBER(PIXELS | INNER, close_twotheta_deg), ANY, .value = "angle",
    .unit = "deg", .fallback = "0", KEY(10, "CLOSE_TWOTHETA"),
    .help = "two-theta at which the close distance was measured, as an image's header says")
MEMBER(double thick_um, "detector_thick", NULL, NUMBER(PIXELS, thick_um), WITHIN(0, 1e9), .value = "t", .unit = "um",
    .fallback = "0", .help = "thickness of the sensor")
MEMBER(double abs_um, "detector_abs", "detector_absorb", FIELD(DEPTH, PIXELS, abs_um), .unset = NAN, AT_LEAST(0),
    .value = "depth | inf", .unit = "um", .fallback = "the thickness",
    .help = "attenuation depth of the sensor; inf or 0: every photon counts once")
MEMBER(nb_text sensor, "sensor", NULL, FIELD(TEXT, PIXELS, sensor), LONGEST(64), .value = "name[:density]", .unit = "g/cm3",
    .help = "material of the sensor, instead of -detector_abs: Si, Ge, GaAs, CdTe, CZT, CsI, Gd2O2S, Se, diamond, or a formula with its density")
MEMBER(int thick_steps, "detector_thicksteps", "thicksteps", WHOLE(PIXELS, thick_steps), WITHIN(1, 100000),
    .fallback = "2 with a thickness, else 1", .help = "layers of the sensor")
MEMBER(nb_layer_depth layer_depth, "layer_depth", NULL, CHOICE(PIXELS, layer_depth, NAMES("", "mean", "front")),
    .fallback = "mean; front with -compat", KEY(31, "LAYER_DEPTH"),
    .help = "place of a layer: mean depth of the photons that stop in it, or its front")
MEMBER(int curved, "curved_det", NULL, SWITCH(PIXELS | REPLACED, curved), KEY(29, "CURVED"),
    .help = "every pixel at the same distance")
MEMBER(nb_curved_omega curved_omega, "curved_omega", NULL, CHOICE(PIXELS, curved_omega, NAMES("", "square", "exact")), .fallback = "square",
    KEY(30, "CURVED_OMEGA"),
    .help = "solid angle with -curved_det: pixel^2/R^2, or the area on the sphere")
MEMBER(int point_pixel, "point_pixel", NULL, SWITCH(PIXELS, point_pixel), .help = "solid angle without obliquity")
MEMBER(int roi[4], "roi", NULL, FIELD(ROI, PIXELS, roi), WITHIN(0, 1e6), .value = "xmin xmax ymin ymax",
    .unit = "pixels", .fallback = "whole image",
    .help = "render only these pixels (fast, slow), both ends included")
MEMBER(int roi_set, "roi_set", NULL, SWITCH(PIXELS | INNER, roi_set), .help = "a region of interest is given")
MEMBER(nb_text mask_file, "mask", NULL, PATH(INPUT, mask_file),
    .help = "image whose pixels of 0 or below (gaps, beamstop, dead pixels) are not rendered; its header gives defaults")
MEMBER(nb_text img_file, "img", NULL, PATH(INPUT | REPLACED, img_file),
    .help = "image whose header gives defaults: SMV, CBF, HDF5; others give the size")
#undef GROUP
#define GROUP "Detectors from files", NONE
MEMBER(nb_text geom_file, "geom", NULL, PATH(INPUT | GEOMETRY, geom_file),
    .help = "CrystFEL: detector, and wavelength if it is a number")
MEMBER(nb_text expt_file, "expt", NULL, PATH(INPUT | GEOMETRY, expt_file),
    .help = "DIALS experiments: detector, beam, goniometer, scan, crystal")
MEMBER(int expt_number, "expt_number", NULL, WHOLE(PIXELS, expt_number), WITHIN(0, 1e6), .unset = -1, .value = "n",
    .fallback = "0", .help = "experiment of -expt, from 0")
MEMBER(nb_text expt_image, "expt_image", NULL, FIELD(TEXT, PIXELS, expt_image), LONGEST(256), .value = "name",
    .help = "the experiment of -expt that has this image, and its -phi; of HDF5 file.h5:12")
MEMBER(nb_text nxmx_file, "nxmx", NULL, PATH(INPUT | GEOMETRY, nxmx_file),
    .help = "NXmx: detector, mask, wavelength, scan axis")
MEMBER(nb_text panel_list, "panel", NULL, FIELD(TEXT, PIXELS, panel_list), LONGEST(NB_PATH_MAX), .value = "list", .fallback = "all",
    .help = "panels to render, names or numbers from 0, with commas; the others are masked")
MEMBER(nb_layout layout, "layout", NULL, CHOICE(HDF5, layout, NAMES("stack", "file")),
    .help = "places of panels in HDF5: a stack, or as in the geometry file")
MEMBER(nb_text geomout_file, "geomout", NULL, PATH(OUTPUT, geomout_file),
    .help = "write the detector as CrystFEL text")
MEMBER(nb_text exptout_file, "exptout", NULL, PATH(OUTPUT, exptout_file),
    .help = "write the experiment as DIALS JSON")
MEMBER(int spindle_back, "spindle_back", NULL, SWITCH(PIXELS | INNER, spindle_back), KEY(38, "SPINDLE_BACK"),
    .help = "a header's rotation is negative: the convention's spindle is reversed")
MEMBER(double beam_shift_mm[2], "beam_shift", NULL, NUMBER_FROM(PIXELS | INNER, beam_shift_mm, 0), ANY, .unit = "mm",
    .help = "-jitter_beam of a detector from a file: along fast and slow of the convention")
MEMBER(int typed_files, "typed_files", NULL, WHOLE(INNER, typed_files), ANY,
    .help = "which files of one panel were asked for")
#undef GROUP
#define GROUP "Beam centre and orientation of the detector", NONE
MEMBER(nb_convention convention, "convention", NULL, CHOICE(PIXELS | INNER, convention, NAMES("", "mosflm", "xds", "adxv", "denzo", "dials", "custom")),
    .fallback = "mosflm",
    KEY(1, "CONVENTION"), .help = "axes of the detector and meaning of the beam centre")
ROW("mosflm", NULL, PRESET(convention, NB_CONV_MOSFLM), .after = nb_after_pivot_beam,
    .fallback = "on", .help = "MOSFLM axes and beam centre")
ROW("xds", NULL, PRESET(convention, NB_CONV_XDS), .after = nb_after_pivot_sample,
    .help = "XDS axes and origin")
ROW("adxv", NULL, FIELD(PRESET, VIEW | REPLACED, convention), .low = NB_CONV_ADXV, .high = NB_CONV_ADXV, .after = nb_after_pivot_beam,
    .help = "ADXV axes and beam centre")
ROW("denzo", NULL, PRESET(convention, NB_CONV_DENZO), .after = nb_after_pivot_beam,
    .help = "DENZO: MOSFLM without its half pixel")
ROW("dials", NULL, PRESET(convention, NB_CONV_DIALS), .after = nb_after_pivot_beam,
    .help = "DIALS axes and origin; spindle and polarization vertical")
MEMBER(double Xbeam_mm, "Xbeam", NULL, NUMBER(PIXELS | PLACED | VARIES, Xbeam_mm), ANY, .after = nb_after_pivot_beam, .value = "x",
    .unit = "mm", .fallback = "centre", KEY(11, "XBEAM"),
    .help = "beam centre, by convention")
MEMBER(double Ybeam_mm, "Ybeam", NULL, NUMBER(PIXELS | PLACED | VARIES, Ybeam_mm), ANY, .after = nb_after_pivot_beam, .value = "y",
    .unit = "mm", .fallback = "centre", KEY(12, "YBEAM"),
    .help = "beam centre, by convention")
MEMBER(double Xclose_mm, "Xclose", NULL, NUMBER(PIXELS | PLACED | VARIES, Xclose_mm), ANY, .after = nb_after_pivot_sample, .value = "x",
    .unit = "mm", .fallback = "centre", KEY(13, "XCLOSE"),
    .help = "point of the detector nearest to the crystal")
MEMBER(double Yclose_mm, "Yclose", NULL, NUMBER(PIXELS | PLACED | VARIES, Yclose_mm), ANY, .after = nb_after_pivot_sample, .value = "y",
    .unit = "mm", .fallback = "centre", KEY(14, "YCLOSE"),
    .help = "point of the detector nearest to the crystal")
MEMBER(double orgx, "ORGX", NULL, NUMBER(PIXELS | PLACED | VARIES, orgx), ANY, .after = nb_after_pivot_sample, .value = "x",
    .unit = "pixels", .fallback = "centre", KEY(15, "ORGX"),
    .help = "XDS origin, the nearest point along fast, slow; the first pixel's centre is 1")
MEMBER(double orgy, "ORGY", NULL, NUMBER(PIXELS | PLACED | VARIES, orgy), ANY, .after = nb_after_pivot_sample, .value = "y",
    .unit = "pixels", .fallback = "centre", KEY(16, "ORGY"),
    .help = "XDS origin, the nearest point along fast, slow; the first pixel's centre is 1")
MEMBER(double rot_deg[3], "detector_rot", NULL, NUMBER(PIXELS | INNER, rot_deg), ANY, .unit = "deg",
    .help = "rotations of the detector about lab x, y and z")
ROW("detector_rotx", NULL, NUMBER(VIEW | PLACED | VARIES, rot_deg[0]), ANY, .value = "angle", .unit = "deg",
    .fallback = "0", KEY(17, "ROTX"), .help = "rotation of the detector about lab x, then y, then z")
ROW("detector_roty", NULL, NUMBER(VIEW | PLACED | VARIES, rot_deg[1]), ANY, .value = "angle", .unit = "deg",
    .fallback = "0", KEY(18, "ROTY"), .help = "rotation of the detector about lab x, then y, then z")
ROW("detector_rotz", NULL, NUMBER(VIEW | PLACED | VARIES, rot_deg[2]), ANY, .value = "angle", .unit = "deg",
    .fallback = "0", KEY(19, "ROTZ"), .help = "rotation of the detector about lab x, then y, then z")
MEMBER(double twotheta_deg, "twotheta", NULL, NUMBER(PIXELS | PLACED | VARIES, twotheta_deg), ANY, .after = nb_after_pivot_sample,
    .value = "angle", .unit = "deg", .fallback = "0", KEY(20, "TWOTHETA"),
    .help = "swing of the detector about the two-theta axis, after the other rotations")
MEMBER(nb_pivot pivot, "pivot", NULL, CHOICE(PIXELS | PLACED, pivot, pivots), .fallback = "by convention", KEY(2, "PIVOT"),
    .help = "what a rotation of the detector keeps: the beam centre, or the nearest point")
MEMBER(nb_pivot pivot_implied, "pivot_implied", NULL, CHOICE(PIXELS | INNER, pivot_implied, pivots), KEY(3, "PIVOT_IMPLIED"),
    .help = "the pivot that the last distance, beam centre or convention implies")
MEMBER(nb_opt3 fdet_vector, "fdet_vector", NULL, VECTOR(PLACED, fdet_vector), .after = nb_after_custom, .fallback = "by convention",
    KEY(21, "FDET"), .help = "direction of fast axis, slow axis, normal, beam, polarization; selects the custom convention")
MEMBER(nb_opt3 sdet_vector, "sdet_vector", NULL, VECTOR(PLACED, sdet_vector), .after = nb_after_custom, .fallback = "by convention",
    KEY(22, "SDET"), .help = "direction of fast axis, slow axis, normal, beam, polarization; selects the custom convention")
MEMBER(nb_opt3 odet_vector, "odet_vector", NULL, VECTOR(PLACED, odet_vector), .after = nb_after_custom, .fallback = "by convention",
    KEY(23, "ODET"), .help = "direction of fast axis, slow axis, normal, beam, polarization; selects the custom convention")
MEMBER(nb_opt3 beam_vector, "beam_vector", NULL, VECTOR(PLACES, beam_vector), .after = nb_after_custom, .fallback = "by convention",
    KEY(24, "BEAM"), .help = "direction of fast axis, slow axis, normal, beam, polarization; selects the custom convention")
MEMBER(nb_opt3 polar_vector, "polar_vector", NULL, VECTOR(PLACES, polar_vector), .after = nb_after_custom,
    .fallback = "by convention", KEY(25, "POLAR_AXIS"),
    .help = "direction of fast axis, slow axis, normal, beam, polarization; selects the custom convention")
MEMBER(nb_opt3 twotheta_axis, "twotheta_axis", NULL, VECTOR(PLACED, twotheta_axis), .after = nb_after_custom,
    .fallback = "by convention", KEY(27, "TWOTHETA_AXIS"),
    .help = "axis of -twotheta; selects the custom convention")
MEMBER(nb_opt3 pix0_m, "pix0_vector", NULL, FIELD(POINT, PIXELS | REPLACED, pix0_m), DIRECTION, .unit = "m", KEY(28, "PIX0"),
    .help = "vector from the crystal to the outer corner of the first pixel")
ROW("pix0_vector_mm", NULL, FIELD(POINT_MM, VIEW, pix0_m), DIRECTION, .unit = "mm",
    .help = "as -pix0_vector, in mm")
#undef GROUP
#define GROUP "Sampling and background", NONE
MEMBER(int oversample, "oversample", NULL, WHOLE(PIXELS, oversample), WITHIN(1, 10000),
    .fallback = "enough for the crystal's fringes", .help = "samples along each edge of a pixel")
MEMBER(int oversample_thick, "oversample_thick", NULL, SWITCH(PIXELS, oversample_thick),
    .help = "no effect: every sample and layer has its own capture")
MEMBER(int oversample_polar, "oversample_polar", NULL, SWITCH(PIXELS, oversample_polar),
    .help = "polarization, solid angle of every sample, not of the pixel's first")
MEMBER(int oversample_omega, "oversample_omega", NULL, SWITCH(PIXELS, oversample_omega),
    .help = "polarization, solid angle of every sample, not of the pixel's first")
MEMBER(double water_um, "water", NULL, NUMBER_FROM(PIXELS | VARIES, water_um, 0), WITHIN(0, 1e9), .value = "w", .unit = "um",
    .fallback = "0", .help = "edge of a cube of water; flat background")
MEMBER(nb_text stol_file, "stol", NULL, PATH(INPUT, stol_file),
    .help = "background of a material without order: table of F (electrons) against sin(theta)/lambda, 4 "
        "sin(theta)/lambda, 4 pi sin(theta)/lambda (1/A)")
MEMBER(nb_text stol4_file, "4stol", NULL, PATH(INPUT, stol4_file),
    .help = "background of a material without order: table of F (electrons) against sin(theta)/lambda, 4 "
        "sin(theta)/lambda, 4 pi sin(theta)/lambda (1/A)")
MEMBER(nb_text q_file, "Q", NULL, PATH(INPUT, q_file),
    .help = "background of a material without order: table of F (electrons) against sin(theta)/lambda, 4 "
        "sin(theta)/lambda, 4 pi sin(theta)/lambda (1/A)")
MEMBER(double amorphous_thick_mm, "amorphous_thick", NULL, NUMBER(PIXELS, amorphous_thick_mm), ABOVE(0), .value = "t",
    .unit = "mm", .fallback = "0.1", .help = "path of the beam in the material of the table")
MEMBER(double density, "density", "sample_den sample_density", NUMBER(PIXELS, density), ABOVE(0), .value = "rho",
    .unit = "g/cm3", .fallback = "1", .help = "density of the material of the table")
MEMBER(double molecule_mass, "MW", "molec molecular_weight", NUMBER(PIXELS, molecule_mass), ABOVE(0), .value = "mass",
    .unit = "g/mol", .fallback = "18", .help = "mass of a molecule of the table")
MEMBER(double molecules, "molecules", NULL, NUMBER(PIXELS, molecules), ABOVE(0), .value = "n",
    .help = "molecules of the table in the beam, instead of path, density and mass")
MEMBER(nb_text background, "background", NULL, FIELD(TEXT, PIXELS, background), LONGEST(512), .value = "name:path,...", .unit = "mm",
    .fallback = "none",
    .help = "materials in the beam: water, vitreous (frozen solvent), air, ice (rings), nanoice, quartz (a capillary), kapton, "
        "or formula:density:path, density in g/cm3")
MEMBER(nb_text stolout_file, "stolout", NULL, PATH(OUTPUT, stolout_file),
    .help = "write a table for -stol from an image, and stop")
MEMBER(nb_text stolimage_file, "stolimage", NULL, PATH(INPUT, stolimage_file), .fallback = "that of -img",
    .help = "image for -stolout: floats, SMV, mini-CBF, or NXmx (first frame)")
MEMBER(double stol_step, "stolstep", NULL, NUMBER(NONE, stol_step), ABOVE(0), .value = "d", .unit = "1/A",
    .fallback = "0.002; points of the given table",
    .help = "step of the table of -stolout")
MEMBER(double stol_smooth, "stolsmooth", NULL, NUMBER_FROM(NONE, stol_smooth, 0), AT_LEAST(0), .value = "w", .unit = "1/A",
    .fallback = "0 (off)",
    .help = "smooth the table of -stolout by parabolas over w on each side, without rings of ice, and "
        "leave out pixels beside Bragg spots")
MEMBER(int stol_rings, "stolrings", NULL, SWITCH(NONE, stol_rings), .help = "keep rings of ice in a table of -stolsmooth")
MEMBER(nb_text absorb, "absorb", NULL, FIELD(TEXT, PIXELS, absorb), LONGEST(96), .value = "sphere:D | box:x:y:z", .unit = "um", .fallback = "none",
    .help = "the crystal's outer shape, which absorbs its own light; the box along a*, c x a* and c turns with the spindle")
MEMBER(nb_text absorb_mu, "absorb_mu", NULL, FIELD(TEXT, PIXELS, absorb_mu), LONGEST(64), .value = "m | formula:density", .unit = "1/mm",
    .help = "attenuation of the crystal of -absorb, or its formula and density (g/cm3)")
MEMBER(nb_text beamstop, "beamstop", NULL, FIELD(TEXT, PIXELS, beamstop), LONGEST(512), .value = "item,...", .unit = "mm, deg", .fallback = "none",
    .help = "shadows about the beam on the detector: disc:diameter[:t], or bar:width:angle[:t] from the beam outwards; "
        "angle: from fast to slow; t: transmission, 0")
MEMBER(nb_text transmission_file, "transmission", NULL, PATH(INPUT, transmission_file),
    .help = "factor of each pixel: 32-bit floats, or an image")
MEMBER(nb_text add_file, "add", NULL, PATH(INPUT, add_file),
    .help = "photons to add to each pixel, not behind the factors, before the noise: 32-bit floats, or an image")
MEMBER(double add_fluence, "add_fluence", NULL, NUMBER_FROM(PIXELS | INNER, add_fluence, 0), AT_LEAST(0), .unit = "photons/m2",
    .help = "fluence that -add is for; in a series the typed one")
MEMBER(int compat, "compat", NULL, SWITCH(PIXELS, compat),
    .help = "definitions of the old nanoBragg: see docs/differences.md")
#undef GROUP
#define GROUP "Noise of source and detector", NONE
MEMBER(double flicker, "flicker", NULL, NUMBER(PIXELS | NOISE, flicker), WITHIN(0, 10), .value = "s", .fallback = "0",
    .help = "r.m.s. of the source from image to image, as a fraction")
MEMBER(double deadtime_ns, "deadtime", NULL, NUMBER(PIXELS | NOISE, deadtime_ns), AT_LEAST(0), .value = "t", .unit = "ns",
    .fallback = "0", .help = "dead time of a paralysable counter, with -exposure")
MEMBER(int nopoisson, "nopoisson", NULL, SWITCH(PIXELS | NOISE, nopoisson),
    .help = "no counting noise; the other noise stays")
MEMBER(nb_psf_shape psf, "psf", NULL, CHOICE(PIXELS | NOISE, psf, NAMES("", "gauss", "fibre", "fiber")), .after = nb_after_psf,
    .fallback = "none", .help = "point spread: Gaussian, or that of fibre optics")
MEMBER(double psf_fwhm_um, "psf_fwhm", NULL, NUMBER(PIXELS | NOISE, psf_fwhm_um), ABOVE_TO(0, 1e6), .value = "w", .unit = "um",
    .fallback = "46", .help = "full width at half maximum of the point spread")
MEMBER(double calibration, "calibration", NULL, NUMBER(PIXELS | NOISE, calibration), WITHIN(0, 10), .value = "s", .fallback = "0",
    .help = "r.m.s. of the pixels' gains, as a fraction; the same in every image")
MEMBER(nb_seed calib_seed, "calib_seed", NULL, FIELD(SEED, PIXELS | NOISE, calib_seed), .fallback = "123456789", .help = "seed of -calibration")
MEMBER(nb_text gainmap_file, "gainmap", NULL, PATH(INPUT | NOISE, gainmap_file),
    .help = "factors of the gain, a 32-bit float for each pixel")
MEMBER(double gain, "gain", NULL, NUMBER(PIXELS | NOISE, gain), ABOVE(0), .value = "g", .unit = "ADU/photon",
    .fallback = "1", .help = "gain of the noise images")
MEMBER(double readout_noise, "readout_noise", "readout", NUMBER(PIXELS | NOISE, readout_noise), AT_LEAST(0), .value = "s",
    .unit = "ADU", .fallback = "0", .help = "r.m.s. noise of the read-out")
MEMBER(double adc_offset, "adc", "adcoffset", NUMBER_FROM(ADU, adc_offset, 40), WITHIN(0, 65535), .after = nb_after_adc,
    .value = "x", .unit = "ADU", .fallback = "40 in SMV and -noisefloat, else 0",
    .help = "offset in both SMV images; if typed, in every file with noise")
MEMBER(int adc_set, "adc_set", NULL, SWITCH(ADU | HDF5 | INNER, adc_set), .help = "an offset is given")
MEMBER(double saturation, "saturation", NULL, NUMBER(PIXELS | NOISE, saturation), AT_LEAST(1), .value = "x", .unit = "ADU",
    .fallback = "what the file's type holds",
    .help = "largest trusted value; a brighter pixel gets this value + 1")
MEMBER(nb_text noise_float_file, "noisefloat", NULL, PATH(OUTPUT | SINGLE | NOISE, noise_float_file),
    .help = "noise image before rounding, 32-bit floats, ADU")
#undef GROUP
#define GROUP "Files written", WRITTEN
MEMBER(nb_text float_file, "floatfile", "floatimage", PATH(OUTPUT | SINGLE, float_file), .after = nb_after_float_file,
    .fallback = "floatimage.bin",
    .help = "expected photons, 32-bit floats; - as the name of one file is standard output")
MEMBER(int write_float, "write_float", NULL, SWITCH(SINGLE | INNER, write_float), .unset = 1, .help = "write the float image")
ROW("nofloat", NULL, NO_FILE(write_float), .help = "no float image")
MEMBER(nb_text int_file, "intfile", "intimage", PATH(OUTPUT | SINGLE, int_file), .after = nb_after_int_file,
    .fallback = "intimage.img", .help = "scaled photons without noise, SMV")
MEMBER(int write_int, "write_int", NULL, SWITCH(SINGLE | INNER, write_int), .unset = 1, .help = "write the integer image")
ROW("noint", NULL, NO_FILE(write_int), .help = "no integer image")
MEMBER(double scale, "scale", NULL, NUMBER_FROM(PIXELS, scale, 0), AT_LEAST(0), .value = "x",
    .fallback = "0 (55000 at the maximum)", .help = "factor of the integer image")
MEMBER(nb_text noise_file, "noisefile", "noiseimage", PATH(OUTPUT | SINGLE, noise_file), .after = nb_after_noise_file,
    .fallback = "noiseimage.img", .help = "counts with noise, SMV")
MEMBER(int write_noise, "write_noise", NULL, SWITCH(PIXELS | INNER, write_noise), .unset = 1, .help = "write the noise image")
ROW("nonoise", NULL, PRESET(write_noise, 0), .help = "no noise image")
MEMBER(nb_seed seed, "seed", NULL, SEED(seed), .fallback = "from the clock, reported",
    .help = "seed of the noise and of -misset random")
MEMBER(nb_text pgm_file, "pgmfile", "pgmimage", PATH(OUTPUT | SINGLE, pgm_file), .after = nb_after_pgm, .fallback = "image.pgm",
    .help = "8-bit grey picture")
MEMBER(int write_pgm, "write_pgm", NULL, SWITCH(SINGLE | INNER, write_pgm), .unset = 1, .help = "write the PGM picture")
ROW("nopgm", NULL, NO_FILE(write_pgm), .help = "no PGM picture")
MEMBER(double pgm_scale, "pgmscale", NULL, NUMBER_FROM(SINGLE, pgm_scale, 0), AT_LEAST(0), .after = nb_after_pgm,
    .value = "x", .fallback = "0 (50 / rms deviation)", .help = "factor of PGM")
MEMBER(nb_text png_file, "pngfile", "pngimage", PATH(OUTPUT | SINGLE, png_file), .help = "picture to look at, PNG")
ROW("pngshow", NULL, CHOICE(PNG, png.show, NAMES("expected", "noise")), .help = "what PNG shows: expected photons, or the counts of the noise image")
ROW("colormap", NULL, CHOICE(PNG, png.colormap, NAMES("grey", "inverse", "viridis", "heat")), .fallback = "grey (dark on white)", .help = "colours of PNG")
ROW("pngscale", NULL, FIELD(PNG_SCALE, PNG, png.scale), WITHIN(NB_PNG_AUTO, NB_PNG_RANGE),
    .value = "auto | P | lo:hi", .fallback = "auto",
    .help = "values from white to black: by the image, 0 to percentile P, or lo to hi photons")
ROW("png_percentile", NULL, NUMBER_FROM(PNG | INNER, png.percentile, 0), ANY, .help = "the percentile of -pngscale")
ROW("png_low", NULL, NUMBER_FROM(PNG | INNER, png.low, 0), ANY, .help = "the lo of -pngscale")
ROW("png_high", NULL, NUMBER_FROM(PNG | INNER, png.high, 0), ANY, .help = "the hi of -pngscale")
ROW("pnggamma", NULL, NUMBER_FROM(PNG, png.gamma, 0), WITHIN(0.01, 100), .value = "g",
    .fallback = "0.5", .help = "colour = value^g; 1 is linear")
ROW("pnglog", NULL, SWITCH(PNG, png.log), .help = "colour = logarithm of the value")
ROW("pngmax", NULL, WHOLE(PNG, png.max), WITHIN(0, 1000000), .value = "n", .fallback = "0 (any size)",
    .help = "largest edge of PNG in pixels: a larger image is shown in blocks")
ROW("pngblocks", NULL, CHOICE(PNG, png.blocks, NAMES("brightest", "sum")),
    .help = "what a block of -pngmax shows: its brightest pixel, or the sum")
ROW("pngrings", NULL, FIELD(PNG_RINGS, PNG, png.ring_A), ABOVE(0), .value = "d,d,...", .unit = "A",
    .help = "circles of these resolutions, a cross at the beam centre")
ROW("png_ring_count", NULL, WHOLE(PNG | INNER, png.rings), WITHIN(0, NB_RINGS_MAX), .help = "how many circles are given")
MEMBER(nb_text tiff_file, "tifffile", "tiffimage", PATH(OUTPUT | SINGLE, tiff_file), .help = "photons or integers, TIFF")
MEMBER(int tiff_bits, "tiffbits", NULL, WHOLE(TIFF, tiff_bits), .unset = 32, WITHIN(16, 32), .choices = NAMES("16", "32"),
    .help = "TIFF: 32-bit photons or 16-bit integers")
MEMBER(nb_truth truth, "truth", NULL, CHOICE(PIXELS, truth, NAMES("none", "spots")),
    .help = "list of the reflections: h k l, position, photons; of a series in -hdf5")
MEMBER(nb_text truth_file, "truthfile", NULL, PATH(OUTPUT | SINGLE, truth_file), .fallback = "spots.tsv",
    .help = "text file of -truth spots, single image")
MEMBER(double truth_min, "truth_min", NULL, NUMBER_FROM(HDF5, truth_min, 1), AT_LEAST(0), .value = "n",
    .unit = "photons", .help = "weakest reflection of -truth")
MEMBER(nb_text derivatives, "derivatives", NULL, FIELD(TEXT, OUTPUT, derivatives), LONGEST(4096), .value = "list",
    .help = "derivatives of the image by these parameters: docs/physics.md, section 26")
MEMBER(nb_text deriv_file, "derivfile", NULL, PATH(OUTPUT, deriv_file),
    .help = "file of -derivatives: HDF5 (.h5), or plain numbers; in a series with %d")
MEMBER(nb_real_type deriv_type, "derivtype", NULL, CHOICE(OUTPUT, deriv_type, NAMES("float32", "float64")), .help = "numbers of -derivfile")
MEMBER(nb_text pullback_file, "pullback", NULL, PATH(INPUT | SINGLE, pullback_file),
    .help = "dL/dI of each pixel, float32 or float64; its sums with -derivatives go to -gradfile")
MEMBER(nb_text grad_file, "gradfile", NULL, PATH(OUTPUT | SINGLE, grad_file), .help = "sums of -pullback, JSON")
MEMBER(nb_text gradhkl_file, "gradhkl", NULL, PATH(OUTPUT | SINGLE, gradhkl_file),
    .help = "h k l dL/dF of each reflection (-derivatives F)")
MEMBER(nb_text report_file, "report", NULL, PATH(OUTPUT, report_file),
    .help = "JSON: settings, statistics, clipped pixels, files, notes, times; a name in .html: the image as a page")
#undef GROUP
#define GROUP "Series", NONE
SERIES_MEMBER(int frames, "frames", NULL, OF_SERIES(INTEGER, PIXELS, frames), WITHIN(1, 1e7),
    .help = "rotation series of n frames of -osc each")
SERIES_MEMBER(int stills, "stills", NULL, OF_SERIES(INTEGER, PIXELS, stills), WITHIN(1, 1e7),
    .help = "n shots, each with its own seed")
SERIES_MEMBER(nb_text output, "output", NULL, OF_SERIES(FILE, OUTPUT, output), LONGEST(NB_PATH_MAX), .value = "img_%05d.cbf",
    .help = "a file for each frame, from 1: .img .cbf .tif .png or .bin")
SERIES_MEMBER(nb_text hdf5_file, "hdf5", NULL, OF_SERIES(FILE, OUTPUT, hdf5_file), LONGEST(NB_PATH_MAX),
    .help = "NXmx master; its data files are in the same folder")
SERIES_MEMBER(nb_hdf5_type hdf5_type, "hdf5type", NULL, OF_SERIES(CHOICE, HDF5, hdf5_type), .choices = NAMES("uint16", "int32", "float32", "int16"),
    .help = "pixels in HDF5: counts with noise, or float32 photons without")
SERIES_MEMBER(nb_compression compress, "compress", NULL, OF_SERIES(CHOICE, HDF5, compress), .choices = NAMES("gzip", "none", "bslz4"),
    .help = "HDF5: deflate, or bitshuffle and LZ4")
SERIES_MEMBER(int frames_per_file, "frames_per_file", NULL, OF_SERIES(INTEGER, NONE, frames_per_file), COUNTED,
    .fallback = "100", .help = "frames in an HDF5 data file")
SERIES_MEMBER(nb_text orientations, "orientations", NULL, OF_SERIES(FILE, INPUT, orientations), LONGEST(NB_PATH_MAX), .value = "random | file",
    .fallback = "that of -misset",
    .help = "of stills: uniform over all rotations, or angles or matrices of a file, or the crystals of a CrystFEL stream")
SERIES_MEMBER(nb_text spectra, "spectra", NULL, OF_SERIES(FILE, INPUT, spectra), LONGEST(NB_PATH_MAX),
    .help = "spectrum of each still (SASE): a line with pairs of wavelength (A) and weight")
SERIES_MEMBER(double jitter_fluence_pct, "jitter_fluence", NULL, JITTER(jitter_fluence_pct), WITHIN(0, 1000), .value = "x", .unit = "%",
    .fallback = "0", .help = "standard deviation from still to still: fluence, wavelength, edges of the cell, mosaic spread")
SERIES_MEMBER(double jitter_lambda_pct, "jitter_lambda", NULL, JITTER(jitter_lambda_pct), WITHIN(0, 20), .value = "x", .unit = "%",
    .fallback = "0", .help = "standard deviation from still to still: fluence, wavelength, edges of the cell, mosaic spread")
SERIES_MEMBER(double jitter_cell_pct, "jitter_cell", NULL, JITTER(jitter_cell_pct), WITHIN(0, 20), .value = "x", .unit = "%",
    .fallback = "0", .help = "standard deviation from still to still: fluence, wavelength, edges of the cell, mosaic spread")
SERIES_MEMBER(double jitter_mosaic_pct, "jitter_mosaic", NULL, JITTER(jitter_mosaic_pct), WITHIN(0, 1000), .value = "x", .unit = "%",
    .fallback = "0", .help = "standard deviation from still to still: fluence, wavelength, edges of the cell, mosaic spread")
SERIES_MEMBER(double jitter_beam_mm, "jitter_beam", NULL, JITTER(jitter_beam_mm), WITHIN(0, 1e12), .value = "x", .unit = "mm",
    .fallback = "0", .help = "standard deviation of the beam centre from still to still, along fast and slow")
SERIES_MEMBER(double hitrate, "hitrate", NULL, OF_SERIES(NUMBER, PIXELS, hitrate), .unset = NAN, WITHIN(0, 1), .value = "p", .fallback = "1",
    .help = "probability that a still has its crystals; the others have background alone: -vary crystals:hit:p")
SERIES_MEMBER(nb_text input, "noise_input", NULL, OF_SERIES(FILE, INPUT | INNER, input), LONGEST(NB_PATH_MAX),
    .help = "images that get background and noise, instead of rendered ones")
SERIES_MEMBER(int input_size[2], "noise_size", NULL, OF_SERIES(INTEGER, PIXELS | INNER, input_size), WITHIN(1, 1e6), .unit = "pixels",
    .value = "fast slow", .help = "of images without header")
SERIES_MEMBER(int input_pedestal_set, "noise_pedestal_set", NULL, OF_SERIES(SWITCH, PIXELS | INNER, input_pedestal_set),
    .help = "a pedestal is given")
SERIES_MEMBER(double input_pedestal, "noise_pedestal", NULL, OF_SERIES(NUMBER, PIXELS | INNER, input_pedestal), ANY, .value = "x",
    .after = nb_after_input_pedestal, .help = "value of their pixels without photons")
SERIES_MEMBER(double input_unit, "noise_unit", NULL, OF_SERIES(NUMBER, PIXELS | INNER, input_unit), ABOVE(0), .unit = "photons",
    .help = "one unit of their pixels")
SERIES_MEMBER(nb_text vary, "vary", NULL, OF_SERIES(TEXT, PIXELS, vary), LONGEST(1536), .value = "NAME:law[:numbers],...",
    .help = "numbers that differ between frames, or crystals: normal:s, lognormal:s, uniform:a:b, gamma:m, choice:v:v, poisson:m, "
        "ramp:a:b, offset:s; % is a part of the typed value; crystals:choice:0:0:1 hits one shot of three")
MEMBER(nb_realism realism, "realism", NULL, CHOICE(PIXELS, realism, NAMES("", "mx", "ssx", "xfel")), .fallback = "none",
    .help = "faults of a beamline for rotations (mx) or stills: sets -vary and -calibration, where they are not typed, as a note says")
SERIES_MEMBER(nb_text only_frame, "only_frame", NULL, OF_SERIES(TEXT, NONE, only_frame), LONGEST(24), .value = "k | a-b",
    .help = "frame k of the series alone, from 0, as a single image; or the part from a to b, of which -output and -hdf5 are written")
MEMBER(nb_text stream_file, "streamout", NULL, PATH(OUTPUT, stream_file),
    .help = "CrystFEL stream of the crystals, with the reflections of -truth spots")
MEMBER(nb_text sum_file, "sumfile", NULL, PATH(OUTPUT, sum_file),
    .help = "sum of all frames of a series as they are written, 64-bit floats")
MEMBER(nb_text draws_file, "draws", NULL, PATH(OUTPUT, draws_file),
    .help = "write what -vary draws for each frame, as a table; nothing is rendered")
SERIES_MEMBER(int resume, "resume", NULL, OF_SERIES(SWITCH, NONE, resume),
    .help = "continue a series that was stopped: same flags and -resume")
SERIES_MEMBER(double time_limit_s, "time_limit", NULL, OF_SERIES(NUMBER, NONE, time_limit_s), ABOVE(0), .value = "x", .unit = "s",
    .help = "stop the series after this time, as after an interrupt: finished frames stay for -resume")
#undef GROUP
#define GROUP "Running", NONE
MEMBER(nb_text device, "device", NULL, FIELD(DEVICE, RUNNING, device), LONGEST(32), .fallback = "auto",
    .help = "where to render; a word with :all: the frames of a series on every GPU")
MEMBER(int threads, "threads", NULL, WHOLE(RUNNING, threads), WITHIN(0, 4096), .fallback = "0 (every processor)",
    .help = "processor threads")
MEMBER(nb_isa isa, "isa", NULL, CHOICE(RUNNING | SUM, isa, NAMES("auto", "scalar", "sse2", "avx2", "avx512", "neon")), .help = "widest instruction set of the processor")
MEMBER(nb_precision precision, "precision", NULL, CHOICE(PIXELS | RUNNING, precision, NAMES("mixed", "double", "single")),
    .help = "arithmetic of the pixel loop; single is mixed")
MEMBER(double tolerance, "tolerance", NULL, NUMBER(PIXELS | RUNNING, tolerance), WITHIN(0, 0.1), .value = "x",
    .fallback = "gauss 1e-11, else 0", .help = "what a pixel may lack, as a part of the brightest pixel; larger is faster")
MEMBER(double tolerance_photons, "tolerance_photons", NULL, NUMBER(PIXELS | RUNNING, tolerance_photons), WITHIN(1e-30, 1e6),
    .value = "n", .unit = "photons", .help = "what a pixel may lack, in photons; larger is faster")
MEMBER(int device_alone, "device_alone", NULL, SWITCH(RUNNING | INNER, device_alone),
    .help = "the device belongs to this process, which may shut it down early")
MEMBER(nb_text command_line, "command_line", NULL, FIELD(TEXT, INNER, command_line), .help = "for the headers of files")
/* tests/params checks that every reader of this table shows this row */
#ifdef NB_TEST_PARAM
MEMBER(double test_param, "test_param", "test_synonym", NUMBER(PIXELS, test_param), WITHIN(0, 10), .value = "t",
    .unit = "furlong", KEY(99, "TEST_PARAM"), .help = "a parameter for tests")
#endif
#undef GROUP
/* clang-format on */
