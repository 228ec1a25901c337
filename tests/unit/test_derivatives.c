/* SPDX-License-Identifier: MIT */
/* Derivatives against differences of the image, and against theorems (docs/derivatives.md). */
#include "derive_sims.h"
#include "scratch.h"

/* --- differences --- */

/** Every name that this simulation may have. */
static const char *const names[] = {"misset_x",
                                    "misset_y",
                                    "misset_z",
                                    "rot_x",
                                    "rot_y",
                                    "rot_z",
                                    "cell_a",
                                    "cell_b",
                                    "cell_c",
                                    "cell_al",
                                    "cell_be",
                                    "cell_ga",
                                    "N_a",
                                    "N_b",
                                    "N_c",
                                    "mosaic",
                                    "phi",
                                    "osc",
                                    "lambda",
                                    "dispersion",
                                    "distance",
                                    "close_distance",
                                    "Xbeam",
                                    "Ybeam",
                                    "ORGX",
                                    "ORGY",
                                    "detector_rotx",
                                    "detector_roty",
                                    "detector_rotz",
                                    "twotheta",
                                    "shift_x",
                                    "shift_y",
                                    "shift_z",
                                    "shift_fast",
                                    "shift_slow",
                                    "shift_normal",
                                    "rot_fast",
                                    "rot_slow",
                                    "rot_normal",
                                    "detector_thick",
                                    "detector_abs",
                                    "polar",
                                    "fudge",
                                    "fluence",
                                    "water",
                                    "default_F",
                                    "hdivrange",
                                    "vdivrange",
                                    "footprint_a",
                                    "footprint_b",
                                    "footprint_angle"};
enum { NAMES = sizeof names / sizeof *names };

/** A step that moves the image by about 1e-4 of itself. */
static double step_of(const nb_variable *v)
{
    if (!strcmp(v->unit, "A"))
        return 1e-6 * v->value;
    if (!strcmp(v->unit, "deg") || !strcmp(v->unit, "mm") || !strcmp(v->unit, "pixels"))
        return 2e-5;
    return 1e-5 * fmax(fabs(v->value), 1e-3);
}

static double *moved_image(nb_sim *sim, const char *name, double value)
{
    nb_error err = {0};
    if (nb_sim_set_parameters(sim, &name, &value, 1, &err))
        fail_msg("%s = %.17g: %s", name, value, err.message);
    return image_of(sim);
}

/** Richardson's central difference of each pixel; where a nearest index jumps within the step it is
 * NaN. */
static double *difference(nb_sim *sim, const nb_variable *v, double most)
{
    const size_t n = pixels_of(sim);
    const double h = step_of(v);
    double *at[4], *out = calloc(n, sizeof *out);
    for (int i = 0; i < 4; i++)
        at[i] = moved_image(sim, v->name, v->value + h * (double[]){1, -1, 0.5, -0.5}[i]);
    free(moved_image(sim, v->name, v->value));
    most =
        2e-7 * most + 4e-15 * largest(at[0], n) / h; /* more than smooth functions have */
    for (size_t i = 0; i < n; i++) {
        double wide = (at[0][i] - at[1][i]) / (2 * h), near = (at[2][i] - at[3][i]) / h;
        out[i] = fabs(wide - near) > most ? NAN : (4 * near - wide) / 3;
    }
    for (int i = 0; i < 4; i++)
        free(at[i]);
    return out;
}

/** What the rebuilt scene does not hold fixed. */
static int is_left_out(const nb_config *cfg, const char *name)
{
    int spread = cfg->mosaic_spread_deg > 0;
    if (!strcmp(name, "mosaic"))
        return cfg->mosaic_model == NB_MOSAIC_NANOBRAGG; /* its angles are floats */
    if (!strncmp(name, "misset", 6) || !strncmp(name, "cell", 4))
        return spread && cfg->mosaic_model == NB_MOSAIC_GAUSS; /* axes of the crystal */
    return 0;
}

static void check_name(nb_sim *sim, const char *name, int *jumps, int *pixels)
{
    const size_t n = pixels_of(sim);
    nb_variable v;
    nb_error err = {0};
    double *plane, *expected, *image, most, noise;
    if (nb_sim_parameter(sim, name, &v, &err) || !v.can_move)
        return;
    plane = plane_of(sim, name);
    expected = difference(sim, &v, largest(plane, n));
    most = largest(plane, n);
    image = image_of(sim);
    noise = 2e-14 * largest(image, n) / step_of(&v); /* rounding of the difference */
    free(image);
    for (size_t i = 0; i < n; i++) {
        *pixels += 1;
        if (isnan(expected[i]))
            *jumps += 1;
        else if (!(fabs(plane[i] - expected[i]) <= 1e-6 * most + noise))
            fail_msg("%s of pixel %zu: %.12g, difference %.12g, largest %.6g", name, i,
                     plane[i], expected[i], most);
    }
    free(plane);
    free(expected);
}

UNIT_TEST(planes_are_differences)
{
    const int count = getenv("NB_BIG") ? 500 : 5;
    int jumps = 0, pixels = 0;
    for (int i = 0; i < count; i++) {
        nb_config cfg = random_config();
        nb_sim *sim = opened(&cfg);
        for (int k = 0; k < NAMES; k++)
            if (!is_left_out(&cfg, names[k]))
                check_name(sim, names[k], &jumps, &pixels);
        nb_sim_free(sim);
    }
    check_below(jumps, pixels / 50);
}

static nb_config wide_config(void)
{
    nb_config cfg = random_config();
    set(&cfg, "footprint", "%s:%g:%g:%g", chance(50) ? "gauss" : "box", uniform(0.5, 2),
        uniform(0.3, 1.2), uniform(-180, 180));
    return cfg;
}

/** Directions of the beam turn with their widths: crystals, materials and polarization follow. */
UNIT_TEST(divergence_is_a_difference)
{
    const int count = getenv("NB_BIG") ? 200 : 8;
    int jumps = 0, pixels = 0;
    for (int i = 0; i < count; i++) {
        nb_config cfg = i % 2 ? random_config() : wide_config();
        nb_sim *sim;
        set(&cfg, "hdivrange", "%g", uniform(0.5, 3));
        set(&cfg, "hdivsteps", "%d", 2 + i % 2);
        set(&cfg, "vdivrange", "%g", uniform(0.5, 3));
        set(&cfg, "vdivsteps", "3");
        if (i % 3)
            set(&cfg, "square_div", "1");
        sim = opened(&cfg);
        check_name(sim, "hdivrange", &jumps, &pixels);
        check_name(sim, "vdivrange", &jumps, &pixels);
        nb_sim_free(sim);
    }
    assert_true(pixels > 0);
    check_below(jumps, pixels / 20);
}

UNIT_TEST(planes_behind_a_footprint_are_differences)
{
    const int count = getenv("NB_BIG") ? 300 : 6;
    int jumps = 0, pixels = 0;
    for (int i = 0; i < count; i++) {
        nb_config cfg = wide_config();
        nb_sim *sim = opened(&cfg);
        for (int k = 0; k < NAMES; k++)
            if (!is_left_out(&cfg, names[k]))
                check_name(sim, names[k], &jumps, &pixels);
        nb_sim_free(sim);
    }
    check_below(jumps, pixels / 20);
}

enum { SEVERAL = 8 };
static const char *const several[SEVERAL] = {
    "rot_x",       "cell_a",      "shift_x",         "rot_slow",
    "footprint_a", "footprint_b", "footprint_angle", "fluence"};

/** Planes of `several`, behind the image; free. */
static double *several_planes(nb_sim *sim)
{
    const size_t n = pixels_of(sim);
    double *planes = calloc(n * (SEVERAL + 1), sizeof *planes), *image = image_of(sim);
    nb_error err = {0};
    memcpy(planes, image, n * sizeof *planes);
    free(image);
    if (nb_sim_derivatives(sim, several, SEVERAL, NB_REAL_FLOAT64, planes + n, NULL, &err))
        fail_msg("%s", err.message);
    return planes;
}

static void check_pullback(nb_sim *sim, const double *planes, size_t n)
{
    double *loss = calloc(n, sizeof *loss), gradient[SEVERAL];
    nb_error err = {0};
    for (size_t i = 0; i < n; i++)
        loss[i] = uniform(-1, 1);
    if (nb_sim_pullback(sim, several, SEVERAL, NB_REAL_FLOAT64, loss, gradient, NULL, &err))
        fail_msg("%s", err.message);
    for (size_t p = 0; p < SEVERAL; p++) {
        double sum = 0, size = 0;
        for (size_t i = 0; i < n; i++) {
            sum += loss[i] * planes[(p + 1) * n + i];
            size += fabs(loss[i] * planes[(p + 1) * n + i]);
        }
        check_close(gradient[p], sum, 1e-12 * size);
    }
    free(loss);
}

/** Some pixels are not seen. */
static void check_normal(nb_sim *sim, const double *planes, size_t n)
{
    float *photons = calloc(n, sizeof *photons);
    const nb_observation seen = {.photons = photons};
    double loss, gradient[SEVERAL], fisher[SEVERAL * SEVERAL];
    nb_error err = {0};
    for (size_t i = 0; i < n; i++)
        photons[i] =
            chance(60) && planes[i] > 0 ? (float)(planes[i] * uniform(0.5, 1.5)) : NAN;
    if (nb_sim_normal(sim, several, SEVERAL, &seen, &loss, gradient, fisher, &err))
        fail_msg("%s", err.message);
    for (size_t p = 0; p < SEVERAL; p++) {
        double slope = 0, square = 0, size = 0;
        for (size_t i = 0; i < n; i++)
            if (!isnan(photons[i])) {
                const double d = planes[(p + 1) * n + i];
                slope += (1 - (double)photons[i] / planes[i]) * d;
                size += fabs(d) * 1.5;
                square += d * d / planes[i];
            }
        check_close(gradient[p], slope, 1e-9 * size);
        check_close(fisher[p * SEVERAL + p], square, 1e-9 * square);
    }
    free(photons);
}

UNIT_TEST(products_behind_a_footprint_are_those_of_planes)
{
    for (int i = 0; i < 6; i++) {
        nb_config cfg = wide_config();
        nb_sim *sim = opened(&cfg);
        const size_t n = pixels_of(sim);
        double *planes = several_planes(sim);
        check_pullback(sim, planes, n);
        check_normal(sim, planes, n);
        free(planes);
        nb_sim_free(sim);
    }
}

/** A file of a number for each pixel, some of them 0. */
static void write_plane(scratch *s, const char *name, size_t n, double most)
{
    FILE *f = fopen(scratch_path(s, name), "wb");
    for (size_t i = 0; i < n; i++) {
        const float value = chance(20) ? 0 : (float)uniform(0, most);
        assert_int_equal(fwrite(&value, sizeof value, 1, f), 1);
    }
    fclose(f);
}

/** Factors of pixels and added light from files. */
static void set_files(scratch *s, nb_config *cfg)
{
    nb_sim *sim = opened(cfg);
    double *image = image_of(sim);
    const size_t n = pixels_of(sim);
    write_plane(s, "t.bin", n, 2);
    write_plane(s, "a.bin", n, largest(image, n));
    set(cfg, "transmission", "%s", scratch_path(s, "t.bin"));
    set(cfg, "add", "%s", scratch_path(s, "a.bin"));
    free(image);
    nb_sim_free(sim);
}

/** What multiplies pixels, or F. */
static nb_config factors_config(scratch *s, int kind)
{
    nb_config cfg = kind % 2 ? wide_config() : random_config();
    if (kind < 2) {
        set_files(s, &cfg);
    } else if (kind < 4) {
        set(&cfg, "beamstop", "disc:%g:0.2,bar:2:%g", uniform(4, 12), uniform(0, 360));
    } else if (kind < 6) {
        set(&cfg, "water", "0");
        cfg.background[0] = '\0';
        set(&cfg, "absorb", kind == 4 ? "sphere:%g" : "box:%g:150:40", uniform(50, 400));
        set(&cfg, "absorb_mu", "3");
    } else {
        set(&cfg, "dose", "%g", uniform(1, 9));
        set(&cfg, "damage_cell", "%g", uniform(0, 0.5));
    }
    return cfg;
}

/** Is a derivative refused by the flag, which the parameter changes? */
static int is_held(nb_sim *sim, const char *name)
{
    double *plane = calloc(pixels_of(sim), sizeof *plane);
    nb_error err = {0};
    const nb_status st =
        nb_sim_derivatives(sim, &name, 1, NB_REAL_FLOAT64, plane, NULL, &err);
    free(plane);
    return st && strstr(err.message, "which derivatives and refine hold");
}

/** The photons of the renderer, which fits see. */
static void check_photons(nb_sim *sim)
{
    const size_t n = pixels_of(sim);
    float *photons = calloc(n, sizeof *photons);
    double *image = image_of(sim), *rendered = calloc(n, sizeof *rendered);
    nb_error err = {0};
    assert_int_equal(nb_sim_render(sim, photons, NULL, &err), NB_OK);
    for (size_t i = 0; i < n; i++)
        rendered[i] = photons[i];
    check_equal(image, rendered, n, 2e-6);
    free(photons);
    free(image);
    free(rendered);
}

SCRATCH_TEST(planes_behind_factors_are_differences)
{
    const int count = getenv("NB_BIG") ? 320 : 8;
    int jumps = 0, pixels = 0, held[8] = {0};
    for (int i = 0; i < count; i++) {
        nb_config cfg = factors_config(*state, i % 8);
        nb_sim *sim = opened(&cfg);
        check_photons(sim);
        for (int k = 0; k < NAMES; k++)
            if (is_left_out(&cfg, names[k]))
                continue;
            else if (is_held(sim, names[k]))
                held[i % 8]++;
            else if (count > 8 || (k + i) % 3 == 0)
                check_name(sim, names[k], &jumps, &pixels);
        nb_sim_free(sim);
    }
    assert_true(held[0] == 0 && held[1] == 0 && held[2] > 5 && held[5] > held[4] &&
                held[6] > 0);
    check_below(jumps, pixels / 20);
}

SCRATCH_TEST(products_behind_factors_are_those_of_planes)
{
    for (int i = 0; i < 4; i++) {
        nb_config cfg = factors_config(*state, 1);
        nb_sim *sim = opened(&cfg);
        double *planes = several_planes(sim);
        check_pullback(sim, planes, pixels_of(sim));
        check_normal(sim, planes, pixels_of(sim));
        free(planes);
        nb_sim_free(sim);
    }
}

/* A rotation that is not 0 has the slope of its vector. */
UNIT_TEST(rotations_add_up)
{
    static const char *const turned[] = {"rot_x",    "rot_y",     "rot_z",
                                         "rot_fast", "rot_slow",  "rot_normal",
                                         "shift_x",  "shift_fast"};
    static const double values[] = {3, -2, 4, 1.5, -2.5, 3.5, 0.4, -0.7};
    int jumps = 0, pixels = 0;
    for (int i = 0; i < 2; i++) {
        nb_config cfg = random_config();
        nb_sim *sim;
        nb_error err = {0};
        cfg.mosaic_model = NB_MOSAIC_NANOBRAGG;
        sim = opened(&cfg);
        assert_int_equal(nb_sim_set_parameters(sim, turned, values, 8, &err), NB_OK);
        for (int k = 0; k < NAMES; k++)
            if (!is_left_out(&cfg, names[k]))
                check_name(sim, names[k], &jumps, &pixels);
        nb_sim_free(sim);
    }
}

/* --- theorems --- */

/** sum of k[j] planes[j] */
static double *combined(nb_sim *sim, const char *const *of, const double *k, int count)
{
    const size_t n = pixels_of(sim);
    double *sum = calloc(n, sizeof *sum);
    for (int j = 0; j < count; j++) {
        double *plane = plane_of(sim, of[j]);
        for (size_t i = 0; i < n; i++)
            sum[i] += k[j] * plane[i];
        free(plane);
    }
    return sum;
}

UNIT_TEST(turning_all_changes_nothing)
{
    nb_config cfg = nb_suite_config(1.1, 7, 12);
    double *crystal, *detector;
    nb_sim *sim;
    set(&cfg, "cell", "66 75 58 84 97 103");
    set(&cfg, "misset", "35 -18 52");
    set(&cfg, "pixel", "1.1");
    set(&cfg, "nopolar", "1");
    sim = opened(&cfg);
    crystal = plane_of(sim, "rot_x");
    detector = plane_of(sim, "detector_rotx");
    for (size_t i = 0; i < pixels_of(sim); i++)
        detector[i] = -detector[i];
    check_equal(crystal, detector, pixels_of(sim), 1e-12);
    free(crystal);
    free(detector);
    nb_sim_free(sim);
}

/* Euler: the image stays when cell and wavelength grow by one factor. */
UNIT_TEST(lengths_have_no_scale)
{
    static const char *const edges[] = {"cell_a", "cell_b", "cell_c"};
    for (int i = 0; i < 6; i++) {
        nb_config cfg = random_config();
        double *cell, *lambda, k[3];
        nb_sim *sim;
        cfg.crystal_volume_um3 = NAN; /* which would stay */
        cfg.dmin_A = 0;
        cfg.background[0] = 0;
        sim = opened(&cfg);
        for (int j = 0; j < 3; j++)
            k[j] = cfg.cell[j];
        cell = combined(sim, edges, k, 3);
        k[0] = -cfg.lambda_A;
        lambda = combined(sim, &(const char *){"lambda"}, k, 1);
        check_equal(cell, lambda, pixels_of(sim), 1e-11);
        free(cell);
        free(lambda);
        nb_sim_free(sim);
    }
}

UNIT_TEST(misset_is_a_rotation)
{
    nb_config cfg = nb_suite_config(1, 6, 10);
    static const char *const rot[] = {"rot_x", "rot_y", "rot_z"};
    const double deg = acos(-1) / 180, y = -18 * deg, z = 52 * deg;
    const double n[3][3] = {
        {cos(y) * cos(z), cos(y) * sin(z), -sin(y)}, {-sin(z), cos(z), 0}, {0, 0, 1}};
    static const char *const misset[] = {"misset_x", "misset_y", "misset_z"};
    nb_sim *sim;
    set(&cfg, "misset", "35 -18 52");
    set(&cfg, "pixel", "1.3");
    sim = opened(&cfg);
    for (int i = 0; i < 3; i++) {
        double *a = plane_of(sim, misset[i]), *b = combined(sim, rot, n[i], 3);
        check_equal(a, b, pixels_of(sim), 1e-12);
        free(a);
        free(b);
    }
    nb_sim_free(sim);
}

UNIT_TEST(the_image_is_linear_in_fluence)
{
    nb_config cfg = random_config();
    nb_sim *sim = opened(&cfg);
    double *image = image_of(sim), *plane;
    nb_variable v;
    assert_int_equal(nb_sim_parameter(sim, "fluence", &v, NULL), NB_OK);
    plane = combined(sim, &(const char *){"fluence"}, &v.value, 1);
    check_equal(image, plane, pixels_of(sim), 1e-14);
    free(image);
    free(plane);
    nb_sim_free(sim);
}

UNIT_TEST(a_region_is_a_part)
{
    nb_config cfg = random_config();
    nb_sim *whole, *part;
    double *a, *b;
    int fast, slow;
    whole = opened(&cfg);
    set(&cfg, "roi", "2 4 1 3");
    part = opened(&cfg);
    nb_sim_size(whole, &fast, &slow);
    a = plane_of(whole, "rot_y");
    b = plane_of(part, "rot_y");
    for (int s = 0; s < slow; s++)
        for (int f = 0; f < fast; f++)
            assert_true(b[s * fast + f] ==
                        (f >= 2 && f <= 4 && s >= 1 && s <= 3 ? a[s * fast + f] : 0));
    free(a);
    free(b);
    nb_sim_free(whole);
    nb_sim_free(part);
}
