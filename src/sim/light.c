/* SPDX-License-Identifier: MIT */
/* Diffuse scattering of an image's crystals: a plane of photons, or single values. */
#include "light.h"

#include <math.h>
#include <string.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../base/store.h"
#include "../base/threads.h"
#include "../light/diffuse_plane.h"
#include "crystals.h"

/* Up to this number of samples, sums over all reflections are quicker than a grid. */
enum { FEW_SAMPLES = 128 };

/** Inputs of model i (model_of). */
static const nb_inputs *inputs_of(const nb_sim *sim, int i)
{
    return i > 0 ? &sim->further->all[i - 1]->in : &sim->in;
}

/** Model i of an image's crystals, or NULL if i is too large. */
static const nb_model *model_of(const nb_sim *sim, int i)
{
    const struct nb_further_scenes *further = sim->further;
    if (further && further->crystals == 0)
        return NULL;
    if (i == 0)
        return &sim->model;
    return further && i <= further->n ? &further->all[i - 1]->model : NULL;
}

static int has_light(const nb_sim *sim)
{
    const nb_model *m;
    for (int i = 0; (m = model_of(sim, i)); i++)
        if (m->diffuse.n_forms > 0)
            return 1;
    return 0;
}

/** Number of the table of F of the source whose photon energy is nearest to the mean. */
static int middle_table(const nb_beam *beam)
{
    double wave = 0, weight = 0, nearest = INFINITY;
    int table = 0;
    for (int i = 0; i < beam->n_sources; i++) {
        wave += beam->sources[i].weight / beam->sources[i].lambda;
        weight += beam->sources[i].weight;
    }
    for (int i = 0; i < beam->n_sources; i++) {
        double off = fabs(1 / beam->sources[i].lambda - wave / weight);
        if (off < nearest) {
            nearest = off;
            table = beam->sources[i].table;
        }
    }
    return table;
}

/** Describe a crystal's table of diffuse light. `lattice` is set for nb_light_clip. */
static nb_diffuse_source source_of(const nb_sim *sim, const nb_inputs *in,
                                   const nb_model *m, double lattice[6])
{
    memset(lattice, 0, 6 * sizeof *lattice);
    if (in->sums && nb_factor_files_have_limit(in->factors, &m->settings.value))
        nb_factor_cell_of(&m->crystal, lattice);
    return (nb_diffuse_source){
        .model = &m->diffuse,
        .factors = &m->at_rest,
        .table = middle_table(&m->scene.beam),
        .edge = {m->crystal.edge[0], m->crystal.edge[1], m->crystal.edge[2]},
        .reach = nb_light_reach(m),
        .threads = nb_thread_count(sim->engine.options.threads)};
}

nb_status nb_light_factors(const nb_sim *sim, nb_factor_table *table, double **F,
                           nb_error *err)
{
    double lattice[6];
    nb_diffuse_source source = source_of(sim, &sim->in, &sim->model, lattice);
    nb_status st = nb_light_clip(&source, lattice, table, F, err);
    if (st || *F)
        return st;
    *table = *source.factors;
    table->F = nb_table_at(table, source.table);
    table->n_tables = 1;
    return NB_OK;
}

/** Prepare *plane for the light of one crystal. The crystal's table goes to *plane and to
 * sim->light. */
static nb_status prepare(nb_sim *sim, const nb_inputs *in, const nb_model *m,
                         nb_diffuse_plane *plane, nb_error *err)
{
    double lattice[6], *F = NULL;
    nb_factor_table clipped;
    nb_diffuse_source source = source_of(sim, in, m, lattice);
    const nb_diffuse_table *t = NULL;
    nb_status st;
    nb_tables_sign(&sim->in.tables, &sim->model.at_rest);
    st = nb_diffuse_plane_new(&m->scene, &m->diffuse, source.reach, plane, err);
    source.direct = !st && nb_diffuse_plane_samples(plane) <= FEW_SAMPLES;
    NB_TRY(nb_light_clip(&source, lattice, &clipped, &F, err));
    NB_TRY(nb_light_table_take(in, &source, &t, err));
    nb_free(F);
    if (st)
        return st;
    nb_shared_drop(sim->light->table);
    sim->light->table = plane->table = t;
    return NB_OK;
}

/** Make the light of crystal i in `to`, or on the device if `to` is NULL. */
static nb_status make_crystal(nb_sim *sim, int i, float *to, int add, nb_error *err)
{
    const nb_photons *photons = &sim->engine.photons;
    nb_diffuse_plane plane = {.table = NULL};
    nb_status st = prepare(sim, inputs_of(sim, i), model_of(sim, i), &plane, err);
    if (!st && to)
        st = nb_diffuse_plane_fill(&plane, sim->engine.options.threads, to, err);
    else if (!st)
        st = photons->device->light(photons->state, &plane, add, err);
    nb_diffuse_plane_clear(&plane);
    return st;
}

/** Make the light of all crystals in plane[pixels of the stack], 0 in pixels that are not
 * rendered; or on the device if `plane` is NULL. */
static nb_status make_all(nb_sim *sim, float *plane, nb_error *err)
{
    const size_t n = sim->model.scene.raster.pixels;
    const nb_model *m;
    float *own = NULL;
    nb_status st = NB_OK;
    int add = 0;
    for (int i = 0; !st && (m = model_of(sim, i)); i++) {
        if (m->diffuse.n_forms == 0)
            continue;
        if (add && plane && !own && !(own = nb_alloc_large(n, sizeof *own, "light", err)))
            return NB_ERR_NOMEM;
        st = make_crystal(sim, i, add ? own : plane, add, err);
        for (size_t p = 0; !st && add && plane && p < n; p++)
            plane[p] += own[p];
        add = 1;
    }
    nb_free(own);
    return st;
}

/** Make the plane in memory when a caller needs it there (nb_late_light.make). */
static nb_status fill_late(void *user, nb_error *err)
{
    nb_sim *sim = user;
    return make_all(sim, sim->light->plane, err);
}

static int device_makes(const nb_sim *sim)
{
    const nb_image_device *device = sim->engine.photons.device;
    return device && device->light;
}

nb_status nb_sim_begin_light(nb_sim *sim, nb_error *err)
{
    const size_t pixels = sim->model.scene.raster.pixels;
    nb_sim_light *light = sim->light;
    if (light)
        light->lit = 0;
    if (!has_light(sim))
        return NB_OK;
    if (!light && !(light = sim->light = nb_alloc(1, sizeof *light, "light", err)))
        return NB_ERR_NOMEM;
    light->late = (nb_late_light){1, fill_late, sim};
    if (light->pixels != pixels) {
        nb_free(light->plane);
        light->plane = nb_alloc_large(pixels, sizeof *light->plane, "light", err);
        light->pixels = light->plane ? pixels : 0;
        if (!light->plane)
            return NB_ERR_NOMEM;
    }
    light->lit = 1;
    return NB_OK;
}

nb_status nb_sim_make_light(nb_sim *sim, nb_error *err)
{
    nb_status st;
    if (!nb_sim_light_plane(sim) || device_makes(sim))
        return NB_OK;
    st = make_all(sim, sim->light->plane, err);
    sim->light->late.missing = st != NB_OK;
    return st;
}

nb_status nb_sim_light_there(nb_sim *sim, nb_error *err)
{
    nb_error local = {0};
    nb_status st;
    if (!nb_sim_light_plane(sim) || !device_makes(sim))
        return NB_OK;
    st = make_all(sim, NULL, &local);
    if (st == NB_ERR_DEVICE)
        return nb_mix_need_light(&sim->engine.photons.mix, err);
    if (st && err)
        *err = local;
    return st;
}

/** Photons of the diffuse light of the last image; NaN if the plane cannot be made. */
static double photons_of(const nb_sim *sim)
{
    const nb_mix mix = nb_sim_mix(sim);
    double sum = 0;
    if (nb_mix_need_light(&mix, NULL))
        return NAN;
    for (size_t i = 0; mix.light && i < sim->model.scene.raster.pixels; i++)
        sum += nb_mix_light(&mix, i);
    return sum;
}

void nb_sim_light_node(const nb_sim *sim, nb_json to)
{
    const nb_config *cfg = &sim->model.settings.value;
    const nb_diffuse_table *table = sim->light ? sim->light->table : NULL;
    nb_json o;
    if (!has_light(sim))
        return;
    o = nb_json_object(to, "diffuse");
    nb_json_numbers(o, "sigma_A", cfg->diffuse_sigma_A, 3);
    nb_json_numbers(o, "gamma_A", cfg->diffuse_gamma_A, 3);
    nb_json_number(o, "photons", photons_of(sim));
    if (!sim->light)
        return;
    nb_json_number(o, "orders", table ? table->orders : 0);
    nb_json_number(o, "largest_X", table ? table->X_max : 0);
    nb_json_number(o, "table_MB", table ? nb_diffuse_table_bytes(table) / 1e6 : 0);
}

void nb_sim_light_free(nb_sim_light *light)
{
    if (!light)
        return;
    nb_free(light->plane);
    nb_shared_drop(light->table);
    nb_free(light);
}

nb_status nb_sim_diffuse(nb_sim *sim, float *plane, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && plane);
    nb_mix mix = nb_sim_mix(sim);
    nb_status st;
    if (!has_light(sim))
        return nb_fail(err, NB_ERR_INPUT, "no diffuse light: give -diffuse_sigma");
    if (!sim->light && !(sim->light = nb_alloc(1, sizeof *sim->light, "light", err)))
        return NB_ERR_NOMEM;
    st = make_all(sim, plane, err);
    mix.light = plane;
    for (size_t i = 0; !st && i < sim->model.scene.raster.pixels; i++)
        plane[i] = nb_mix_light(&mix, i);
    return st;
}

nb_status nb_sim_diffuse_at(const nb_sim *sim, const double *hkl, size_t n, double *D,
                            nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && hkl && D);
    nb_factor_table table;
    double *F;
    nb_status st;
    if (!has_light(sim))
        return nb_fail(err, NB_ERR_INPUT, "no diffuse light: give -diffuse_sigma");
    NB_FORWARD(nb_light_factors(sim, &table, &F, err));
#pragma omp parallel for schedule(dynamic, 1)                                            \
    num_threads(nb_thread_count(sim->engine.options.threads))
    for (size_t i = 0; i < n; i++)
        D[i] = nb_diffuse_at(&sim->model.diffuse, &table, 0, hkl[3 * i], hkl[3 * i + 1],
                             hkl[3 * i + 2]);
    nb_free(F);
    return NB_OK;
}
