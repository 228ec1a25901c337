/* SPDX-License-Identifier: MIT */
/* Compares the footprint of the Bragg light with its definition: taps, tiles, panels. */
#include "noise_samples.h"

#include "image/footprint.h"
#include "physics/panels.h"
#include "image_truth.h"

static uint64_t dice = 88172645463325252u;

static double uniform(double low, double high)
{
    dice ^= dice << 13;
    dice ^= dice >> 7;
    dice ^= dice << 17;
    return low + (high - low) * (double)(dice >> 11) / 9007199254740992.0;
}

static int chance(int percent)
{
    return uniform(0, 100) < percent;
}

static double triangle(double z)
{
    return fmax(0, 1 - fabs(z));
}

/** Mean over the cross-section, at points of a grid, of a pixel's light at (f, s). */
static double tap_by_points(int box, const double M[4], int f, int s)
{
    enum { N = 300 };
    const double width = box ? 1 : 12;
    double sum = 0, weights = 0;
    for (int i = 0; i < N * N; i++) {
        const double u = ((i % N + 0.5) / N - 0.5) * width;
        const double v = ((i / N + 0.5) / N - 0.5) * width;
        const double weight = box ? 1 : exp(-(u * u + v * v) / 2);
        sum += weight * triangle(M[0] * u + M[1] * v - f) *
               triangle(M[2] * u + M[3] * v - s);
        weights += weight;
    }
    return sum / weights;
}

/** Makes a random map from the cross-section to pixels; its short side is at least a
 * tenth of its long side. */
static void random_map(double M[4])
{
    const double size = uniform(0.1, 1.5);
    do
        for (int i = 0; i < 4; i++)
            M[i] = size * uniform(-1, 1);
    while (fabs(M[0] * M[3] - M[1] * M[2]) <
           0.1 * (M[0] * M[0] + M[1] * M[1] + M[2] * M[2] + M[3] * M[3]));
}

static void make_taps(int box, const double M[4], int slopes, nb_taps *t)
{
    nb_error err = {0};
    if (nb_taps_make(box, M, slopes, t, &err))
        fail_msg("%s", err.message);
}

UNIT_TEST(taps_are_means_over_the_cross_section)
{
    for (int n = 0; n < 12; n++) {
        double M[4];
        nb_taps t;
        random_map(M);
        make_taps(n % 2, M, 0, &t);
        for (int i = 0; i < 4; i++) {
            const int f = (int)uniform(-t.fast, t.fast), s = (int)uniform(-t.slow, t.slow);
            const double is = t.w[(s + t.slow) * (2 * t.fast + 1) + f + t.fast];
            check_close(is, tap_by_points(n % 2, M, f, s), 2e-5);
        }
        nb_taps_free(&t);
    }
}

/** Allowed error of the variance. For a box it is larger, because pixels are coarse. */
static double box_ripple(int box)
{
    return box ? 0.09 : 1e-4;
}

/* Taps conserve light and centroid. Their variance is that of the cross-section plus that
 * of two pixels. */
UNIT_TEST(taps_have_the_moments_of_the_cross_section)
{
    for (int n = 0; n < 100; n++) {
        double M[4], sum = 0, ff = 0, fs = 0, ss = 0;
        const double unit = n % 2 ? 1. / 12 : 1;
        const double *w;
        nb_taps t;
        random_map(M);
        make_taps(n % 2, M, 0, &t);
        w = t.w;
        for (int s = -t.slow; s <= t.slow; s++)
            for (int f = -t.fast; f <= t.fast; f++, w++) {
                sum += *w;
                ff += f * f * *w;
                fs += f * s * *w;
                ss += s * s * *w;
                assert_true(*w >= 0);
                check_close(*w, t.w[nb_taps_count(&t) - 1 - (size_t)(w - t.w)], 1e-16);
            }
        check_close(sum, 1, 1e-14);
        check_close(fs, unit * (M[0] * M[2] + M[1] * M[3]), 1e-5);
        if (hypot(M[0], M[1]) >
            0.9) /* the footprint is wide, so the sum over pixels has little ripple */
            check_close(ff, unit * (M[0] * M[0] + M[1] * M[1]) + 1. / 6,
                        box_ripple(n % 2));
        if (hypot(M[2], M[3]) > 0.9)
            check_close(ss, unit * (M[2] * M[2] + M[3] * M[3]) + 1. / 6,
                        box_ripple(n % 2));
        nb_taps_free(&t);
    }
}

static void check_slopes(int box, const double M[4], const nb_taps *t)
{
    const double h = 1e-5;
    for (int k = 0; k < 4; k++) {
        double up[4], down[4], largest = 0;
        nb_taps a, b;
        memcpy(up, M, sizeof up);
        memcpy(down, M, sizeof down);
        up[k] += h;
        down[k] -= h;
        make_taps(box, up, 0, &a);
        make_taps(box, down, 0, &b);
        for (size_t i = 0; i < nb_taps_count(t); i++)
            largest = fmax(largest, fabs(t->by[k][i]));
        if (a.fast == b.fast && a.slow == b.slow && a.fast == t->fast && a.slow == t->slow)
            for (size_t i = 0; i < nb_taps_count(t); i++)
                check_close(t->by[k][i], (a.w[i] - b.w[i]) / (2 * h),
                            1e-6 * largest + 1e-9);
        nb_taps_free(&a);
        nb_taps_free(&b);
    }
}

/** Footprints of a Gaussian that are nearly a line, oblique to the rows. */
UNIT_TEST(slopes_of_sharp_taps_are_differences)
{
    static const double maps[][4] = {
        {2, 0.001, 1, 0.002}, {0.6, 0.002, 0.35, -0.001}, {1.1, 0, -1.5, 0.003}};
    for (size_t n = 0; n < sizeof maps / sizeof *maps; n++) {
        nb_taps t;
        make_taps(0, maps[n], 1, &t);
        check_slopes(0, maps[n], &t);
        nb_taps_free(&t);
    }
}

UNIT_TEST(slopes_of_taps_are_differences)
{
    for (int n = 0; n < 60; n++) {
        double M[4];
        nb_taps t;
        random_map(M);
        make_taps(n % 2, M, 1, &t);
        check_slopes(n % 2, M, &t);
        nb_taps_free(&t);
    }
}

/* Footprints that are a point or a line. */
UNIT_TEST(narrow_footprints)
{
    static const double maps[][4] = {
        {0, 0, 0, 0}, {1, 0, 0.5, 0}, {0, 0, 0, 2}, {1e-5, 0, 0, 1e-5}};
    for (int n = 0; n < 8; n++) {
        double sum = 0;
        nb_taps t;
        make_taps(n % 2, maps[n / 2], 1, &t);
        for (size_t i = 0; i < nb_taps_count(&t); i++)
            sum += t.w[i];
        check_close(sum, 1, 1e-14);
        if (n / 2 == 0 || n / 2 == 3)
            check_close(t.w[nb_taps_count(&t) / 2], 1, 1e-3);
        nb_taps_free(&t);
    }
}

/** Two tilted panels next to the beam, and a footprint across the beam z. */
static void random_panels(detector *d, nb_footprint *fp)
{
    const double turn = uniform(0, 7), size = uniform(0.02e-3, 0.12e-3);
    memset(d, 0, sizeof *d);
    for (int k = 0; k < 2; k++) {
        const double tilt = uniform(-0.8, 0.8);
        nb_panel *p = &d->panels[k];
        put_panel(d, 60 + 37 * k, 50, 0.1e-3);
        p->fast = nb_v3(cos(tilt), 0, sin(tilt));
        p->slow = nb_unit(nb_v3(0.1 * k, 1, 0));
        p->pix0 = nb_v3(uniform(-20e-3, 0), 60e-3 * k, 50e-3);
    }
    fp->box = chance(50);
    fp->a = nb_scale(size, nb_v3(cos(turn), sin(turn), 0));
    fp->b = nb_scale(size / 3, nb_v3(-sin(turn), cos(turn), 0));
}

static void random_light(const nb_scene *sc, float *light)
{
    for (size_t i = 0; i < sc->raster.pixels; i++)
        light[i] = chance(20) ? (float)uniform(0, 1000) : 0;
}

static void make_plan(const nb_footprint *fp, const nb_scene *sc, nb_footprint_plan *plan)
{
    nb_error err = {0};
    if (nb_footprint_plan_make(fp, sc, 0, plan, &err))
        fail_msg("%s", err.message);
}

enum { MAX_PIXELS = 50 * (60 + 97) };

/** Spreads the light of each pixel by the map at the pixel's middle. */
static void spread_directly(const nb_footprint *fp, const nb_scene *sc, const float *from,
                            double *to)
{
    memset(to, 0, sc->raster.pixels * sizeof *to);
    for (int k = 0; k < sc->n_panels; k++) {
        const nb_panel *p = &sc->panels[k];
        for (int i = 0; i < p->columns * p->rows; i++) {
            const int f = i % p->columns, s = i / p->columns;
            const double light = from[p->first_pixel + (size_t)i];
            double M[4];
            nb_taps t;
            if (light == 0)
                continue;
            nb_footprint_map(p, (f + 0.5) * p->pixel_fast, (s + 0.5) * p->pixel_slow,
                             fp->a, fp->b, M);
            make_taps(fp->box, M, 0, &t);
            for (int y = -t.slow; y <= t.slow; y++)
                for (int x = -t.fast; x <= t.fast; x++)
                    if (f + x >= 0 && f + x < p->columns && s + y >= 0 && s + y < p->rows)
                        to[p->first_pixel + (size_t)((s + y) * p->columns + f + x)] +=
                            light * t.w[(y + t.slow) * (2 * t.fast + 1) + x + t.fast];
            nb_taps_free(&t);
        }
    }
}

/* Tiles are close to the definition, by which every pixel has a separate map. */
UNIT_TEST(tiles_are_near_each_pixels_own_map)
{
    static float light[MAX_PIXELS];
    static double tiles[MAX_PIXELS], own[MAX_PIXELS], in[MAX_PIXELS];
    for (int n = 0; n < 4; n++) {
        detector d;
        nb_footprint fp;
        nb_footprint_plan plan;
        double off = 0, all = 0;
        random_panels(&d, &fp);
        random_light(&d.scene, light);
        for (size_t i = 0; i < d.scene.raster.pixels; i++)
            in[i] = light[i];
        make_plan(&fp, &d.scene, &plan);
        nb_footprint_pass(&plan, &d.scene, NULL, 0, 1, in, tiles);
        spread_directly(&fp, &d.scene, light, own);
        for (size_t i = 0; i < d.scene.raster.pixels; i++) {
            off += fabs(tiles[i] - own[i]);
            all += own[i];
        }
        assert_true(all > 0 && off < 0.02 * all);
        nb_footprint_plan_free(&plan);
    }
}

/** Sometimes sets a region of interest and a mask. */
static void random_part(nb_scene *sc, uint8_t *mask)
{
    nb_region *r = &sc->raster.roi;
    if (chance(60))
        *r = (nb_region){(int)uniform(0, 20), (int)uniform(30, r->fmax + 1),
                         (int)uniform(0, 40), (int)uniform(41, r->smax + 1)};
    if (chance(60)) {
        sc->raster.mask = mask;
        for (size_t i = 0; i < sc->raster.pixels; i++)
            mask[i] = chance(30);
    }
}

static int is_wanted(const nb_scene *sc, size_t i)
{
    const nb_panel *p = &sc->panels[nb_panel_of_pixel(sc, i)];
    const nb_region r = nb_panel_region(sc, p);
    const int f = (int)((i - p->first_pixel) % (size_t)p->columns);
    const int s = (int)((i - p->first_pixel) / (size_t)p->columns);
    return f >= r.fmin && f <= r.fmax && s >= r.smin && s <= r.smax &&
           (!sc->raster.mask || sc->raster.mask[i]);
}

static void check_part(const nb_footprint_plan *plan, const nb_scene *sc,
                       const float *all, const float *light)
{
    static float part[MAX_PIXELS], again[MAX_PIXELS];
    nb_scene sources;
    uint8_t *mask;
    nb_error err = {0};
    nb_footprint_work work = {plan, sc, &sources, nb_image_kernels_of(widest()), 3};
    assert_int_equal(nb_footprint_sources(plan, sc, &sources, &mask, &err), NB_OK);
    for (size_t i = 0; i < sc->raster.pixels; i++)
        part[i] = is_wanted(&sources, i) ? light[i] : 0;
    memcpy(again, part, sizeof again);
    assert_int_equal(nb_footprint_spread(&work, part, &err), NB_OK);
    work.kernels = &nb_image_kernels_scalar;
    work.threads = 1;
    assert_int_equal(nb_footprint_spread(&work, again, &err), NB_OK);
    assert_memory_equal(part, again, sc->raster.pixels * sizeof *part);
    for (size_t i = 0; i < sc->raster.pixels; i++)
        check_close(part[i], is_wanted(sc, i) ? all[i] : 0, 0);
    nb_free(mask);
}

/* Images in floats agree with doubles, for any region, kernels and number of threads. */
UNIT_TEST(images_are_the_reference)
{
    static float light[MAX_PIXELS], image[MAX_PIXELS];
    static double in[MAX_PIXELS], truth[MAX_PIXELS];
    static uint8_t mask[MAX_PIXELS];
    for (int n = 0; n < 40; n++) {
        detector d;
        nb_footprint fp;
        nb_footprint_plan plan;
        nb_error err = {0};
        random_panels(&d, &fp);
        random_light(&d.scene, light);
        memcpy(image, light, sizeof image);
        for (size_t i = 0; i < d.scene.raster.pixels; i++)
            in[i] = light[i];
        make_plan(&fp, &d.scene, &plan);
        nb_footprint_pass(&plan, &d.scene, NULL, 0, 1, in, truth);
        const nb_footprint_work work = {&plan, &d.scene, &d.scene,
                                        nb_image_kernels_of(widest()), 2};
        assert_int_equal(nb_footprint_spread(&work, image, &err), NB_OK);
        for (size_t i = 0; i < d.scene.raster.pixels; i++)
            /* left-out taps change up to 1e-9 of a light of 1000 */
            check_close(image[i], truth[i], 1e-6 * truth[i] + 1e-4);
        random_part(&d.scene, mask);
        check_part(&plan, &d.scene, image, light);
        nb_footprint_plan_free(&plan);
    }
}

/* The adjoint K^T fulfils x.(K y) = (K^T x).y. */
UNIT_TEST(back_is_the_adjoint)
{
    static double x[MAX_PIXELS], y[MAX_PIXELS], Ky[MAX_PIXELS], Kx[MAX_PIXELS];
    for (int n = 0; n < 10; n++) {
        detector d;
        nb_footprint fp;
        nb_footprint_plan plan;
        double forth = 0, back = 0;
        random_panels(&d, &fp);
        make_plan(&fp, &d.scene, &plan);
        for (size_t i = 0; i < d.scene.raster.pixels; i++) {
            x[i] = uniform(-1, 1);
            y[i] = chance(30) ? uniform(-1, 1) : 0;
        }
        nb_footprint_pass(&plan, &d.scene, NULL, 0, 2, y, Ky);
        nb_footprint_pass(&plan, &d.scene, NULL, 1, 2, x, Kx);
        for (size_t i = 0; i < d.scene.raster.pixels; i++) {
            forth += x[i] * Ky[i];
            back += Kx[i] * y[i];
        }
        check_close(forth, back, 1e-12 * MAX_PIXELS);
        nb_footprint_plan_free(&plan);
    }
}
