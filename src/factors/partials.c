/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../base/fftw_lib.h"
#include "../base/memory.h"
#include "sums.h"
#include "model.h"
#include "factors.h"

/* with -sf_method auto, limit of atoms x operators x reflections for a direct sum */
#define TERMS_DIRECT 5e7

/* if there are more terms, a note gives the estimated time */
#define TERMS_TO_NOTE 5e9
#define SECONDS_A_TERM 6e-10 /* seconds of one thread (reports/cpu) */
#define LEAST_DMIN 0.25      /* A; s = 4/A, because the table of f0 ends at s/2 = 2/A */

/** Data of a sum over a model. */
typedef struct making {
    const nb_structure *structure;
    const nb_model_options *options;
    const char *name;
    const nb_hooks *hooks;
    nb_sites sites;
} making;

static nb_status check(const making *m, nb_error *err)
{
    const nb_structure *s = m->structure;
    int H[3];
    if (!(m->options->dmin >= LEAST_DMIN))
        return nb_fail(err, NB_ERR_INPUT,
                       "-dmin %g: scattering factors of atoms end at d = %g A: give a "
                       "larger -dmin",
                       m->options->dmin, LEAST_DMIN);
    if (!(s->cell[0] > 0) || !(nb_cell_volume(s->cell) > 0))
        return nb_fail_at(err, NB_ERR_INPUT, m->name, 0,
                          "the model has no cell with a volume: give -cell");
    nb_index_limits(s->cell, m->options->dmin, H);
    return nb_factor_grid_check(H, err);
}

static nb_status list_reflections(const making *m, nb_partials *out, nb_error *err)
{
    const nb_structure *s = m->structure;
    memcpy(out->cell, s->cell, sizeof out->cell);
    nb_reciprocal_metric(s->cell, out->G);
    out->dmin = m->options->dmin;
    out->symmetry = s->symmetry;
    if (!nb_group_fits(&out->symmetry, out->G))
        nb_notice(
            m->hooks,
            "%s: the cell has not the symmetry of %s; each reflection is summed for "
            "itself",
            m->name, s->symmetry.name);
    return nb_unique_reflections(&out->symmetry, out->cell, out->dmin,
                                 m->options->with_000, &out->hkl, &out->n, err);
}

/** List the elements in order of Z, with sums of 0. */
static nb_status list_elements(const making *m, nb_partials *out, nb_error *err)
{
    const nb_sites *sites = &m->sites;
    int n = 0;
    for (size_t i = 0; i < sites->count; i++)
        n += i == 0 || sites->site[i].Z != sites->site[i - 1].Z;
    out->elements = nb_alloc((size_t)n, sizeof *out->elements, "elements", err);
    NB_NEED(out->elements);
    out->n_elements = n;
    n = -1;
    for (size_t i = 0; i < sites->count; i++) {
        if (i == 0 || sites->site[i].Z != sites->site[i - 1].Z)
            out->elements[++n].Z = sites->site[i].Z;
        out->elements[n].atoms++;
    }
    for (n = 0; n < out->n_elements; n++) {
        nb_element_sum *e = &out->elements[n];
        nb_element_f0(e->Z, e->abc);
        e->P = nb_alloc(out->n, 2 * sizeof *e->P, "structure factors of an element", err);
        NB_NEED(e->P);
    }
    out->atoms = sites->count;
    out->special = sites->special;
    out->alternates = sites->alternates;
    return NB_OK;
}

/** Choose the direct sum or FFT. */
static nb_status choose(const making *m, nb_partials *out, nb_error *err)
{
    int operators = out->symmetry.count ? out->symmetry.count : 1;
    double terms = (double)out->atoms * operators * (double)out->n;
    nb_error why = {0};
    out->method = m->options->method;
    if (out->method == NB_SUM_FFT)
        return nb_fftw_need("-sf_method fft", err);
    if (out->method == NB_SUM_DIRECT)
        return NB_OK;
    out->method = NB_SUM_DIRECT;
    if (terms <= TERMS_DIRECT)
        return NB_OK;
    if (nb_fftw_need("-sf_method auto", &why) == NB_OK)
        out->method = NB_SUM_FFT;
    else if (terms > TERMS_TO_NOTE)
        nb_notice(m->hooks,
                  "%s: the direct sum of %.2g terms takes about %.0f s; with FFTW "
                  "(libfftw3-dev at build time) it would be a few (%s)",
                  m->name, terms, terms * SECONDS_A_TERM / m->options->threads,
                  why.message);
    return NB_OK;
}

static nb_status sum_elements(const making *m, nb_partials *out, nb_error *err)
{
    nb_sum_operators operators;
    const nb_sum_job job = {
        .operators = &operators,
        .list = {(const int(*)[3])out->hkl, out->n, nb_s_squared_limit(out->dmin)},
        .cell = out->cell,
        .dmin = out->dmin,
        .threads = m->options->threads,
        .isa = m->options->isa};
    const nb_site *site = m->sites.site;
    nb_status st = NB_OK;
    nb_sum_operators_of(&out->symmetry, &operators);
    for (int e = 0; e < out->n_elements && !st; e++) {
        nb_element_sum *sum = &out->elements[e];
        st = out->method == NB_SUM_DIRECT
                 ? nb_direct_sum(site, sum->atoms, &job, sum->P, err)
                 : nb_density_sum(site, sum->atoms, &job, sum->P, out->density_grid, err);
        nb_complete_sums(&operators, job.list.hkl, out->n, sum->P);
        site += sum->atoms;
    }
    /* without a grid, since the direct sum was quicker for each element */
    if (out->density_grid[0] == 0)
        out->method = NB_SUM_DIRECT;
    return st;
}

static double f0(const double abc[9], double s2)
{
    double f = abc[8];
    for (int i = 0; i < 4; i++)
        f += abc[i] * exp(-abc[4 + i] * (s2 / 4));
    return f;
}

/** Sum f0 P_e of all elements and the solvent. */
static nb_status sum_steady(nb_partials *out, int threads, nb_error *err)
{
    (void)threads;
    out->steady = nb_alloc_raw(out->n, 2 * sizeof *out->steady, "structure factors", err);
    NB_NEED(out->steady);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (size_t i = 0; i < out->n; i++) {
        const int *h = out->hkl[i];
        double s2 = nb_s_squared(out->G, h[0], h[1], h[2]), re = 0, im = 0;
        for (int e = 0; e < out->n_elements; e++) {
            double f = f0(out->elements[e].abc, s2);
            re += f * out->elements[e].P[2 * i];
            im += f * out->elements[e].P[2 * i + 1];
        }
        if (out->M) {
            double k = out->k_sol * exp(-out->B_sol * (s2 / 4));
            re += k * out->M[2 * i];
            im += k * out->M[2 * i + 1];
        }
        out->steady[2 * i] = re;
        out->steady[2 * i + 1] = im;
    }
    return NB_OK;
}

static nb_status sum_all(making *m, nb_partials *out, nb_error *err)
{
    nb_status st = check(m, err);
    NB_TRY(nb_sites_make(m->structure, m->options, m->name, m->hooks, &m->sites, err));
    NB_TRY(list_reflections(m, out, err));
    NB_TRY(list_elements(m, out, err));
    NB_TRY(choose(m, out, err));
    NB_TRY(sum_elements(m, out, err));
    out->k_sol = m->options->k_sol;
    out->B_sol = m->options->B_sol;
    out->solvent_fraction = NAN;
    if (!st && out->k_sol > 0)
        st = nb_solvent_sum(&m->sites, out, m->options->threads, err);
    return !st ? sum_steady(out, m->options->threads, err) : st;
}

nb_status nb_partials_make(const nb_structure *structure, const nb_model_options *options,
                           const char *name, const nb_hooks *hooks, nb_partials *out,
                           nb_error *err)
{
    making m = {.structure = structure, .options = options, .name = name, .hooks = hooks};
    nb_status st;
    memset(out, 0, sizeof *out);
    st = sum_all(&m, out, err);
    nb_sites_free(&m.sites);
    if (st)
        nb_partials_free(out);
    return st;
}

void nb_partials_free(nb_partials *partials)
{
    for (int e = 0; partials->elements && e < partials->n_elements; e++)
        nb_free(partials->elements[e].P);
    nb_free(partials->elements);
    nb_free(partials->hkl);
    nb_free(partials->steady);
    nb_free(partials->M);
    memset(partials, 0, sizeof *partials);
}
