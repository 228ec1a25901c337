/* SPDX-License-Identifier: MIT */
/* The report of a run as text. Its facts come from the JSON report and from
 * add_text(). */
#include <math.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../io/common/panel_spec.h"
#include "../model/scene_build.h"
#include "../params/params.h"
#include "../physics/panels.h"
#include "../sim/footprint.h"
#include "../sim/light.h"
#include "../inputs/shade.h"
#include "../sim/crystals.h"
#include "../inputs/load.h"
#include "report.h"
#include "../sim/noise.h"
#include "write.h"

/* clang-format off */
/** Lines before the structure factors. */
static const char *const crystal_lines[] = {
    "beam      wavelength {beam.wavelength_A:9} A, {beam.sources:} source[{beam.sources#1}s], "
        "fluence {beam.fluence_photons_per_m2} photons/m^2[ behind an attenuator of {beam.attenuator}], polarization {beam.polarization}[{beam.nopolar?} (off)]",
    "          {text.wavelengths:} wavelengths, {text.shortest_A:7} to {text.longest_A:7} A",
    "spectrum  {spectrum.kind}, {spectrum.wavelengths:} wavelengths"
        "[{text.chaotic?}, this shot has {spectrum.factor} of the mean shot's photons]",
    "[@spectrum.parts|\n|          {photons:%} % of the photons at {centre_eV:8} eV, "
        "[{text.flat?}full width][{text.flat!}FWHM] {fwhm_eV:4} eV[, {modes:4} modes]]",
    "          no polarization factor in the image, but DIALS always corrects for polarization{beam.nopolar?}",
    "          DIALS assumes 0.999; in dials.import type geometry.beam.polarization_fraction={text.dials}"
        "[ geometry.beam.polarization_normal={text.dials_normal.0},{text.dials_normal.1},{text.dials_normal.2}]",
    "crystal   cell {text.edges:7} A  {text.angles:7} deg, volume {crystal.volume_A3:7} A^3",
    "          {crystal.N.0}x{crystal.N.1}x{crystal.N.2} cells, {crystal.shape}, misset {crystal.misset_deg:9} deg",
    "          intensities are {text.darwin:.4} of Darwin's[{crystal.fudge=1} (1 with -fudge darwin)]",
    "          {crystal.blocks} blocks of this size, {crystal.volume_um3} um^3 in the beam{crystal.blocks#1}",
    "          random orientation of misset seed {crystal.misset_seed:}{parameters.misset=random}",
    "          {crystal.reflections:} structure factors, [{crystal.interpolate?}interpolated]"
        "[{crystal.interpolate!}nearest reflection]{text.table?}",
    "          every structure factor is {crystal.default_F} electrons{text.table!}",
    "          {crystal.mosaic_domains:} mosaic domains of {parameters.mosaic_blocks}, "
        "root mean square {text.blocks_deg:4} deg",
    "          {crystal.mosaic_domains:} mosaic domain[{crystal.mosaic_domains#1}s]"
        "[{crystal.mosaic_model#nanobragg}, {crystal.mosaic_model}], spread [{crystal.mosaic_aniso_deg}]"
        "[{crystal.mosaic_aniso_deg!}{crystal.mosaic_spread_deg}] deg"
        "[, covariance {crystal.mosaic_tensor_deg2} deg^2 ({crystal.mosaic_frame})][, tail {crystal.mosaic_tail_deg} deg], "
        "seed {crystal.mosaic_seed:}{parameters.mosaic_blocks!}",
    "          their mean is turned by {text.turned_deg:4} deg",
    NULL};

static const char *const lines[] = {
    "          no crystal in the image: -crystals 0{crystals=0}",
    "          twin {twin}: {text.twin_share} of the crystal has the lattice above",
    "[@text.twins|\n|          and {share} another one, with an obliquity of {obliquity_deg:3} deg]",
    "          {crystals:} crystals in the image; above is the first of them{crystals#0}{crystals#1}",
    "spindle   phi {spindle.phi_deg} deg, oscillation {spindle.osc_deg} deg in {spindle.phisteps:} "
        "step[{spindle.phisteps#1}s][{spindle.phisteps_automatic?} (automatic)]",
    "detector  {detector.fpixels:} x {detector.spixels:} pixels of {detector.pixel_mm} mm, "
        "distance {detector.distance_mm:9} mm, {detector.convention} convention, {detector.pivot} pivot",
    "          beam at {detector.Fbeam_mm:9} {detector.Sbeam_mm:9} mm along fast, slow; "
        "origin {detector.pix0_vector_mm:9} mm",
    "          this is the default, a pixel off the middle: MOSFLM's centre is half a pixel off, "
        "and its origin another half{detector.convention=mosflm}{text.panels_file!}"
        "{parameters.pix0_vector!}{parameters.Xbeam!}{parameters.Ybeam!}",
    "          {text.panels:} panels of {text.pixels:} pixels together; above is that of the beam, {text.beam_panel}",
    "          curved about the sample, solid angles [{detector.curved_omega=exact}exact]"
        "[{detector.curved_omega=square}pixel^2/R^2]{detector.curved?}",
    "          sensor {text.thick_um} um[ of {detector.sensor_material}, {detector.sensor_density_g_cm3} g/cm3,] "
        "in {detector.layers:} layer[{detector.layers#1}s] [{detector.layer_depth=mean}at mean depth]"
        "[{detector.layer_depth=front}at the front], attenuation depth {text.attenuation_um} um",
    "sampling  {sampling.oversample:} x {sampling.oversample:} sub-pixels, {sampling.steps_per_pixel:} steps per pixel",
    "footprint {text.footprint.shape} of {text.footprint.a_mm} x {text.footprint.b_mm} mm"
        "[{text.footprint.shape=Gaussian} (FWHM)], {text.footprint.angle_deg} deg from the horizontal",
    "background[ -water {background.water_um} um{background.water_um?}]"
        "[{background.water_um?}{background.materials?},][{background.materials?} {background.materials}]: about {background.photons_about:3} photons, "
        "{text.photons_a_pixel:3} a pixel",
    "damage    {damage.dose_MGy} MGy in the middle of the frame: B + {damage.B_added} A^2, "
        "edges times {damage.cell_factor:9}[{damage.fall_A?}, intensities halve by resolution]",
    "absorbed  -absorb {parameters.absorb}, {absorb.mu_per_mm}/mm: the crystal lets {absorb.least:4} to "
        "{absorb.largest:4} of its light through",
    "shadow    {shadow.pixels_below_half:} pixels get less than half of their light",
    "added     -add {parameters.add}, times {text.add_scale:9}",
    "noise     {text.noise}[, source times {text.flicker:9}{parameters.flicker?}]"
        "[, dead time {parameters.deadtime} ns{parameters.deadtime?}]"
        "[, point spread {parameters.psf} of {text.psf_um} um]",
    "          gain {text.gain} ADU a photon[, calibration {parameters.calibration} with seed {text.calib_seed:}"
        "{parameters.calibration?}][, read-out {parameters.readout_noise} ADU{parameters.readout_noise?}]"
        "[, gain map {parameters.gainmap}][, trusted up to {parameters.saturation} ADU]",
    NULL};
/* clang-format on */

/** Add shortest and longest wavelength if there are several. */
static void add_wavelengths(nb_json to, const nb_beam *beam)
{
    double low = INFINITY, high = 0;
    int n = 0;
    for (int i = 0; i < beam->n_sources; i++) {
        const double l = beam->sources[i].lambda;
        int known = 0;
        for (int k = 0; k < i && !known; k++)
            known = beam->sources[k].lambda == l;
        n += !known;
        low = fmin(low, l);
        high = fmax(high, l);
    }
    if (n < 2)
        return;
    nb_json_number(to, "wavelengths", n);
    nb_json_number(to, "shortest_A", low * 1e10);
    nb_json_number(to, "longest_A", high * 1e10);
}

/** Add the polarization that a user types in DIALS, unless it equals the default of
 * DIALS: DIALS 3.12 does not read the polarization from files of nanobragg. */
static void add_polarization(nb_json to, const nb_sim *sim)
{
    const nb_image_meta m = nb_sim_describe(sim);
    double p, n[3];
    nb_dials_polarization(&m, &p, n);
    if (m.nopolar || (fabs(p - 0.999) < 0.0015 && fabs(n[1]) > 0.999999))
        return;
    nb_json_number(to, "dials", p);
    if (m.polarization != 0 && fabs(n[1]) < 0.999999)
        nb_json_numbers(to, "dials_normal", n, 3);
}

static void add_mosaic(nb_json to, const nb_sim *sim)
{
    nb_vec3 drawn[3];
    if (sim->in.files->blocks.n)
        nb_json_number(to, "blocks_deg", sim->in.files->blocks.angle / NB_DEG);
    else if (sim->model.scene.lattice.n_domains > 1) /* NaN if there is no mean */
        nb_json_number(to, "turned_deg",
                       nb_model_drawn(&sim->model, nb_sim_first_phi(sim), drawn) / NB_DEG);
}

static void add_crystal(nb_json to, const nb_sim *sim)
{
    const nb_crystal *x = &sim->model.crystal;
    const nb_lattice *lattice = &sim->model.scene.lattice;
    double cell[6];
    nb_json twins = nb_json_array(to, "twins");
    nb_cell_of(x, cell);
    nb_json_numbers(to, "edges", cell, 3);
    nb_json_numbers(to, "angles", cell + 3, 3);
    if (nb_shape_law(lattice->shape) == NB_LAW_DECAY)
        nb_json_number(
            to, "darwin",
            pow(nb_shape_row_of(lattice->shape).width * NB_PI / 2 / lattice->fudge, 1.5));
    nb_json_flag(to, "table", sim->in.tables.file->F != NULL);
    add_mosaic(to, sim);
    nb_json_number(to, "twin_share", sim->model.twin_share);
    for (int i = 0;
         sim->further && i < sim->further->n && sim->further->all[i]->crystal == 0; i++) {
        const nb_model *m = &sim->further->all[i]->model;
        nb_json one = nb_json_add_object(twins);
        nb_json_number(one, "share", m->twin_share);
        nb_json_number(one, "obliquity_deg", m->obliquity / NB_DEG);
    }
}

static void add_detector(nb_json to, const nb_sim *sim)
{
    const nb_scene *sc = &sim->model.scene;
    nb_footprint_words w;
    nb_json_flag(to, "panels_file", sim->in.files->spec.n_panels != 0);
    if (sc->n_panels > 1) {
        nb_json_number(to, "panels", sc->n_panels);
        nb_json_number(to, "pixels", (double)sc->raster.pixels);
        nb_json_text(to, "beam_panel",
                     sim->in.files->spec.panels[sim->model.geometry.beam_panel].name);
    }
    if (sc->sensors->absorb) {
        nb_json_number(to, "thick_um",
                       sc->sensors->layer_step * sc->sensors->layers * 1e6);
        nb_json_number(to, "attenuation_um", 1e6 / sc->sensors->mu);
    }
    if (!nb_sim_has_footprint(sim) || nb_footprint_read(sim->cfg.footprint, &w, NULL))
        return;
    to = nb_json_object(to, "footprint");
    nb_json_text(to, "shape", w.box ? "box" : "Gaussian");
    nb_json_number(to, "a_mm", w.a_mm);
    nb_json_number(to, "b_mm", w.b_mm);
    nb_json_number(to, "angle_deg", w.angle_deg);
}

/** Add the background photons of a pixel, and the scale of -add. */
static void add_light(nb_json to, const nb_sim *sim)
{
    const nb_model *m = &sim->model;
    if (m->scene.background > 0 || m->scene.amorphous)
        nb_json_number(to, "photons_a_pixel",
                       nb_background_about(m) / nb_rendered_pixels(&m->scene));
    if (sim->in.files->add)
        nb_json_number(to, "add_scale", nb_sim_mix(sim).add_scale);
}

/** Add the noise, if the image has more noise than counts and an offset. */
static void add_noise(nb_json to, const nb_sim *sim)
{
    const nb_noise n = nb_noise_of(&sim->model.settings);
    if (!n.chained)
        return;
    nb_json_text(to, "noise", n.counts ? "counts" : "no counting noise");
    nb_json_number(to, "flicker", nb_sim_flicker(sim));
    nb_json_number(to, "psf_um", n.fwhm * 1e6);
    nb_json_number(to, "gain", n.gain);
    nb_json_whole(to, "calib_seed", n.calib_seed);
}

/** Add the facts that only the text report prints, as the object "text". */
static void add_text(nb_json root, const nb_sim *sim)
{
    const nb_spectrum *s = &sim->model.spectrum;
    nb_json to = nb_json_object(root, "text");
    add_wavelengths(to, &sim->model.scene.beam);
    nb_json_flag(to, "chaotic", s->is_chaotic);
    nb_json_flag(to, "flat",
                 s->part[0].law == NB_SPECTRUM_FLAT ||
                     s->part[0].law == NB_SPECTRUM_TYPED);
    add_polarization(to, sim);
    add_crystal(to, sim);
    add_detector(to, sim);
    add_light(to, sim);
    add_noise(to, sim);
}

nb_status nb_sim_report(const nb_sim *sim, char **out, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && out);
    int failed = 0;
    const nb_json root = {cJSON_CreateObject(), &failed};
    nb_draft t = {0};
    nb_sim_config_node(sim, 0, root);
    nb_sim_parameters_node(sim, root);
    nb_sim_effects_node(sim, root);
    add_text(root, sim);
    nb_report_lines(&t, root, crystal_lines);
    if (sim->in.sums)
        nb_factor_sums_put(&t, nb_json_at(root, "structure_factors"), sim->in.sums,
                           &sim->model.settings, sim->in.tables.waves,
                           &sim->in.tables.stats);
    nb_report_lines(&t, root, lines);
    cJSON_Delete(root.json);
    return nb_report_end(&t, out, err);
}
