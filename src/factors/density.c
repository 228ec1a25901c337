/* SPDX-License-Identifier: MIT */
#include "sums.h"

#include <math.h>
#include <string.h>

#include "../base/threads.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "spread.h"

nb_status nb_visits_make(const void *things, size_t count, nb_extent_fn *extent,
                         int planes, nb_visits *out, nb_error *err)
{
    size_t n = (size_t)planes, *next;
    memset(out, 0, sizeof *out);
    /* next[p] runs through the visits of plane p. It ends at the first visit of p + 1. */
    out->first = nb_alloc(n + 2, sizeof *out->first, "planes of a grid", err);
    NB_NEED(out->first);
    next = out->first + 1;
    for (size_t i = 0; i < count; i++) {
        int from[2];
        extent(things, i, from);
        for (int u = from[0]; u <= from[1]; u++)
            next[nb_modulo(u, planes) + 1]++;
    }
    for (size_t p = 1; p <= n; p++)
        next[p] += next[p - 1];
    out->visit = nb_alloc_raw(next[n], sizeof *out->visit, "planes of a grid", err);
    if (!out->visit) {
        nb_visits_free(out);
        return NB_ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        int from[2];
        extent(things, i, from);
        for (int u = from[0]; u <= from[1]; u++)
            out->visit[next[nb_modulo(u, planes)]++] = (nb_visit){(int)i, u};
    }
    return NB_OK;
}

void nb_visits_free(nb_visits *visits)
{
    nb_free(visits->first);
    nb_free(visits->visit);
    memset(visits, 0, sizeof *visits);
}

#define EPSILON 1e-7     /* largest error by aliasing, at the edge of the sphere */
#define OVERSAMPLING 1.5 /* factor on the number of points along each axis */
#define LEAST_B (-8.0)   /* A^2; a site with a smaller B needs too much blur */
#define MAX_SKEW                                                                         \
    0.9 /* largest correlation of v and w; above it, corners of a window underflow */

/* Costs in nanoseconds (reports/cpu) for the choice of the quicker method. The costs are
 * constants, so that every machine makes the same choice and the same bits. */
#define NS_TERM 0.6   /* cost of the direct sum for each site, operator and reflection */
#define NS_POINT 0.25 /* cost of the grid for each point of the window of a site */
#define NS_SITE 2000. /* cost of the grid for each site */
#define NS_GRID 5.    /* cost of the transform for each point of the grid */
#define NS_GATHER 4.  /* cost after the transform for each operator and reflection */

int nb_smooth_size(double least)
{
    for (int n = (int)fmax(1, ceil(least - 1e-9));; n++) {
        static const int primes[] = {2, 3, 5};
        int left = n;
        for (int i = 0; i < 3; i++)
            while (left % primes[i] == 0)
                left /= primes[i];
        if (left == 1)
            return n;
    }
}

/** Density of sites on a grid. */
typedef struct density {
    int n[3];
    size_t pitch;
    nb_gaussian *gaussians;
    nb_visits visits;
    nb_spread_fn *spread;
} density;

/** Gaussian of a site with B raised by blur. Returns 0 if the grid cannot be used. */
static int make_gaussian(const nb_site *s, const double G[6], const int n[3], double blur,
                         nb_gaussian *out)
{
    const double cut = log(1 / EPSILON) + 2;
    double b[9], inverse[9], det, skew;
    static const int at[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
    for (int i = 0; i < 9; i++)
        b[i] = (s->beta[at[i]] + blur / 4 * G[at[i]]) / (at[i] < 3 ? 1 : 2);
    det = nb_invert(b, inverse);
    if (!(det > 0) || !(b[0] > 0) || !(inverse[4] > 0) || !(inverse[8] > 0))
        return 0;
    for (int i = 0; i < 3; i++)
        out->centre[i] = n[i] * (s->x[i] - floor(s->x[i]));
    /* exp(-E) with E = pi^2 d b^-1 d, d fractional, is the transform of exp(-h b h). */
    for (int i = 0; i < 9; i++)
        out->Q[at[i]] = M_PI * M_PI * inverse[i] * (at[i] < 3 ? 1 : 2) /
                        ((double)n[i / 3] * n[i % 3]);
    out->amplitude = s->q * sqrt(M_PI * M_PI * M_PI / det);
    out->reach = n[0] * sqrt(cut * b[0]) / M_PI;
    out->slope[0] = b[1] * n[1] / (b[0] * n[0]);
    out->slope[1] = b[2] * n[2] / (b[0] * n[0]);
    skew = 4 * out->Q[1] * out->Q[2] - out->Q[5] * out->Q[5];
    out->half[0] = sqrt(cut * 4 * out->Q[2] / skew);
    out->half[1] = sqrt(cut * 4 * out->Q[1] / skew);
    return skew > 4 * (1 - MAX_SKEW * MAX_SKEW) * out->Q[1] * out->Q[2];
}

static double window_points(const nb_gaussian *g)
{
    return (2 * g->reach + 1) * (2 * g->half[0] + 1) *
           (2 * g->half[1] + 1 + NB_SPREAD_STEP);
}

static void planes_of(const void *things, size_t which, int from[2])
{
    const nb_gaussian *g = (const nb_gaussian *)things + which;
    from[0] = (int)ceil(g->centre[0] - g->reach);
    from[1] = (int)floor(g->centre[0] + g->reach);
}

/** Number of points of a row of a plane, with the extra points after the end. */
static size_t row_pitch(const density *d, size_t count)
{
    double widest = 0;
    for (size_t i = 0; i < count; i++)
        widest = fmax(widest, 2 * d->gaussians[i].half[1] + 1);
    return ((size_t)d->n[2] + (size_t)widest + 2 * NB_SPREAD_STEP) / 8 * 8;
}

static void fill_plane(const void *data, int u, double *scratch, double *out)
{
    const density *d = data;
    size_t n1 = (size_t)d->n[1], n2 = (size_t)d->n[2];
    memset(scratch, 0, n1 * d->pitch * sizeof *scratch);
    d->spread(d->gaussians, d->visits.visit + d->visits.first[u],
              d->visits.first[u + 1] - d->visits.first[u], d->n, d->pitch, scratch);
    for (size_t v = 0; v < n1; v++) {
        const double *from = scratch + v * d->pitch;
        double *to = out + v * n2;
        memcpy(to, from, n2 * sizeof *to);
        for (size_t begin = n2; begin < d->pitch; begin += n2)
            for (size_t w = begin; w < d->pitch && w < begin + n2; w++)
                to[w - begin] += from[w];
    }
}

/** Data of a sum. */
typedef struct summing {
    const nb_sum_job *job;
    double G[6], blur;
    int n[3], H[3];
    double *S;
} summing;

/** Add to S: exp(blur s^2/4)/points times the sum over operators of X(h R) exp(2 pi i h
 * t). */
static void gather(const summing *s, const nb_fourier_box *box)
{
    double points = (double)s->n[0] * s->n[1] * s->n[2], c[24], d[24];
    for (int i = 0; i < 24; i++) {
        c[i] = cos(2 * M_PI / 24 * i);
        d[i] = sin(2 * M_PI / 24 * i);
    }
#pragma omp parallel for schedule(static) num_threads(s->job->threads)
    for (size_t i = 0; i < s->job->list.n; i++) {
        const int *h = s->job->list.hkl[i];
        double re = 0, im = 0;
        double k = exp(s->blur / 4 * nb_s_squared(s->G, h[0], h[1], h[2])) / points;
        for (int j = 0; j < s->job->operators->count; j++) {
            int g[3], t = nb_ht(&s->job->operators->ops[j], h);
            double X[2];
            nb_hR(&s->job->operators->ops[j], h, g);
            nb_fourier_at(box, g, X);
            re += X[0] * c[t] - X[1] * d[t];
            im += X[0] * d[t] + X[1] * c[t];
        }
        s->S[2 * i] += k * re;
        s->S[2 * i + 1] += k * im;
    }
}

static nb_status sum_on_grid(const summing *s, density *d, size_t count, nb_error *err)
{
    nb_fourier_box box = {.s2_limit = s->job->list.s2_limit};
    nb_planes planes = {.fill = fill_plane, .data = d};
    nb_status st =
        nb_visits_make(d->gaussians, count, planes_of, d->n[0], &d->visits, err);
    d->pitch = row_pitch(d, count);
    memcpy(box.n, s->n, sizeof box.n);
    memcpy(box.H, s->H, sizeof box.H);
    memcpy(box.G, s->G, sizeof box.G);
    planes.scratch = (size_t)d->n[1] * d->pitch;
    NB_TRY(nb_fourier_make(&box, &planes, 0, s->job->threads, err));
    if (!st)
        gather(s, &box);
    nb_fourier_free(&box);
    return st;
}

/** Choose grid and blur, and divide the sites into `direct` and d->gaussians (the grid).
 * Returns the time of the grid minus the time of a direct sum of the grid's sites, in ns,
 * or -1 with only_grid. */
static double divide(summing *s, const nb_site *sites, size_t count, density *d,
                     nb_site *direct, size_t *n_direct, size_t *n_grid)
{
    double each = NS_TERM * s->job->operators->count * (double)s->job->list.n,
           B = INFINITY, gain;
    double R = INFINITY;
    *n_direct = *n_grid = 0;
    for (int i = 0; i < 3; i++) {
        s->n[i] = nb_smooth_size(2 * OVERSAMPLING * s->job->cell[i] / s->job->dmin);
        R = fmin(R, s->n[i] * s->job->dmin / (2 * s->job->cell[i]));
    }
    memcpy(d->n, s->n, sizeof d->n);
    for (size_t i = 0; i < count; i++)
        if (sites[i].B_low >= LEAST_B)
            B = fmin(B, sites[i].B_low);
    s->blur = fmax(0, log(1 / EPSILON) * s->job->dmin * s->job->dmin / (R * (R - 1)) - B);
    gain = -NS_GATHER * s->job->operators->count * (double)s->job->list.n -
           NS_GRID * s->n[0] * s->n[1] * s->n[2];
    for (size_t i = 0; i < count; i++) {
        nb_gaussian *g = &d->gaussians[*n_grid];
        int fits =
            sites[i].B_low >= LEAST_B && make_gaussian(&sites[i], s->G, s->n, s->blur, g);
        double cost = fits ? NS_SITE + NS_POINT * window_points(g) : INFINITY;
        if (cost < each || (fits && s->job->only_grid)) {
            gain += each - cost;
            ++*n_grid;
        } else {
            direct[(*n_direct)++] = sites[i];
        }
    }
    return s->job->only_grid && *n_grid ? -1 : -gain;
}

nb_status nb_density_sum(const nb_site *sites, size_t count, const nb_sum_job *job,
                         double *S, int grid[3], nb_error *err)
{
    summing s = {.job = job, .S = S};
    density d = {.spread = NB_VARIANT(nb_spread, job->isa)};
    nb_site *direct = nb_alloc_raw(count, sizeof *direct, "atoms", err);
    size_t n_direct = 0, n_grid = 0;
    nb_status st = NB_ERR_NOMEM;
    if (direct)
        d.gaussians = nb_alloc_raw(count, sizeof *d.gaussians, "atoms", err);
    nb_reciprocal_metric(job->cell, s.G);
    nb_index_limits(job->cell, job->dmin, s.H);
    if (d.gaussians) {
        if (divide(&s, sites, count, &d, direct, &n_direct, &n_grid) >= 0)
            st = nb_direct_sum(sites, count, job, S, err);
        else {
            memcpy(grid, s.n, sizeof s.n);
            st = nb_direct_sum(direct, n_direct, job, S, err);
            NB_TRY(sum_on_grid(&s, &d, n_grid, err));
        }
    }
    nb_visits_free(&d.visits);
    nb_free(d.gaussians);
    nb_free(direct);
    return st;
}
