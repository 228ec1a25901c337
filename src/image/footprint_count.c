/* SPDX-License-Identifier: MIT */
/* The fraction of a pixel's light that a list of reflections counts: of its light before
 * the footprint is applied. */
#include "footprint.h"

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/threads.h"
#include "../physics/panels.h"

typedef struct counting {
    const nb_scene *scene;
    const nb_footprint_plan *plan;
    float **k; /* owned; taps as floats, like those that spread the image */
    /* owned; [2 slow + 2][2 fast + 2]: sum of all taps to the left and above */
    double **sums;
    uint8_t *uneven; /* owned; 1: the pixel's light reaches a pixel with factor not 1 */
    double *off;     /* owned; photons of each row that leave the panel */
    const float *factors, *image;
    float *parts;
} counting;

static double *sums_of(const nb_taps *t, const float *k)
{
    const size_t row = 2 * (size_t)t->fast + 1, rows = 2 * (size_t)t->slow + 1;
    double *sums = nb_alloc((row + 1) * (rows + 1), sizeof *sums, "footprint", NULL);
    for (size_t d = 0; sums && d < rows; d++)
        for (size_t e = 0; e < row; e++) {
            double *to = sums + (d + 1) * (row + 1) + e + 1;
            *to = k[d * row + e] + to[-1] + (to - row)[-1] - (to - row)[-2];
        }
    return sums;
}

/** Sum of the taps that leave the light of pixel (f, s) on its panel. */
static double sum_inside(const nb_taps *t, const double *sums, const nb_panel *p, int f,
                         int s)
{
    const size_t width = 2 * (size_t)t->fast + 2;
    const int x = f < t->fast ? t->fast - f : 0, y = s < t->slow ? t->slow - s : 0;
    const int x_end =
        f + t->fast < p->columns ? 2 * t->fast + 1 : p->columns - f + t->fast;
    const int y_end = s + t->slow < p->rows ? 2 * t->slow + 1 : p->rows - s + t->slow;
    const double *from = sums + (size_t)y * width, *to = sums + (size_t)y_end * width;
    return to[x_end] - from[x_end] - (to[x] - from[x]);
}

/** Like sum_inside, with each tap times the factor of the pixel that the tap reaches. */
static double sum_factors(const counting *c, int taps, const nb_panel *p, int f, int s)
{
    const nb_taps *t = &c->plan->taps[taps];
    const size_t row = 2 * (size_t)t->fast + 1;
    const int low = f < t->fast ? -f : -t->fast;
    const int high = f + t->fast < p->columns ? t->fast : p->columns - 1 - f;
    double sum = 0;
    for (int d = s < t->slow ? -s : -t->slow; d <= t->slow && s + d < p->rows; d++) {
        const float *k = c->k[taps] + (size_t)(d + t->slow) * row + t->fast;
        const float *factors = c->factors + nb_panel_pixel(p, f, s + d);
#ifdef _OPENMP
#pragma omp simd reduction(+ : sum)
#endif
        for (int e = low; e <= high; e++)
            sum += (double)k[e] * factors[e];
    }
    return sum;
}

/** Count row s of a tile. Returns the photons that leave the panel. */
static double count_row(const counting *c, const nb_panel *p, const nb_footprint_tile *t,
                        int s)
{
    const nb_region r = nb_panel_region(c->scene, p);
    const uint8_t *mask = c->scene->raster.mask;
    const nb_taps *taps = &c->plan->taps[t->taps];
    const double *sums = c->sums[t->taps];
    const double all = sums[(2 * taps->fast + 2) * (2 * taps->slow + 2) - 1];
    double off = 0;
    for (int f = t->fast; f < t->fast_end; f++) {
        const size_t pixel = nb_panel_pixel(p, f, s);
        const int own = f >= r.fmin && f <= r.fmax && s >= r.smin && s <= r.smax &&
                        (!mask || mask[pixel]);
        if (c->image[pixel] > 0) {
            const double inside = sum_inside(taps, sums, p, f, s);
            const double out = own ? all - inside : 0;
            const double seen =
                c->uneven[pixel] ? sum_factors(c, t->taps, p, f, s) : inside;
            c->parts[pixel] = (float)((seen + out) / all);
            off += c->image[pixel] * out / all;
        }
    }
    return off;
}

static void count_panel(const counting *c, int panel, int threads)
{
    const nb_footprint_panel *on = &c->plan->panels[panel];
    const nb_panel *p = &c->scene->panels[panel];
    (void)threads;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 8) num_threads(threads)
#endif
    for (int s = 0; s < p->rows; s++)
        for (int i = 0; i < on->across * on->down; i++) {
            const nb_footprint_tile *t = &c->plan->tiles[on->tile + i];
            if (s >= t->slow && s < t->slow_end)
                c->off[p->first_row + s] += count_row(c, p, t, s);
        }
}

/** Make the taps and their sums. Returns 0 if memory is exhausted. */
static int open_taps(counting *c)
{
    const size_t n = (size_t)c->plan->n_taps;
    int ok = 1;
    c->k = nb_alloc(n, sizeof *c->k, "footprint", NULL);
    c->sums = nb_alloc(n, sizeof *c->sums, "footprint", NULL);
    if (!c->k || !c->sums)
        return 0;
    for (size_t i = 0; i < n && ok; i++) {
        const nb_taps *t = &c->plan->taps[i];
        c->k[i] = nb_alloc_raw(nb_taps_count(t), sizeof **c->k, "footprint", NULL);
        if (c->k[i]) {
            nb_taps_floats(t, c->k[i]);
            c->sums[i] = sums_of(t, c->k[i]);
        }
        ok = c->k[i] && c->sums[i];
    }
    return ok;
}

/** Open c. The caller calls close_counting, after an error too. */
static nb_status open_counting(counting *c, nb_error *err)
{
    nb_scene other = *c->scene, sources;
    const size_t pixels = other.raster.pixels;
    uint8_t *mask = nb_alloc_raw(pixels, 1, "mask", err);
    int ok = open_taps(c);
    c->off = nb_alloc((size_t)other.raster.rows, sizeof *c->off, "footprint", err);
    for (size_t i = 0; mask && i < pixels; i++)
        mask[i] = c->factors[i] != 1;
    other.raster.mask = mask;
    ok = ok && mask && c->off &&
         !nb_footprint_sources(c->plan, &other, &sources, &c->uneven, err);
    nb_free(mask);
    return ok ? NB_OK : nb_fail_memory(err, 0, "footprint");
}

static void close_counting(counting *c)
{
    for (int i = 0; c->k && c->sums && i < c->plan->n_taps; i++) {
        nb_free(c->k[i]);
        nb_free(c->sums[i]);
    }
    nb_free(c->k);
    nb_free(c->sums);
    nb_free(c->uneven);
    nb_free(c->off);
}

nb_status nb_footprint_count(const nb_footprint_work *work, const float *factors,
                             const float *image, float *parts, double *off, nb_error *err)
{
    const nb_scene *sc = work->scene;
    const int team = nb_image_threads(work->threads, (int64_t)sc->raster.pixels);
    counting c = {.scene = sc,
                  .plan = work->plan,
                  .factors = factors,
                  .image = image,
                  .parts = parts};
    nb_status st = open_counting(&c, err);
    *off = 0;
    for (int k = 0; k < sc->n_panels && !st; k++)
        count_panel(&c, k, team);
    for (int s = 0; s < sc->raster.rows && !st; s++)
        *off += c.off[s];
    close_counting(&c);
    return st;
}
