/* SPDX-License-Identifier: MIT */
/* Derivatives behind real detectors and crystals: the point spread, panels of a file, materials, tables of F for each
 * wavelength, aniso mosaic spread. */
#include "derive_sims.h"

#include "io/structure/gemmi.h"

enum { MOST_PIXELS = 1024 };

static double *image_at(nb_sim *sim, const char *name, double value)
{
    nb_error err = {0};
    if (nb_sim_set_parameters(sim, &name, &value, 1, &err))
        fail_msg("%s = %.17g: %s", name, value, err.message);
    return image_of(sim);
}

/** Richardson's central difference; NaN where an index jumps within the step. */
static void difference(nb_sim *sim, const char *name, double h, double *out)
{
    static const double at[4] = {1, -1, 0.5, -0.5};
    const size_t n = pixels_of(sim);
    double *image[4], most = 0;
    nb_variable v;
    nb_error err = {0};
    if (nb_sim_parameter(sim, name, &v, &err) || !v.can_move)
        fail_msg("%s: %s%s", name, err.message, v.why_not);
    for (int i = 0; i < 4; i++)
        image[i] = image_at(sim, name, v.value + h * at[i]);
    free(image_at(sim, name, v.value));
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(image[0][i] - image[1][i]) / (2 * h));
    for (size_t i = 0; i < n; i++) {
        double wide = (image[0][i] - image[1][i]) / (2 * h),
               near = (image[2][i] - image[3][i]) / h;
        out[i] = fabs(wide - near) > 1e-4 * most ? NAN : (4 * near - wide) / 3;
    }
    for (int i = 0; i < 4; i++)
        free(image[i]);
}

/** A plane against differences, of its largest value; no more than a tenth of its pixels may jump. */
static void check_plane(nb_sim *sim, const char *name, double h, double limit)
{
    const size_t n = pixels_of(sim);
    double expected[MOST_PIXELS], *plane, most;
    size_t jumps = 0;
    assert_true(n <= MOST_PIXELS);
    difference(sim, name, h, expected);
    plane = plane_of(sim, name);
    most = largest(plane, n);
    assert_true(most > 0);
    for (size_t i = 0; i < n; i++)
        if (isnan(expected[i]))
            jumps++;
        else if (!(fabs(plane[i] - expected[i]) <= limit * most))
            fail_msg("%s of pixel %zu: %.12g, difference %.12g, largest %.6g", name, i,
                     plane[i], expected[i], most);
    assert_true(jumps * 10 <= n);
    free(plane);
}

/* --- point spread --- */

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

/** out = the Gaussian of 1.7 mm over pixels of 1.3 mm, by the integrals of docs/physics.md. */
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

/** Of what is observed in every pixel: the loss, and its slope and weight by the model. */
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

/** sum of w a b, which must be `value`. */
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

/** Gradient and J^T W J with planes that are spread directly. */
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

/** <y, K x> = <K' y, x>: of the adjoint with planes that are spread directly, floats and doubles, with a mask's region. */
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

/** Without a point spread it is the pullback; with the fibre function differences of the image say the same. */
UNIT_TEST(other_spreads)
{
    double slopes[PIXELS], a[SOME], b[SOME], by[PIXELS];
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
        double dot = 0, size = 0;
        difference(sim, "fluence", 1e26, by);
        for (int i = 0; i < PIXELS; i++) {
            dot += slopes[i] * by[i];
            size += fabs(by[i]);
        }
        check_close(a[3], dot, 1e-6 * size);
    } else {
        assert_int_equal(st, NB_ERR_UNSUPPORTED); /* no FFTW here */
    }
    nb_sim_free(sim);
}

/* --- panels of a file --- */

static const char two_panels[] =
    "photon_energy = 12400\nclen = 0.08\nres = 1000\n"
    "left/fs = 0.96x +0.28z\nleft/ss = 1y\nleft/corner_x = -14\nleft/corner_y = -6\n"
    "left/min_fs = 0\nleft/max_fs = 11\nleft/min_ss = 0\nleft/max_ss = 9\n"
    "right/fs = -0.96y +0.28z\nright/ss = 0.8x +0.168y +0.576z\nright/corner_x = 4\n"
    "right/corner_y = 7\nright/min_fs = 0\nright/max_fs = 11\nright/min_ss = 10\n"
    "right/max_ss = 19\n";

static nb_config panels_config(void)
{
    char path[NB_PATH_MAX];
    nb_config cfg = nb_suite_config(1.1, 5, 0);
    cfg.convention = (nb_convention)0;
    nb_config_defaults(&cfg);
    set(&cfg, "cell", "60 70 80 85 95 100");
    set(&cfg, "misset", "12 35 -50");
    set(&cfg, "N", "5");
    set(&cfg, "default_F", "100");
    set(&cfg, "precision", "double");
    set(&cfg, "oversample", "1");
    nb_scratch_path(path, "two.geom");
    assert_true(nb_scratch_write(path, two_panels, strlen(two_panels)));
    set(&cfg, "geom", "%s", path);
    return cfg;
}

UNIT_TEST(panels_move_by_themselves)
{
    static const char *const moves[] = {
        "shift_x",          "shift_x@left",    "shift_y@right",      "shift_z@left",
        "shift_fast@right", "shift_slow@left", "shift_normal@right", "rot_fast",
        "rot_fast@left",    "rot_slow@right",  "rot_normal@left"};
    nb_config cfg = panels_config();
    nb_sim *sim;
    for (int sensor = 0; sensor < 2; sensor++) {
        if (sensor) {
            set(&cfg, "detector_thick", "450");
            set(&cfg, "sensor", "Si");
            set(&cfg, "oversample", "2");
        }
        sim = opened(&cfg);
        for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
            check_plane(sim, moves[i], 2e-4, 2e-6);
            if (strchr(moves[i], '@')) { /* the other one stays */
                double *plane = plane_of(sim, moves[i]);
                const int left = strstr(moves[i], "@left") != NULL;
                check_close(largest(plane + (left ? 120 : 0), 120), 0, 0);
                free(plane);
            }
        }
        if (sensor)
            check_plane(sim, "detector_thick", 1, 2e-6);
        nb_sim_free(sim);
    }
}

/** Each instruction set against the scalar engine. */
UNIT_TEST(panels_on_vectors)
{
    static const char *const names[] = {"shift_x@left", "rot_fast@right",
                                        "rot_normal@left", "shift_normal", "cell_a"};
    nb_config cfg = panels_config();
    set(&cfg, "precision", "mixed");
    set(&cfg, "detector_thick", "450");
    set(&cfg, "detector_abs", "300");
    set(&cfg, "detector_thicksteps", "2");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        double *plane[2];
        for (int scalar = 0; scalar < 2; scalar++) {
            nb_sim *sim;
            cfg.isa = scalar ? NB_ISA_SCALAR : NB_ISA_AUTO;
            sim = opened(&cfg);
            plane[scalar] = plane_of(sim, names[i]);
            nb_sim_free(sim);
        }
        check_equal(plane[0], plane[1], 240, 5e-6);
        free(plane[0]);
        free(plane[1]);
    }
}

/* --- materials, spectra, mosaic --- */

UNIT_TEST(a_sensor_of_a_material)
{
    static const char *const names[] = {"rot_y",    "shift_normal",  "detector_thick",
                                        "distance", "detector_rotx", "detector_roty"};
    nb_config cfg = nb_suite_config(1.1, 5, 16);
    nb_sim *sim;
    nb_error err = {0};
    set(&cfg, "precision", "double");
    set(&cfg, "misset", "35 -18 52");
    set(&cfg, "pixel", "1.5");
    set(&cfg, "sensor", "CdTe");
    set(&cfg, "detector_thick", "60");
    set(&cfg, "detector_thicksteps", "2");
    if (nb_sim_create(&cfg, NULL, &sim, &err)) {
        if (!strstr(err.message, "xraylib"))
            fail_msg("%s", err.message);
        skip_because("this build has no xraylib");
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        check_plane(sim, names[i], i == 2 ? 0.01 : 2e-4, 2e-6);
    nb_sim_free(sim);
}

UNIT_TEST(aniso_mosaic_spread)
{
    static const char *const names[] = {"mosaic", "rot_z", "N_b"};
    nb_config cfg = nb_suite_config(1.1, 5, 16);
    nb_sim *sim;
    set(&cfg, "precision", "double");
    set(&cfg, "misset", "35 -18 52");
    set(&cfg, "pixel", "1.5");
    set(&cfg, "mosaic_model", "gauss");
    set(&cfg, "mosaic_aniso", "0.3 0.9 0.6");
    set(&cfg, "mosaic_domains", "6");
    sim = opened(&cfg);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        check_plane(sim, names[i], 2e-4, 2e-6);
    nb_sim_free(sim);
}

#ifdef NB_HAVE_GEMMI
/** An iron protein with a table for each of three wavelengths about the K edge. */
UNIT_TEST(a_table_for_each_wavelength)
{
    static const char sources[] =
        "-10 0 0 1 1.741e-10\n-10 0 0 2 1.75e-10\n-10 0 0 3 1.73e-10\n";
    static const char *const names[] = {"rot_x",      "rot_z",   "N_a",
                                        "shift_fast", "fluence", "cell_a"};
    const char *source = getenv("NB_SOURCE");
    nb_config cfg = nb_suite_config(1, 3, 16);
    char path[NB_PATH_MAX];
    cfg.cell_count = 0;
    cfg.default_F = 3;
    cfg.pixel_mm = 6;
    set(&cfg, "pdb", "%s/golden_data/structure_factors/models/1dur.pdb",
        source ? source : ".");
    nb_scratch_path(path, "three.src");
    assert_true(nb_scratch_write(path, sources, strlen(sources)));
    set(&cfg, "sourcefile", "%s", path);
    set(&cfg, "dmin", "4");
    set(&cfg, "misset", "20 30 40");
    cfg.anomalous_tol = 0;
    for (int fast = 0; fast < 2; fast++) {
        static double *plane[2][6];
        nb_sim *sim;
        set(&cfg, "precision", fast ? "mixed" : "double");
        sim = opened(&cfg);
        assert_int_equal(nb_sim_factor_tables(sim), 3);
        for (size_t i = 0; i < 6; i++) {
            plane[fast][i] = plane_of(sim, names[i]);
            if (!fast && strcmp(names[i], "cell_a"))
                check_plane(sim, names[i], !strcmp(names[i], "fluence") ? 1e27 : 2e-4,
                            2e-6);
            if (!fast)
                continue;
            check_equal(plane[0][i], plane[1][i], 256, 5e-6);
            free(plane[0][i]);
            free(plane[1][i]);
        }
        nb_sim_free(sim);
    }
}
#else
UNIT_TEST(a_table_for_each_wavelength)
{
    skip_because("this build has no gemmi");
}
#endif
