/* SPDX-License-Identifier: MIT */
#include "sums.h"

#include <math.h>
#include <string.h>

#include "../base/fftw_lib.h"
#include "../base/error.h"
#include "../base/memory.h"

nb_status nb_mask_new(const double cell[6], const int n[3], nb_mask *out, nb_error *err)
{
    double A[9];
    size_t rows = (size_t)n[0] * (size_t)n[1];
    static const int pairs[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    memset(out, 0, sizeof *out);
    memcpy(out->n, n, sizeof out->n);
    nb_cell_axes(cell, A);
    for (int i = 0; i < 6; i++) {
        int a = pairs[i][0], b = pairs[i][1];
        double dot = A[a] * A[b] + A[3 + a] * A[3 + b] + A[6 + a] * A[6 + b];
        out->D[i] = (i < 3 ? 1 : 2) * dot / ((double)n[a] * n[b]);
    }
    out->words = (size_t)(n[2] + 63) / 64;
    out->bits = nb_alloc(rows * out->words, sizeof *out->bits, "the solvent mask", err);
    return out->bits ? NB_OK : NB_ERR_NOMEM;
}

void nb_mask_free(nb_mask *mask)
{
    nb_free(mask->bits);
    memset(mask, 0, sizeof *mask);
}

/** Set the bits from..to - 1. */
static void set_bits(uint64_t *row, int from, int to)
{
    for (int i = from / 64; 64 * i < to; i++) {
        uint64_t word = ~UINT64_C(0);
        if (from > 64 * i)
            word &= ~UINT64_C(0) << (from - 64 * i);
        if (to < 64 * (i + 1))
            word &= ~UINT64_C(0) >> (64 * (i + 1) - to);
        row[i] |= word;
    }
}

/** Set the bits from..from + count - 1 of a periodic row of n. */
static void set_run(uint64_t *row, int n, int from, int count)
{
    if (count >= n) {
        set_bits(row, 0, n);
        return;
    }
    while (from < 0) /* the run begins only a few cells away, so this takes few steps */
        from += n;
    while (from >= n)
        from -= n;
    if (from + count <= n) {
        set_bits(row, from, from + count);
    } else {
        set_bits(row, from, n);
        set_bits(row, 0, from + count - n);
    }
}

/** Steps *low..*high along w with squared distance <= limit. Returns 0 without steps. */
static int solve_row(const double D[6], double limit, double du, double dv, double *low,
                     double *high)
{
    double middle = -(D[4] * du + D[5] * dv) / (2 * D[2]);
    double rest = (limit - D[0] * du * du - D[1] * dv * dv - D[3] * du * dv) / D[2];
    double square = rest + middle * middle;
    if (!(square > 0))
        return 0;
    *low = middle - sqrt(square);
    *high = middle + sqrt(square);
    return 1;
}

/** Reach of a ball along axis i, in steps. */
static double reach(const nb_mask *m, double radius, int i)
{
    /* The square root of the diagonal of D^-1 is the largest step at a distance of 1. */
    const double d[9] = {m->D[0],     m->D[3] / 2, m->D[4] / 2, m->D[3] / 2, m->D[1],
                         m->D[5] / 2, m->D[4] / 2, m->D[5] / 2, m->D[2]};
    double inverse[9];
    nb_invert(d, inverse);
    return radius * sqrt(inverse[4 * i]);
}

/** Data for filling balls. */
typedef struct filling {
    const nb_mask *mask;
    const nb_ball *balls;
    double reach[2];         /* reach of a radius of 1 A along u, v, in steps */
    double per_w;            /* 1 / D[2] */
    double slope_u, slope_v; /* middle of a row: dw = slope_u du + slope_v dv */
} filling;

/** The function floor, without a call if the instruction set lacks the operation. */
static inline int floor_int(double x)
{
    int i = (int)x;
    return i - (i > x);
}

static void ball_extent(const void *things, size_t which, int from[2])
{
    const filling *f = things;
    const nb_ball *b = &f->balls[which];
    from[0] = (int)ceil(b->centre[0] - f->reach[0] * b->radius);
    from[1] = (int)floor(b->centre[0] + f->reach[0] * b->radius);
}

static void fill_section(const filling *f, const nb_visit *visit)
{
    const nb_mask *m = f->mask;
    const nb_ball *b = &f->balls[visit->which];
    double du = visit->u - b->centre[0], r = f->reach[1] * b->radius;
    double left = b->radius * b->radius - m->D[0] * du * du, across = m->D[3] * du;
    int v = -floor_int(r - b->centre[1]), last = floor_int(b->centre[1] + r);
    int row = nb_modulo(v, m->n[1]);
    size_t plane = (size_t)nb_modulo(visit->u, m->n[0]) * (size_t)m->n[1];
    for (; v <= last; v++, row = row + 1 == m->n[1] ? 0 : row + 1) {
        double dv = v - b->centre[1], middle = f->slope_u * du + f->slope_v * dv;
        double half = (left - dv * (across + m->D[1] * dv)) * f->per_w + middle * middle;
        int from;
        if (!(half > 0))
            continue;
        half = sqrt(half);
        middle += b->centre[2];
        from = -floor_int(half - middle);
        set_run(m->bits + (plane + (size_t)row) * m->words, m->n[2], from,
                floor_int(middle + half) - from + 1);
    }
}

nb_status nb_mask_set_balls(nb_mask *mask, const nb_ball *balls, size_t count,
                            int threads, nb_error *err)
{
    const filling f = {.mask = mask,
                       .balls = balls,
                       .reach = {reach(mask, 1, 0), reach(mask, 1, 1)},
                       .per_w = 1 / mask->D[2],
                       .slope_u = -mask->D[4] / (2 * mask->D[2]),
                       .slope_v = -mask->D[5] / (2 * mask->D[2])};
    nb_visits visits;
    nb_status st;
    (void)threads;
    NB_FORWARD(nb_visits_make(&f, count, ball_extent, mask->n[0], &visits, err));
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int u = 0; u < mask->n[0]; u++)
        for (size_t i = visits.first[u]; i < visits.first[u + 1]; i++)
            fill_section(&f, &visits.visit[i]);
    nb_visits_free(&visits);
    return NB_OK;
}

void nb_mask_invert(nb_mask *mask)
{
    size_t rows = (size_t)mask->n[0] * (size_t)mask->n[1];
    int beyond = (int)(64 * mask->words) - mask->n[2];
    for (size_t r = 0; r < rows; r++) {
        uint64_t *row = mask->bits + r * mask->words;
        for (size_t i = 0; i < mask->words; i++)
            row[i] = ~row[i];
        row[mask->words - 1] &= ~UINT64_C(0) >> beyond;
    }
}

size_t nb_mask_count(const nb_mask *mask)
{
    size_t words = (size_t)mask->n[0] * (size_t)mask->n[1] * mask->words, count = 0;
    for (size_t i = 0; i < words; i++)
        count += (size_t)__builtin_popcountll(mask->bits[i]);
    return count;
}

/** Data for widening a mask, whose rows are continued periodically on both sides. */
typedef struct widening {
    nb_mask *mask;
    int reach[3];  /* steps along u, v, w */
    size_t before; /* number of words before bit 0 */
    size_t words;  /* number of words of a row */
    uint64_t *rows;
    double limit; /* A^2 */
} widening;

static void continue_row(const widening *g, size_t r)
{
    const uint64_t *from = g->mask->bits + r * g->mask->words;
    uint64_t *row = g->rows + r * g->words;
    int n = g->mask->n[2], zero = (int)(64 * g->before);
    memset(row, 0, g->words * sizeof *row);
    memcpy(row + g->before, from, g->mask->words * sizeof *row);
    for (int j = 0; j < g->reach[2]; j++) {
        int after = zero + n + j, ahead = zero - 1 - j;
        if (nb_mask_at(from, j % n))
            row[after / 64] |= UINT64_C(1) << (after % 64);
        if (nb_mask_at(from, nb_modulo(-1 - j, n)))
            row[ahead / 64] |= UINT64_C(1) << (ahead % 64);
    }
}

/** Set bits of out: those of row, shifted so that point w + shift of row moves to w. */
static void or_shifted(const widening *g, const uint64_t *row, int shift, uint64_t *out)
{
    int from = (int)(64 * g->before) + shift, rest = from % 64;
    row += from / 64;
    for (size_t i = 0; i < g->mask->words; i++)
        out[i] |= rest ? row[i] >> rest | row[i + 1] << (64 - rest) : row[i];
}

static void widen_row(const widening *g, int u, int v)
{
    const nb_mask *m = g->mask;
    size_t r = (size_t)u * (size_t)m->n[1] + (size_t)v;
    uint64_t *out = m->bits + r * m->words;
    for (int du = -g->reach[0]; du <= g->reach[0]; du++)
        for (int dv = -g->reach[1]; dv <= g->reach[1]; dv++) {
            size_t other = (size_t)nb_modulo(u + du, m->n[0]) * (size_t)m->n[1] +
                           (size_t)nb_modulo(v + dv, m->n[1]);
            double low, high;
            if (!solve_row(m->D, g->limit, du, dv, &low, &high))
                continue;
            for (int w = (int)ceil(low); w <= (int)floor(high); w++)
                or_shifted(g, g->rows + other * g->words, w, out);
        }
    out[m->words - 1] &= ~UINT64_C(0) >> ((int)(64 * m->words) - m->n[2]);
}

nb_status nb_mask_widen(nb_mask *mask, double distance, int threads, nb_error *err)
{
    widening g = {.mask = mask, .limit = distance * distance};
    size_t rows = (size_t)mask->n[0] * (size_t)mask->n[1];
    (void)threads;
    for (int i = 0; i < 3; i++)
        g.reach[i] = (int)ceil(reach(mask, distance, i));
    g.before = (size_t)(g.reach[2] + 63) / 64;
    g.words = 2 * g.before + mask->words + 1;
    g.rows = nb_alloc_raw(rows * g.words, sizeof *g.rows, "the solvent mask", err);
    NB_NEED(g.rows);
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(static)
        for (size_t r = 0; r < rows; r++)
            continue_row(&g, r);
#pragma omp for schedule(static)
        for (int u = 0; u < mask->n[0]; u++)
            for (int v = 0; v < mask->n[1]; v++)
                widen_row(&g, u, v);
    }
    nb_free(g.rows);
    return NB_OK;
}

#define GRID_STEP 7.2 /* A; 12 points per step, so that points are <= 0.6 A apart */
#define PROBE 1.1     /* A; added to the van der Waals radii */
#define SHRINK 0.9    /* A; distance by which the protein region shrinks again */

/** List all images of all atoms except hydrogens. */
static nb_status list_balls(const nb_sites *sites, const nb_symmetry *sg, const int n[3],
                            nb_ball **balls, size_t *count, nb_error *err)
{
    const nb_symop *ops = sg->count ? sg->ops : nb_P1.ops;
    size_t operators = sg->count ? (size_t)sg->count : 1, room, at = 0;
    if (!nb_size_mul(sites->count, operators, &room))
        room = SIZE_MAX;
    *balls = nb_alloc_raw(room, sizeof **balls, "the solvent mask", err);
    NB_NEED(*balls);
    for (size_t i = 0; i < sites->count; i++) {
        const nb_site *s = &sites->site[i];
        for (size_t j = 0; j < operators && s->Z > 1; j++) {
            nb_ball *b = &(*balls)[at++];
            b->radius = nb_element_radius(s->Z) + PROBE;
            nb_image_of(&ops[j], s->x, b->centre);
            for (int k = 0; k < 3; k++)
                b->centre[k] = n[k] * (b->centre[k] - floor(b->centre[k]));
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
    nb_status st;
    for (int i = 0; i < 3; i++)
        n[i] = 12 * (int)fmax(1, ceil(p->cell[i] / GRID_STEP - 1e-9));
    st = nb_mask_new(p->cell, n, mask, err);
    NB_TRY(list_balls(sites, &p->symmetry, n, &balls, &count, err));
    NB_TRY(nb_mask_set_balls(mask, balls, count, threads, err));
    nb_free(balls);
    if (st)
        return st;
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

/** Reduce h to -n/2..n/2, because the sum over n points is periodic in h. */
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
    nb_status st;
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
    st = nb_fourier_make(&box, &planes, nb_fftw_need("solvent", NULL) != NB_OK, threads,
                         err);
    for (size_t i = 0; !st && i < out->n; i++) {
        int h[3];
        for (int j = 0; j < 3; j++)
            h[j] = reduce(out->hkl[i][j], box.n[j]);
        nb_fourier_at(&box, h, &out->M[2 * i]);
        out->M[2 * i] *= V / points;
        out->M[2 * i + 1] *= V / points;
    }
    nb_fourier_free(&box);
    return st;
}

nb_status nb_solvent_sum(const nb_sites *sites, nb_partials *out, int threads,
                         nb_error *err)
{
    nb_mask mask = {0};
    nb_status st = NB_ERR_NOMEM;
    out->M = nb_alloc_raw(out->n, 2 * sizeof *out->M, "the solvent", err);
    if (out->M)
        st = make_mask(sites, out, threads, &mask, err);
    if (!st) {
        double points = (double)mask.n[0] * mask.n[1] * mask.n[2];
        memcpy(out->solvent_grid, mask.n, sizeof mask.n);
        out->solvent_fraction = (double)nb_mask_count(&mask) / points;
        st = transform(&mask, out, threads, err);
    }
    nb_mask_free(&mask);
    return st;
}
