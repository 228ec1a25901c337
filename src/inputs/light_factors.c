/* SPDX-License-Identifier: MIT */
/* F whose halos an image has, and how far they are wanted. */
#include <math.h>
#include <string.h>

#include "../base/memory.h"
#include "../factors/factors.h"
#include "../model/scene_build.h"
#include "../model/units.h"
#include "../physics/limits.h"
#include "light_store.h"
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
    /* a region has the halos of the image, and light that a footprint moves into it */
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

/** Indices of a table that reach as far, along one axis. */
static void cut(double most, int *low, int *n)
{
    const int first = *low > -most ? *low : (int)ceil(-most),
              last = *low + *n - 1 < most ? *low + *n - 1 : (int)floor(most);
    *low = first;
    *n = last - first + 1;
}

/** 0 beyond the reach, in the box of a table. */
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
