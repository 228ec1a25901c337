/* SPDX-License-Identifier: MIT */
#include "solvent.h"

#include <math.h>
#include <string.h>

#include "../base/fftw_lib.h"
#include "../base/memory.h"
#include "cell.h"
#include "mask.h"
#include "transform.h"

#define GRID_STEP 7.2 /* A; 12 points for each, begun ones included: 0.6 A at most */
#define PROBE 1.1     /* A, added to the van der Waals radii */
#define SHRINK 0.9    /* A, by which the solvent comes back */

/** All images of all atoms but hydrogens. */
static nb_status list_balls(const nb_sites *sites, const nb_symmetry *sg, const int n[3],
                            nb_ball **balls, size_t *count, nb_error *err)
{
    static const nb_symop identity = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    const nb_symop *ops = sg->count ? sg->ops : &identity;
    size_t operators = sg->count ? (size_t)sg->count : 1, room, at = 0;
    if (!nb_size_mul(sites->count, operators, &room))
        room = SIZE_MAX;
    *balls = nb_alloc_raw(room, sizeof **balls, "the solvent mask", err);
    if (!*balls)
        return NB_ERR_NOMEM;
    for (size_t i = 0; i < sites->count; i++) {
        const nb_site *s = &sites->site[i];
        for (size_t j = 0; j < operators && s->Z > 1; j++) {
            nb_ball *b = &(*balls)[at++];
            b->radius = nb_element_radius(s->Z) + PROBE;
            for (int k = 0; k < 3; k++) {
                const int8_t *R = &ops[j].R[3 * k];
                double x =
                    R[0] * s->x[0] + R[1] * s->x[1] + R[2] * s->x[2] + ops[j].t[k] / 24.;
                b->centre[k] = n[k] * (x - floor(x));
            }
        }
    }
    *count = at;
    return NB_OK;
}

static nb_status make_mask(const nb_sites *sites, const nb_partials *p, int threads,
                           nb_mask *mask, nb_error *err)
{
    nb_ball *balls = NULL;
    size_t count = 0;
    int n[3];
    nb_status status;
    for (int i = 0; i < 3; i++)
        n[i] = 12 * (int)fmax(1, ceil(p->cell[i] / GRID_STEP - 1e-9));
    status = nb_mask_new(p->cell, n, mask, err);
    if (status == NB_OK)
        status = list_balls(sites, &p->symmetry, n, &balls, &count, err);
    if (status == NB_OK)
        status = nb_mask_set_balls(mask, balls, count, threads, err);
    nb_free(balls);
    if (status != NB_OK)
        return status;
    nb_mask_invert(mask);
    return nb_mask_widen(mask, SHRINK, threads, err);
}

static void fill_plane(const void *data, int u, double *scratch, double *out)
{
    const nb_mask *m = data;
    (void)scratch;
    for (int v = 0; v < m->n[1]; v++) {
        const uint64_t *row =
            m->bits + ((size_t)u * (size_t)m->n[1] + (size_t)v) * m->words;
        for (int w = 0; w < m->n[2]; w++)
            *out++ = nb_mask_at(row, w);
    }
}

/** h modulo the grid, -n/2..n/2: the sum over points repeats. */
static int reduce(int h, int n)
{
    h %= n;
    return h > n / 2 ? h - n : h < -(n / 2) ? h + n : h;
}

static nb_status transform(const nb_mask *mask, nb_partials *out, int threads,
                           nb_error *err)
{
    nb_fourier_box box = {.s2_limit = nb_s_squared_limit(out->dmin)};
    const nb_planes planes = {.fill = fill_plane, .data = mask};
    nb_status status;
    double V = nb_cell_volume(out->cell), points = 1;
    nb_index_limits(out->cell, out->dmin, box.H);
    memcpy(box.n, mask->n, sizeof box.n);
    memcpy(box.G, out->G, sizeof box.G);
    for (int i = 0; i < 3; i++) {
        points *= box.n[i];
        if (2 * box.H[i] >= box.n[i]) {
            box.H[i] = box.n[i] / 2;
            box.s2_limit = INFINITY;
        }
    }
    status = nb_fourier_make(&box, &planes, nb_fftw_need("solvent", NULL) != NB_OK,
                             threads, err);
    for (size_t i = 0; status == NB_OK && i < out->n; i++) {
        int h[3];
        for (int j = 0; j < 3; j++)
            h[j] = reduce(out->hkl[i][j], box.n[j]);
        nb_fourier_at(&box, h, &out->M[2 * i]);
        out->M[2 * i] *= V / points;
        out->M[2 * i + 1] *= V / points;
    }
    nb_fourier_free(&box);
    return status;
}

nb_status nb_solvent_sum(const nb_sites *sites, nb_partials *out, int threads,
                         nb_error *err)
{
    nb_mask mask = {0};
    nb_status status = NB_ERR_NOMEM;
    out->M = nb_alloc_raw(out->n, 2 * sizeof *out->M, "the solvent", err);
    if (out->M)
        status = make_mask(sites, out, threads, &mask, err);
    if (status == NB_OK) {
        double points = (double)mask.n[0] * mask.n[1] * mask.n[2];
        memcpy(out->solvent_grid, mask.n, sizeof mask.n);
        out->solvent_fraction = (double)nb_mask_count(&mask) / points;
        status = transform(&mask, out, threads, err);
    }
    nb_mask_free(&mask);
    return status;
}
