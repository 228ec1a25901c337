/* SPDX-License-Identifier: MIT */
/* Does the crystal's lattice explain where the picture has spots?  Only places count here, no intensities: so poor structure
 * factors do not make a right orientation look wrong. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../physics/amorphous.h"
#include "../physics/panels.h"
#include "../physics/ray.h"
#include "../sim/sim.h"
#include "fit.h"

/* The peaks of the picture. */

enum { HALF = 2, MOST_PEAKS = 2000 };
#define PEAK_SIGMA 6

nb_vec3 nb_fit_q(const nb_sim *sim, const nb_panel *panel, double f, double s)
{
    const nb_source source = {.incident = sim->model.geometry.beam,
                              .lambda = nb_sim_wavelength(sim) * 1e-10};
    const nb_ray ray = nb_ray_along(
        nb_panel_point(panel, f * panel->pixel_fast, s * panel->pixel_slow, 0));
    return nb_scattering_vector(&source, ray.direction);
}

void nb_fit_nearest(const nb_lattice *lattice, nb_vec3 q, int hkl[3])
{
    double nearest = INFINITY;
    for (int i = 0; i < lattice->n_orientations; i++) {
        const nb_orientation *o = &lattice->orientations[i];
        const double h[3] = {nb_dot(o->a, q), nb_dot(o->b, q), nb_dot(o->c, q)};
        double off = 0;
        for (int k = 0; k < 3; k++)
            off += pow(h[k] - round(h[k]), 2);
        if (off >= nearest)
            continue;
        nearest = off;
        for (int k = 0; k < 3; k++)
            hkl[k] = (int)fmax(-1e9, fmin(1e9, round(h[k])));
    }
}

/** Photons above the background; 0 where nothing is observed. */
static double excess(const nb_fit *fit, const nb_radial *under, size_t at)
{
    return isnan(fit->photons[at]) ? 0
                                   : fit->photons[at] - nb_radial_at(under, fit->stol[at]);
}

/** Is pixel (f, s) the brightest of its box?  Then its centre of light. */
static int peak_at(const nb_fit *fit, const nb_panel *panel, const nb_radial *under,
                   const int at[2], nb_fit_peak *peak)
{
    const size_t own = nb_panel_pixel(panel, at[0], at[1]);
    double light = 0, f = 0, s = 0;
    for (int y = at[1] - HALF; y <= at[1] + HALF; y++)
        for (int x = at[0] - HALF; x <= at[0] + HALF; x++) {
            const size_t i = nb_panel_pixel(panel, x, y);
            if (x < 0 || y < 0 || x >= panel->columns || y >= panel->rows)
                continue;
            if (fit->photons[i] > fit->photons[own] ||
                (i < own && fit->photons[i] == fit->photons[own]))
                return 0;
            const double e = fmax(0, excess(fit, under, i));
            light += e;
            f += e * (x + 0.5);
            s += e * (y + 0.5);
        }
    peak->light = light;
    peak->at = own;
    peak->q = nb_fit_q(fit->sim, panel, f / light, s / light);
    return 1;
}

/** Peaks of one panel into out unless that is NULL; their number. */
static size_t peaks_of(const nb_fit *fit, const nb_panel *panel, const nb_radial *under,
                       nb_fit_peak *out)
{
    const double read = fit->sigma * fit->sigma;
    size_t n = 0, at = panel->first_pixel;
    nb_fit_peak peak;
    for (int s = 0; s < panel->rows; s++)
        for (int f = 0; f < panel->columns; f++, at++) {
            if (isnan(fit->photons[at]))
                continue;
            const double b = nb_radial_at(under, fit->stol[at]);
            if (fit->photons[at] > b + PEAK_SIGMA * sqrt(b + read) + 1 &&
                peak_at(fit, panel, under, (const int[2]){f, s}, &peak)) {
                if (out)
                    out[n] = peak;
                n++;
            }
        }
    return n;
}

static int strongest_first(const void *a, const void *b)
{
    const nb_fit_peak *x = a, *y = b;
    return (x->light < y->light) - (x->light > y->light);
}

nb_status nb_fit_find_peaks(nb_fit *fit, nb_error *err)
{
    const nb_scene *sc = &fit->sim->model.scene;
    nb_radial under;
    size_t n = 0;
    nb_status st = nb_radial_estimate(fit, fit->high, fit->o->knots, &under, err);
    for (int pass = 0; pass < 2 && !st; pass++) {
        n = 0;
        for (int k = 0; k < sc->n_panels; k++)
            n += peaks_of(fit, &sc->panels[k], &under, pass ? fit->peaks + n : NULL);
        if (!pass && !(fit->peaks = nb_alloc(n + 1, sizeof *fit->peaks, "peaks", err)))
            st = NB_ERR_NOMEM;
    }
    if (st)
        return st;
    qsort(fit->peaks, n, sizeof *fit->peaks, strongest_first);
    fit->n_peaks = n < MOST_PEAKS ? (int)n : MOST_PEAKS;
    return NB_OK;
}

/* The part of them that a lattice indexes, beyond chance. */

enum { CONTROLS = 8, MOST_STEPS = 16 };
#define NEAR_INDEX 0.2 /* of an index, along each axis */

static void rotate_cell(nb_orientation *u, nb_vec3 turn)
{
    const double angle = nb_norm(turn);
    const nb_vec3 axis = angle > 0 ? nb_scale(1 / angle, turn) : (nb_vec3){0, 0, 1};
    u->a = nb_rotate_about(u->a, axis, angle);
    u->b = nb_rotate_about(u->b, axis, angle);
    u->c = nb_rotate_about(u->c, axis, angle);
}

/** The crystal without mosaic at some of its spindle steps. */
static int steps_of(const nb_fit *fit, nb_orientation steps[MOST_STEPS])
{
    const nb_lattice *l = &fit->sim->model.scene.lattice;
    const int n = l->n_phi < MOST_STEPS ? l->n_phi : MOST_STEPS;
    for (int i = 0; i < n; i++)
        steps[i] = l->orientations[(size_t)(i * l->n_phi / n) * (size_t)l->n_domains];
    return n;
}

/** How far an index is from the nearest whole ones. */
static nb_vec3 beside(const nb_orientation *u, nb_vec3 q)
{
    const double h = nb_dot(u->a, q), k = nb_dot(u->b, q), l = nb_dot(u->c, q);
    return (nb_vec3){h - round(h), k - round(k), l - round(l)};
}

/** The error of the worst index, at the step where it is least. */
static double index_error(const nb_orientation *steps, int n, nb_vec3 q)
{
    double least = 1;
    for (int k = 0; k < n; k++) {
        const nb_vec3 d = beside(&steps[k], q);
        least = fmin(least, fmax(fabs(d.x), fmax(fabs(d.y), fabs(d.z))));
    }
    return least;
}

double nb_fit_index_error(const nb_fit *fit, const nb_fit_peak *peak)
{
    nb_orientation steps[MOST_STEPS];
    const int n = steps_of(fit, steps);
    return index_error(steps, n, peak->q);
}

/** The part of the peaks that one of the steps indexes. */
static double indexed(const nb_fit *fit, const nb_orientation *steps, int n)
{
    int found = 0;
    for (int i = 0; i < fit->n_peaks; i++)
        found += index_error(steps, n, fit->peaks[i].q) < NEAR_INDEX;
    return (double)found / fmax(1, fit->n_peaks);
}

/** What wrong orientations index. */
static double by_chance(const nb_fit *fit, const nb_orientation *steps, int n)
{
    double sum = 0;
    for (int c = 0; c < CONTROLS; c++) {
        const nb_vec3 turn = {0.3 * (c & 1 ? 1 : -1), 0.35 * (c & 2 ? 1 : -1),
                              0.25 * (c & 4 ? 1 : -1)};
        nb_orientation wrong[MOST_STEPS];
        memcpy(wrong, steps, (size_t)n * sizeof *wrong);
        for (int k = 0; k < n; k++)
            rotate_cell(&wrong[k], turn);
        sum += indexed(fit, wrong, n);
    }
    return sum / CONTROLS;
}

#define SIGNIFICANT 6 /* sigma above chance */

double nb_fit_agreement(const nb_fit *fit)
{
    nb_orientation steps[MOST_STEPS];
    const int n = steps_of(fit, steps);
    const double f = indexed(fit, steps, n), p = by_chance(fit, steps, n);
    const double sigma = sqrt(fmax(p * (1 - p), 0.01) / fmax(1, fit->n_peaks));
    return f - p > SIGNIFICANT * sigma ? (f - p) / (1 - p) : 0;
}

/* Turns about the present orientation whose lattice explains the peaks. */

enum { GRID = 20, GRID_PEAKS = 150, KEPT = 5, ROUNDS = 8 };
#define GRID_STEP 0.375 /* deg */
#define GRID_REACH 0.3  /* of an index, from one turn to the next at the longest edge */
#define WIDE 0.35       /* of an index */

/** A turn of the crystal: the cell, and what the lab's axes became. */
typedef struct turned {
    nb_orientation cell, frame;
    double score;
} turned;

static turned turn_by(const turned *from, nb_vec3 by)
{
    turned t = *from;
    rotate_cell(&t.cell, by);
    rotate_cell(&t.frame, by);
    return t;
}

/** The peaks that tell turns of a grid apart: strong ones of low angle. */
static int grid_peaks(const nb_fit *fit, const nb_orientation *cell, nb_vec3 *q)
{
    const double longest =
        fmax(nb_norm(cell->a), fmax(nb_norm(cell->b), nb_norm(cell->c)));
    const double most = GRID_REACH / (longest * GRID_STEP * M_PI / 180);
    int n = 0;
    for (int i = 0; i < fit->n_peaks && n < GRID_PEAKS; i++)
        if (nb_norm(fit->peaks[i].q) < most)
            q[n++] = fit->peaks[i].q;
    return n;
}

static double score_of(const nb_orientation *cell, const nb_vec3 *q, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        const nb_vec3 d = beside(cell, q[i]);
        const double left = 1 - nb_dot(d, d) / (WIDE * WIDE);
        sum += left > 0 ? left * left : 0;
    }
    return sum;
}

/** Keep it if it is among the best. */
static void keep(turned best[KEPT], const turned *t)
{
    int at = KEPT;
    while (at > 0 && t->score > best[at - 1].score)
        at--;
    if (at == KEPT)
        return;
    memmove(best + at + 1, best + at, (size_t)(KEPT - 1 - at) * sizeof *best);
    best[at] = *t;
}

static void try_grid(const turned *start, const nb_vec3 *q, int n, turned best[KEPT])
{
    const double step = GRID_STEP * M_PI / 180;
    for (int x = -GRID; x <= GRID; x++)
        for (int y = -GRID; y <= GRID; y++)
            for (int z = -GRID; z <= GRID; z++) {
                turned t;
                if (x * x + y * y + z * z > GRID * GRID)
                    continue;
                t = turn_by(start, (nb_vec3){x * step, y * step, z * step});
                t.score = score_of(&t.cell, q, n);
                keep(best, &t);
            }
}

/** One step of least squares over the peaks that are nearly indexed: h moves by turn . (a x q). */
static turned settle(const nb_fit *fit, const turned *from)
{
    double A[3][3] = {{0}}, b[3] = {0}, x[3];
    for (int i = 0; i < fit->n_peaks; i++) {
        const nb_vec3 q = fit->peaks[i].q, d = beside(&from->cell, q);
        const nb_vec3 rows[3] = {nb_cross(from->cell.a, q), nb_cross(from->cell.b, q),
                                 nb_cross(from->cell.c, q)};
        const double off[3] = {d.x, d.y, d.z};
        if (nb_dot(d, d) > WIDE * WIDE)
            continue;
        for (int k = 0; k < 3; k++) {
            const double r[3] = {rows[k].x, rows[k].y, rows[k].z};
            for (int m = 0; m < 3; m++) {
                b[m] -= r[m] * off[k];
                for (int l = 0; l < 3; l++)
                    A[m][l] += r[m] * r[l];
            }
        }
    }
    return nb_fit_solve3(A, b, 0, x) ? turn_by(from, (nb_vec3){x[0], x[1], x[2]}) : *from;
}

/** The rotation vector of a frame, deg. */
static nb_vec3 vector_of(const nb_orientation *frame)
{
    const nb_vec3 twice = {frame->b.z - frame->c.y, frame->c.x - frame->a.z,
                           frame->a.y - frame->b.x};
    const double sine = nb_norm(twice) / 2;
    const double cosine = (frame->a.x + frame->b.y + frame->c.z - 1) / 2;
    return sine > 0 ? nb_scale(atan2(sine, cosine) * 180 / M_PI / (2 * sine), twice)
                    : (nb_vec3){0, 0, 0};
}

/** All axes, free to turn. */
static int may_turn(const nb_fit *fit)
{
    static const char *const axes[] = {"rot_x", "rot_y", "rot_z"};
    for (int i = 0; i < 3; i++) {
        const int at = nb_fit_find(&fit->list, axes[i]);
        if (at < 0 || fit->list.p[at].fixed || fit->list.p[at].map == NB_MAP_BOUNDED)
            return 0;
    }
    return 1;
}

int nb_fit_index(const nb_fit *fit, double by[3])
{
    nb_orientation steps[MOST_STEPS];
    turned start = {.frame = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, best[KEPT], *top = NULL;
    nb_vec3 q[GRID_PEAKS], turn;
    int n;
    if (!may_turn(fit) || fit->n_peaks < NB_PEAKS_ENOUGH || steps_of(fit, steps) != 1)
        return 0;
    start.cell = steps[0];
    if ((n = grid_peaks(fit, &start.cell, q)) < NB_PEAKS_ENOUGH)
        return 0;
    for (int k = 0; k < KEPT; k++)
        best[k] = start, best[k].score = -1;
    try_grid(&start, q, n, best);
    for (int k = 0; k < KEPT; k++) {
        for (int round = 0; round < ROUNDS; round++)
            best[k] = settle(fit, &best[k]);
        best[k].score = indexed(fit, &best[k].cell, 1);
        if (!top || best[k].score > top->score)
            top = &best[k];
    }
    turn = vector_of(&top->frame);
    by[0] = turn.x, by[1] = turn.y, by[2] = turn.z;
    return 1;
}
