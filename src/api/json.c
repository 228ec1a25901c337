/* SPDX-License-Identifier: MIT */
/* -show_config: everything that was resolved, as JSON, in SI and in users' units. */
#include <math.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "sim.h"

#ifdef NB_HAVE_CJSON
#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

/** An object or an array, and where it is noted that memory ran out. */
typedef struct node {
    cJSON *json;
    int *failed;
} node;

static void note(node to, const cJSON *added)
{
    *to.failed |= !added;
}

static node add_object(node to, const char *key)
{
    node child = {cJSON_AddObjectToObject(to.json, key), to.failed};
    note(to, child.json);
    return child;
}

static node add_array(node to, const char *key)
{
    node child = {cJSON_AddArrayToObject(to.json, key), to.failed};
    note(to, child.json);
    return child;
}

/** The item is the array's, or gone. */
static void append(node to, cJSON *item)
{
    if (cJSON_AddItemToArray(to.json, item))
        return;
    cJSON_Delete(item);
    *to.failed = 1;
}

static void text(node to, const char *key, const char *value)
{
    note(to, cJSON_AddStringToObject(to.json, key, value));
}

static void flag(node to, const char *key, int value)
{
    note(to, cJSON_AddBoolToObject(to.json, key, value));
}

static cJSON *new_number(double value)
{
    char digits[40];
    snprintf(digits, sizeof digits, "%.17g", value);
    return isfinite(value) ? cJSON_CreateRaw(digits) : cJSON_CreateNull();
}

static void number(node to, const char *key, double value)
{
    cJSON *item = new_number(value);
    if (item && cJSON_AddItemToObject(to.json, key, item))
        return;
    cJSON_Delete(item);
    *to.failed = 1;
}

static void numbers(node to, const char *key, const double *v, int n)
{
    node list = add_array(to, key);
    int i;
    for (i = 0; i < n; i++)
        append(list, new_number(v[i]));
}

static void vector(node to, const char *key, double scale, nb_vec3 v)
{
    double values[3] = {v.x * scale, v.y * scale, v.z * scale};
    numbers(to, key, values, 3);
}

static void add_detector(node root, const nb_model *m)
{
    node d = add_object(root, "detector");
    const nb_geometry *g = &m->geometry;
    const nb_detector *det = &m->scene.det;
    double roi[4] = {det->roi_fmin, det->roi_fmax, det->roi_smin, det->roi_smax};
    text(d, "convention", nb_convention_name(g->convention));
    text(d, "pivot", g->pivot == NB_PIVOT_BEAM ? "beam" : "sample");
    number(d, "fpixels", g->fpixels);
    number(d, "spixels", g->spixels);
    number(d, "pixel_m", g->pixel);
    number(d, "pixel_mm", g->pixel * 1e3);
    number(d, "distance_m", g->distance);
    number(d, "distance_mm", g->distance * 1e3);
    number(d, "close_distance_m", g->close_distance);
    number(d, "close_distance_mm", g->close_distance * 1e3);
    number(d, "Xbeam_mm", g->Xbeam * 1e3);
    number(d, "Ybeam_mm", g->Ybeam * 1e3);
    number(d, "Fbeam_m", g->Fbeam);
    number(d, "Sbeam_m", g->Sbeam);
    number(d, "Fbeam_mm", g->Fbeam * 1e3);
    number(d, "Sbeam_mm", g->Sbeam * 1e3);
    number(d, "Fclose_m", g->Fclose);
    number(d, "Sclose_m", g->Sclose);
    number(d, "ORGX_pixels", g->orgx);
    number(d, "ORGY_pixels", g->orgy);
    vector(d, "pix0_vector_m", 1, g->pix0);
    vector(d, "pix0_vector_mm", 1e3, g->pix0);
    vector(d, "fdet_vector", 1, g->fast);
    vector(d, "sdet_vector", 1, g->slow);
    vector(d, "odet_vector", 1, g->normal);
    vector(d, "twotheta_axis", 1, g->twotheta_axis);
    number(d, "twotheta_rad", g->twotheta);
    number(d, "twotheta_deg", g->twotheta / NB_DEG);
    number(d, "rotx_deg", g->rotx / NB_DEG);
    number(d, "roty_deg", g->roty / NB_DEG);
    number(d, "rotz_deg", g->rotz / NB_DEG);
    flag(d, "curved", det->curved);
    flag(d, "point_pixel", det->point_pixel);
    text(d, "curved_omega", det->exact_omega ? "exact" : "square");
    number(d, "layers", det->layers);
    text(d, "layer_depth", det->mean_depth ? "mean" : "front");
    number(d, "layer_step_m", det->layer_step);
    number(d, "layer_step_um", det->layer_step * 1e6);
    number(d, "attenuation_per_m", det->mu);
    numbers(d, "roi", roi, 4);
    flag(d, "mask", det->mask != NULL);
}

static void add_beam(node root, const nb_sim *sim)
{
    const nb_model *m = &sim->model;
    const nb_scene *sc = &m->scene;
    node b = add_object(root, "beam"), list;
    int i;
    vector(b, "beam_vector", 1, m->geometry.beam);
    number(b, "wavelength_m", m->wavelength_A * 1e-10);
    number(b, "wavelength_A", m->wavelength_A);
    number(b, "energy_eV", 12398.419843320026 / m->wavelength_A);
    number(b, "fluence_photons_per_m2", m->fluence);
    number(b, "polarization", sc->polarization);
    flag(b, "nopolar", sc->nopolar);
    vector(b, "polar_vector", 1, m->geometry.polar);
    number(b, "sources", sc->n_sources);
    list = add_array(b, "source_list");
    for (i = 0; i < sc->n_sources && i < 1000; i++) {
        node one = {cJSON_CreateObject(), b.failed};
        vector(one, "incident", 1, sc->sources[i].incident);
        number(one, "wavelength_m", sc->sources[i].lambda);
        number(one, "weight", sc->sources[i].weight);
        append(list, one.json);
    }
}

static void add_crystal(node root, const nb_sim *sim)
{
    const nb_model *m = &sim->model;
    const nb_crystal *x = &m->crystal;
    node c = add_object(root, "crystal");
    double misset[3];
    int i;
    for (i = 0; i < 3; i++)
        misset[i] = x->misset[i] / NB_DEG;
    vector(c, "a_m", 1, x->a);
    vector(c, "b_m", 1, x->b);
    vector(c, "c_m", 1, x->c);
    vector(c, "a_A", 1e10, x->a);
    vector(c, "b_A", 1e10, x->b);
    vector(c, "c_A", 1e10, x->c);
    vector(c, "a_star_per_A", 1, x->astar);
    vector(c, "b_star_per_A", 1, x->bstar);
    vector(c, "c_star_per_A", 1, x->cstar);
    number(c, "volume_A3", x->volume);
    numbers(c, "N", x->N, 3);
    number(c, "blocks", m->blocks);
    number(c, "volume_um3", m->blocks * nb_crystal_block_um3(x));
    text(c, "shape", nb_shape_name(m->scene.shape));
    number(c, "fudge", m->scene.fudge);
    numbers(c, "misset_rad", x->misset, 3);
    numbers(c, "misset_deg", misset, 3);
    number(c, "misset_seed", (double)x->misset_seed);
    number(c, "mosaic_domains", m->scene.n_domains);
    text(c, "mosaic_model", nb_mosaic_model_name(m->mosaic.model));
    if (sim->cfg.mosaic_aniso_deg.set)
        numbers(c, "mosaic_aniso_deg", sim->cfg.mosaic_aniso_deg.v, 3);
    number(c, "mosaic_spread_rad", m->mosaic.spread);
    number(c, "mosaic_spread_deg", m->mosaic.spread / NB_DEG);
    number(c, "mosaic_seed", (double)m->mosaic.seed);
    number(c, "default_F", m->scene.sf.default_F);
    number(c, "reflections", (double)sim->table.reflections);
    flag(c, "interpolate", m->scene.sf.interpolate);
    number(c, "dmin_A", m->scene.dmin * 1e10);
    number(c, "water_um", sim->cfg.water_um);
}

static void add_running(node root, const nb_sim *sim)
{
    static const char *const precisions[] = {"mixed", "single", "double"};
    const nb_config *cfg = &sim->cfg;
    const nb_model *m = &sim->model;
    node p = add_object(root, "spindle"), s, o;
    vector(p, "spindle_axis", 1, m->geometry.spindle);
    number(p, "phi_rad", m->phi0);
    number(p, "phi_deg", m->phi0 / NB_DEG);
    number(p, "osc_deg", m->phi_range / NB_DEG);
    number(p, "phistep_deg", m->phi_step / NB_DEG);
    number(p, "phisteps", m->scene.n_phi);
    s = add_object(root, "sampling");
    number(s, "oversample", m->scene.oversample);
    number(s, "steps_per_pixel", (double)m->scene.steps);
    flag(s, "oversample_thick", cfg->oversample_thick);
    flag(s, "oversample_polar", m->scene.oversample_polar);
    flag(s, "oversample_omega", m->scene.oversample_omega);
    text(s, "precision", precisions[cfg->precision]);
    text(s, "backend", sim->backend->name);
    number(s, "threads", cfg->threads);
    o = add_object(root, "output");
    text(o, "floatfile", cfg->write_float ? cfg->float_file : "");
    text(o, "intfile", cfg->write_int ? cfg->int_file : "");
    text(o, "noisefile", cfg->write_noise ? cfg->noise_file : "");
    text(o, "pgmfile", cfg->write_pgm ? cfg->pgm_file : "");
    text(o, "pngfile", cfg->png_file);
    text(o, "tifffile", cfg->tiff_file);
    number(o, "tiffbits", cfg->tiff_bits);
    text(o, "truth", cfg->truth == NB_TRUTH_SPOTS ? "spots" : "none");
    number(o, "truth_min", cfg->truth_min);
    number(o, "adc", cfg->adc_offset);
    number(o, "scale", cfg->scale);
    number(o, "pgmscale", cfg->pgm_scale);
    number(o, "seed", (double)sim->seed);
}

nb_status nb_sim_config_json(const nb_sim *sim, char **json, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && json);
    int failed = 0;
    node root = {cJSON_CreateObject(), &failed};
    char *printed;
    *json = NULL;
    text(root, "program", "nanobragg");
    text(root, "version", NB_VERSION);
    flag(root, "compat", sim->cfg.compat);
    add_detector(root, &sim->model);
    add_beam(root, sim);
    add_crystal(root, sim);
    add_running(root, sim);
    printed = failed || !root.json ? NULL : cJSON_Print(root.json);
    cJSON_Delete(root.json);
    if (!printed)
        return nb_fail(err, NB_ERR_NOMEM, "out of memory (for the configuration as JSON)");
    *json = nb_strdup(printed, err);
    cJSON_free(printed);
    return *json ? NB_OK : NB_ERR_NOMEM;
}
#else
nb_status nb_sim_config_json(const nb_sim *sim, char **json, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && json);
    (void)sim;
    *json = NULL;
    return nb_fail(
        err, NB_ERR_UNSUPPORTED,
        "-show_config: this build has no JSON (install libcjson-dev and rebuild)");
}
#endif
