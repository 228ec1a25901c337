/* SPDX-License-Identifier: MIT */
/* AT-SRC-001 to 003, AT-FLU-001, AT-STA-001, AT-ROI-001, AT-NOISE-001, AT-PRE-002. */
#include "../support/check.h"

#include "sim/sim.h"
#include "physics/pixel.h"

static void source_file(nb_config *cfg, const char *text)
{
    nb_scratch_path(cfg->source_file, "sources.txt");
    assert_true(nb_scratch_write(cfg->source_file, text, strlen(text)));
}

/* Directions, wavelengths and defaults of missing columns. */
static void at_src_001(void **state)
{
    nb_config cfg = nb_suite_config(1.5, 5, 16);
    const nb_source *s;
    nb_sim *sim;
    (void)state;
    cfg.dispersion_pct = 5; /* a file overrides divergence and dispersion */
    cfg.dispersion_steps = 4;
    cfg.hdiv_range_mrad = 10;
    source_file(&cfg,
                "# X Y Z I lambda\n-10 0 0 1 1e-10\n\n0,-2;0 3 2e-10\r\n -3 : -4\n-1");
    sim = created(&cfg);
    assert_int_equal(sim->model.scene.beam.n_sources, 4);
    s = sim->model.scene.beam.sources;
    check_vector(s[0].incident, 1, 0, 0, 1e-15);
    check_vector(s[1].incident, 0, 1, 0, 1e-15);
    check_vector(s[2].incident, 0.6, 0.8, 0, 1e-15);
    check_vector(s[3].incident, 1, 0, 0, 1e-15);
    check_close(s[0].lambda, 1e-10, 1e-24);
    check_close(s[1].lambda, 2e-10, 1e-24);
    check_close(s[2].lambda, 1.5e-10, 1e-24);
    check_close(s[0].weight, 4.0 / 6, 1e-15); /* I n / sum I */
    check_close(s[1].weight, 4.0 * 3 / 6, 1e-15);
    nb_sim_free(sim);
    cfg.compat = 1;
    sim = created(&cfg);
    check_close(sim->model.scene.beam.sources[1].weight, 1, 0);
    nb_sim_free(sim);
    cfg.compat = 0;
    source_file(&cfg, "-10 0 0 1 1e-10\n-10 0 0 -1\n");
    check_refused(&cfg, NB_ERR_INPUT, ":2:");
    source_file(&cfg, "-10 0 0 0\n");
    check_refused(&cfg, NB_ERR_INPUT, "sources.txt");
    source_file(&cfg, "0 0 0 1\n");
    check_refused(&cfg, NB_ERR_INPUT, ":1:");
    remove(cfg.source_file);
}

/* Weights: the image is the weighted mean of the images of each source alone. */
static void at_src_002(void **state)
{
    static const char *const lines[] = {"-10 0 0 1 1e-10\n", "-10 0.05 0.1 2 1.02e-10\n",
                                        "-10 -0.2 0 0.25 0.97e-10\n"};
    static const double weights[] = {1 / 3.25, 2 / 3.25, 0.25 / 3.25};
    nb_config cfg = nb_suite_config(1, 5, 96);
    char all[256] = "";
    double mean[96 * 96] = {0}, max = 0;
    nb_picture p;
    (void)state;
    cfg.oversample_polar = 1; /* each source with its own polarization */
    cfg.polarization = 0.7;
    cfg.polar_set = 1;
    for (int i = 0; i < 3; i++) {
        source_file(&cfg, lines[i]);
        p = rendered(&cfg);
        for (int k = 0; k < 96 * 96; k++)
            mean[k] += weights[i] * p.pixels[k];
        nb_picture_free(&p);
        strcat(all, lines[i]);
    }
    source_file(&cfg, all);
    p = rendered(&cfg);
    for (int k = 0; k < 96 * 96; k++)
        max = fmax(max, mean[k]);
    for (int k = 0; k < 96 * 96; k++)
        check_close(p.pixels[k], mean[k], 2e-7 * max);
    nb_picture_free(&p);
    remove(cfg.source_file);
}

/* Ranges, steps and counts of the beam's grid, as sources in the scene. */
static void at_src_003(void **state)
{
    const struct {
        double range, step;
        int count, expected;
    } rows[] = {{NAN, NAN, 0, 1}, {NAN, 2, 0, 2}, {3, NAN, 0, 2}, {4, 1, 0, 4},
                {4, NAN, 5, 5},   {4, NAN, 1, 2}, {4, 1, 7, 7},   {4, 1.5, 0, 3}};
    nb_config cfg = nb_suite_config(1, 5, 8);
    nb_sim *sim;
    (void)state;
    for (int i = 0; i < 8; i++) {
        double mean = 0;
        cfg.hdiv_range_mrad = rows[i].range;
        cfg.hdiv_step_mrad = rows[i].step;
        cfg.hdiv_steps = rows[i].count;
        sim = created(&cfg);
        assert_int_equal(sim->model.scene.beam.n_sources, rows[i].expected);
        for (int k = 0; k < rows[i].expected; k++) /* horizontal: about -Y here, moves z */
            mean += sim->model.scene.beam.sources[k].incident.z;
        check_close(mean, 0, 1e-15); /* centred */
        nb_sim_free(sim);
    }
    cfg.hdiv_range_mrad = cfg.hdiv_step_mrad = NAN;
    cfg.hdiv_steps = 3;
    check_refused(&cfg, NB_ERR_INPUT, "-hdivrange");
    cfg.hdiv_steps = 0;
    cfg.vdiv_steps = 3;
    check_refused(&cfg, NB_ERR_INPUT, "-vdivrange");
    cfg.vdiv_steps = 0;
    cfg.dispersion_pct = 10;
    cfg.dispersion_steps = 5;
    sim = created(&cfg);
    assert_int_equal(sim->model.scene.beam.n_sources, 5);
    for (int k = 0; k < 5; k++)
        check_close(sim->model.scene.beam.sources[k].lambda, 1e-10 * (0.95 + 0.025 * k),
                    1e-24);
    nb_sim_free(sim);
}

/* Without -oversample_polar the polarization is that of the first source, also if dmin
 * culls only that source. */
static void polarization_of_a_culled_first_source(void **state)
{
    nb_config cfg = nb_suite_config(1, 1, 32), second = cfg;
    nb_picture p, q;
    int lone = 0;
    (void)state;
    cfg.pixel_mm = 4;
    cfg.polarization = 0.8;
    cfg.polar_set = 1;
    cfg.dmin_A = 1.4;
    second = cfg;
    source_file(&cfg, "-10 3 1 1 0.7e-10\n-10 0 0 1 1.2e-10\n");
    p = rendered(&cfg);
    second.nopolar = 1;
    nb_scratch_path(second.source_file, "second.txt");
    assert_true(nb_scratch_write(second.source_file, "-10 0 0 1 1.2e-10\n", 18));
    q = rendered(&second);
    for (int i = 0; i < 32 * 32; i++) {
        const nb_scene *sc = &p.sim->model.scene;
        nb_ray ray = nb_ray_to(sc->panels, sc->sensors, (i % 32 + 0.5) * 4e-3,
                               (i / 32 + 0.5) * 4e-3, 0);
        double d[2], polar = nb_polarization(0.8, sc->beam.sources[0].incident,
                                             ray.direction, nb_v3(0, 0, 1));
        for (int k = 0; k < 2; k++)
            d[k] =
                1e10 / nb_norm(nb_scattering_vector(&sc->beam.sources[k], ray.direction));
        if (d[0] >= 1.4 || d[1] < 1.4)
            continue;
        check_ratio(p.pixels[i], 0.5 * q.pixels[i] * polar, 1e-6);
        lone++;
    }
    assert_true(lone > 50);
    nb_picture_free(&p);
    nb_picture_free(&q);
    remove(cfg.source_file);
    remove(second.source_file);
}

static double fluence_of(const nb_config *cfg)
{
    nb_sim *sim = created(cfg);
    double fluence = sim->model.fluence;
    nb_sim_free(sim);
    return fluence;
}

static void at_flu_001(void **state)
{
    nb_config cfg = nb_suite_config(1, 5, 8);
    (void)state;
    check_ratio(fluence_of(&cfg) * 7.94079248018965e-30, 1, 1e-12); /* so that I = F^2 */
    cfg.fluence = 3e20;
    check_close(fluence_of(&cfg), 3e20, 0);
    cfg.flux = 1e12;
    check_refused(&cfg, NB_ERR_INPUT, "-fluence 3e+20 contradicts -flux");
    cfg.fluence = NAN;
    check_ratio(fluence_of(&cfg), 1e12 / 1e-8, 1e-14); /* 1 s, 0.1 mm */
    cfg.exposure_s = 0.25;
    cfg.beamsize_mm = 0.02;
    check_ratio(fluence_of(&cfg), 0.25e12 / 4e-10, 1e-14);
    cfg.exposure_s = 0;
    check_refused(&cfg, NB_ERR_INPUT, "-exposure 0: the value must be greater than 0");
}

/* The beam limits the crystal along b and c, not along a. */
static void beam_clips_crystal(void **state)
{
    nb_config cfg = nb_suite_config(1, 0, 8);
    nb_sim *sim;
    (void)state;
    for (int i = 0; i < 3; i++)
        cfg.xtal_size_mm[i] = 3e-4;
    cfg.beamsize_mm = 1.5e-4;
    sim = created(&cfg);
    check_close(sim->model.crystal.N[0], 30, 0);
    check_close(sim->model.crystal.N[1], 15, 0);
    check_close(sim->model.crystal.N[2], 15, 0);
    nb_sim_free(sim);
    cfg.beamsize_mm =
        NAN; /* 0.1 mm limits too, but is much larger than the crystal here */
    cfg.xtal_size_mm[1] = 2.5001e-4;
    cfg.xtal_size_mm[2] = 1e-9;
    sim = created(&cfg);
    check_close(sim->model.crystal.N[1], 26, 0);
    check_close(sim->model.crystal.N[2], 1, 0);
    nb_sim_free(sim);
}

static void at_sta_001(void **state)
{
    nb_config cfg = nb_suite_config(1, 5, 64);
    double sum = 0, square = 0, deviation = 0, max = -1;
    int f_max = 0, s_max = 0, n = 0;
    nb_picture p;
    (void)state;
    nb_set_misset(&cfg, 10, 20, 30);
    cfg.roi_set = 1;
    cfg.roi[0] = 3, cfg.roi[1] = 40, cfg.roi[2] = 10, cfg.roi[3] = 63;
    p = rendered(&cfg);
    for (int s = 10; s <= 63; s++)
        for (int f = 3; f <= 40; f++, n++) {
            double v = p.pixels[s * 64 + f];
            sum += v;
            square += v * v;
            if (v > max) {
                max = v;
                f_max = f;
                s_max = s;
            }
        }
    for (int s = 10; s <= 63; s++)
        for (int f = 3; f <= 40; f++)
            deviation += pow(p.pixels[s * 64 + f] - sum / n, 2);
    assert_int_equal(p.stats.rendered, n);
    assert_int_equal(p.stats.roi_pixels, n);
    assert_int_equal(p.stats.max_fast, f_max);
    assert_int_equal(p.stats.max_slow, s_max);
    check_close(p.stats.max, max, 0);
    check_ratio(p.stats.sum, sum, 1e-12);
    check_ratio(p.stats.mean, sum / n, 1e-12);
    check_ratio(p.stats.rms, sqrt(square / n), 1e-12);
    check_ratio(p.stats.rmsd, sqrt(deviation / (n - 1)), 1e-12);
    nb_picture_free(&p);
}

/* Both ends are rendered; outside is 0; inside is the same as without. */
static void at_roi_001(void **state)
{
    static const int rois[][4] = {
        {0, 63, 0, 63}, {5, 5, 7, 7}, {0, 0, 0, 63}, {10, 50, 60, 63}};
    nb_config cfg = nb_suite_config(1, 5, 64);
    nb_picture all = rendered(&cfg), p;
    (void)state;
    cfg.roi_set = 1;
    for (int i = 0; i < 4; i++) {
        const int *r = rois[i];
        memcpy(cfg.roi, r, sizeof cfg.roi);
        p = rendered(&cfg);
        for (int k = 0; k < 64 * 64; k++) {
            int f = k % 64, s = k / 64;
            int inside = f >= r[0] && f <= r[1] && s >= r[2] && s <= r[3];
            assert_true(p.pixels[k] == (inside ? all.pixels[k] : 0));
        }
        nb_picture_free(&p);
    }
    nb_picture_free(&all);
    cfg.roi[0] = 5, cfg.roi[1] = 64, cfg.roi[2] = 0, cfg.roi[3] = 63;
    check_refused(&cfg, NB_ERR_INPUT, "-roi");
    cfg.roi[0] = 9, cfg.roi[1] = 8;
    check_refused(&cfg, NB_ERR_INPUT, "-roi");
    cfg.roi[0] = -1;
    check_refused(&cfg, NB_ERR_INPUT, "-roi");
}

/** Poisson deviates of one mean: mean and variance, and below 40 the distribution itself. */
static void check_poisson(double lambda, int64_t seed)
{
    enum { EDGE = 256, PIXELS = EDGE * EDGE, MAX = 80 };
    nb_config cfg = nb_suite_config(1, 1, EDGE);
    float *image = malloc(PIXELS * sizeof *image);
    uint16_t *out = malloc(PIXELS * sizeof *out);
    double mean = 0, variance = 0, m = (float)lambda;
    int counts[MAX] = {0};
    nb_error err;
    nb_sim *sim;
    cfg.seed = (nb_seed){1, seed};
    cfg.adc_offset = 40;
    sim = created(&cfg);
    for (int i = 0; i < PIXELS; i++)
        image[i] = (float)lambda;
    assert_int_equal(nb_sim_noise(sim, image, out, NULL, &err), NB_OK);
    for (int i = 0; i < PIXELS; i++) {
        double photons = out[i] - 40.0;
        mean += photons / PIXELS;
        variance += (photons - m) * (photons - m) / PIXELS;
        counts[photons < MAX - 1 ? (int)photons : MAX - 1]++;
    }
    check_close(mean, m, 4 * sqrt(m / PIXELS));
    /* variance of (x - m)^2 is 2 m^2 + m */
    check_close(variance, m, 4 * sqrt((2 * m * m + m) / PIXELS));
    if (lambda < 40) {
        double chi2 = 0, rest_expected = PIXELS, p = exp(-m);
        int cells = 0, rest = PIXELS;
        for (int k = 0; k < MAX - 1; k++, p *= m / k) {
            if (p * PIXELS < 5)
                continue;
            chi2 += pow(counts[k] - p * PIXELS, 2) / (p * PIXELS);
            rest_expected -= p * PIXELS;
            rest -= counts[k];
            cells++;
        }
        if (rest_expected > 1)
            chi2 += pow(rest - rest_expected, 2) / rest_expected;
        check_below(chi2, nb_chi2_limit(cells));
    }
    free(image);
    free(out);
    nb_sim_free(sim);
}

static void at_noise_001(void **state)
{
    static const double means[] = {0.003, 0.4, 3.7, 11.9, 12.1, 30, 250, 4000, 60000};
    (void)state;
    for (int i = 0; i < 9; i++)
        check_poisson(means[i], 1 + i);
}

/* The same seed gives the same image for any number of threads; overloads are clipped and
 * counted. */
static void noise_is_reproducible(void **state)
{
    nb_config cfg = nb_suite_config(1, 5, 300);
    static uint16_t a[90000], b[90000];
    int64_t over[2] = {-1, -1}, expected = 0;
    nb_error err;
    nb_picture p;
    (void)state;
    cfg.seed = (nb_seed){1, 77};
    cfg.threads = 1;
    cfg.roi_set = 1;
    cfg.roi[0] = 2, cfg.roi[1] = 297, cfg.roi[2] = 0, cfg.roi[3] = 290;
    p = rendered(&cfg);
    for (size_t i = 0; i < p.n; i++)
        p.pixels[i] *= 1000;
    assert_int_equal(nb_sim_seed(p.sim), 77);
    assert_int_equal(nb_sim_noise(p.sim, p.pixels, a, &over[0], &err), NB_OK);
    cfg.threads = 2;
    nb_sim_free(p.sim);
    p.sim = created(&cfg);
    assert_int_equal(nb_sim_noise(p.sim, p.pixels, b, &over[1], &err), NB_OK);
    assert_memory_equal(a, b, 90000 * sizeof *a);
    assert_int_equal(over[0], over[1]);
    for (int i = 0; i < 90000; i++) {
        int f = i % 300, s = i / 300;
        if (f < 2 || f > 297 || s > 290)
            assert_int_equal(a[i], 0); /* outside the region of interest */
        else
            expected += a[i] == 65535;
    }
    assert_true(over[0] > 0 && over[0] <= expected);
    cfg.seed.value = 78;
    nb_sim_free(p.sim);
    p.sim = created(&cfg);
    assert_int_equal(nb_sim_noise(p.sim, p.pixels, b, NULL, &err), NB_OK);
    assert_memory_not_equal(a, b, 90000 * sizeof *a);
    nb_picture_free(&p);
}

/* A typed -pivot wins in every convention; then the convention; then the last flag that
 * implies one. */
static void at_pre_002(void **state)
{
    static const nb_convention all[] = {NB_CONV_MOSFLM, NB_CONV_XDS,   NB_CONV_ADXV,
                                        NB_CONV_DENZO,  NB_CONV_DIALS, NB_CONV_CUSTOM};
    static const nb_pivot own[] = {NB_PIVOT_BEAM, NB_PIVOT_SAMPLE, NB_PIVOT_BEAM,
                                   NB_PIVOT_BEAM, NB_PIVOT_SAMPLE, NB_PIVOT_UNSET};
    (void)state;
    for (int i = 0; i < 6; i++)
        for (int typed = NB_PIVOT_UNSET; typed <= NB_PIVOT_SAMPLE; typed++)
            for (int hint = NB_PIVOT_UNSET; hint <= NB_PIVOT_SAMPLE; hint++) {
                nb_config cfg = nb_suite_config(1, 5, 8);
                nb_pivot expected = typed    ? (nb_pivot)typed
                                    : own[i] ? own[i]
                                    : hint   ? (nb_pivot)hint
                                             : NB_PIVOT_BEAM;
                nb_sim *sim;
                cfg.convention = all[i];
                cfg.pivot = (nb_pivot)typed;
                cfg.pivot_implied = (nb_pivot)hint;
                sim = created(&cfg);
                assert_int_equal(sim->model.geometry.pivot, expected);
                nb_sim_free(sim);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(at_src_001),   TEST(at_src_002),
        TEST(at_src_003),   TEST(polarization_of_a_culled_first_source),
        TEST(at_flu_001),   TEST(beam_clips_crystal),
        TEST(at_sta_001),   TEST(at_roi_001),
        TEST(at_noise_001), TEST(noise_is_reproducible),
        TEST(at_pre_002),
    };
    return RUN_TESTS("beam, statistics, region, noise", tests);
}
