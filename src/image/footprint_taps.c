/* SPDX-License-Identifier: MIT */
#include "footprint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../physics/hostdevice.h"

/* The even light of a pixel, moved by u and counted in pixel d, is tri(u_x-d_x)
 * tri(u_y-d_y) with tri(z) = max(0, 1 - |z|). A tap is its mean over the footprint: an
 * integral in closed form along y, and by Gauss-Legendre between kinks along x. Taps are
 * even, so that x >= 0 suffices. */

static const double SIGMAS = 6;       /* range of a Gaussian, standard deviations */
static const double ROUNDING = 1e-15; /* smaller taps are 0 */
static const double NARROW = 1e-3;    /* least width of a box, pixels */
static const double SHARPEST =
    .04; /* least width of a Gaussian along y, in pixels or in widths along x */

enum { NODES_MAX = 16 };

/** Nodes and weights of Gauss-Legendre for the interval -1 to 1. */
typedef struct rule {
    int n;
    double x[NODES_MAX], w[NODES_MAX];
} rule;

static rule legendre(int n)
{
    rule r = {.n = n};
    for (int i = 0; i < n; i++) {
        double x = cos(NB_PI * (i + 0.75) / (n + 0.5)), slope = 1;
        for (int step = 0; step < 8; step++) { /* Newton's method; five steps are enough */
            double p = 1, before = 0;
            for (int k = 1; k <= n; k++) {
                const double next = ((2 * k - 1) * x * p - (k - 1) * before) / k;
                before = p;
                p = next;
            }
            slope = n * (x * p - before) / (x * x - 1);
            x -= p / slope;
        }
        r.x[i] = x;
        r.w[i] = 2 / ((1 - x * x) * slope * slope);
    }
    return r;
}

/** The taps that are being made. x is the edge along which the integration is numerical:
 * fast or slow. */
typedef struct sums {
    int x, y;             /* taps go from -x to x and from -y to y */
    ptrdiff_t by_x, by_y; /* steps from one tap to the next */
    double *w;            /* address of the middle tap */
    /* addresses of the middle slopes, or NULL; of a Gaussian: by xx, xy, yy of the
     * covariance */
    double *slope[4];
    double *line; /* [3][2 y + 3], work space for one x */
} sums;

/* --- Gaussian --- */

typedef struct normal {
    double xx, across,
        /* variance of x; at a given x, y has mean `across` x and standard deviation s */
        s;
} normal;

static double density(double t)
{
    return exp(-t * t / 2) / sqrt(2 * NB_PI);
}

static double second(const double *p)
{
    return p[-1] - 2 * p[0] + p[1];
}

/** Fill to->line at x. For each j: the mean of max(0, y - j), the fraction of y > j, and
 * the density at y = j. */
static void gauss_line(const sums *to, const normal *g, double x)
{
    const int n = 2 * to->y + 3;
    for (int i = 0; i < n; i++) {
        const double z = g->across * x - (i - to->y - 1), t = z / g->s;
        const double above = erfc(-t / sqrt(2)) / 2, at = density(t);
        to->line[i] = z * above + g->s * at;
        to->line[n + i] = above;
        to->line[2 * n + i] = at / g->s;
    }
}

/** Add `part` of light of weight q to the taps of column d. slope: d(part)/dx. */
static void gauss_column(const sums *to, int d, double q, double part, double slope)
{
    const int n = 2 * to->y + 3;
    if (d > to->x)
        return;
    for (int j = -to->y; j <= to->y; j++) {
        const ptrdiff_t at = d * to->by_x + j * to->by_y;
        const double *line = to->line + j + to->y + 1;
        to->w[at] += q * part * second(line);
        if (!to->slope[0])
            continue;
        to->slope[1][at] += q * slope * second(line + n);
        to->slope[2][at] += 0.5 * q * part * second(line + 2 * n);
    }
}

/** Slope by the variance of x: half of the second difference of the light at whole x. */
static void gauss_by_xx(const sums *to, const normal *g)
{
    const double sigma = sqrt(g->xx);
    for (int x = 0; x <= to->x + 1 && x <= SIGMAS * sigma; x++) {
        const double q = density(x / sigma) / sigma * (x == 0 ? 0.25 : 0.5);
        gauss_line(to, g, x);
        for (int d = x - 1; d <= x + 1; d++)
            for (int j = -to->y; d <= to->x && j <= to->y; j++)
                to->slope[0][d * to->by_x + j * to->by_y] +=
                    (d == x ? -2 : 1) * q * second(to->line + j + to->y + 1);
    }
}

/** Add the light at x from `from` to `end`, between the whole numbers k and k + 1. */
static void gauss_piece(const sums *to, const normal *g, const rule *r, double from,
                        double end, int k)
{
    const double sigma = sqrt(g->xx), half = (end - from) / 2;
    for (int i = 0; i < r->n; i++) {
        const double x = from + half * (1 + r->x[i]);
        const double q = half * r->w[i] * density(x / sigma) / sigma;
        gauss_line(to, g, x);
        gauss_column(to, k, q, 1 - (x - k), -1);
        gauss_column(to, k + 1, q, x - k, 1);
    }
}

/** Add all light in pieces in which the mean of y moves by a few deviations at most. */
static void gauss_taps(const sums *to, const normal *g)
{
    const double sigma = sqrt(g->xx), end = SIGMAS * sigma;
    const rule r = legendre(sigma < 1.5 ? 16 : 8);
    for (int k = 0; k < end; k++) {
        const double width = fmin(end, k + 1) - k;
        const int n = 1 + (int)fmin(31, fabs(g->across) * width / (2.5 * g->s));
        for (int i = 0; i < n; i++)
            gauss_piece(to, g, &r, k + width * i / n, k + width * (i + 1) / n, k);
    }
    if (to->slope[0])
        gauss_by_xx(to, g);
}

/** Convert slopes by the covariance to slopes by M. */
static void gauss_slopes(const double M[4], int turned, nb_taps *t)
{
    const size_t n = nb_taps_count(t);
    for (size_t i = 0; i < n; i++) {
        const double ff = 2 * t->by[turned ? 2 : 0][i], fs = t->by[1][i],
                     ss = 2 * t->by[turned ? 0 : 2][i];
        t->by[0][i] = ff * M[0] + fs * M[2];
        t->by[1][i] = ff * M[1] + fs * M[3];
        t->by[2][i] = ss * M[2] + fs * M[0];
        t->by[3][i] = ss * M[3] + fs * M[1];
    }
}

/** Correct the slopes if g->s is held at its minimum and so does not follow the variance
 * of y. */
static void hold_sharpness(const sums *to, const normal *g, size_t n)
{
    const double kept = g->xx < 1 ? SHARPEST * SHARPEST : 0;
    const ptrdiff_t half = (ptrdiff_t)(n / 2);
    for (ptrdiff_t i = -half; i <= half; i++) {
        const double yy = to->slope[2][i];
        to->slope[0][i] += yy * (kept - g->across * g->across);
        to->slope[1][i] += yy * 2 * g->across;
        to->slope[2][i] = 0;
    }
}

static void gauss(const double M[4], nb_taps *t, sums *to, int turned)
{
    const double ff = M[0] * M[0] + M[1] * M[1], ss = M[2] * M[2] + M[3] * M[3],
                 fs = M[0] * M[2] + M[1] * M[3];
    const double xx = turned ? ss : ff, yy = turned ? ff : ss;
    const double s = sqrt(fmax(0, yy - fs * fs / xx)),
                 least = SHARPEST * fmin(1, sqrt(xx));
    const normal g = {xx, fs / xx, fmax(s, least)};
    gauss_taps(to, &g);
    if (t->by[0] && s < least)
        hold_sharpness(to, &g, nb_taps_count(t));
    if (t->by[0])
        gauss_slopes(M, turned, t);
}

/* --- box --- */

/** The box in coordinates u, v, which are within +-1/2: (u, v) = (p[0] x + q[0] y, p[1] x
 * + q[1] y). */
typedef struct slab {
    double p[2], q[2], area, x_end;
} slab;

static double tri(double z)
{
    return fmax(0, 1 - fabs(z));
}

/** Integral of tri from -1 to z. */
static double tri_sum(double z)
{
    return z <= -1 ? 0
           : z < 0 ? (1 + z) * (1 + z) / 2
           : z < 1 ? 1 - (1 - z) * (1 - z) / 2
                   : 1;
}

/** Integral of z tri(z) from -1 to z. */
static double tri_moment(double z)
{
    const double a = fabs(z);
    return a >= 1 ? 0 : a * a / 2 - a * a * a / 3 - 1. / 6;
}

/** Lowest and highest y of the box at this x. */
static void slab_ends(const slab *b, double x, double *low, double *high)
{
    *low = -INFINITY;
    *high = INFINITY;
    for (int i = 0; i < 2; i++)
        if (b->q[i] != 0) {
            const double middle = -b->p[i] * x / b->q[i], half = fabs(0.5 / b->q[i]);
            *low = fmax(*low, middle - half);
            *high = fmin(*high, middle + half);
        }
}

static void slab_column(const sums *to, const slab *b, double x, double q, int d, int side)
{
    double low, high;
    const double part = side ? x - d + 1 : 1 - (x - d), slope = side ? 1 : -1;
    if (d > to->x)
        return;
    slab_ends(b, x, &low, &high);
    for (int j = -to->y; j <= to->y; j++) {
        const ptrdiff_t at = d * to->by_x + j * to->by_y;
        const double l = low - j, h = high - j;
        const double sum = tri_sum(h) - tri_sum(l);
        const double moment = j * sum + tri_moment(h) - tri_moment(l);
        const double rise = tri(h) - tri(l), turn = high * tri(h) - low * tri(l) - sum;
        to->w[at] += q * part * sum;
        for (int i = 0; i < 2 && to->slope[0]; i++) {
            to->slope[i][at] += q * slope * (b->p[i] * x * sum + b->q[i] * moment);
            to->slope[2 + i][at] += q * part * (b->p[i] * x * rise + b->q[i] * turn);
        }
    }
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/** Find the kinks of the integrand at x > 0, in order; return their number. at: memory
 * for to->x + 4 (2 to->y + 3) + 5 kinks. */
static int slab_kinks(const sums *to, const slab *b, const double M[4], double *at)
{
    int n = 0;
    at[n++] = 0;
    at[n++] = b->x_end;
    at[n++] = fabs(fabs(M[0]) - fabs(M[1])) / 2;
    for (int k = 1; k <= to->x; k++)
        at[n++] = k;
    for (int i = 0; i < 2; i++)
        for (int j = -to->y - 1; j <= to->y + 1; j++)
            for (int side = -1; side <= 1 && b->p[i] != 0; side += 2)
                at[n++] = (0.5 * side - b->q[i] * j) / b->p[i];
    qsort(at, (size_t)n, sizeof *at, by_value);
    return n;
}

static void slab_taps(const sums *to, const slab *b, const double *at, int n)
{
    const rule r = legendre(4);
    for (int i = 0; i + 1 < n; i++) {
        const double from = fmax(0, at[i]), end = fmin(b->x_end, at[i + 1]);
        const int k = (int)floor((from + end) / 2);
        for (int node = 0; node < r.n && end > from; node++) {
            const double half = (end - from) / 2, x = from + half * (1 + r.x[node]);
            const double q = half * r.w[node] / b->area;
            slab_column(to, b, x, q, k, 0);
            slab_column(to, b, x, q, k + 1, 1);
        }
    }
}

/** Widen a box that is nearly a line or a point to the width NARROW. */
static void widen(const double from[4], double M[4])
{
    const double a = hypot(from[0], from[2]), b = hypot(from[1], from[3]);
    const double det = from[0] * from[3] - from[1] * from[2], longer = fmax(a, b);
    const int j = a < b ? 0 : 1; /* the shorter edge moves across the longer */
    memcpy(M, from, 4 * sizeof *M);
    if (longer < NARROW) {
        M[0] = M[3] = NARROW;
        M[1] = M[2] = 0;
    } else if (fabs(det) < NARROW * longer) {
        const double add = ((det < 0 ? -NARROW : NARROW) - det / longer) * (j ? 1 : -1);
        M[j] += add * -M[2 + !j] / longer;
        M[2 + j] += add * M[!j] / longer;
    }
}

static nb_status box(const double typed[4], sums *to, nb_error *err)
{
    const int room = to->x + 4 * (2 * to->y + 3) + 5;
    double M[4], det;
    double *at = nb_alloc((size_t)room, sizeof *at, "footprint", err);
    slab b;
    int n;
    if (!at)
        return NB_ERR_NOMEM;
    widen(typed, M);
    det = M[0] * M[3] - M[1] * M[2];
    b = (slab){{M[3] / det, -M[2] / det},
               {-M[1] / det, M[0] / det},
               fabs(det),
               (fabs(M[0]) + fabs(M[1])) / 2};
    n = slab_kinks(to, &b, M, at);
    slab_taps(to, &b, at, n);
    nb_free(at);
    return NB_OK;
}

/* --- both --- */

/** Add the light of the other half of the footprint. */
static void mirror(double *middle, ptrdiff_t n)
{
    middle[0] *= 2;
    for (ptrdiff_t i = 1; i <= n; i++)
        middle[i] = middle[-i] = middle[i] + middle[-i];
}

/** Make the sum of the taps 1 for any M, and clear taps that rounding put below 0. */
static void normalise(nb_taps *t)
{
    const size_t n = nb_taps_count(t);
    const ptrdiff_t half = (ptrdiff_t)(n / 2);
    double sum = 0, by[4] = {0};
    mirror(t->w + half, half);
    for (size_t i = 0; i < n; i++) {
        t->w[i] = t->w[i] > ROUNDING ? t->w[i] : 0;
        sum += t->w[i];
    }
    for (int k = 0; k < 4 && t->by[0]; k++) {
        mirror(t->by[k] + half, half);
        for (size_t i = 0; i < n; i++)
            by[k] += t->by[k][i];
    }
    for (size_t i = 0; i < n; i++) {
        t->w[i] /= sum;
        for (int k = 0; k < 4 && t->by[0]; k++)
            t->by[k][i] = (t->by[k][i] - t->w[i] * by[k]) / sum;
    }
}

static int reach_of(int box, double a, double b)
{
    const double far = box ? (fabs(a) + fabs(b) + 2 * NARROW) / 2 : SIGMAS * hypot(a, b);
    return far <= NB_TAPS_FARTHEST ? (int)ceil(far) : -1; /* NaN gives -1 too */
}

int nb_taps_reach(int box, const double M[4], int *fast, int *slow)
{
    *fast = reach_of(box, M[0], M[1]);
    *slow = reach_of(box, M[2], M[3]);
    return *fast >= 0 && *slow >= 0;
}

nb_status nb_taps_make(int is_box, const double M[4], int slopes, nb_taps *t,
                       nb_error *err)
{
    const int turned = !is_box && M[2] * M[2] + M[3] * M[3] > M[0] * M[0] + M[1] * M[1];
    nb_status st = NB_OK;
    sums to;
    size_t n;
    memset(t, 0, sizeof *t);
    if (!nb_taps_reach(is_box, M, &t->fast, &t->slow))
        return nb_fail(err, NB_ERR_INTERNAL, "a footprint is too wide");
    n = nb_taps_count(t);
    t->w = nb_alloc(n * (slopes ? 5 : 1), sizeof *t->w, "footprint", err);
    if (!t->w)
        return NB_ERR_NOMEM;
    to = (sums){.x = turned ? t->slow : t->fast,
                .y = turned ? t->fast : t->slow,
                .by_x = turned ? 2 * t->fast + 1 : 1,
                .by_y = turned ? 1 : 2 * t->fast + 1,
                .w = t->w + n / 2};
    for (int k = 0; k < 4 && slopes; k++) {
        t->by[k] = t->w + n * (size_t)(k + 1);
        to.slope[k] = t->by[k] + n / 2;
    }
    to.line = nb_alloc(3 * (2 * (size_t)to.y + 3), sizeof *to.line, "footprint", err);
    if (!to.line)
        st = NB_ERR_NOMEM;
    else if (is_box)
        st = box(M, &to, err);
    else if (M[0] != 0 || M[1] != 0 || M[2] != 0 || M[3] != 0)
        gauss(M, t, &to, turned);
    else
        to.w[0] = 0.5; /* the footprint is a point */
    nb_free(to.line);
    if (st)
        nb_taps_free(t);
    else
        normalise(t);
    return st;
}

void nb_taps_free(nb_taps *t)
{
    nb_free(t->w);
    memset(t, 0, sizeof *t);
}

static const double LEAST_FLOAT = 1e-9;

void nb_taps_floats(const nb_taps *t, float *to)
{
    const size_t n = nb_taps_count(t);
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += t->w[i] >= LEAST_FLOAT ? t->w[i] : 0;
    for (size_t i = 0; i < n; i++)
        to[i] = t->w[i] >= LEAST_FLOAT ? (float)(t->w[i] / sum) : 0;
}
