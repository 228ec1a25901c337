/* SPDX-License-Identifier: MIT */
/* Calls for derivatives that exist only in C: a list of pixels for several calls, and
 * sums after the point spread of a detector. */
#include "sim/derive.h"
#include "derive_sims.h"

enum { EDGE = 14, PIXELS = EDGE * EDGE, SOME = 4 };
static const char *const some[SOME] = {"rot_x", "cell_b", "shift_fast", "fluence"};

static nb_config spread_config(const char *kind)
{
    nb_config cfg = nb_suite_config(1.1, 6, EDGE);
    set(&cfg, "misset", "35 -18 52");
    set(&cfg, "pixel", "1.3");
    set(&cfg, "fluence", "1e28");
    set(&cfg, "precision", "double");
    if (kind) {
        set(&cfg, "psf", "%s", kind);
        set(&cfg, "psf_fwhm", "1700");
    }
    return cfg;
}

/** Spreads `in` by a Gaussian (FWHM 1.7 mm, pixels of 1.3 mm) with the integrals of
 * docs/physics.md. */
static void spread_directly(const double *in, double *out)
{
    const double c = sqrt(4 * log(2)) / 1.7 * 1.3;
    double k[2 * EDGE - 1];
    for (int d = 0; d < 2 * EDGE - 1; d++)
        k[d] = (erf(c * (d - EDGE + 1.5)) - erf(c * (d - EDGE + 0.5))) / 2;
    for (int q = 0; q < PIXELS; q++) {
        out[q] = 0;
        for (int r = 0; r < PIXELS; r++)
            out[q] += in[r] * k[EDGE - 1 + q / EDGE - r / EDGE] *
                      k[EDGE - 1 + q % EDGE - r % EDGE];
    }
}

/** Measured counts, background, loss of the model; slope and weight of each pixel. */
typedef struct seen_pixels {
    float photons[PIXELS], background[PIXELS];
    double loss, slope[PIXELS], weight[PIXELS];
} seen_pixels;

static void see(seen_pixels *s, const double *image)
{
    s->loss = 0;
    for (int i = 0; i < PIXELS; i++) {
        double n = floor(uniform(0, 60)), m;
        s->background[i] = (float)uniform(0.5, 3);
        m = image[i] + s->background[i];
        s->photons[i] = i % 9 == 4 ? NAN : (float)n;
        s->slope[i] = i % 9 == 4 ? 0 : 1 - n / m;
        s->weight[i] = i % 9 == 4 ? 0 : 1 / m;
        s->loss += i % 9 == 4 ? 0 : m - n + (n > 0 ? n * log(n / m) : 0);
    }
}

/** Checks that the sum of w a b is `value`. */
static void check_sum(const double *w, const double *a, const double *b, double value)
{
    double sum = 0, size = 0;
    for (int i = 0; i < PIXELS; i++) {
        double x = w[i] * a[i] * (b ? b[i] : 1);
        sum += x;
        size += fabs(x);
    }
    check_close(value, sum, 1e-9 * size);
}

/** Compares the gradient and the matrix J^T W J of a fit with sums of planes, each spread
 * by the definition of the point spread. */
UNIT_TEST(the_fit_is_behind_the_spread)
{
    nb_config cfg = spread_config("gauss"), plain = spread_config(NULL);
    double J[SOME][PIXELS], *sharp, *image, direct[PIXELS], gradient[SOME],
        fisher[SOME * SOME], loss;
    static seen_pixels s;
    const nb_observation seen = {.photons = s.photons, .background = s.background};
    nb_error err = {0};
    nb_sim *sim = opened(&plain);
    sharp = image_of(sim);
    nb_sim_free(sim);
    sim = opened(&cfg);
    image = image_of(sim);
    spread_directly(sharp, direct);
    check_equal(image, direct, PIXELS, 1e-12);
    for (int p = 0; p < SOME; p++) {
        double *plane = plane_of(sim, some[p]);
        spread_directly(plane, J[p]);
        free(plane);
    }
    see(&s, image);
    if (nb_sim_normal(sim, some, SOME, &seen, &loss, gradient, fisher, &err))
        fail_msg("%s", err.message);
    check_close(loss, s.loss, 1e-10 * fabs(s.loss));
    for (int p = 0; p < SOME; p++) {
        check_sum(s.slope, J[p], NULL, gradient[p]);
        for (int q = 0; q < SOME; q++)
            check_sum(s.weight, J[p], J[q], fisher[p * SOME + q]);
    }
    free(sharp);
    free(image);
    nb_sim_free(sim);
}

/** <y, K x> = <K' y, x>: compares the pullback (adjoint) with planes that are spread by
 * definition, in floats and doubles, also with a region of interest. */
UNIT_TEST(the_pullback_is_behind_the_spread)
{
    nb_config cfg = spread_config("gauss");
    for (int part = 0; part < 2; part++) {
        double slopes[PIXELS] = {0}, spread[PIXELS], gradient[SOME], again[SOME];
        float floats[PIXELS];
        nb_error err = {0};
        nb_sim *sim;
        if (part)
            set(&cfg, "roi", "2 11 3 12");
        sim = opened(&cfg);
        for (int i = 0; i < PIXELS; i++)
            floats[i] = (float)(slopes[i] = (float)uniform(-1, 1));
        if (nb_sim_pullback_spread(sim, some, SOME, NB_REAL_FLOAT64, slopes, gradient,
                                   NULL, &err) ||
            nb_sim_pullback_spread(sim, some, SOME, NB_REAL_FLOAT32, floats, again, NULL,
                                   &err))
            fail_msg("%s", err.message);
        for (int p = 0; p < SOME; p++) {
            double *plane = plane_of(sim, some[p]), dot = 0, size = 0;
            spread_directly(plane, spread);
            for (int i = 0; i < PIXELS; i++) {
                int inside = !part || (i % EDGE >= 2 && i % EDGE <= 11 && i / EDGE >= 3 &&
                                       i / EDGE <= 12);
                dot += inside ? slopes[i] * spread[i] : 0;
                size += fabs(spread[i]);
            }
            check_close(gradient[p], dot, 1e-10 * size);
            check_close(again[p], dot, 1e-10 * size);
            free(plane);
        }
        nb_sim_free(sim);
    }
}

/** Without a point spread nb_sim_pullback_spread equals the pullback; with the fibre
 * function it agrees with the image, which is linear in the fluence. */
UNIT_TEST(other_spreads)
{
    double slopes[PIXELS], a[SOME], b[SOME];
    nb_config cfg = spread_config(NULL);
    nb_error err = {0};
    nb_sim *sim = opened(&cfg);
    nb_status st;
    for (int i = 0; i < PIXELS; i++)
        slopes[i] = uniform(-1, 1);
    assert_int_equal(
        nb_sim_pullback(sim, some, SOME, NB_REAL_FLOAT64, slopes, a, NULL, NULL), NB_OK);
    assert_int_equal(
        nb_sim_pullback_spread(sim, some, SOME, NB_REAL_FLOAT64, slopes, b, NULL, NULL),
        NB_OK);
    assert_memory_equal(a, b, sizeof a);
    nb_sim_free(sim);
    cfg = spread_config("fibre");
    sim = opened(&cfg);
    st = nb_sim_pullback_spread(sim, some, SOME, NB_REAL_FLOAT64, slopes, a, NULL, &err);
    if (st == NB_OK) {
        double dot = 0, size = 0, *image = image_of(sim);
        for (int i = 0; i < PIXELS; i++) {
            dot += slopes[i] * image[i] / 1e28;
            size += image[i] / 1e28;
        }
        check_close(a[3], dot, 1e-9 * size);
        free(image);
    } else {
        assert_int_equal(st, NB_ERR_UNSUPPORTED); /* this build has no FFTW */
    }
    nb_sim_free(sim);
}

/** A list of pixels serves several calls, also of another scene, with the same bytes. */
UNIT_TEST(pixels_are_listed_once)
{
    nb_config cfg = nb_suite_config(1.1, 6, 14);
    nb_sim *sim;
    nb_slope_pixels pixels;
    float photons[14 * 14];
    const nb_observation seen = {.photons = photons};
    nb_error err = {0};
    size_t n = 0;
    set(&cfg, "fluence", "1e28");
    set(&cfg, "roi", "2 12 1 13");
    sim = opened(&cfg);
    for (int i = 0; i < 14 * 14; i++)
        photons[i] = i % 5 == 2 ? NAN : (float)(i % 11);
    const nb_slope_job job = {.scene = &sim->model.scene};
    assert_int_equal(nb_slope_observed(&job, &seen, &pixels, &err), NB_OK);
    for (size_t i = 0; i < pixels.n; i++)
        for (int f = 0; f < pixels.spans[i].n; f++, n++)
            assert_false(isnan(photons[pixels.spans[i].at + (size_t)f]));
    assert_true(n > 50 && n < 11 * 13);
    for (int k = 0; k < 3; k++) {
        double loss[2], gradient[2][SOME], fisher[2][SOME * SOME];
        const double distance = 100 + k;
        const char *const name = "cell_a";
        assert_int_equal(nb_sim_set_parameters(sim, &name, &distance, 1, &err), NB_OK);
        assert_int_equal(
            nb_sim_normal(sim, some, SOME, &seen, &loss[0], gradient[0], fisher[0], &err),
            NB_OK);
        assert_int_equal(nb_sim_normal_at(sim, some, SOME, &seen, &pixels, &loss[1],
                                          gradient[1], fisher[1], &err),
                         NB_OK);
        assert_memory_equal(&loss[0], &loss[1], sizeof loss[0]);
        assert_memory_equal(gradient[0], gradient[1], sizeof gradient[0]);
        assert_memory_equal(fisher[0], fisher[1], sizeof fisher[0]);
    }
    nb_slope_pixels_free(&pixels);
    nb_sim_free(sim);
}
