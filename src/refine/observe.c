/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "../base/memory.h"
#include "../params/params.h"
#include "../physics/panels.h"
#include "../physics/ray.h"
#include "../sim/derive.h"
#include "../sim/footprint.h"
#include "../sim/sim.h"
#include "fit.h"

/* Images of some pixels by the backend, which is quicker than the sums of derivatives. */

size_t nb_fit_row_spans(const nb_fit *fit, const float *photons, const uint8_t *of, int k,
                        int s, nb_span *spans)
{
    const nb_panel *panel = &fit->sim->model.scene.panels[k];
    const size_t row = nb_panel_pixel(panel, 0, s);
    size_t n = 0;
    for (int f = 0; f < panel->columns; f++) {
        const int begin = f;
        while (f < panel->columns && !isnan(photons[row + (size_t)f]) &&
               (!of || of[row + (size_t)f]))
            f++;
        if (f == begin)
            continue;
        if (spans)
            spans[n] = (nb_span){k, begin, s, f - begin, row + (size_t)begin};
        n++;
    }
    return n;
}

/** The runs of pixels that are not NaN, into spans unless that is NULL; how many. */
static size_t list_spans(const nb_fit *fit, const float *photons, nb_span *spans)
{
    const nb_scene *sc = &fit->sim->model.scene;
    size_t n = 0;
    for (int k = 0; k < sc->n_panels; k++)
        for (int s = 0; s < sc->panels[k].rows; s++)
            n += nb_fit_row_spans(fit, photons, NULL, k, s, spans ? spans + n : NULL);
    return n;
}

/** The runs of pixels that are not NaN.  *spans: nb_free. */
static nb_status fit_spans(const nb_fit *fit, const float *photons, nb_span **spans,
                           size_t *n, nb_error *err)
{
    *n = list_spans(fit, photons, NULL);
    *spans = nb_alloc_raw(*n + 1, sizeof **spans, "pixels of a fit", err);
    if (!*spans)
        return NB_ERR_NOMEM;
    list_spans(fit, photons, *spans);
    return NB_OK;
}

nb_status nb_fit_render(nb_fit *fit, const nb_span *spans, size_t n, float *image,
                        nb_error *err)
{
    nb_sim_engine *engine = &fit->sim->engine;
    const nb_request request = {.spans = spans,
                                .n = n,
                                .precision = engine->options.precision,
                                .tolerance = engine->options.tolerance};
    const nb_planes planes = {.image = image, .pixels = fit->pixels};
    nb_status st = nb_engine_open(engine, err);
    if (!st)
        st = engine->backend->render(engine->state, &fit->sim->model.scene, &request,
                                     &planes, err);
    if (!st && nb_sim_has_factors(fit->sim))
        nb_sim_factor_spans(fit->sim, spans, n, image);
    return st;
}

int nb_fit_spreads(const nb_fit *fit)
{
    return fit->sim->cfg.psf != NB_PSF_NONE || nb_sim_has_footprint(fit->sim);
}

/** The same behind the footprint, of the pixels that are not NaN. */
static nb_status render_wide(nb_fit *fit, const float *photons, float *image,
                             nb_error *err)
{
    nb_sim_engine *engine = &fit->sim->engine;
    const nb_request request = {.precision = engine->options.precision,
                                .tolerance = engine->options.tolerance};
    const uint8_t *mask = fit->sim->model.scene.raster.mask;
    nb_scene scene = fit->sim->model.scene;
    uint8_t *seen = nb_alloc_raw(fit->pixels, 1, "mask", err);
    nb_span *spans;
    size_t n;
    nb_status st = seen ? nb_engine_open(engine, err) : NB_ERR_NOMEM;
    for (size_t i = 0; i < fit->pixels && !st; i++)
        seen[i] = !isnan(photons[i]) && (!mask || mask[i]);
    scene.raster.mask = seen;
    if (!st)
        st = nb_sim_render_footprint(fit->sim, &scene, &request, image, err);
    nb_free(seen);
    if (!st && nb_sim_has_factors(fit->sim) &&
        !(st = fit_spans(fit, photons, &spans, &n, err))) {
        nb_sim_factor_spans(fit->sim, spans, n, image);
        nb_free(spans);
    }
    return st;
}

/** The same without a footprint. */
static nb_status render_plain(nb_fit *fit, const float *photons, float *image,
                              nb_error *err)
{
    nb_span *spans;
    size_t n;
    nb_status st = fit_spans(fit, photons, &spans, &n, err);
    if (!st)
        st = nb_fit_render(fit, spans, n, image, err);
    nb_free(spans);
    return st;
}

nb_status nb_fit_image(nb_fit *fit, const float *photons, nb_error *err)
{
    const nb_observation seen = {.photons = photons};
    float *image;
    nb_status st;
    if (fit->sim->cfg.psf != NB_PSF_NONE)
        return nb_sim_expected(fit->sim, &seen, fit->expected, err);
    if (!(image = nb_alloc_raw(fit->pixels, sizeof *image, "image of a fit", err)))
        return NB_ERR_NOMEM;
    st = nb_sim_has_footprint(fit->sim) ? render_wide(fit, photons, image, err)
                                        : render_plain(fit, photons, image, err);
    for (size_t i = 0; i < fit->pixels && !st; i++)
        fit->expected[i] = image[i];
    nb_free(image);
    return st;
}

/* Backgrounds from the picture alone: medians in rings, planes under spots. */

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

void nb_radial_hats(const nb_radial *r, double x, double *hats)
{
    int k = 0;
    double part;
    if (r->n == 1 || x <= r->knot[0]) {
        hats[0] += 1;
        return;
    }
    while (k < r->n - 2 && x > r->knot[k + 1])
        k++;
    part = fmin(1, (x - r->knot[k]) / (r->knot[k + 1] - r->knot[k]));
    hats[k] += 1 - part;
    hats[k + 1] += part;
}

/** A plane c0 + c1 x + c2 y through weighted values. */
typedef struct plane {
    double c[3];
} plane;

typedef struct box {
    int panel, low[2], high[2]; /* fast, slow */
} box;

int nb_fit_solve3(double A[3][3], double b[3], double least, double x[3])
{
    for (int i = 0; i < 3; i++) {
        if (!(A[i][i] > least))
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
                size_t at = nb_panel_pixel(panel, f, s);
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
        if (nb_fit_solve3(A, v, 1e-12, x))
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
            size_t at = nb_panel_pixel(panel, f, s);
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
                size_t at = nb_panel_pixel(panel, f, s);
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

/* From a picture in ADU to photons, and where its pixels stand in reciprocal space. */

/* SMV files without a word on it have this offset, ADU. */
#define SMV_OFFSET 40
#define MOST_NEGATIVE 0.001 /* part of the pixels, without a notice */

static double offset_of(const nb_config *cfg, const nb_image *picture)
{
    if (cfg->adc_set)
        return cfg->adc_offset;
    if (picture->pedestal != 0)
        return picture->pedestal;
    return strcmp(picture->format, "SMV") == 0 ? SMV_OFFSET : 0;
}

/** Is it what files of whole numbers have in place of a count: the largest number of their type? */
static int stands_for_none(const nb_image *picture, double adu)
{
    if (strcmp(picture->format, "float") == 0)
        return 0;
    if (strcmp(picture->format, "HDF5") == 0 && adu >= 4294967294.0)
        return 1;
    return adu == 65535;
}

/** Files of photon counters mark unknown pixels with negative values. */
static int marks_unknown(const nb_image *picture)
{
    return strcmp(picture->format, "CBF") == 0 || strcmp(picture->format, "HDF5") == 0;
}

static double stol_of(const nb_panel *panel, const nb_sensor *sensor, double wavelength,
                      int f, int s)
{
    double F = nb_subpixel(panel->pixel_fast, 1, f, 0);
    double S = nb_subpixel(panel->pixel_slow, 1, s, 0);
    nb_vec3 d = nb_ray_to(panel, sensor, F, S, 0).direction;
    return nb_norm(nb_sub(d, panel->beam)) / (2 * wavelength);
}

/** Is it too much for a count?  65535 may also be an unknown pixel of HDF5. */
static int is_full(const nb_image *picture, double adu, double most)
{
    return adu >= most || (adu == 65535 && stands_for_none(picture, adu) &&
                           strcmp(picture->format, "HDF5") != 0);
}

/** What header, mask and range say of a pixel; most: ADU of saturation. */
static nb_masked masked_of(const nb_scene *sc, const nb_image *picture, size_t at,
                           double most)
{
    const double adu = picture->pixels[at];
    if ((picture->left_out && picture->left_out[at]) ||
        (sc->raster.mask && !sc->raster.mask[at]))
        return NB_MASKED_FILE;
    if (is_full(picture, adu, most))
        return NB_MASKED_SATURATED;
    return !isfinite(adu) || stands_for_none(picture, adu) ||
                   (adu < 0 && marks_unknown(picture))
               ? NB_MASKED_FILE
               : NB_MASKED_NOT;
}

/** Pixels of one panel. */
static void observe_panel(nb_fit *fit, const nb_image *picture, int k, double offset)
{
    const nb_sim *sim = fit->sim;
    const nb_scene *sc = &sim->model.scene;
    const nb_panel *panel = &sc->panels[k];
    const nb_settings *all = &sim->model.settings;
    nb_region region = nb_panel_region(sc, panel);
    double wavelength = nb_sim_wavelength(sim);
    double gain = NB_TYPED_OR(
        all, gain, sim->in.files->panel_gains ? sim->in.files->panel_gains[k] : 1);
    double most = NB_TYPED_OR(all, saturation, INFINITY);
    if (!NB_TYPED(all, saturation) && sim->in.files->panel_gains &&
        sim->in.files->panel_gains[sim->in.files->spec.n_panels + k] > 0)
        most = sim->in.files->panel_gains[sim->in.files->spec.n_panels + k];
    for (int s = region.smin; s <= region.smax; s++)
        for (int f = region.fmin; f <= region.fmax; f++) {
            size_t at = nb_panel_pixel(panel, f, s);
            double adu = picture->pixels[at];
            double here = gain * (sim->in.files->gainmap ? sim->in.files->gainmap[at] : 1);
            double d = stol_of(panel, &sc->sensors[panel->sensor], wavelength, f, s);
            fit->stol[at] = (float)d;
            if ((fit->o->dmin_A > 0 && d * 2 * fit->o->dmin_A > 1) ||
                (fit->o->dmax_A > 0 && d * 2 * fit->o->dmax_A < 1))
                continue;
            fit->masked[at] =
                (uint8_t)(here > 0 ? masked_of(sc, picture, at, most) : NB_MASKED_FILE);
            if (fit->masked[at] == NB_MASKED_NOT)
                fit->photons[at] = (float)((adu - offset) / here);
            if (fit->masked[at] == NB_MASKED_SATURATED)
                fit->full[at] = (float)((adu - offset) / here);
        }
}

/** What can be used, in all. */
static nb_status count(nb_fit *fit, nb_error *err)
{
    int64_t negative = 0, all = 0;
    fit->low = INFINITY;
    fit->high = 0;
    for (size_t i = 0; i < fit->pixels; i++) {
        if (isnan(fit->photons[i]))
            continue;
        all++;
        fit->low = fmin(fit->low, fit->stol[i]);
        fit->high = fmax(fit->high, fit->stol[i]);
        if (fit->photons[i] < 0 && fit->o->likelihood == NB_LIKELIHOOD_POISSON) {
            negative++;
            fit->photons[i] = 0;
        }
    }
    if (!all)
        return nb_fail(err, NB_ERR_INPUT,
                       "no pixel is left to fit: mask, -roi, -saturation, -fit_dmin and "
                       "-fit_dmax exclude all");
    if ((double)negative > MOST_NEGATIVE * (double)all)
        nb_notice(
            &fit->sim->hooks,
            "%.3g %% of the pixels are below 0 photons and count as 0: check -adc and "
            "-gain, or use -likelihood gauss",
            100.0 * (double)negative / (double)all);
    return NB_OK;
}

nb_status nb_fit_observe(nb_fit *fit, const nb_image *picture, nb_error *err)
{
    const nb_scene *sc = &fit->sim->model.scene;
    const nb_settings *all = &fit->sim->model.settings;
    int fast, slow;
    double gain = all->value.gain;
    nb_sim_size(fit->sim, &fast, &slow);
    fit->pixels = sc->raster.pixels;
    if ((size_t)picture->fast * (size_t)picture->slow != fit->pixels ||
        picture->fast != fast)
        return nb_fail(err, NB_ERR_INPUT,
                       "the picture has %d x %d pixels, but the simulation %d x %d; add "
                       "-detpixels_x %d -detpixels_y %d, or the geometry of the picture",
                       picture->fast, picture->slow, fast, slow, picture->fast,
                       picture->slow);
    fit->stol = nb_alloc(fit->pixels, sizeof *fit->stol, "resolution", err);
    fit->photons = nb_alloc_raw(fit->pixels, sizeof *fit->photons, "photons", err);
    fit->chosen = nb_alloc_raw(fit->pixels, sizeof *fit->chosen, "photons", err);
    fit->spots = nb_alloc(fit->pixels, 1, "spots", err);
    fit->expected = nb_alloc(fit->pixels, sizeof *fit->expected, "model", err);
    fit->full = nb_alloc_raw(fit->pixels, sizeof *fit->full, "photons", err);
    fit->masked = nb_alloc(fit->pixels, 1, "mask", err);
    if (!fit->stol || !fit->photons || !fit->chosen || !fit->expected || !fit->full ||
        !fit->spots || !fit->masked)
        return NB_ERR_NOMEM;
    if (fit->sim->in.files->panel_gains && !NB_TYPED(all, gain))
        gain = fit->sim->in.files->panel_gains[0];
    fit->sigma = all->value.readout_noise / gain;
    for (size_t i = 0; i < fit->pixels; i++)
        fit->photons[i] = fit->full[i] = NAN;
    for (int k = 0; k < sc->n_panels; k++)
        observe_panel(fit, picture, k, offset_of(&all->value, picture));
    return count(fit, err);
}

void nb_fit_free(nb_fit *fit)
{
    nb_free(fit->stol);
    nb_free(fit->photons);
    nb_free(fit->chosen);
    nb_free(fit->spots);
    nb_free(fit->full);
    nb_free(fit->background);
    nb_free(fit->expected);
    nb_free(fit->peaks);
    nb_free(fit->kept);
    nb_free(fit->scaled);
    fit->scaled = NULL;
    nb_free(fit->masked);
    fit->peaks = NULL;
    fit->masked = NULL;
    fit->stol = fit->photons = fit->chosen = fit->full = fit->background = NULL;
    fit->expected = NULL;
    fit->spots = NULL;
}
