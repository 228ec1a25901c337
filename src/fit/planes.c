/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "../base/memory.h"
#include "../physics/panels.h"
#include "places.h"

/* Planes of the background under spots. */

/* photons; smallest level, above 0 so that its logarithm exists */
#define LEAST_LEVEL 1e-3
enum { RIM = 5 }; /* pixels around the box of a spot */

/** Plane c0 + c1 x + c2 y through weighted values. */
typedef struct plane {
    double c[3];
} plane;

typedef struct box {
    int panel, low[2], high[2]; /* along fast and slow */
} box;

/** Solve A x = b, A symmetric, positive; A, b are overwritten. 0 if a pivot <= 1e-12. */
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

/** Fit a plane to the pixels of a box without spots, weighted by the previous plane. */
static plane fit_plane(const nb_plane_job *job, const nb_panel *panel,
                       const uint8_t *spots, const box *b)
{
    plane p = {{1, 0, 0}};
    for (int pass = 0; pass < 3; pass++) {
        double A[3][3] = {{0}}, v[3] = {0}, x[3];
        double weights = 0, sum = 0;
        for (int s = b->low[1]; s <= b->high[1]; s++)
            for (int f = b->low[0]; f <= b->high[0]; f++) {
                size_t at = nb_panel_pixel(panel, f, s);
                const double t[3] = {1, f - b->low[0], s - b->low[1]};
                double w;
                if (spots[at] || isnan(job->photons[at]))
                    continue;
                w = pass ? 1 / fmax(plane_at(&p, b, f, s) + job->sigma * job->sigma, 0.1)
                         : 1;
                weights += w;
                sum += w * job->photons[at];
                for (int i = 0; i < 3; i++) {
                    v[i] += w * t[i] * job->photons[at];
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
    const int last[2] = {panel->columns - 1, panel->rows - 1};
    for (int i = 0; i < 2; i++) {
        b.low[i] = b.low[i] > by ? b.low[i] - by : 0;
        b.high[i] = b.high[i] + by < last[i] ? b.high[i] + by : last[i];
    }
    return b;
}

/** Mark the group of touching spot pixels around (f, s) with 2. Returns its box. */
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

/** Write the plane at the pixels with mark 2 in a box, and mark them with 3. */
static void put_plane(const nb_plane_job *job, const nb_panel *panel, uint8_t *spots,
                      box b, float *background)
{
    box rim = widened(panel, b, RIM);
    plane p = fit_plane(job, panel, spots, &rim);
    for (int s = b.low[1]; s <= b.high[1]; s++)
        for (int f = b.low[0]; f <= b.high[0]; f++) {
            size_t at = nb_panel_pixel(panel, f, s);
            if (spots[at] != 2)
                continue;
            background[at] = (float)fmax(plane_at(&p, &rim, f, s), LEAST_LEVEL);
            spots[at] = 3;
        }
}

nb_status nb_place_planes(const nb_sim *sim, const nb_plane_job *job, float *background,
                          nb_error *err)
{
    const uint8_t *spots = job->spots;
    const size_t pixels = sim->model.scene.raster.pixels;
    const nb_scene *sc = &sim->model.scene;
    uint8_t *left = nb_alloc_raw(pixels, 1, "planes", err);
    size_t *stack = nb_alloc_raw(pixels, sizeof *stack, "planes", err);
    nb_status st = left && stack ? NB_OK : NB_ERR_NOMEM;
    if (!st)
        memcpy(left, spots, pixels);
    for (int k = 0; k < sc->n_panels && !st; k++) {
        const nb_panel *panel = &sc->panels[k];
        for (int s = 0; s < panel->rows; s++)
            for (int f = 0; f < panel->columns; f++) {
                size_t at = nb_panel_pixel(panel, f, s);
                if (left[at] == 1)
                    put_plane(job, panel, left, flood(panel, left, stack, f, s),
                              background);
                else if (!spots[at] && !isnan(job->chosen[at])) { /* chosen background */
                    box b = {k, {f, s}, {f, s}}, rim;
                    plane p;
                    rim = widened(panel, b, job->half + RIM);
                    p = fit_plane(job, panel, spots, &rim);
                    background[at] = (float)fmax(plane_at(&p, &rim, f, s), LEAST_LEVEL);
                }
            }
    }
    nb_free(left);
    nb_free(stack);
    return st;
}
