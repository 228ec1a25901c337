/* SPDX-License-Identifier: MIT */
/* Backgrounds from the picture alone: medians in rings, planes under spots. */
#include <math.h>
#include <string.h>

#include "../sim/sim.h"
#include "../base/memory.h"
#include "../physics/panels.h"
#include "fit.h"

/* A median of fewer counts is too coarse: the mean of the fainter pixels instead. */
#define FEW_COUNTS 4
#define LEAST_LEVEL 1e-3 /* photons; a level must have a logarithm */
#define RIM 5            /* pixels about a spot's box */

/** The value of rank k of v[n], whose order changes. */
static float ranked(float *v, size_t n, size_t k)
{
    size_t low = 0, high = n - 1;
    while (low < high) {
        float pivot = v[(low + high) / 2];
        size_t i = low, j = high;
        for (;;) {
            while (v[i] < pivot)
                i++;
            while (v[j] > pivot)
                j--;
            if (i >= j)
                break;
            float t = v[i];
            v[i++] = v[j];
            v[j--] = t;
        }
        if (k <= j)
            high = j;
        else
            low = j + 1;
    }
    return v[k];
}

/** The level of a background with spots on it. */
static double level_of(float *counts, size_t n)
{
    double median, limit, sum = 0;
    size_t used = 0;
    if (!n)
        return 0;
    median = ranked(counts, n, n / 2);
    if (median >= FEW_COUNTS)
        return median;
    limit = median + 3 * sqrt(fmax(median, 0) + 1);
    for (size_t i = 0; i < n; i++)
        if (counts[i] <= limit) {
            sum += counts[i];
            used++;
        }
    return fmax(used ? sum / (double)used : 0, LEAST_LEVEL);
}

/** Levels of rings without pixels: those of the nearest ring. */
static void fill_empty(nb_radial *r)
{
    for (int k = 1; k < r->n; k++)
        if (!(r->level[k] > 0))
            r->level[k] = r->level[k - 1];
    for (int k = r->n - 2; k >= 0; k--)
        if (!(r->level[k] > 0))
            r->level[k] = r->level[k + 1];
    for (int k = 0; k < r->n; k++)
        r->level[k] = fmax(r->level[k], LEAST_LEVEL);
}

nb_status nb_radial_estimate(const nb_fit *fit, double high, int n, nb_radial *out,
                             nb_error *err)
{
    size_t *begin = nb_alloc((size_t)n + 1, sizeof *begin, "rings", err);
    float *sorted = nb_alloc_raw(fit->pixels, sizeof *sorted, "rings", err);
    double low = fit->low, step;
    high = fmin(high, fit->high);
    step = n > 1 ? (high - low) / (n - 1) : 1;
    memset(out, 0, sizeof *out);
    if (!begin || !sorted) {
        nb_free(begin);
        nb_free(sorted);
        return NB_ERR_NOMEM;
    }
    out->n = n;
    for (int k = 0; k < n; k++)
        out->knot[k] = low + k * step;
#define RING(i) ((int)fmin(n - 1, fmax(0, floor((fit->stol[i] - low) / step + 0.5))))
#define IN_USE(i) (!isnan(fit->photons[i]) && fit->stol[i] <= high)
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < fit->pixels; i++)
            if (IN_USE(i)) {
                if (pass)
                    sorted[begin[RING(i)]++] = fit->photons[i];
                else
                    begin[RING(i) + 1]++;
            }
        for (int k = 0; !pass && k < n; k++)
            begin[k + 1] += begin[k];
    }
#undef RING
#undef IN_USE
    for (int k = 0; k < n; k++) { /* begin[k] is now where ring k ends */
        size_t from = k ? begin[k - 1] : 0;
        out->level[k] = level_of(sorted + from, begin[k] - from);
    }
    fill_empty(out);
    nb_free(begin);
    nb_free(sorted);
    return NB_OK;
}

double nb_radial_at(const nb_radial *r, double x)
{
    int k = 0;
    double part;
    if (r->n == 0)
        return 0;
    if (r->n == 1 || x <= r->knot[0])
        return r->level[0];
    if (x >= r->knot[r->n - 1])
        return r->level[r->n - 1];
    while (k < r->n - 2 && x > r->knot[k + 1])
        k++;
    part = (x - r->knot[k]) / (r->knot[k + 1] - r->knot[k]);
    return r->level[k] * (1 - part) + r->level[k + 1] * part;
}

/** A plane c0 + c1 x + c2 y through weighted values. */
typedef struct plane {
    double c[3];
} plane;

typedef struct box {
    int panel, low[2], high[2]; /* fast, slow */
} box;

static int solve3(double A[3][3], double b[3], double x[3])
{
    for (int i = 0; i < 3; i++) {
        if (!(A[i][i] > 1e-12))
            return 0;
        for (int j = i + 1; j < 3; j++) {
            double f = A[j][i] / A[i][i];
            for (int k = i; k < 3; k++)
                A[j][k] -= f * A[i][k];
            b[j] -= f * b[i];
        }
    }
    for (int i = 2; i >= 0; i--) {
        x[i] = b[i];
        for (int j = i + 1; j < 3; j++)
            x[i] -= A[i][j] * x[j];
        x[i] /= A[i][i];
    }
    return 1;
}

static double plane_at(const plane *p, const box *b, int f, int s)
{
    return p->c[0] + p->c[1] * (f - b->low[0]) + p->c[2] * (s - b->low[1]);
}

/** Fit the rim of a box, weights by the plane of the pass before. */
static plane fit_plane(const nb_fit *fit, const nb_panel *panel, const uint8_t *spots,
                       const box *b)
{
    plane p = {{1, 0, 0}};
    for (int pass = 0; pass < 3; pass++) {
        double A[3][3] = {{0}}, v[3] = {0}, x[3];
        double weights = 0, sum = 0;
        for (int s = b->low[1]; s <= b->high[1]; s++)
            for (int f = b->low[0]; f <= b->high[0]; f++) {
                size_t at =
                    panel->first_pixel + (size_t)s * (size_t)panel->columns + (size_t)f;
                const double t[3] = {1, f - b->low[0], s - b->low[1]};
                double w;
                if (spots[at] || isnan(fit->photons[at]))
                    continue;
                w = pass ? 1 / fmax(plane_at(&p, b, f, s) + fit->sigma * fit->sigma, 0.1)
                         : 1;
                weights += w;
                sum += w * fit->photons[at];
                for (int i = 0; i < 3; i++) {
                    v[i] += w * t[i] * fit->photons[at];
                    for (int j = 0; j < 3; j++)
                        A[i][j] += w * t[i] * t[j];
                }
            }
        if (solve3(A, v, x))
            memcpy(p.c, x, sizeof x);
        else if (weights > 0)
            p = (plane){{sum / weights, 0, 0}};
    }
    return p;
}

static box widened(const nb_panel *panel, box b, int by)
{
    const int most[2] = {panel->columns - 1, panel->rows - 1};
    for (int i = 0; i < 2; i++) {
        b.low[i] = b.low[i] > by ? b.low[i] - by : 0;
        b.high[i] = b.high[i] + by < most[i] ? b.high[i] + by : most[i];
    }
    return b;
}

/** Mark the group of touching spot pixels that holds this one as done (2), and give its box. */
static box flood(const nb_panel *panel, uint8_t *spots, size_t *stack, int f, int s)
{
    box b = {0, {f, s}, {f, s}};
    size_t n = 0, columns = (size_t)panel->columns;
    uint8_t *mine = spots + panel->first_pixel;
    stack[n++] = (size_t)s * columns + (size_t)f;
    mine[stack[0]] = 2;
    while (n) {
        size_t at = stack[--n];
        int x = (int)(at % columns), y = (int)(at / columns);
        const int next[4][2] = {{x - 1, y}, {x + 1, y}, {x, y - 1}, {x, y + 1}};
        b.low[0] = x < b.low[0] ? x : b.low[0];
        b.high[0] = x > b.high[0] ? x : b.high[0];
        b.low[1] = y < b.low[1] ? y : b.low[1];
        b.high[1] = y > b.high[1] ? y : b.high[1];
        for (int i = 0; i < 4; i++) {
            size_t there;
            if (next[i][0] < 0 || next[i][0] >= panel->columns || next[i][1] < 0 ||
                next[i][1] >= panel->rows)
                continue;
            there = (size_t)next[i][1] * columns + (size_t)next[i][0];
            if (mine[there] == 1) {
                mine[there] = 2;
                stack[n++] = there;
            }
        }
    }
    return b;
}

/** Where a group is done, give its plane; pixels of other groups in its box have their own. */
static void put_plane(nb_fit *fit, const nb_panel *panel, uint8_t *spots, box b)
{
    box rim = widened(panel, b, RIM);
    plane p = fit_plane(fit, panel, spots, &rim);
    for (int s = b.low[1]; s <= b.high[1]; s++)
        for (int f = b.low[0]; f <= b.high[0]; f++) {
            size_t at =
                panel->first_pixel + (size_t)s * (size_t)panel->columns + (size_t)f;
            if (spots[at] != 2)
                continue;
            fit->background[at] = (float)fmax(plane_at(&p, &rim, f, s), LEAST_LEVEL);
            spots[at] = 3;
        }
}

nb_status nb_fit_planes(nb_fit *fit, const uint8_t *spots, nb_error *err)
{
    const nb_scene *sc = &fit->sim->model.scene;
    uint8_t *left = nb_alloc_raw(fit->pixels, 1, "planes", err);
    size_t *stack = nb_alloc_raw(fit->pixels, sizeof *stack, "planes", err);
    nb_status st = left && stack ? NB_OK : NB_ERR_NOMEM;
    if (!st)
        memcpy(left, spots, fit->pixels);
    for (int k = 0; k < sc->n_panels && !st; k++) {
        const nb_panel *panel = &sc->panels[k];
        for (int s = 0; s < panel->rows; s++)
            for (int f = 0; f < panel->columns; f++) {
                size_t at =
                    panel->first_pixel + (size_t)s * (size_t)panel->columns + (size_t)f;
                if (left[at] == 1)
                    put_plane(fit, panel, left, flood(panel, left, stack, f, s));
                else if (!spots[at] && !isnan(fit->chosen[at])) { /* of the sample */
                    box b = {k, {f, s}, {f, s}}, rim;
                    plane p;
                    rim = widened(panel, b, fit->o->spot_half + RIM);
                    p = fit_plane(fit, panel, spots, &rim);
                    fit->background[at] =
                        (float)fmax(plane_at(&p, &rim, f, s), LEAST_LEVEL);
                }
            }
    }
    nb_free(left);
    nb_free(stack);
    return st;
}
