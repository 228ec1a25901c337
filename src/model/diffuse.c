/* SPDX-License-Identifier: MIT */
#include "scene_build.h"

#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../physics/limits.h"

/** Make form(h) = 4 pi^2 sum_k (size_k q_k)^2, q = h t. Rows of t: a*, b*, c*. */
static void form_of(const double size[3], double t[3][3], double form[6])
{
    double m[3][3];
    int exponent;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            m[i][j] = 0;
            for (int k = 0; k < 3; k++)
                m[i][j] += 4 * NB_PI * NB_PI * size[k] * size[k] * t[i][k] * t[j][k];
        }
    for (int i = 0; i < 3; i++)
        form[i] = m[i][i];
    form[3] = 2 * m[0][1];
    form[4] = 2 * m[0][2];
    form[5] = 2 * m[1][2];
    /* round, so that all orientations of the crystal give equal bits and frames share
     * tables */
    frexp(m[0][0] + m[1][1] + m[2][2], &exponent);
    for (int i = 0; i < 6; i++)
        /* the sum changes -0 to 0 */
        form[i] = ldexp(rint(ldexp(form[i], 40 - exponent)), exponent - 40) + 0.0;
}

/** Calculate out = R t: h t are the components of q at the indices h, and h out those at
 * the indices h R. */
static void turn(const int8_t R[9], double t[3][3], double out[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            out[i][k] =
                R[3 * i] * t[0][k] + R[3 * i + 1] * t[1][k] + R[3 * i + 2] * t[2][k];
}

static int is_like(const double a[6], const double b[6])
{
    for (int i = 0; i < 6; i++)
        if (fabs(a[i] - b[i]) > 1e-9 * (fabs(a[0]) + fabs(a[1]) + fabs(a[2])))
            return 0;
    return 1;
}

static void add_form(const nb_diffuse_form *form, nb_diffuse *out)
{
    for (int i = 0; i < out->n_forms; i++)
        if (is_like(out->forms[i].X, form->X) && is_like(out->forms[i].u2, form->u2)) {
            out->forms[i].part += form->part;
            return;
        }
    if (out->n_forms < NB_DIFFUSE_FORMS)
        out->forms[out->n_forms++] = *form;
}

/** Build the forms; sigma 0 has no form. sigma and gamma are along a*, c x a*, c. */
static void build(const nb_config *cfg, const nb_model_inputs *in, const nb_crystal *x,
                  nb_diffuse *out)
{
    static const int8_t identity[1][9] = {{1, 0, 0, 0, 1, 0, 0, 0, 1}};
    const int8_t(*R)[9] = in->n_rotations ? in->rotations : identity;
    const int n = in->n_rotations ? in->n_rotations : 1;
    const nb_vec3 stars[3] = {x->astar, x->bstar, x->cstar};
    const nb_vec3 axes[3] = {nb_unit(x->astar), nb_unit(nb_cross(x->c, x->astar)),
                             nb_unit(x->c)};
    const double *s = cfg->diffuse_sigma_A, *g = cfg->diffuse_gamma_A;
    double t[3][3], turned[3][3];
    memset(out, 0, sizeof *out);
    out->gauss = cfg->diffuse_halo == NB_HALO_GAUSS;
    out->unperturbed = cfg->diffuse_F == NB_DIFFUSE_UNPERTURBED;
    out->sigma = fmax(s[0], fmax(s[1], s[2]));
    out->gamma = fmax(g[0], fmax(g[1], g[2]));
    out->scale = x->N[0] * x->N[1] * x->N[2] / x->volume * g[0] * g[1] * g[2] *
                 (out->gauss ? pow(2 * NB_PI, 1.5) : 8 * NB_PI);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            t[i][k] = nb_dot(stars[i], axes[k]);
    for (int i = 0; i < n && out->sigma > 0; i++) {
        nb_diffuse_form form = {.part = 1.0 / n};
        turn(R[i], t, turned);
        form_of(s, turned, form.X);
        form_of(g, turned, form.u2);
        add_form(&form, out);
    }
}

/* limit of X in a sample, so that exp(-X) is not 0 in double */
static const double X_LIMIT = 500;

/** Multiply F of all tables by the square root of the fraction of the Bragg light that
 * the motions leave. */
static nb_status weaken(nb_model *m, nb_error *err)
{
    nb_factor_table *own = &m->scene.factors.table;
    size_t n = nb_table_values(own), box = n / (size_t)nb_table_count(own);
    double *F = nb_alloc_raw(n, sizeof *F, "structure factors", err);
    if (!F)
        return NB_ERR_NOMEM;
    for (size_t i = 0; i < box; i++) {
        int l = (int)(i % (size_t)own->nl),
            k = (int)(i / (size_t)own->nl % (size_t)own->nk),
            h = (int)(i / (size_t)own->nl / (size_t)own->nk);
        double left = sqrt(
            nb_diffuse_left(&m->diffuse, own->hmin + h, own->kmin + k, own->lmin + l));
        for (size_t at = i; at < n; at += box)
            F[at] = left * own->F[at];
    }
    m->weakened = F;
    own->F = F;
    own->hash = 0;
    nb_factor_table_measure(own);
    return NB_OK;
}

double nb_diffuse_reach(double seen, double dmin_A, double gamma_A)
{
    const double reach = (dmin_A > 0 ? fmin(seen, 1 / dmin_A) : seen) + 0.1 / gamma_A;
    return exp(ceil(log(reach) / 0.02) * 0.02);
}

nb_status nb_model_move(const nb_model_inputs *in, nb_model *m, nb_error *err)
{
    const nb_config *cfg = &m->settings.value;
    double X;
    if (!NB_TYPED(&m->settings, diffuse_sigma_A[0]))
        return NB_OK;
    build(cfg, in, &m->crystal, &m->diffuse);
    m->at_rest = m->scene.factors.table;
    X = pow(2 * NB_PI * m->diffuse.sigma * nb_scene_reach(&m->scene), 2);
    if (m->diffuse.n_forms && X > X_LIMIT)
        return nb_fail(
            err, NB_ERR_INPUT,
            "-diffuse_sigma: X = 4 pi^2 sigma^2/d^2 reaches %.3g on the detector, "
            "above %g: give a smaller one",
            X, X_LIMIT);
    if (cfg->diffuse_only)
        m->scene.factors.table = (nb_factor_table){.measured = 1};
    else if (m->diffuse.n_forms && m->diffuse.unperturbed)
        return weaken(m, err);
    return NB_OK;
}
