/* SPDX-License-Identifier: MIT */
/* Diffuse scattering as a kind of light, and single values of it. */
#include <math.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../base/shared.h"
#include "../base/threads.h"
#include "../light/diffuse_plane.h"
#include "crystals.h"
#include "light.h"
#include "mix.h"

/** What model i is made of. */
static const nb_inputs *inputs_of(const nb_sim *sim, int i)
{
    return i > 0 ? &sim->crowd->all[i - 1]->in : &sim->in;
}

/** Model i of an image's crystals; NULL: there are no more. */
static const nb_model *model_of(const nb_sim *sim, int i)
{
    const struct nb_crowd *crowd = sim->crowd;
    if (crowd && crowd->crystals == 0)
        return NULL;
    if (i == 0)
        return &sim->model;
    return crowd && i <= crowd->n ? &crowd->all[i - 1]->model : NULL;
}

static int applies(const nb_sim *sim)
{
    const nb_model *m;
    for (int i = 0; (m = model_of(sim, i)); i++)
        if (m->diffuse.n_forms > 0)
            return 1;
    return 0;
}

/** The table of F nearest to the mean wavelength. */
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

/** Tables of a crystal: those that are held, and what a family gives it. */
typedef struct crystal_light {
    const nb_light_table *held;
    nb_diffuse_table *own; /* owned; NULL: of none */
    double *F;             /* owned; of a frame; NULL: those of its table */
    nb_factor_table clipped;
    nb_diffuse_plane plane;
} crystal_light;

/** The table that the family of a crystal gives, if it has one. */
static nb_status take_family(const nb_inputs *in, const nb_model *m,
                             const nb_light_request *own, crystal_light *to, nb_error *err)
{
    nb_light_request request = *own;
    nb_diffuse_source source = own->of;
    double weight[NB_DIFFUSE_TABLES];
    nb_light_member place;
    nb_diffuse model;
    nb_status st;
    if (!nb_light_family_of(in, m, &model, &request, &place))
        return NB_OK;
    if (!(st = nb_light_clip(&request, &to->clipped, &to->F, err)))
        st = nb_light_store_take(in->lights, &request, &to->held, err);
    if (!st && to->held->n == 0) {
        nb_shared_drop(to->held);
        nb_free(to->F);
        to->held = NULL;
        to->F = NULL;
    }
    if (st || !to->held)
        return st;
    source.factors = request.of.factors;
    source.table = request.of.table;
    source.reach = request.of.reach;
    source.like = to->held->table[0];
    nb_diffuse_node_weights(&to->held->nodes, place.B, place.scale, weight);
    for (int i = 0; i < to->held->n; i++)
        weight[i] *= place.Fscale * place.Fscale;
    return nb_diffuse_table_blend(&source, to->held->table, weight, to->held->n, &to->own,
                                  err);
}

/** A table of a crystal's own. */
static nb_light_request request_of(const nb_sim *sim, const nb_inputs *in,
                                   const nb_model *m)
{
    const nb_diffuse_source of = {
        .model = &m->diffuse,
        .factors = &m->at_rest,
        .table = middle_table(&m->scene.beam),
        .edge = {m->crystal.edge[0], m->crystal.edge[1], m->crystal.edge[2]},
        .reach = nb_light_reach(m),
        .threads = nb_thread_count(sim->engine.options.threads)};
    nb_light_request request = {.of = of};
    if (in->sums && nb_factor_files_have_limit(in->factors, &m->settings.value))
        nb_factor_cell_of(&m->crystal, request.lattice);
    return request;
}

double nb_light_needs(const nb_sim *sim)
{
    const nb_light_request request = request_of(sim, &sim->in, &sim->model);
    return nb_diffuse_table_needs(&request.of);
}

nb_status nb_light_factors(const nb_sim *sim, nb_factor_table *table, double **F,
                           nb_error *err)
{
    nb_light_request request = request_of(sim, &sim->in, &sim->model);
    nb_diffuse model;
    nb_light_member place;
    nb_status st;
    (void)nb_light_family_of(&sim->in, &sim->model, &model, &request, &place);
    if ((st = nb_light_clip(&request, table, F, err)) || *F)
        return st;
    *table = *request.of.factors;
    table->F = nb_table_at(table, request.of.table);
    table->n_tables = 1;
    return NB_OK;
}

/** The light of one crystal's pixels, ready to be made. */
static nb_status prepare(nb_sim *sim, const nb_inputs *in, const nb_model *m,
                         crystal_light *to, nb_error *err)
{
    nb_light_request request = request_of(sim, in, m);
    const nb_diffuse_table *t;
    nb_status st;
    nb_tables_sign(&sim->in.tables, &sim->model.at_rest);
    st = take_family(in, m, &request, to, err);
    if (!st && !to->held)
        st = nb_light_clip(&request, &to->clipped, &to->F, err);
    if (!st && !to->held)
        st = nb_light_store_take(in->lights, &request, &to->held, err);
    if (st)
        return st;
    t = to->own ? to->own : to->held->table[0];
    sim->light->orders = t->orders;
    sim->light->X_most = t->X_most;
    sim->light->tables = to->held->n;
    sim->light->table_bytes = 0;
    for (int i = 0; i < to->held->n; i++)
        sim->light->table_bytes += nb_diffuse_table_bytes(to->held->table[i]);
    return nb_diffuse_plane_new(&m->scene, t, m->diffuse.scale, &to->plane, err);
}

/** One crystal's light: into memory, or (NULL) into the device's. */
static nb_status make_crystal(nb_sim *sim, int i, float *to, int add, nb_error *err)
{
    const nb_photons *photons = &sim->engine.photons;
    crystal_light light = {0};
    nb_status st = prepare(sim, inputs_of(sim, i), model_of(sim, i), &light, err);
    if (!st && to)
        st = nb_diffuse_plane_fill(&light.plane, sim->engine.options.threads, to, err);
    else if (!st)
        st = photons->device->light(photons->state, &light.plane, add, err);
    nb_diffuse_plane_clear(&light.plane);
    nb_diffuse_table_free(light.own);
    nb_free(light.F);
    nb_shared_drop(light.held);
    return st;
}

static nb_status there(nb_sim *sim, int add, nb_error *err)
{
    const nb_model *m;
    nb_status st = NB_OK;
    for (int i = 0; !st && (m = model_of(sim, i)); i++) {
        if (m->diffuse.n_forms == 0)
            continue;
        st = make_crystal(sim, i, NULL, add, err);
        add = 1;
    }
    return st;
}

static nb_status fill(nb_sim *sim, float *plane, nb_error *err)
{
    const size_t n = sim->model.scene.raster.pixels;
    const nb_model *m;
    float *own = plane;
    nb_status st = NB_OK;
    for (int i = 0; !st && (m = model_of(sim, i)); i++) {
        if (m->diffuse.n_forms == 0)
            continue;
        st = make_crystal(sim, i, own, 0, err);
        for (size_t p = 0; !st && own != plane && p < n; p++)
            plane[p] += own[p];
        if (!st && own == plane && model_of(sim, i + 1) &&
            !(own = nb_alloc_large(n, sizeof *own, "light", err)))
            return NB_ERR_NOMEM;
    }
    if (own != plane)
        nb_free(own);
    return st;
}

/** Of the last image. */
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

static void describe(const nb_sim *sim, nb_json to)
{
    const nb_config *cfg = &sim->model.settings.value;
    nb_json o = nb_json_object(to, "diffuse");
    nb_json_numbers(o, "sigma_A", cfg->diffuse_sigma_A, 3);
    nb_json_numbers(o, "gamma_A", cfg->diffuse_gamma_A, 3);
    nb_json_number(o, "photons", photons_of(sim));
    if (!sim->light)
        return;
    nb_json_number(o, "orders", sim->light->orders);
    nb_json_number(o, "largest_X", sim->light->X_most);
    nb_json_number(o, "tables", sim->light->tables);
    nb_json_number(o, "table_MB", sim->light->table_bytes / 1e6);
}

const nb_light nb_light_diffuse = {"diffuse", applies, fill, there, describe};

nb_status nb_sim_diffuse(nb_sim *sim, float *plane, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && plane);
    nb_mix mix = nb_sim_mix(sim);
    nb_status st;
    if (!applies(sim))
        return nb_fail(err, NB_ERR_INPUT, "no diffuse light: give -diffuse_sigma");
    if (!sim->light && !(sim->light = nb_alloc(1, sizeof *sim->light, "light", err)))
        return NB_ERR_NOMEM;
    st = fill(sim, plane, err);
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
    if (!applies(sim))
        return nb_fail(err, NB_ERR_INPUT, "no diffuse light: give -diffuse_sigma");
    if ((st = nb_light_factors(sim, &table, &F, err)))
        return st;
#pragma omp parallel for schedule(dynamic, 1)                                            \
    num_threads(nb_thread_count(sim->engine.options.threads))
    for (size_t i = 0; i < n; i++)
        D[i] = nb_diffuse_at(&sim->model.diffuse, &table, 0, hkl[3 * i], hkl[3 * i + 1],
                             hkl[3 * i + 2]);
    nb_free(F);
    return NB_OK;
}
