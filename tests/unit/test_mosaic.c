/* SPDX-License-Identifier: MIT */
/* Compares the distributions of mosaic domains with their exact laws and with powders. */
#include "../support/check.h"
#include "../support/laws.h"

#include "sim/sim.h"
#include "model/crystal.h"
#include "series/frames.h"

enum { COUNT = 100000 };

static nb_mat3 drawn[COUNT];
static double sample[COUNT];

static nb_mosaic isotropic(nb_mosaic_model model, double spread, int64_t seed)
{
    return (nb_mosaic){.model = model,
                       .spread = spread,
                       .root = {{spread, 0, 0}, {0, spread, 0}, {0, 0, spread}},
                       .axes = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                       .seed = seed,
                       .spindle = {0, 0.6, 0.8}};
}

static void draw(nb_mosaic_model model, double spread, int64_t seed)
{
    nb_mosaic m = isotropic(model, spread, seed);
    nb_mosaic_draw(&m, COUNT, drawn);
}

/** Rotation vector [rad]: axis times angle in 0 to pi. */
static nb_vec3 rotation_vector(const nb_mat3 *R)
{
    const double *m = R->m;
    nb_vec3 w =
        nb_v3(m[7] - m[5], m[2] - m[6], m[3] - m[1]); /* 2 sin(angle) times the axis */
    return nb_scale(atan2(nb_norm(w), m[0] + m[4] + m[8] - 1), nb_unit(w));
}

/** Kolmogorov's distance of sample[] from `law`, in units of 1/sqrt(COUNT). */
static double distance_from(nb_law_part law, double spread)
{
    nb_drawn drawn_numbers = nb_drawn_of(sample, COUNT);
    const double distance = nb_kolmogorov(&drawn_numbers, law, &spread);
    nb_drawn_free(&drawn_numbers);
    return distance;
}

/* P(distance > 2.2) = 2 exp(-2 * 2.2^2) = 1e-4; the seeds are fixed. */
static const double kolmogorov = 2.2;

static double ball_law(double angle, const void *law)
{
    const double spread = *(const double *)law;
    return (angle - sin(angle)) / (spread - sin(spread));
}
static double flat_law(double x, const void *law)
{
    const double half = *(const double *)law;
    return (x + half) / (2 * half);
}
static double normal_law(double x, const void *law)
{
    return nb_normal_part(x / *(const double *)law);
}

UNIT_TEST(uniform_fills_the_ball)
{
    static const double spreads[] = {2e-4, 0.5, 60, 180};
    for (int k = 0; k < 4; k++) {
        double spread = spreads[k] * NB_DEG;
        draw(NB_MOSAIC_UNIFORM, spread, 17 + k);
        for (int i = 0; i < COUNT; i++) {
            sample[i] = nb_norm(rotation_vector(&drawn[i]));
            assert_true(sample[i] <= spread * (1 + 1e-9));
        }
        if (k > 0) { /* x - sin x loses all digits for small x: the cube is the law */
            check_below(distance_from(ball_law, spread), kolmogorov);
        } else {
            for (int i = 0; i < COUNT; i++)
                sample[i] = pow(sample[i] / spread, 3) - 0.5;
            check_below(distance_from(flat_law, 0.5), kolmogorov);
        }
        for (int axis = 0; axis < 2; axis++) {
            for (int i = 0; i < COUNT; i++) {
                nb_vec3 w = nb_unit(rotation_vector(&drawn[i]));
                sample[i] = axis ? w.z : atan2(w.y, w.x);
            }
            check_below(distance_from(flat_law, axis ? 1 : NB_PI), kolmogorov);
        }
    }
}

/* At 180 degrees all directions are equally likely: a powder. nanoBragg's distribution is
 * not a powder: directions near the opposite pole are too frequent. */
UNIT_TEST(uniform_is_a_powder)
{
    for (int k = 0; k < 9; k++) {
        draw(NB_MOSAIC_UNIFORM, NB_PI, 100 + k);
        for (int i = 0; i < COUNT; i++)
            sample[i] = drawn[i].m[k]; /* the sample is a component of a turned axis */
        check_below(distance_from(flat_law, 1), kolmogorov);
    }
    draw(NB_MOSAIC_NANOBRAGG, NB_PI, 12345678);
    for (int i = 0; i < COUNT; i++)
        sample[i] = drawn[i].m[8];
    check_above(distance_from(flat_law, 1), 10 * kolmogorov);
}

UNIT_TEST(gauss_is_normal)
{
    static const double spreads[] = {1e-3, 0.3, 20};
    for (int k = 0; k < 3; k++)
        for (int axis = 0; axis < 3; axis++) {
            double sigma = spreads[k] * NB_DEG;
            draw(NB_MOSAIC_GAUSS, sigma, 7 * k + axis);
            for (int i = 0; i < COUNT; i++) {
                nb_vec3 w = rotation_vector(&drawn[i]);
                sample[i] = axis == 0 ? w.x : axis == 1 ? w.y : w.z;
            }
            check_below(distance_from(normal_law, sigma), kolmogorov);
        }
}

/* Three spreads belong to a*, c x a* and c of the rotated crystal. */
UNIT_TEST(gauss_by_axis)
{
    nb_config cfg = nb_test_config();
    nb_sim *sim;
    nb_mosaic m;
    nb_set_cell(&cfg, 70, 80, 90, 75, 85, 95);
    nb_set_N(&cfg, 5);
    nb_set_misset(&cfg, 40, -50, 60);
    nb_set_pixels(&cfg, 4, 4);
    cfg.default_F = 1;
    cfg.mosaic_model = NB_MOSAIC_GAUSS;
    nb_set_vector(&cfg.mosaic_aniso_deg, 0.1, 0.4, 2);
    sim = created(&cfg);
    m = sim->model.mosaic;
    assert_int_equal(sim->model.scene.lattice.n_domains, 10);
    check_close(m.spread / NB_DEG, sqrt((0.01 + 0.16 + 4) / 3), 1e-12);
    nb_mosaic_draw(&m, COUNT, drawn);
    for (int axis = 0; axis < 3; axis++) {
        nb_vec3 x = nb_unit(sim->model.crystal.astar), z = nb_unit(sim->model.crystal.c);
        nb_vec3 e = axis == 0 ? x : axis == 1 ? nb_cross(z, x) : z;
        for (int i = 0; i < COUNT; i++)
            sample[i] = nb_dot(rotation_vector(&drawn[i]), e);
        check_below(distance_from(normal_law, cfg.mosaic_aniso_deg.v[axis] * NB_DEG),
                    kolmogorov);
    }
    nb_sim_free(sim);
}

static void set_tensor(nb_config *cfg, const double tensor[6])
{
    memcpy(cfg->mosaic_tensor_deg2, tensor, sizeof cfg->mosaic_tensor_deg2);
}

/* Rotation vectors of a tensor are normal along any direction u, with the variance u.C.u,
 * in the crystal's frame and in the lab's. */
UNIT_TEST(gauss_by_tensor)
{
    static const double C[6] = {0.02, 0.16, 0.09, 0.03, -0.01, 0.05},
                        u[4][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0.6, 0.8}, {0.48, -0.64, 0.6}};
    for (int lab = 0; lab < 2; lab++) {
        nb_config cfg = nb_suite_config(1, 5, 4);
        nb_vec3 e[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
        nb_sim *sim;
        nb_set_misset(&cfg, 40, -50, 60);
        set_tensor(&cfg, C);
        cfg.mosaic_frame = lab ? NB_MOSAIC_LAB : NB_MOSAIC_CRYSTAL;
        sim = created(&cfg);
        assert_int_equal(sim->model.mosaic.model, NB_MOSAIC_GAUSS);
        if (!lab) {
            e[0] = nb_unit(sim->model.crystal.astar);
            e[2] = nb_unit(sim->model.crystal.c);
            e[1] = nb_cross(e[2], e[0]);
        }
        nb_mosaic_draw(&sim->model.mosaic, COUNT, drawn);
        for (int k = 0; k < 4; k++) {
            const double *v = u[k];
            const double square =
                v[0] * v[0] * C[0] + v[1] * v[1] * C[1] + v[2] * v[2] * C[2] +
                2 * (v[0] * v[1] * C[3] + v[0] * v[2] * C[4] + v[1] * v[2] * C[5]);
            const nb_vec3 along = nb_add(
                nb_scale(v[0], e[0]), nb_add(nb_scale(v[1], e[1]), nb_scale(v[2], e[2])));
            for (int i = 0; i < COUNT; i++)
                sample[i] = nb_dot(rotation_vector(&drawn[i]), along);
            check_below(distance_from(normal_law, sqrt(square) * NB_DEG), kolmogorov);
        }
        nb_sim_free(sim);
    }
}

/* A diagonal tensor, also with zeros, is -mosaic_aniso to the last bit. */
UNIT_TEST(diagonal_tensor)
{
    static const double roots[2][3] = {{0.5, 0.25, 2}, {0.5, 0, 2}};
    static nb_mat3 aniso[100], tensor[100];
    for (int k = 0; k < 2; k++) {
        const double *s = roots[k];
        nb_config cfg = nb_suite_config(1, 5, 4), other = nb_suite_config(1, 5, 4);
        nb_sim *a, *b;
        cfg.mosaic_model = NB_MOSAIC_GAUSS;
        nb_set_vector(&cfg.mosaic_aniso_deg, s[0], s[1], s[2]);
        set_tensor(&other,
                   (const double[]){s[0] * s[0], s[1] * s[1], s[2] * s[2], 0, 0, 0});
        a = created(&cfg);
        b = created(&other);
        nb_mosaic_draw(&a->model.mosaic, 100, aniso);
        nb_mosaic_draw(&b->model.mosaic, 100, tensor);
        assert_memory_equal(aniso, tensor, sizeof aniso);
        nb_sim_free(a);
        nb_sim_free(b);
    }
}

/* A domain depends only on the seed and its number. In nanoBragg's model, and only there,
 * domain 0 is not rotated. */
UNIT_TEST(sequences)
{
    static nb_mat3 few[5];
    for (int model = NB_MOSAIC_NANOBRAGG; model <= NB_MOSAIC_GAUSS; model++) {
        nb_mosaic m = isotropic((nb_mosaic_model)model, 0.1, 5);
        draw((nb_mosaic_model)model, 0.1, 5);
        nb_mosaic_draw(&m, 5, few);
        assert_memory_equal(few, drawn, sizeof few);
        assert_true((nb_norm(rotation_vector(&few[0])) == 0) ==
                    (model == NB_MOSAIC_NANOBRAGG));
        m.seed = 6;
        nb_mosaic_draw(&m, 5, few);
        assert_memory_not_equal(few + 1, drawn + 1, 4 * sizeof *few);
    }
}

/** |F_latt|^2 of N^3 cells at q = k n (k = |q| a), averaged over all directions n. */
static double powder_lattice(double k, int N)
{
    enum { STEPS = 90 };
    double sum = 0;
    for (int i = 0; i < STEPS; i++)
        for (int j = 0; j < STEPS; j++) { /* an octant is enough: the cell is cubic */
            double polar = (i + 0.5) / STEPS * NB_PI / 2, product = 1;
            double azimuth = (j + 0.5) / STEPS * NB_PI / 2, r = sin(polar);
            double h[3] = {k * r * cos(azimuth), k * r * sin(azimuth), k * cos(polar)};
            for (int a = 0; a < 3; a++)
                product *= sin(NB_PI * N * h[a]) / sin(NB_PI * h[a]);
            sum += product * product * r * NB_PI / 2;
        }
    return sum / (STEPS * STEPS);
}

/* Photons of the rings 100, 110 and 111 of a cubic powder: each total within 1 % of the average
 * over all orientations, with a spread of 180 degrees. */
UNIT_TEST(powder_rings)
{
    enum { PIXELS = 32, RINGS = 3 };
    nb_config cfg = nb_suite_config(1, 5, PIXELS);
    double total[RINGS] = {0}, expected[RINGS] = {0};
    nb_picture p;
    nb_set_cell(&cfg, 20, 20, 20, 90, 90, 90);
    /* the beam passes between four pixels, so the image has eightfold symmetry */
    cfg.convention = NB_CONV_DENZO;
    nb_set_beam(&cfg, 9.6, 9.6);
    cfg.pixel_mm = 0.6;
    cfg.nopolar = cfg.point_pixel = 1;
    cfg.isa = NB_ISA_AUTO;
    cfg.mosaic_model = NB_MOSAIC_UNIFORM;
    cfg.mosaic_spread_deg = 180;
    cfg.mosaic_domains = COUNT;
    p = rendered(&cfg);
    for (int s = 0; s < PIXELS / 2; s++)
        for (int f = 0; f <= s; f++) {
            double y = (f + 0.5 - PIXELS / 2) * 0.6, z = (s + 0.5 - PIXELS / 2) * 0.6;
            double R = sqrt(1e4 + y * y + z * z), k = 40 * sqrt((1 - 100 / R) / 2),
                   sum = 0;
            int ring = (int)floor(k * k + 0.5) - 1, copies = f == s ? 4 : 8;
            int F = PIXELS - 1 - f, S = PIXELS - 1 - s;
            const int at[8][2] = {{f, s}, {F, s}, {f, S}, {F, S},
                                  {s, f}, {S, f}, {s, F}, {S, F}};
            if (ring < 0 || ring >= RINGS)
                continue;
            for (int i = 0; i < copies; i++)
                sum += p.pixels[at[i][1] * PIXELS + at[i][0]];
            total[ring] += sum;
            expected[ring] += copies * 1e4 * 0.36 / (R * R) * powder_lattice(k, 5);
        }
    for (int ring = 0; ring < RINGS; ring++)
        check_ratio(total[ring], expected[ring], 0.01);
    nb_picture_free(&p);
}

/* Jitter of the spread: one factor for all three spreads. */
UNIT_TEST(jitter)
{
    nb_config cfg = nb_suite_config(1, 5, 8), shot = {0};
    nb_series series = nb_test_series();
    nb_frames frames;
    nb_sim *sim;
    nb_error err;
    cfg.mosaic_model = NB_MOSAIC_GAUSS;
    nb_set_vector(&cfg.mosaic_aniso_deg, 1, 2, 4);
    cfg.seed = (nb_seed){1, 3};
    sim = created(&cfg);
    series.stills = 2;
    series.jitter_mosaic_pct = 20;
    nb_put_text(&series.output, "x_%%d.img");
    assert_int_equal(nb_frames_init(&frames, &series, sim, &err), NB_OK);
    assert_int_equal(nb_frames_config(&frames, 1, &shot, &err), NB_OK);
    assert_true(isnan(shot.mosaic_spread_deg) && shot.mosaic_aniso_deg.set);
    check_above(fabs(shot.mosaic_aniso_deg.v[0] - 1), 1e-6);
    check_ratio(shot.mosaic_aniso_deg.v[1], 2 * shot.mosaic_aniso_deg.v[0], 1e-8);
    check_ratio(shot.mosaic_aniso_deg.v[2], 4 * shot.mosaic_aniso_deg.v[0], 1e-8);
    nb_config_drop(&shot);
    nb_frames_free(&frames);
    nb_sim_free(sim);
}

UNIT_TEST(wrong_models)
{
    nb_config cfg = nb_suite_config(1, 5, 8);
    cfg.mosaic_model = (nb_mosaic_model)3;
    check_refused(&cfg, NB_ERR_INPUT, "-mosaic_model");
    cfg.mosaic_model = (nb_mosaic_model)-1;
    check_refused(&cfg, NB_ERR_INPUT, "-mosaic_model");
    cfg.mosaic_model = NB_MOSAIC_UNIFORM;
    nb_set_vector(&cfg.mosaic_aniso_deg, 1, 2, 3);
    check_refused(&cfg, NB_ERR_INPUT, "needs -mosaic_model gauss");
    cfg.mosaic_model = NB_MOSAIC_GAUSS;
    cfg.mosaic_spread_deg = 1;
    check_refused(&cfg, NB_ERR_INPUT, "give one of them");
    cfg.mosaic_spread_deg = NAN;
    nb_set_vector(&cfg.mosaic_aniso_deg, 1, NAN, 3);
    check_refused(&cfg, NB_ERR_INPUT, "-mosaic_aniso");
    nb_set_vector(&cfg.mosaic_aniso_deg, 1, 2, -3);
    check_refused(&cfg, NB_ERR_INPUT, "-mosaic_aniso");
}

/* Tensors that are no covariance, by a negative variance in any direction. */
UNIT_TEST(wrong_tensors)
{
    static const double wrong[][6] = {{-1, 1, 1, 0, 0, 0},   {1, 1, -1, 0, 0, 0},
                                      {1, 1, 1, 1.01, 0, 0}, {1, 0, 1, 0.01, 0, 0},
                                      {0, 1, 1, 0, 0, 1.01}, {1, 1, 1, 0.9, 0.9, 0}};
    nb_config cfg = nb_suite_config(1, 5, 8);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        set_tensor(&cfg, wrong[i]);
        check_refused(&cfg, NB_ERR_INPUT, "not positive semidefinite");
    }
    set_tensor(&cfg, (const double[]){1, 1, 1, 1, 1, 1}); /* all domains about one axis */
    nb_sim_free(created(&cfg));
    set_tensor(&cfg, (const double[]){1, 1, NAN, 0, 0, 0});
    check_refused(&cfg, NB_ERR_INPUT, "-mosaic_tensor");
}

static double exponential_law(double angle, const void *law)
{
    return angle > 0 ? -expm1(-angle / *(const double *)law) : 0;
}

/** A tail turns domains about the spindle, to one side, by exponential angles. */
UNIT_TEST(tail_is_exponential)
{
    nb_mosaic m = isotropic(NB_MOSAIC_GAUSS, 1e-9, 3);
    m.tail = 0.02;
    nb_mosaic_draw(&m, COUNT, drawn);
    for (int i = 0; i < COUNT; i++)
        sample[i] = nb_dot(rotation_vector(&drawn[i]), m.spindle);
    check_below(distance_from(exponential_law, 0.02), kolmogorov);
    m.tail = -0.02;
    nb_mosaic_draw(&m, COUNT, drawn);
    for (int i = 0; i < COUNT; i++)
        sample[i] = -nb_dot(rotation_vector(&drawn[i]), m.spindle);
    check_below(distance_from(exponential_law, 0.02), kolmogorov);
}

/** The tail also turns the rates of change with the spread. They equal differences. */
UNIT_TEST(tail_turns_the_rates)
{
    enum { FEW = 50 };
    const double spread = 0.01, step = 1e-6;
    nb_mosaic m = isotropic(NB_MOSAIC_GAUSS, spread, 9);
    nb_mosaic more = isotropic(NB_MOSAIC_GAUSS, spread + step, 9);
    nb_mat3 after[FEW];
    nb_vec3 rates[FEW];
    m.tail = more.tail = 0.5;
    nb_mosaic_draw(&m, FEW, drawn);
    nb_mosaic_draw(&more, FEW, after);
    nb_mosaic_growth(&m, FEW, rates);
    for (int i = 0; i < FEW; i++)
        for (int k = 0; k < 3; k++) {
            const nb_vec3 x = nb_v3(drawn[i].m[k], drawn[i].m[3 + k], drawn[i].m[6 + k]),
                          y = nb_v3(after[i].m[k], after[i].m[3 + k], after[i].m[6 + k]);
            const nb_vec3 off =
                nb_sub(nb_scale(1 / step, nb_sub(y, x)), nb_cross(rates[i], x));
            check_below(nb_norm(off), 1e-4);
        }
}
