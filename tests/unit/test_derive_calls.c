/* SPDX-License-Identifier: MIT */
/* What is made of derivatives, and the calls around them. */
#include "sim/derive.h"
#include "derive_sims.h"

/* --- products --- */

static const char *const some[] = {"rot_x",  "cell_b",     "N_c",
                                   "lambda", "shift_fast", "fluence"};
enum { SOME = 6, KNOTS = 4 };

/** What a fit's equations are, from planes. */
typedef struct equations {
    double loss, gradient[SOME + KNOTS], fisher[(SOME + KNOTS) * (SOME + KNOTS)];
} equations;

static void add_pixel(equations *e, double n, double m, double sigma, const double *dm)
{
    double V = m + sigma * sigma, d = n - m;
    double slope = sigma > 0 ? -d / V + (1 - d * d / V) / (2 * V) : 1 - n / m;
    double weight = sigma > 0 ? 1 / V + 1 / (2 * V * V) : 1 / m;
    e->loss +=
        sigma > 0 ? 0.5 * (d * d / V + log(V)) : m - n + (n > 0 ? n * log(n / m) : 0);
    for (int i = 0; i < SOME + KNOTS; i++) {
        e->gradient[i] += slope * dm[i];
        for (int j = 0; j < SOME + KNOTS; j++)
            e->fisher[i * (SOME + KNOTS) + j] += weight * dm[i] * dm[j];
    }
}

static void check_numbers(const double *a, const double *b, int n, double limit)
{
    for (int i = 0; i < n; i++)
        if (!(fabs(a[i] - b[i]) <= limit * fmax(fabs(a[i]), fabs(b[i]))))
            fail_msg("number %d: %.15g and %.15g", i, a[i], b[i]);
}

/** The hats of a background at sin(theta)/lambda = 0 ... of a pixel are tested by differences. */
static void check_background(nb_sim *sim, nb_observation *seen, const double *gradient)
{
    double *values = (double *)(uintptr_t)seen->values, loss[2];
    for (int k = 0; k < seen->n_knots; k++) {
        const double kept = values[k], h = 1e-5 * kept;
        for (int i = 0; i < 2; i++) {
            values[k] = kept + (i ? -h : h);
            assert_int_equal(
                nb_sim_normal(sim, NULL, 0, seen, &loss[i], NULL, NULL, NULL), NB_OK);
        }
        values[k] = kept;
        check_close((loss[0] - loss[1]) / (2 * h), gradient[k],
                    1e-5 * fabs(gradient[k]) + 1e-6);
    }
}

static void check_equations(double sigma)
{
    nb_config cfg = nb_suite_config(1.1, 6, 14);
    nb_sim *sim;
    const double knots[KNOTS] = {0.05, 0.15, 0.2, 0.4};
    double values[KNOTS] = {3, 2, 1.5, 1}, *image, *planes[SOME], loss;
    double gradient[SOME + KNOTS], fisher[(SOME + KNOTS) * (SOME + KNOTS)];
    float photons[14 * 14], background[14 * 14];
    equations e = {0};
    nb_observation seen = {.photons = photons, .background = background, .sigma = sigma};
    nb_error err = {0};
    seen.likelihood = sigma > 0 ? NB_LIKELIHOOD_GAUSS : NB_LIKELIHOOD_POISSON;
    set(&cfg, "misset", "35 -18 52");
    set(&cfg, "pixel", "1.3");
    set(&cfg, "fluence", "1e28");
    sim = opened(&cfg);
    image = image_of(sim);
    for (int i = 0; i < SOME; i++)
        planes[i] = plane_of(sim, some[i]);
    for (int i = 0; i < 14 * 14; i++) {
        double dm[SOME + KNOTS] = {0};
        photons[i] = i % 7 == 3 ? NAN : (float)floor(uniform(0, 40));
        background[i] = (float)uniform(0.5, 2);
        for (int k = 0; k < SOME; k++)
            dm[k] = planes[k][i];
        if (i % 7 != 3)
            add_pixel(&e, photons[i], image[i] + background[i], sigma, dm);
    }
    assert_int_equal(nb_sim_normal(sim, some, SOME, &seen, &loss, gradient, fisher, &err),
                     NB_OK);
    check_close(loss, e.loss, 1e-12 * fabs(e.loss));
    check_numbers(gradient, e.gradient, SOME, 1e-9);
    for (int i = 0; i < SOME; i++)
        check_numbers(fisher + i * SOME, e.fisher + i * (SOME + KNOTS), SOME, 1e-11);
    seen.n_knots = KNOTS;
    seen.knots = knots;
    seen.values = values;
    assert_int_equal(nb_sim_normal(sim, some, SOME, &seen, &loss, gradient, fisher, &err),
                     NB_OK);
    check_background(sim, &seen, gradient + SOME);
    for (int i = 0; i < SOME; i++)
        free(planes[i]);
    free(image);
    nb_sim_free(sim);
}

/** Pixels that are listed once serve every evaluation: the same bytes, also of another scene. */
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
    assert_int_equal(nb_sim_observe(sim, &seen, &pixels, &err), NB_OK);
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

enum { WIDE = 530, ROWS = 3 }; /* rows of more pixels than are taken at once */

/** With the same level at every knot the background is flat, and the hats of a pixel add up to 1. */
static void check_hats(const double *gradient, const double *fisher, const equations *e)
{
    enum { N = SOME + KNOTS };
    double sum = 0, all = 0;
    for (int j = 0; j < SOME; j++) {
        double by = 0;
        for (int k = SOME; k < N; k++)
            by += fisher[k * N + j];
        check_close(by, e->fisher[SOME * N + j], 1e-11 * fabs(by) + 1e-9);
    }
    for (int k = SOME; k < N; k++) {
        sum += gradient[k];
        for (int l = SOME; l < N; l++) {
            all += fisher[k * N + l];
            assert_true(abs(k - l) < 2 || fisher[k * N + l] == 0);
            assert_true(fisher[k * N + l] == fisher[l * N + k]);
        }
    }
    check_close(sum, e->gradient[SOME], 1e-10 * fabs(sum));
    check_close(all, e->fisher[SOME * N + SOME], 1e-11 * all);
}

UNIT_TEST(wide_rows_and_hats)
{
    enum { N = SOME + KNOTS, PIXELS = WIDE * ROWS };
    nb_config cfg = nb_suite_config(1.1, 6, 14);
    const double knots[KNOTS] = {0.05, 0.15, 0.2, 0.4}, values[KNOTS] = {2, 2, 2, 2};
    static float photons[PIXELS];
    double *image, *planes[SOME], loss, gradient[N], fisher[N * N];
    equations e = {0};
    const nb_observation seen = {
        .photons = photons, .n_knots = KNOTS, .knots = knots, .values = values};
    nb_error err = {0};
    nb_sim *sim;
    set(&cfg, "misset", "35 -18 52");
    set(&cfg, "detpixels_x", "%d", WIDE);
    set(&cfg, "detpixels_y", "%d", ROWS);
    set(&cfg, "fluence", "1e28");
    sim = opened(&cfg);
    image = image_of(sim);
    for (int i = 0; i < SOME; i++)
        planes[i] = plane_of(sim, some[i]);
    for (int i = 0; i < PIXELS; i++) {
        double dm[N] = {[SOME] = 1};
        photons[i] = i % 11 == 3 ? NAN : (float)floor(uniform(0, 40));
        for (int k = 0; k < SOME; k++)
            dm[k] = planes[k][i];
        if (i % 11 != 3)
            add_pixel(&e, photons[i], image[i] + values[0], 0, dm);
    }
    assert_int_equal(nb_sim_normal(sim, some, SOME, &seen, &loss, gradient, fisher, &err),
                     NB_OK);
    check_close(loss, e.loss, 1e-12 * fabs(e.loss));
    check_numbers(gradient, e.gradient, SOME, 1e-10);
    for (int i = 0; i < SOME; i++)
        check_numbers(fisher + i * N, e.fisher + i * N, SOME, 1e-11);
    check_hats(gradient, fisher, &e);
    for (int i = 0; i < SOME; i++)
        free(planes[i]);
    free(image);
    nb_sim_free(sim);
}

UNIT_TEST(normal_equations_are_those_of_planes)
{
    check_equations(0);
    check_equations(1.7);
}

/** Everything that threads could change. */
static void check_threads(nb_sim *sim, size_t n, double *planes, double *numbers)
{
    float *photons = calloc(n, sizeof *photons);
    const nb_observation seen = {.photons = photons};
    nb_error err = {0};
    for (size_t i = 0; i < n; i++)
        photons[i] = (float)(i % 5);
    assert_int_equal(
        nb_sim_derivatives(sim, some, SOME, NB_REAL_FLOAT64, planes, NULL, &err), NB_OK);
    assert_int_equal(
        nb_sim_pullback(sim, some, SOME, NB_REAL_FLOAT32, photons, numbers, NULL, &err),
        NB_OK);
    assert_int_equal(nb_sim_normal(sim, some, SOME, &seen, numbers + SOME,
                                   numbers + SOME + 1, numbers + 2 * SOME + 1, &err),
                     NB_OK);
    free(photons);
}

UNIT_TEST(threads_change_no_byte)
{
    enum { EDGE = 40, NUMBERS = 2 * SOME + 1 + SOME * SOME };
    nb_config cfg = nb_suite_config(1, 5, EDGE);
    double first[NUMBERS], numbers[NUMBERS];
    double *planes = calloc(2 * SOME * EDGE * EDGE, sizeof *planes);
    for (int i = 0; i < 3; i++) {
        nb_sim *sim;
        double *mine = planes + (i ? SOME * EDGE * EDGE : 0);
        cfg.threads = (int[]){1, 2, 7}[i];
        sim = opened(&cfg);
        check_threads(sim, EDGE * EDGE, mine, i ? numbers : first);
        if (i) {
            assert_memory_equal(mine, planes, SOME * EDGE * EDGE * sizeof *mine);
            assert_memory_equal(numbers, first, sizeof first);
        }
        nb_sim_free(sim);
    }
    free(planes);
}

/* --- F --- */

UNIT_TEST(the_gradient_of_F)
{
    char path[NB_PATH_MAX];
    nb_config cfg = nb_suite_config(1.4, 4, 12);
    double loss[12 * 12], dot = 0, sum = 0, *image;
    nb_hkl_gradient F;
    nb_error err = {0};
    nb_sim *sim;
    nb_golden_path(path, "dense.hkl");
    set(&cfg, "hkl", "%s", path);
    set(&cfg, "default_F", "0");
    set(&cfg, "pixel", "1.2");
    for (int tricubic = 0; tricubic < 2; tricubic++) {
        cfg.interpolate = tricubic ? NB_ON : NB_OFF;
        sim = opened(&cfg);
        image = image_of(sim);
        dot = sum = 0;
        for (int i = 0; i < 12 * 12; i++) {
            loss[i] = uniform(-1, 1);
            dot += 2 * loss[i] * image[i];
        }
        if (nb_sim_pullback(sim, NULL, 0, NB_REAL_FLOAT64, loss, NULL, &F, &err))
            fail_msg("%s", err.message);
        check_above((double)F.count, 10);
        for (size_t i = 0; i < F.count; i++) {
            char name[NB_VARIABLE_NAME];
            const char *one = name;
            double single;
            nb_variable v;
            snprintf(name, sizeof name, "F:%d:%d:%d", F.hkl[i][0], F.hkl[i][1],
                     F.hkl[i][2]);
            assert_int_equal(nb_sim_parameter(sim, name, &v, &err), NB_OK);
            sum += v.value * F.gradient[i];
            if (i % 17 == 0) {
                assert_int_equal(nb_sim_pullback(sim, &one, 1, NB_REAL_FLOAT64, loss,
                                                 &single, NULL, &err),
                                 NB_OK);
                check_close(single, F.gradient[i], 1e-10 * fabs(single) + 1e-9);
            }
        }
        check_close(sum, dot, 1e-9 * fabs(dot) + 1e-6); /* I is quadratic in F */
        nb_hkl_gradient_free(&F);
        free(image);
        nb_sim_free(sim);
    }
}

/* --- names and values --- */

static void check_list(const nb_config *cfg, const char *list, const char *opened_to)
{
    char(*open)[NB_VARIABLE_NAME], text[1000] = "";
    nb_sim *sim = opened(cfg);
    nb_error err = {0};
    int n;
    nb_status st = nb_sim_variables(sim, list, &open, &n, &err);
    for (int i = 0; i < n && !st; i++) {
        strcat(text, i ? "," : "");
        strcat(text, open[i]);
    }
    if (st) {
        assert_int_equal(st, NB_ERR_INPUT);
        if (!strstr(err.message, opened_to))
            fail_msg("%s: %s", list, err.message);
    } else {
        assert_string_equal(text, opened_to);
        nb_free(open);
    }
    nb_sim_free(sim);
}

UNIT_TEST(lists_open)
{
    nb_config cfg = nb_suite_config(1, 5, 8);
    check_list(&cfg, "misset,Na", "misset_x,misset_y,misset_z,N_a");
    check_list(&cfg, "beam,tilt",
               "Xbeam,Ybeam,detector_rotx,detector_roty,detector_rotz,twotheta");
    check_list(&cfg, "F:1:-2:3", "F:1:-2:3");
    check_list(&cfg, "rot_x,rot", "rot_x is named twice");
    check_list(&cfg, "cel_a", "did you mean 'cell_a'");
    check_list(&cfg, "F:1:2", "F:h:k:l");
    check_list(&cfg, "shift_x@p0", "detector from a file");
    check_list(&cfg, "", "no parameter");
    check_list(&cfg, "rot,", "unknown");
    cfg.convention = NB_CONV_XDS;
    check_list(&cfg, "beam", "ORGX,ORGY");
}

static void check_no_slope(const nb_config *cfg, const char *name, const char *why)
{
    nb_sim *sim = opened(cfg);
    nb_variable v;
    nb_error err = {0};
    assert_int_equal(nb_sim_parameter(sim, name, &v, &err), NB_ERR_INPUT);
    if (!strstr(err.message, why))
        fail_msg("%s: %s", name, err.message);
    nb_sim_free(sim);
}

UNIT_TEST(what_has_no_derivative)
{
    nb_config cfg = nb_suite_config(1, 5, 8);
    check_no_slope(&cfg, "close_distance", "use distance");
    check_no_slope(&cfg, "F:1:2:3", "no such entry");
    cfg.shape = NB_SHAPE_TOPHAT;
    check_no_slope(&cfg, "rot_x", "top-hat");
    cfg = nb_suite_config(1, 5, 8);
    cfg.compat = 1;
    check_no_slope(&cfg, "fluence", "-compat");
    cfg = nb_suite_config(1, 5, 8);
    nb_set_vector(&cfg.pix0_m, 0.1, -0.004, 0.004);
    check_no_slope(&cfg, "distance", "-pix0_vector");
    check_no_slope(&cfg, "detector_rotx", "-pix0_vector");
}

/* A rotation that is folded into the misset angles leaves the image. */
UNIT_TEST(rotations_fold)
{
    static const char *const rot[] = {"rot_x", "rot_y", "rot_z"};
    for (int i = 0; i < 5; i++) {
        nb_config cfg = nb_suite_config(1, 6, 10);
        const double values[] = {uniform(-40, 40), uniform(-40, 40), uniform(-40, 40)};
        double *before, *after, misset[3];
        nb_error err = {0};
        nb_variable v;
        nb_sim *sim;
        set(&cfg, "misset", "%g %g %g", uniform(-180, 180), uniform(-90, 90),
            uniform(-180, 180));
        set(&cfg, "pixel", "1.2");
        sim = opened(&cfg);
        assert_int_equal(nb_sim_set_parameters(sim, rot, values, 3, &err), NB_OK);
        before = image_of(sim);
        assert_int_equal(nb_sim_fold_rotation(sim, misset, &err), NB_OK);
        after = image_of(sim);
        check_equal(before, after, 100, 1e-10);
        assert_int_equal(nb_sim_parameter(sim, "rot_y", &v, &err), NB_OK);
        assert_true(v.value == 0);
        check_close(nb_sim_config(sim)->misset_deg[2], misset[2], 1e-9);
        free(before);
        free(after);
        nb_sim_free(sim);
    }
}

UNIT_TEST(an_error_changes_nothing)
{
    nb_config cfg = nb_suite_config(1, 6, 10);
    static const char *const both[] = {"distance", "cell_al"};
    const double bad[] = {90, 200};
    nb_sim *sim = opened(&cfg);
    double *before = image_of(sim), *after;
    nb_error err = {0};
    assert_int_equal(nb_sim_set_parameters(sim, both, bad, 2, &err), NB_ERR_INPUT);
    assert_int_equal(nb_sim_set_parameters(sim, both, &(double[]){NAN, 1}[0], 1, &err),
                     NB_ERR_INPUT);
    after = image_of(sim);
    assert_memory_equal(before, after, 100 * sizeof *before);
    free(before);
    free(after);
    nb_sim_free(sim);
}
