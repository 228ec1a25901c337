/* SPDX-License-Identifier: MIT */
/* F for the diffuse light of an image, their limit, and shared tables of the light. */
#include <math.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/store.h"
#include "../base/threads.h"
#include "../factors/factors.h"
#include "../model/scene_build.h"
#include "../model/units.h"
#include "../physics/limits.h"
#include "factors.h"
#include "inputs.h"

int nb_config_is_diffuse(const nb_config *cfg)
{
    const double *sigma = cfg->diffuse_sigma_A;
    return fmax(sigma[0], fmax(sigma[1], sigma[2])) > 0;
}

double nb_model_reach(const nb_model *model)
{
    nb_scene whole = model->scene;
    /* diffuse light and footprints spread light, so the limits are those of the whole
     * image */
    if (nb_config_is_diffuse(&model->settings.value) ||
        !nb_footprint_is_point(&model->footprint))
        whole.raster.roi =
            (nb_region){0, whole.raster.columns - 1, 0, whole.raster.rows - 1};
    return nb_scene_reach(&whole);
}

double nb_light_reach(const nb_model *m)
{
    return nb_diffuse_reach(nb_model_reach(m), m->scene.factors.dmin / NB_ANGSTROM,
                            m->diffuse.gamma);
}

/** Cut the indices of a table along one axis to -limit ... limit. */
static void cut(double limit, int *low, int *n)
{
    const int first = *low > -limit ? *low : (int)ceil(-limit),
              last = *low + *n - 1 < limit ? *low + *n - 1 : (int)floor(limit);
    *low = first;
    *n = last - first + 1;
}

/** Set F of reflections with |q| > s->reach to 0 in the box of table f. */
static void leave_out(const nb_diffuse_source *s, const double lattice[6],
                      const nb_factor_table *f, double *F)
{
    double G[6];
    nb_reciprocal_metric(lattice, G);
    for (int h = 0; h < f->nh; h++)
        for (int k = 0; k < f->nk; k++)
            for (int l = 0; l < f->nl; l++, F++)
                if (nb_s_squared(G, f->hmin + h, f->kmin + k, f->lmin + l) >
                    s->reach * s->reach)
                    *F = 0;
}

nb_status nb_light_clip(nb_diffuse_source *s, const double lattice[6],
                        nb_factor_table *to, double **F, nb_error *err)
{
    const nb_factor_table *f = s->factors;
    const double *all = nb_table_at(f, s->table);
    *F = NULL;
    if (!(lattice[0] > 0))
        return NB_OK;
    *to = *f;
    cut(s->reach * lattice[0], &to->hmin, &to->nh);
    cut(s->reach * lattice[1], &to->kmin, &to->nk);
    cut(s->reach * lattice[2], &to->lmin, &to->nl);
    *F = nb_alloc_raw((size_t)to->nh * (size_t)to->nk * (size_t)to->nl, sizeof **F,
                      "structure factors", err);
    if (!*F)
        return NB_ERR_NOMEM;
    for (int h = 0; h < to->nh; h++)
        for (int k = 0; k < to->nk; k++) {
            const size_t row = (size_t)(to->hmin + h - f->hmin) * (size_t)f->nk +
                               (size_t)(to->kmin + k - f->kmin);
            memcpy(*F + ((size_t)h * (size_t)to->nk + (size_t)k) * (size_t)to->nl,
                   all + row * (size_t)f->nl + (to->lmin - f->lmin),
                   (size_t)to->nl * sizeof **F);
        }
    leave_out(s, lattice, to, *F);
    to->F = *F;
    to->n_tables = 1;
    to->hash = 0;
    s->factors = to;
    s->table = 0;
    return NB_OK;
}

/* --- tables --- */

/** Key of all inputs of a table. */
static nb_key key_of(const nb_diffuse_source *s)
{
    const nb_diffuse *m = s->model;
    const nb_factor_table *f = s->factors;
    const size_t voxels = (size_t)f->nh * (size_t)f->nk * (size_t)f->nl;
    /* the hash is set by nb_tables_sign */
    const uint64_t hash = f->measured && f->hash && f->n_tables <= 1
                              ? f->hash
                              : nb_table_run_of(nb_table_at(f, s->table), voxels, 1).hash;
    const int wholes[] = {f->hmin, f->kmin,  f->lmin,        f->nh,    f->nk,
                          f->nl,   m->gauss, m->unperturbed, s->direct};
    const double numbers[] = {m->sigma, m->gamma, s->reach};
    nb_key key = nb_key_of("diffuse light");
    nb_key_add(&key, &hash, sizeof hash);
    nb_key_add(&key, wholes, sizeof wholes);
    nb_key_add(&key, numbers, sizeof numbers);
    nb_key_add(&key, m->forms, (size_t)m->n_forms * sizeof *m->forms);
    return key;
}

typedef struct table_request {
    nb_diffuse_source source;
    uint64_t mark;
} table_request;

static nb_status make_table(void *user, void **object, size_t *bytes, nb_error *err)
{
    const table_request *r = user;
    nb_diffuse_table *table = NULL;
    nb_status st = nb_diffuse_table_new(&r->source, &table, err);
    if (!st) {
        table->mark = r->mark;
        *bytes = (size_t)nb_diffuse_table_bytes(table);
    }
    *object = table;
    return st;
}

nb_status nb_light_table_take(const nb_inputs *in, const nb_diffuse_source *source,
                              const nb_diffuse_table **table, nb_error *err)
{
    const nb_key key = key_of(source);
    table_request r = {*source, key.word[0] | 1};
    void *object;
    nb_status st;
    if (source->threads < in->light_threads)
        r.source.threads = nb_thread_count(in->light_threads);
    st = nb_store_take(in->store, &key, make_table, &r, &object, err);
    *table = object;
    return st;
}
