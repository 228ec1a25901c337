/* SPDX-License-Identifier: MIT */
/* Tables of diffuse light that frames share whose B and cell vary. */
#include <math.h>
#include <string.h>

#include "../base/memory.h"
#include "../physics/limits.h"
#include "../model/diffuse.h"
#include "../model/units.h"
#include "../params/params.h"
#include "light.h"

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

/* --- which family --- */

static int is_inside(double x, const double range[2])
{
    return x >= range[0] && x <= range[1];
}

/** Has a table of one point an index, the coarsest, room? */
static int has_room(const nb_diffuse_source *s)
{
    double bytes = sizeof(float);
    for (int i = 0; i < 3; i++)
        bytes *= 2 * ceil(s->reach * s->edge[i]) + 1;
    return bytes <= NB_DIFFUSE_BYTES;
}

/** Has this crystal tables of F that a family can make again? */
static int is_simple(const nb_inputs *in, const nb_model *m)
{
    const nb_config *cfg = &m->settings.value;
    return !m->damage.given && !cfg->twin[0] && !m->is_mixed && cfg->default_F == 0 &&
           !in->tables.typed_F && nb_table_count(&m->at_rest) == 1 &&
           (!in->factors || (in->sums && in->tables.waves)) &&
           nb_light_reach(m) <= cfg->diffuse_tables[NB_TABLES_REACH];
}

/** The factor of the edges; NaN: they are not those of the law. */
static double scale_of(const nb_config *cfg)
{
    const double *edge = cfg->diffuse_tables + NB_TABLES_EDGE,
                 scale = cfg->cell[0] / edge[0];
    for (int i = 0; i < 3; i++)
        if (!(fabs(cfg->cell[i] / (edge[i] * scale) - 1) < 1e-9) || cfg->cell_count <= i)
            return NAN;
    return scale;
}

/** The crystal with the edges of factor 1, of one orientation, so that its numbers are those of every frame. */
static int base_crystal(const nb_model *m, nb_crystal *out)
{
    const nb_crystal_inputs none = {0};
    nb_config *cfg = nb_alloc_raw(1, sizeof *cfg, "a crystal", NULL);
    nb_status st = cfg ? NB_OK : NB_ERR_NOMEM;
    if (!st) {
        *cfg = m->settings.value;
        memcpy(cfg->cell, cfg->diffuse_tables + NB_TABLES_EDGE, 3 * sizeof *cfg->cell);
        cfg->misset_mode = NB_MISSET_NONE;
        st = nb_crystal_build(NB_RESOLVED(cfg), &none, NULL, out, NULL);
    }
    nb_free(cfg);
    return !st;
}

/** The motions of the crystal with other edges. */
static void move(const nb_inputs *in, const nb_model *m, const nb_crystal *x,
                 nb_diffuse *out)
{
    int8_t R[NB_SYMOPS_MOST][9];
    nb_motions motions = nb_motions_of(&m->settings.value);
    motions.n_R = nb_factor_files_rotations(in->factors, R);
    motions.R = (const int8_t(*)[9])R;
    nb_diffuse_build(&motions, x, out);
}

/** The range of B in the cell of factor 1: a list without a cell takes s of each crystal's. */
static void set_B(const nb_model *m, int moves, nb_light_request *s, nb_light_member *at)
{
    const nb_config *cfg = &m->settings.value;
    const double *law = cfg->diffuse_tables + NB_TABLES_B;
    const int varies = law[0] < law[1];
    double *B = s->range.B;
    B[0] = B[1] = varies ? law[0] : cfg->B_add;
    at->B = cfg->B_add / (moves ? at->scale * at->scale : 1);
    if (moves)
        B[0] = B[1] = B[0] / (s->range.scale[0] * s->range.scale[0]);
    for (int i = 0; i < 4; i++) {
        const double square = moves ? pow(s->range.scale[i & 1], 2) : 1;
        const double end = (varies ? law[i >> 1] : cfg->B_add) / square;
        B[0] = fmin(B[0], end);
        B[1] = fmax(B[1], end);
    }
}

/** The parts of the family that follow from the cell. */
static int set_cell(const nb_inputs *in, const nb_model *m, nb_diffuse *model,
                    nb_light_request *s, nb_light_member *at)
{
    const nb_config *cfg = &m->settings.value;
    const double *law = cfg->diffuse_tables + NB_TABLES_SCALE;
    nb_crystal base;
    memcpy(s->range.scale, law, sizeof s->range.scale);
    at->scale = scale_of(cfg);
    if (!is_inside(at->scale, law) || !base_crystal(m, &base))
        return 0;
    move(in, m, &base, model);
    memcpy(s->of.edge, base.edge, sizeof s->of.edge);
    if (in->factors && in->factors->cell_is_typed)
        nb_factor_cell_of(&base, s->cell);
    if (s->lattice[0] > 0)
        nb_factor_cell_of(&base, s->lattice);
    return 1;
}

int nb_light_family_of(const nb_inputs *in, const nb_model *m, nb_diffuse *model,
                       nb_light_request *source, nb_light_member *at)
{
    const nb_config *cfg = &m->settings.value;
    const double *law = cfg->diffuse_tables;
    const int B_varies = law[NB_TABLES_B] < law[NB_TABLES_B + 1],
              cell_varies = law[NB_TABLES_SCALE] < law[NB_TABLES_SCALE + 1];
    nb_factor_weight weight = {.k = 1};
    nb_light_request s = *source;
    if (!(B_varies || cell_varies) || !is_simple(in, m) || (B_varies && !in->factors) ||
        (B_varies && !is_inside(cfg->B_add, law + NB_TABLES_B)))
        return 0;
    if (in->factors)
        weight = nb_factor_weight_of(in->factors, &m->crystal, &m->settings);
    memcpy(s.cell, weight.cell, sizeof s.cell);
    s.range = (nb_diffuse_range){{0, 0}, {1, 1}};
    *at = (nb_light_member){0, 1, weight.k};
    *model = m->diffuse;
    if (cell_varies && !set_cell(in, m, model, &s, at))
        return 0;
    if (in->factors)
        set_B(m, cell_varies && in->factors->cell_is_typed, &s, at);
    s.is_family = 1;
    s.of.model = model;
    s.of.reach = law[NB_TABLES_REACH];
    if (!has_room(&s.of))
        return 0;
    s.in = in->factors ? in : NULL;
    *source = s;
    return 1;
}

/* --- its tables --- */

/** 0 beyond the reach, in the box of a table. */
static void leave_out(const nb_light_request *s, const nb_factor_table *f, double *F)
{
    double G[6];
    if (!(s->lattice[0] > 0))
        return;
    nb_reciprocal_metric(s->lattice, G);
    for (int h = 0; h < f->nh; h++)
        for (int k = 0; k < f->nk; k++)
            for (int l = 0; l < f->nl; l++, F++)
                if (nb_s_squared(G, f->hmin + h, f->kmin + k, f->lmin + l) >
                    s->of.reach * s->of.reach)
                    *F = 0;
}

/** Indices of a table that reach as far, along one axis. */
static void cut(double most, int *low, int *n)
{
    const int first = *low > -most ? *low : (int)ceil(-most),
              last = *low + *n - 1 < most ? *low + *n - 1 : (int)floor(most);
    *low = first;
    *n = last - first + 1;
}

nb_status nb_light_clip(nb_light_request *s, nb_factor_table *room, double **F,
                        nb_error *err)
{
    const nb_factor_table *f = s->of.factors;
    const double *all = nb_table_at(f, s->of.table), q = s->of.reach;
    nb_factor_table to = *f;
    *F = NULL;
    if (!(s->lattice[0] > 0))
        return NB_OK;
    cut(q * s->lattice[0], &to.hmin, &to.nh);
    cut(q * s->lattice[1], &to.kmin, &to.nk);
    cut(q * s->lattice[2], &to.lmin, &to.nl);
    *F = nb_alloc_raw((size_t)to.nh * (size_t)to.nk * (size_t)to.nl, sizeof **F,
                      "structure factors", err);
    if (!*F)
        return NB_ERR_NOMEM;
    for (int h = 0; h < to.nh; h++)
        for (int k = 0; k < to.nk; k++) {
            const size_t row = (size_t)(to.hmin + h - f->hmin) * (size_t)f->nk +
                               (size_t)(to.kmin + k - f->kmin);
            memcpy(*F + ((size_t)h * (size_t)to.nk + (size_t)k) * (size_t)to.nl,
                   all + row * (size_t)f->nl + (to.lmin - f->lmin),
                   (size_t)to.nl * sizeof **F);
        }
    leave_out(s, &to, *F);
    to.F = *F;
    to.n_tables = 1;
    to.hash = 0;
    *room = to;
    s->of.factors = room;
    s->of.table = 0;
    return NB_OK;
}

void nb_light_weigh(const nb_light_request *s, double B, double *F)
{
    const nb_factor_table *f = s->of.factors;
    const nb_factor_box box = {{f->hmin, f->kmin, f->lmin}, {f->nh, f->nk, f->nl}};
    const size_t n = nb_factor_box_voxels(&box);
    const nb_factor_files *files = s->in->factors;
    nb_factor_weight weight = {.k = 1, .B = B};
    memcpy(weight.cell, s->cell, sizeof weight.cell);
    nb_factor_sums_fill(s->in->sums, weight, s->in->tables.waves->group, &box,
                        s->of.threads, F);
    if (!files->list_path && !NB_TYPED(&files->settings, F000)) /* in the direct beam */
        F[n / 2] = 0;
    for (size_t i = 0; i < n; i++)
        F[i] = isnan(F[i]) ? 0 : F[i];
    leave_out(s, f, F);
}

/** The largest s of a reflection that is not 0, 1/A. */
static double largest_s(const nb_light_request *s, const double *F)
{
    const nb_factor_table *f = s->of.factors;
    double G[6], most = 0;
    nb_reciprocal_metric(s->cell, G);
    for (int h = 0; h < f->nh; h++)
        for (int k = 0; k < f->nk; k++)
            for (int l = 0; l < f->nl; l++)
                if (*F++ != 0)
                    most = fmax(most,
                                nb_s_squared(G, f->hmin + h, f->kmin + k, f->lmin + l));
    return sqrt(most);
}

/** Forms of larger edges: index rows are as much shorter. */
static void grow(double scale, nb_diffuse *model)
{
    for (int r = 0; r < model->n_forms; r++)
        for (int i = 0; i < 6; i++) {
            model->forms[r].X[i] /= scale * scale;
            model->forms[r].u2[i] /= scale * scale;
        }
}

/** Table i of a family; F: NULL or room for its own. */
static nb_status make_one(const nb_light_request *s, int i, double *F, nb_light_table *t,
                          nb_error *err)
{
    const double scale = nb_diffuse_node_scale(&t->nodes, i);
    nb_factor_table factors = *s->of.factors;
    nb_diffuse model = *s->of.model;
    nb_diffuse_source one = s->of;
    nb_status st;
    grow(scale, &model);
    one.model = &model;
    if (F) {
        nb_light_weigh(s, nb_diffuse_node_B(&t->nodes, i), F);
        factors.F = F;
        one.factors = &factors;
        one.table = 0;
    }
    for (int k = 0; k < 3; k++)
        one.edge[k] *= scale;
    one.reach *= s->range.scale[1] / scale; /* of the same indices */
    one.shares = t->nodes.n_first + t->nodes.n_more;
    one.like = i ? t->table[0] : NULL;
    st = nb_diffuse_table_new(&one, &t->table[i], err);
    t->n += !st;
    return st;
}

static void give_up(nb_light_table *t)
{
    for (int i = 0; i < t->n; i++)
        nb_diffuse_table_free(t->table[i]);
    t->n = 0;
}

nb_status nb_light_family_make(const nb_light_request *s, nb_light_table *t, nb_error *err)
{
    const nb_factor_table *f = s->of.factors;
    const size_t voxels = (size_t)f->nh * (size_t)f->nk * (size_t)f->nl;
    double *F = NULL, s_most = 0;
    nb_status st = NB_OK;
    int n;
    if (s->in && !(F = nb_alloc_raw(voxels, sizeof *F, "structure factors", err)))
        return NB_ERR_NOMEM;
    if (F) {
        nb_light_weigh(s, 0, F);
        s_most = largest_s(s, F);
    }
    n = nb_diffuse_choose_nodes(&s->range, s_most, &t->nodes);
    for (int i = 0; !st && i < n; i++) {
        st = make_one(s, i, F, t, err);
        if (!st && n * nb_diffuse_table_bytes(t->table[0]) > NB_DIFFUSE_BYTES)
            n = 0;
    }
    if (st || n == 0)
        give_up(t);
    nb_free(F);
    return st == NB_ERR_INPUT ? NB_OK : st; /* the frame's own table says what is wrong */
}
