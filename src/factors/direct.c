/* SPDX-License-Identifier: MIT */
#include "sums.h"

#include <math.h>

#include "../base/threads.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "direct_row.h"

enum {
    CHUNK = 32,     /* number of blocks that stay in the cache for several rows */
    BATCH = 32,     /* number of rows that a thread takes at a time */
    STEEPEST = 200, /* largest exponent of a Gaussian for the recurrences */
};

/** True if an exponent of the site, of either sign, is too large for the recurrences. */
static int is_steep(const nb_site *s, double s2_limit)
{
    return !(fmax(fabs(s->B_low), fabs(s->B_high)) / 4 * s2_limit < STEEPEST);
}

/** beta of the image of a site: T(h R) = exp(-nb_s_squared(out, h)). */
static void turn_beta(const nb_symop *op, const double beta[6], double out[6])
{
    for (int i = 0; i < 6; i++) {
        int g[3];
        nb_hR(op, nb_six_indices[i], g);
        out[i] = nb_s_squared(beta, g[0], g[1], g[2]);
    }
    out[3] -= out[0] + out[1];
    out[4] -= out[0] + out[2];
    out[5] -= out[1] + out[2];
}

static void set_image(const nb_site *site, const nb_symop *op, int step,
                      nb_image_block *block, size_t lane)
{
    double x[3], beta[6];
    nb_image_of(op, site->x, x);
    for (int i = 0; i < 3; i++)
        x[i] -= nearbyint(x[i]);
    turn_beta(op, site->beta, beta);
    block->x[lane] = x[0];
    block->y[lane] = x[1];
    block->z[lane] = x[2];
    block->q[lane] = site->q;
    for (int i = 0; i < 6; i++)
        block->beta[i][lane] = beta[i];
    block->c[lane] = cos(2 * M_PI * step * x[2]);
    block->s[lane] = sin(2 * M_PI * step * x[2]);
    block->decay[lane] = exp(-2 * beta[2] * step * step);
}

/** List the images of all sites that are not steep, in an even number of blocks. */
static nb_status make_images(const nb_site *sites, size_t count,
                             const nb_sum_operators *o, double s2_limit,
                             nb_image_block **blocks, size_t *n, nb_error *err)
{
    size_t images, at = 0;
    if (!nb_size_mul(count, (size_t)o->count, &images))
        images = SIZE_MAX / 2;
    *blocks = nb_alloc(2 * (images / (2 * NB_BLOCK) + 1), sizeof **blocks,
                       "images of atoms", err);
    NB_NEED(*blocks);
    for (size_t i = 0; i < count; i++)
        for (int j = 0; j < o->count && !is_steep(&sites[i], s2_limit); j++, at++)
            set_image(&sites[i], &o->ops[j], o->l_step, &(*blocks)[at / NB_BLOCK],
                      at % NB_BLOCK);
    *n = 2 * ((at + 2 * NB_BLOCK - 1) / (2 * NB_BLOCK));
    return NB_OK;
}

/** The longest row that begins at `first` in the list. */
static nb_row row_at(const nb_index_list *r, size_t first, int step)
{
    const int *h = r->hkl[first];
    nb_row row = {h[0], h[1], h[2], step, 1};
    while (row.count < NB_ROW_MAX && first + (size_t)row.count < r->n) {
        const int *next = r->hkl[first + (size_t)row.count];
        if (next[0] != h[0] || next[1] != h[1] || next[2] != h[2] + step * row.count)
            break;
        row.count++;
    }
    return row;
}

/** A row and its index in the list. */
typedef struct piece {
    nb_row row;
    size_t first;
} piece;

static nb_status make_pieces(const nb_index_list *r, int step, piece **pieces,
                             size_t *count, nb_error *err)
{
    size_t n = 0, i = 0;
    for (size_t first = 0; first < r->n; n++)
        first += (size_t)row_at(r, first, step).count;
    *count = n;
    *pieces = nb_alloc_raw(n, sizeof **pieces, "rows of reflections", err);
    for (size_t first = 0; *pieces && first < r->n; i++) {
        (*pieces)[i].row = row_at(r, first, step);
        (*pieces)[i].first = first;
        first += (size_t)(*pieces)[i].row.count;
    }
    return *pieces ? NB_OK : NB_ERR_NOMEM;
}

static void sum_images(const nb_image_block *blocks, size_t n, const piece *pieces,
                       size_t count, const nb_sum_job *job, double *S)
{
    nb_direct_row_fn *row = NB_VARIANT(nb_direct_row, job->isa);
#pragma omp parallel for schedule(dynamic, 1) num_threads(job->threads)
    for (size_t batch = 0; batch < count; batch += BATCH) {
        size_t end = batch + BATCH < count ? batch + BATCH : count;
        for (size_t b = 0; b < n; b += CHUNK)
            for (size_t i = batch; i < end; i++)
                row(&blocks[b], n - b < CHUNK ? n - b : CHUNK, &pieces[i].row,
                    &S[2 * pieces[i].first]);
    }
}

/** Sum the sites with very large displacements term by term. */
static void sum_steep(const nb_site *sites, size_t count, const nb_sum_job *job, double *S)
{
    const nb_sum_operators *o = job->operators;
    const nb_index_list *r = &job->list;
    size_t steep = 0;
    for (size_t i = 0; i < count; i++)
        steep += (size_t)is_steep(&sites[i], r->s2_limit);
    if (steep == 0)
        return;
#pragma omp parallel for schedule(static) num_threads(job->threads)
    for (size_t n = 0; n < r->n; n++)
        for (size_t i = 0; i < count; i++)
            for (int j = 0; j < o->count && is_steep(&sites[i], r->s2_limit); j++) {
                int g[3];
                nb_hR(&o->ops[j], r->hkl[n], g);
                double T = exp(-nb_s_squared(sites[i].beta, g[0], g[1], g[2]));
                double turns = g[0] * sites[i].x[0] + g[1] * sites[i].x[1] +
                               g[2] * sites[i].x[2] + nb_ht(&o->ops[j], r->hkl[n]) / 24.;
                turns -= nearbyint(turns);
                S[2 * n] += sites[i].q * T * cos(2 * M_PI * turns);
                S[2 * n + 1] += sites[i].q * T * sin(2 * M_PI * turns);
            }
}

nb_status nb_direct_sum(const nb_site *sites, size_t count, const nb_sum_job *job,
                        double *S, nb_error *err)
{
    nb_image_block *blocks = NULL;
    piece *pieces = NULL;
    size_t n = 0, rows = 0;
    nb_status st =
        make_images(sites, count, job->operators, job->list.s2_limit, &blocks, &n, err);
    NB_TRY(make_pieces(&job->list, job->operators->l_step, &pieces, &rows, err));
    if (!st) {
        sum_images(blocks, n, pieces, rows, job, S);
        sum_steep(sites, count, job, S);
    }
    nb_free(pieces);
    nb_free(blocks);
    return st;
}
