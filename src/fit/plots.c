/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../picture/picture.h"
#include "../sim/picture.h"
#include "shown.h"

enum { WIDTH = 720, HEIGHT = 480 }; /* of a graph */

static const nb_rgb black = {0, 0, 0}, white = {255, 255, 255};

/* Pictures of a fit. */

enum { SHOWN = 6, HALF = 8, DOT = 6, GAP = 10, HEAD = 26, BINS = 60, RINGS = 20 };
static const nb_rgb blue = {0, 114, 178}, orange = {213, 94, 0},
                    pale_blue = {160, 200, 230};

static int by_chi2(const void *a, const void *b)
{
    double x = ((const nb_shown_spot *)a)->chi2, y = ((const nb_shown_spot *)b)->chi2;
    return (x < y) - (x > y);
}

/** One box of a spot at (x, y) of the canvas; what 0, 1: photons up to `most`, 2: residuals. */
static void draw_box(nb_canvas *c, const nb_shown_fit *r, size_t at, int what,
                     double most, int x, int y)
{
    int cx = (int)(at % (size_t)r->fast), cy = (int)(at / (size_t)r->fast);
    for (int s = -HALF; s <= HALF; s++)
        for (int f = -HALF; f <= HALF; f++) {
            int px = cx + f, py = cy + s;
            size_t i = (size_t)py * (size_t)r->fast + (size_t)px;
            const float *from = what == 2 ? r->residual : what ? r->model : r->observed;
            nb_rgb colour = {200, 200, 200};
            if (px >= 0 && py >= 0 && px < r->fast && py < r->slow && isfinite(from[i])) {
                double v = from[i];
                colour =
                    what == 2
                        ? nb_signed_colour(fmax(-1, fmin(1, v / 5)))
                        : nb_colormap_at(NB_MAP_GREY,
                                         (int)(255 * sqrt(fmax(0, fmin(1, v / most)))));
            }
            nb_canvas_fill(c, x + (f + HALF) * DOT, y + (s + HALF) * DOT, DOT, DOT,
                           colour);
        }
}

/** Its three boxes, and the reflection below the first. */
static void draw_spot(nb_canvas *c, const nb_shown_fit *r, const nb_shown_spot *s, int x,
                      int y)
{
    const int side = (2 * HALF + 1) * DOT + GAP;
    const size_t at = (size_t)s->pixel[1] * (size_t)r->fast + (size_t)s->pixel[0];
    const double most = fmax(1, fmax(s->model, s->observed));
    char text[64];
    for (int what = 0; what < 3; what++)
        draw_box(c, r, at, what, most, x + what * side, y);
    snprintf(text, sizeof text, "%d %d %d at %d %d", s->hkl[0], s->hkl[1], s->hkl[2],
             s->pixel[0], s->pixel[1]);
    nb_canvas_text(c, x, y + side - GAP + 2, 1, black, text);
}

static nb_status plot_spots(const nb_shown_fit *r, const char *path, nb_error *err)
{
    const int side = (2 * HALF + 1) * DOT + GAP, block = 3 * side + 3 * GAP;
    static const char *const heads[] = {"Strongest spots", "Model", "Residual",
                                        "Worst spots",     "Model", "Residual"};
    const size_t n = (size_t)r->n_spots;
    nb_shown_spot *worst = nb_alloc_raw(n + 1, sizeof *worst, "spots", err);
    nb_canvas c = {0};
    nb_status st = worst ? NB_OK : NB_ERR_NOMEM;
    if (!st)
        st = nb_canvas_create(&c, 2 * block + GAP, HEAD + SHOWN * side + GAP + 20, white,
                              err);
    if (st) {
        nb_free(worst);
        return st;
    }
    for (int k = 0; k < 6; k++)
        nb_canvas_text(&c, GAP + (k / 3) * block + (k % 3) * side, 8, 1, black, heads[k]);
    nb_canvas_text(
        &c, GAP, HEAD + SHOWN * side + GAP, 1, black,
        "Grey: square root of photons, the same scale in both; residual: red +5 "
        "sigma, blue -5 sigma");
    if (n)
        memcpy(worst, r->spots, n * sizeof *worst);
    qsort(worst, n, sizeof *worst, by_chi2);
    for (size_t k = 0; k < SHOWN && k < n; k++) {
        draw_spot(&c, r, &r->spots[k], GAP, HEAD + (int)k * side);
        draw_spot(&c, r, &worst[k], GAP + block, HEAD + (int)k * side);
    }
    st = nb_canvas_write(&c, path, err);
    nb_free(c.pixels);
    nb_free(worst);
    return st;
}

static nb_status finish(nb_graph *g, const char *path, nb_error *err)
{
    nb_status st = nb_canvas_write(&g->canvas, path, err);
    nb_free(g->canvas.pixels);
    return st;
}

/** Histogram of the residuals of the last stage, and the normal curve. */
static nb_status plot_residuals(const nb_shown_fit *r, const char *path, nb_error *err)
{
    const double x[2] = {-6, 6}, width = (x[1] - x[0]) / BINS;
    double count[BINS] = {0}, all = 0, y[2] = {0, 0};
    size_t pixels = (size_t)r->fast * (size_t)r->slow;
    nb_graph g = {.width = WIDTH, .height = HEIGHT};
    nb_status st;
    for (size_t i = 0; i < pixels; i++)
        if (r->used[i] && isfinite(r->residual[i])) {
            double k = floor((r->residual[i] - x[0]) / width);
            all++;
            if (k >= 0 && k < BINS)
                count[(int)k]++;
        }
    for (int k = 0; k < BINS; k++) {
        count[k] /= fmax(all, 1) * width;
        y[1] = fmax(y[1], count[k]);
    }
    y[1] = fmax(y[1], 0.42) * 1.05;
    st = nb_graph_create(&g, x, y,
                         &(nb_graph_words){"Residuals and the normal curve",
                                           "(observed - model)/sigma", "density"},
                         err);
    if (st)
        return st;
    for (int k = 0; k < BINS; k++)
        nb_graph_bar(&g, x[0] + k * width, x[0] + (k + 1) * width, count[k], pale_blue);
    for (int k = 0; k < 240; k++) {
        double a = x[0] + k * (x[1] - x[0]) / 240, b = a + (x[1] - x[0]) / 240;
        nb_graph_line(&g, a, exp(-a * a / 2) / sqrt(2 * M_PI), b,
                      exp(-b * b / 2) / sqrt(2 * M_PI), orange);
    }
    return finish(&g, path, err);
}

/** Root mean square residual in rings of equal sin theta/lambda. */
static nb_status plot_resolution(const nb_shown_fit *r, const char *path, nb_error *err)
{
    double sum[RINGS] = {0}, n[RINGS] = {0}, x[2] = {0, 0}, y[2] = {0, 1.5}, last = NAN;
    size_t pixels = (size_t)r->fast * (size_t)r->slow;
    nb_graph g = {.width = WIDTH, .height = HEIGHT};
    nb_status st;
    for (size_t i = 0; i < pixels; i++)
        if (r->used[i])
            x[1] = fmax(x[1], 2 * r->stol[i]);
    for (size_t i = 0; i < pixels; i++)
        if (r->used[i] && isfinite(r->residual[i])) {
            int k = (int)fmin(RINGS - 1, 2 * r->stol[i] / x[1] * RINGS);
            sum[k] += (double)r->residual[i] * r->residual[i];
            n[k]++;
        }
    for (int k = 0; k < RINGS; k++)
        y[1] = fmax(y[1], n[k] > 0 ? 1.1 * sqrt(sum[k] / n[k]) : 0);
    st = nb_graph_create(
        &g, x, y,
        &(nb_graph_words){"Residuals by resolution", "1/d (1/A)", "rms residual"}, err);
    if (st)
        return st;
    nb_graph_line(&g, x[0], 1, x[1], 1, orange);
    for (int k = 0; k < RINGS; k++)
        if (n[k] > 0) {
            double at = (k + 0.5) * x[1] / RINGS, value = sqrt(sum[k] / n[k]);
            if (!isnan(last))
                nb_graph_line(&g, at - x[1] / RINGS, last, at, value, blue);
            nb_graph_point(&g, at, value, blue);
            last = value;
        } else {
            last = NAN;
        }
    return finish(&g, path, err);
}

static nb_status plot_loss(const nb_shown_fit *r, const char *path, nb_error *err)
{
    double x[2] = {0, fmax(1, r->n_history)}, y[2] = {INFINITY, -INFINITY};
    nb_graph g = {.width = WIDTH, .height = HEIGHT};
    nb_status st;
    for (int i = 0; i < r->n_history; i++) {
        double v = log10(fmax(r->history[i], 1e-9));
        y[0] = fmin(y[0], v);
        y[1] = fmax(y[1], v);
    }
    if (!(y[0] <= y[1]))
        y[0] = 0, y[1] = 1;
    y[1] += 0.05 * (y[1] - y[0]) + 0.01;
    y[0] -= 0.05 * (y[1] - y[0]) + 0.01;
    st = nb_graph_create(
        &g, x, y,
        &(nb_graph_words){"Loss of all stages", "evaluation", "log10 of loss a pixel"},
        err);
    if (st)
        return st;
    for (int i = 0; i < r->n_history; i++)
        nb_graph_point(&g, i, log10(fmax(r->history[i], 1e-9)), blue);
    return finish(&g, path, err);
}

enum { MASK_SIDE = 1000 };

/* Why a pixel is masked (nb_shown_fit). */
enum { NOT, FILE_, SATURATED, HOT, SHADOW, RING, FOREIGN, KINDS };

/** The colour of a block of pixels: its brightest one, or why one of them is masked. */
static nb_rgb block_colour(const nb_shown_fit *r, int x, int y, int by, double most)
{
    static const nb_rgb why[KINDS] = {
        [FILE_] = {90, 90, 90}, [SATURATED] = {230, 159, 0},
        [HOT] = {213, 0, 0},    [SHADOW] = {0, 114, 178},
        [RING] = {0, 158, 115}, [FOREIGN] = {204, 121, 167}};
    double top = 0;
    int masked = NOT, order = 0;
    for (int s = y * by; s < (y + 1) * by && s < r->slow; s++)
        for (int f = x * by; f < (x + 1) * by && f < r->fast; f++) {
            const size_t i = (size_t)s * (size_t)r->fast + (size_t)f;
            const int rank = r->masked[i] == HOT       ? 3
                             : r->masked[i] == FOREIGN ? 2
                                                       : r->masked[i] != 0;
            if (rank > order) {
                order = rank;
                masked = r->masked[i];
            }
            if (isfinite(r->observed[i]))
                top = fmax(top, r->observed[i]);
        }
    return masked ? why[masked]
                  : nb_colormap_at(NB_MAP_GREY, (int)(255 * sqrt(fmin(1, top / most))));
}

/** The picture, and in colours what is masked. */
static nb_status plot_masked(const nb_shown_fit *r, const char *path, nb_error *err)
{
    const int side = r->fast > r->slow ? r->fast : r->slow;
    const int by = (side + MASK_SIDE - 1) / MASK_SIDE;
    const int width = (r->fast + by - 1) / by, height = (r->slow + by - 1) / by;
    const size_t pixels = (size_t)r->fast * (size_t)r->slow;
    double sum = 0, n = 0;
    nb_canvas c = {0};
    nb_status st = nb_canvas_create(&c, width, height + 20, white, err);
    if (st)
        return st;
    for (size_t i = 0; i < pixels; i++)
        if (isfinite(r->observed[i])) {
            sum += r->observed[i];
            n++;
        }
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            nb_canvas_fill(&c, x, y, 1, 1,
                           block_colour(r, x, y, by, fmax(1, 10 * sum / fmax(n, 1))));
    nb_canvas_text(
        &c, 4, height + 6, 1,
        black, "Masked: grey file, orange saturated, red hot, blue shadow, green ring, pink foreign");
    st = nb_canvas_write(&c, path, err);
    nb_free(c.pixels);
    return st;
}

static const struct {
    const char *name;
    nb_status (*plot)(const nb_shown_fit *, const char *, nb_error *);
} plots[] = {{"spots.png", plot_spots},
             {"residuals.png", plot_residuals},
             {"resolution.png", plot_resolution},
             {"loss.png", plot_loss},
             {"masked.png", plot_masked}};

nb_status nb_fit_plots(const nb_shown_fit *r, const char *folder, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(r && r->model && folder);
    nb_status st = NB_OK;
    if (mkdir(folder, 0777) && errno != EEXIST)
        return nb_fail(err, NB_ERR_IO, "-plots: cannot make %.300s: %s", folder,
                       strerror(errno));
    for (size_t k = 0; k < sizeof plots / sizeof *plots && !st; k++) {
        char path[NB_PATH_MAX + 32];
        snprintf(path, sizeof path, "%s/%s", folder, plots[k].name);
        st = plots[k].plot(r, path, err);
    }
    return st;
}
