/* SPDX-License-Identifier: MIT */
/* -show_config: all values as JSON, in SI and users' units, and effects on light. */
#include <math.h>
#include <string.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/text.h"
#include "../model/units.h"
#include "../params/params.h"
#include "../sim/crystals.h"
#include "../inputs/load.h"
#include "report.h"
#include "../inputs/shade.h"
#include "../sim/sim.h"
#include "write.h"

static nb_json add_detector(nb_json root, const nb_model *m)
{
    nb_json d = nb_json_object(root, "detector");
    const nb_geometry *g = &m->geometry;
    const nb_raster *raster = &m->scene.raster;
    const nb_panel *panel = m->scene.panels;
    const nb_sensor *sensor = m->scene.sensors;
    const nb_material *material = &m->detector->material;
    double roi[4] = {raster->roi.fmin, raster->roi.fmax, raster->roi.smin,
                     raster->roi.smax};
    nb_json_text(d, "convention", nb_param_choice("convention", (int)g->convention));
    nb_json_text(d, "pivot", nb_param_choice("pivot", (int)g->pivot));
    nb_json_number(d, "fpixels", g->fpixels);
    nb_json_number(d, "spixels", g->spixels);
    nb_json_number(d, "pixel_m", g->pixel);
    nb_json_number(d, "pixel_mm", g->pixel * 1e3);
    nb_json_number(d, "distance_m", g->distance);
    nb_json_number(d, "distance_mm", g->distance * 1e3);
    nb_json_number(d, "close_distance_m", g->close_distance);
    nb_json_number(d, "close_distance_mm", g->close_distance * 1e3);
    nb_json_number(d, "Xbeam_mm", g->Xbeam * 1e3);
    nb_json_number(d, "Ybeam_mm", g->Ybeam * 1e3);
    nb_json_number(d, "Fbeam_m", g->Fbeam);
    nb_json_number(d, "Sbeam_m", g->Sbeam);
    nb_json_number(d, "Fbeam_mm", g->Fbeam * 1e3);
    nb_json_number(d, "Sbeam_mm", g->Sbeam * 1e3);
    nb_json_number(d, "Fclose_m", g->Fclose);
    nb_json_number(d, "Sclose_m", g->Sclose);
    nb_json_number(d, "ORGX_pixels", g->orgx);
    nb_json_number(d, "ORGY_pixels", g->orgy);
    nb_json_vector(d, "pix0_vector_m", 1, g->pix0);
    nb_json_vector(d, "pix0_vector_mm", 1e3, g->pix0);
    nb_json_vector(d, "fdet_vector", 1, g->fast);
    nb_json_vector(d, "sdet_vector", 1, g->slow);
    nb_json_vector(d, "odet_vector", 1, g->normal);
    nb_json_vector(d, "twotheta_axis", 1, g->twotheta_axis);
    nb_json_number(d, "twotheta_rad", g->twotheta);
    nb_json_number(d, "twotheta_deg", g->twotheta / NB_DEG);
    nb_json_number(d, "rotx_deg", g->rotx / NB_DEG);
    nb_json_number(d, "roty_deg", g->roty / NB_DEG);
    nb_json_number(d, "rotz_deg", g->rotz / NB_DEG);
    nb_json_flag(d, "curved", panel->curved);
    nb_json_flag(d, "point_pixel", panel->point_pixel);
    nb_json_text(d, "curved_omega", panel->exact_omega ? "exact" : "square");
    nb_json_number(d, "layers", sensor->layers);
    nb_json_text(d, "layer_depth", sensor->mean_depth ? "mean" : "front");
    nb_json_number(d, "layer_step_m", sensor->layer_step);
    nb_json_number(d, "layer_step_um", sensor->layer_step * 1e6);
    nb_json_number(d, "attenuation_per_m", sensor->mu);
    if (material->name[0]) {
        nb_json_text(d, "sensor_material", material->name);
        nb_json_number(d, "sensor_density_g_cm3", material->density);
    }
    nb_json_numbers(d, "roi", roi, 4);
    nb_json_flag(d, "mask", raster->mask != NULL);
    return d;
}

static nb_json add_beam(nb_json root, const nb_model *m)
{
    const nb_scene *sc = &m->scene;
    nb_json b = nb_json_object(root, "beam");
    nb_json_vector(b, "beam_vector", 1, m->geometry.beam);
    nb_json_number(b, "wavelength_m", m->wavelength_A * 1e-10);
    nb_json_number(b, "wavelength_A", m->wavelength_A);
    nb_json_number(b, "energy_eV", NB_HC_EV_ANGSTROM / m->wavelength_A);
    nb_json_number(b, "fluence_photons_per_m2", m->fluence);
    if (m->settings.value.attenuator < 1)
        nb_json_number(b, "attenuator", m->settings.value.attenuator);
    nb_json_number(b, "polarization", sc->beam.polarization);
    nb_json_flag(b, "nopolar", sc->beam.nopolar);
    nb_json_vector(b, "polar_vector", 1, m->geometry.polar);
    nb_json_number(b, "sources", sc->beam.n_sources);
    return b;
}

static void add_sources(nb_json beam, const nb_beam *from)
{
    nb_json list = nb_json_array(beam, "source_list");
    for (int i = 0; i < from->n_sources && i < 1000; i++) {
        nb_json one = nb_json_add_object(list);
        nb_json_vector(one, "incident", 1, from->sources[i].incident);
        nb_json_number(one, "wavelength_m", from->sources[i].lambda);
        nb_json_number(one, "weight", from->sources[i].weight);
    }
}

static void add_crystal(nb_json root, const nb_sim *sim)
{
    const nb_model *m = &sim->model;
    const nb_crystal *x = &m->crystal;
    nb_json c = nb_json_object(root, "crystal");
    double misset[3];
    int i;
    for (i = 0; i < 3; i++)
        misset[i] = x->misset[i] / NB_DEG;
    nb_json_vector(c, "a_m", 1, x->a);
    nb_json_vector(c, "b_m", 1, x->b);
    nb_json_vector(c, "c_m", 1, x->c);
    nb_json_vector(c, "a_A", 1e10, x->a);
    nb_json_vector(c, "b_A", 1e10, x->b);
    nb_json_vector(c, "c_A", 1e10, x->c);
    nb_json_vector(c, "a_star_per_A", 1, x->astar);
    nb_json_vector(c, "b_star_per_A", 1, x->bstar);
    nb_json_vector(c, "c_star_per_A", 1, x->cstar);
    nb_json_number(c, "volume_A3", x->volume);
    nb_json_numbers(c, "N", x->N, 3);
    nb_json_number(c, "blocks", m->blocks);
    nb_json_number(c, "volume_um3", m->blocks * nb_crystal_block_um3(x));
    nb_json_text(c, "shape", nb_param_choice("shape", m->scene.lattice.shape));
    nb_json_number(c, "fudge", m->scene.lattice.fudge);
    nb_json_numbers(c, "misset_rad", x->misset, 3);
    nb_json_numbers(c, "misset_deg", misset, 3);
    nb_json_whole(c, "misset_seed", x->misset_seed);
    nb_json_number(c, "mosaic_domains", m->scene.lattice.n_domains);
    nb_json_text(c, "mosaic_model", nb_param_choice("mosaic_model", (int)m->mosaic.model));
    if (m->mosaic.tail != 0)
        nb_json_number(c, "mosaic_tail_deg", m->mosaic.tail / NB_DEG);
    if (sim->cfg.mosaic_aniso_deg.set)
        nb_json_numbers(c, "mosaic_aniso_deg", sim->cfg.mosaic_aniso_deg.v, 3);
    if (NB_TYPED(&m->settings, mosaic_tensor_deg2)) {
        nb_json_numbers(c, "mosaic_tensor_deg2", sim->cfg.mosaic_tensor_deg2, 6);
        nb_json_text(c, "mosaic_frame",
                     nb_param_choice("mosaic_frame", (int)sim->cfg.mosaic_frame));
    }
    nb_json_number(c, "mosaic_spread_rad", m->mosaic.spread);
    nb_json_number(c, "mosaic_spread_deg", m->mosaic.spread / NB_DEG);
    nb_json_whole(c, "mosaic_seed", m->mosaic.seed);
    nb_json_number(c, "default_F", m->scene.factors.table.default_F);
    nb_json_number(c, "reflections", (double)sim->in.tables.file->reflections);
    nb_json_flag(c, "interpolate", m->scene.factors.table.interpolate);
    nb_json_number(c, "dmin_A", m->scene.factors.dmin * 1e10);
    nb_json_number(c, "water_um", sim->cfg.water_um);
    if (sim->cfg.footprint[0])
        nb_json_text(c, "footprint", sim->cfg.footprint);
}

static void add_running(nb_json root, const nb_sim *sim)
{
    const nb_config *cfg = &sim->cfg;
    const nb_model *m = &sim->model;
    nb_json p = nb_json_object(root, "spindle"), s, o;
    nb_json_vector(p, "spindle_axis", 1, m->geometry.spindle);
    nb_json_number(p, "phi_rad", m->phi0);
    nb_json_number(p, "phi_deg", m->phi0 / NB_DEG);
    nb_json_number(p, "osc_deg", m->phi_range / NB_DEG);
    nb_json_number(p, "phistep_deg", m->phi_step / NB_DEG);
    nb_json_number(p, "phisteps", m->scene.lattice.n_phi);
    nb_json_flag(p, "phisteps_automatic", m->auto_phi_steps > 0);
    s = nb_json_object(root, "sampling");
    nb_json_number(s, "oversample", m->scene.oversample);
    nb_json_number(s, "steps_per_pixel",
                   (double)m->scene.samples * m->scene.sensors->layers);
    nb_json_flag(s, "oversample_thick", cfg->oversample_thick);
    nb_json_flag(s, "oversample_polar", m->scene.oversample_polar);
    nb_json_flag(s, "oversample_omega", m->scene.oversample_omega);
    nb_json_text(s, "precision", nb_param_choice("precision", (int)cfg->precision));
    nb_json_text(s, "backend", sim->engine.backend->name);
    nb_json_number(s, "threads", cfg->threads);
    o = nb_json_object(root, "output");
    for (const nb_output *f = nb_output_next(NULL); f; f = nb_output_next(f))
        if (f->writer && !f->hidden)
            nb_json_text(o, f->flag + 1, nb_output_path(f, cfg));
    nb_json_number(o, "tiffbits", cfg->tiff_bits);
    nb_json_text(o, "truth", nb_param_choice("truth", (int)cfg->truth));
    nb_json_number(o, "truth_min", cfg->truth_min);
    nb_json_number(o, "adc", cfg->adc_offset);
    nb_json_number(o, "scale", cfg->scale);
    nb_json_number(o, "pgmscale", cfg->pgm_scale);
    nb_json_whole(o, "seed", sim->seed);
}

void nb_sim_config_node(const nb_sim *sim, nb_config_lists lists, nb_json root)
{
    nb_json detector, beam;
    nb_json_text(root, "program", "nanobragg");
    nb_json_text(root, "version", NB_VERSION);
    nb_json_flag(root, "compat", sim->cfg.compat);
    detector = add_detector(root, &sim->model);
    if (lists & NB_LIST_PANELS)
        nb_json_panels(detector, sim);
    beam = add_beam(root, &sim->model);
    if (lists & NB_LIST_SOURCES)
        add_sources(beam, &sim->model.scene.beam);
    add_crystal(root, sim);
    nb_sim_factors_node(sim, root);
    add_running(root, sim);
}

void nb_sim_effects_node(const nb_sim *sim, nb_json root)
{
    const nb_model *m = &sim->model;
    char materials[2 * NB_PATH_MAX] = "";
    nb_json o;
    if (m->scene.background > 0 || m->scene.amorphous) {
        o = nb_json_object(root, "background");
        nb_json_number(o, "water_um", sim->cfg.water_um);
        nb_json_text(o, "materials",
                     nb_background_words(&m->settings, materials, sizeof materials));
        nb_json_number(o, "photons_about", nb_background_about(m));
    }
    if (m->damage.given) {
        o = nb_json_object(root, "damage");
        nb_json_number(o, "dose_MGy", m->damage.dose);
        nb_json_number(o, "B_added", m->damage.B);
        nb_json_number(o, "cell_factor", m->damage.growth);
        nb_json_number(o, "fall_A", m->damage.fall);
    }
    if (sim->in.absorb) {
        o = nb_json_object(root, "absorb");
        nb_json_number(o, "mu_per_mm", m->absorber.mu * 1e-3);
        nb_json_number(o, "least", nb_inputs_absorbed(&sim->in)[0]);
        nb_json_number(o, "largest", nb_inputs_absorbed(&sim->in)[1]);
    }
    if (sim->in.shade)
        nb_json_number(nb_json_object(root, "shadow"), "pixels_below_half",
                       (double)nb_inputs_shades(&sim->in)->dim);
    nb_json_spectrum(root, &m->spectrum);
    if (sim->further)
        nb_json_number(root, "crystals", sim->further->crystals);
    if (sim->cfg.twin[0])
        nb_json_text(root, "twin", sim->cfg.twin);
}

/** Parse a value of numbers into v; returns their number, or 0 if the value is a text. */
static int numbers_of(const nb_param *p, const char *text, double v[NB_PARAM_WORDS])
{
    int n = 0;
    if (nb_param_is_text(p) || p->kind == NB_KIND_CHOICE)
        return 0;
    while (n < NB_PARAM_WORDS && *text) {
        size_t length = strcspn(text, " ");
        if (nb_text_double(text, text + length, &v[n++]) != text + length)
            return 0;
        text += length + (text[length] == ' ');
    }
    return *text ? 0 : n;
}

static void add_parameter(nb_json to, const nb_param *p, const nb_config *cfg)
{
    char text[NB_PARAM_TEXT];
    double v[NB_PARAM_WORDS];
    int n;
    nb_param_get(p, cfg, " ", text, sizeof text, NULL);
    n = numbers_of(p, text, v);
    if (p->kind == NB_KIND_SWITCH)
        nb_json_flag(to, p->name, text[0] == '1');
    else if (n == 0)
        nb_json_text(to, p->name, text);
    else if (n == 1)
        nb_json_number(to, p->name, v[0]);
    else
        nb_json_numbers(to, p->name, v, n);
}

static int differs(const nb_param *p, const nb_config *a, const nb_config *b)
{
    if (p->kind == NB_KIND_MISSET) /* the word "random" changes another member */
        return a->misset_mode != b->misset_mode;
    return !nb_param_same(p, a, b);
}

void nb_sim_parameters_node(const nb_sim *sim, nb_json root)
{
    const unsigned shown = NB_PARAM_PIXELS | NB_PARAM_PNG | NB_PARAM_SINGLE;
    nb_json list = nb_json_object(root, "parameters");
    const nb_config *cfg = &sim->cfg;
    nb_config defaults;
    size_t count;
    const nb_param *table = nb_params(&count);
    nb_config_defaults(&defaults);
    for (size_t i = 0; i < count; i++) {
        const nb_param *p = &table[i];
        int hidden = p->flags & (NB_PARAM_VIEW | NB_PARAM_SERIES | NB_PARAM_OUTPUT) ||
                     (p->flags & NB_PARAM_INNER && !(p->flags & shown));
        if (!hidden && differs(p, cfg, &defaults))
            add_parameter(list, p, cfg);
    }
}

nb_status nb_sim_scene_json(const nb_sim *sim, char **json, nb_error *err)
{
    int failed = 0;
    nb_json root = {cJSON_CreateObject(), &failed};
    nb_sim_config_node(sim, NB_LIST_SOURCES, root);
    return nb_json_print(root, "the configuration as JSON", json, err);
}

nb_status nb_sim_config_json(const nb_sim *sim, char **json, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && json);
    int failed = 0;
    nb_json root = {cJSON_CreateObject(), &failed};
    nb_sim_config_node(sim, NB_LIST_SOURCES | NB_LIST_PANELS, root);
    nb_sim_parameters_node(sim, root);
    return nb_json_print(root, "the configuration as JSON", json, err);
}
