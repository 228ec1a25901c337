/* SPDX-License-Identifier: MIT */
/* The library by its public header: life cycle, hooks, refusals, failing memory. */
#include <unistd.h>

#include "../support/check.h"

#include "base/memory.h"

static void scratch(nb_text *path, const char *name, const char *text)
{
    nb_put_scratch(path, name);
    assert_true(nb_scratch_write(*path, text, strlen(text)));
}

/** A configuration that loads every kind of file; the mask covers 16 x 12 pixels. */
static nb_config with_files(void)
{
    nb_config cfg = nb_suite_config(1, 3, 0);
    char mask[512 + 2 * 16 * 12];
    nb_set_pixels(&cfg, 16, 12);
    cfg.pixel_mm = 1;
    scratch(&cfg.hkl_file, "lib.hkl", "0 0 0 10\n0 1 0 20\n0 0 -1 30\n0 1 1 7\n");
    scratch(&cfg.mat_file, "lib.mat", "0.01 0 0\n0 0.01 0\n0 0 0.01\n");
    scratch(&cfg.source_file, "lib.src", "-10 0 0 1 1e-10\n-10 0.1 0 2 1e-10\n");
    memset(mask, ' ', 512);
    memset(mask + 512, 1, sizeof mask - 512);
    memcpy(mask, "{\nHEADER_BYTES=512;\nSIZE1=16;\nSIZE2=12;\n}", 42);
    nb_put_scratch(&cfg.mask_file, "lib.img");
    assert_true(nb_scratch_write(cfg.mask_file, mask, sizeof mask));
    nb_put_scratch(&cfg.dump_file, "lib.dump");
    cfg.mosaic_spread_deg = 1;
    cfg.mosaic_domains = 3;
    cfg.seed = (nb_seed){1, 3};
    cfg.threads = 1;
    return cfg;
}

static void remove_files(const nb_config *cfg)
{
    remove(cfg->hkl_file);
    remove(cfg->mat_file);
    remove(cfg->source_file);
    remove(cfg->mask_file);
    remove(cfg->dump_file);
}

/** Makes every kind of call with one simulation. */
static nb_status whole_run(const nb_config *cfg, nb_error *err)
{
    static float image[16 * 12];
    static uint16_t counts[16 * 12];
    nb_sim *sim;
    nb_stats stats;
    char *text = NULL;
    nb_status st = nb_sim_create(cfg, NULL, &sim, err);
    if (st) {
        assert_null(sim);
        return st;
    }
    st = nb_sim_render(sim, image, &stats, err);
    if (!st)
        st = nb_sim_digitize(sim, image, &stats, counts, err);
    if (!st)
        st = nb_sim_noise(sim, image, counts, NULL, err);
    if (!st)
        st = nb_sim_write(sim, image, &stats, err);
    if (!st && (st = nb_sim_report(sim, &text, err)) == NB_OK)
        nb_free(text);
    nb_sim_free(sim);
    return st;
}

/* The nth allocation fails, for every n until all succeed: each time an error and no leak
 * (checked by the sanitizers). */
UNIT_TEST(every_allocation_may_fail)
{
    nb_config cfg = with_files();
    nb_error err;
    long n;
    nb_put_scratch(&cfg.int_file, "lib-int.img");
    nb_put_scratch(&cfg.pgm_file, "lib.pgm");
    cfg.write_int = cfg.write_pgm = 1;
    for (n = 1; n < 1000; n++) {
        nb_status st;
        memset(&err, 0, sizeof err);
        nb_alloc_fail_after(n);
        st = whole_run(&cfg, &err);
        nb_alloc_fail_after(0);
        if (st == NB_OK)
            break;
        if (st != NB_ERR_NOMEM || err.code != NB_ERR_NOMEM ||
            !strstr(err.message, "memory"))
            fail_msg("allocation %ld: %s, %s", n, nb_status_name(st), err.message);
    }
    printf("# %ld allocations\n", n - 1);
    assert_in_range(n, 10, 200);
    remove(cfg.int_file);
    remove(cfg.pgm_file);
    remove_files(&cfg);
}

UNIT_TEST(nothing_is_freed_twice)
{
    nb_config cfg = nb_suite_config(1, 3, 8);
    nb_sim_free(NULL);
    nb_free(NULL);
    nb_sim_free(created(&cfg)); /* a simulation may be freed before it made an image */
}

/* The simulation does not use the caller's configuration afterwards; simulations are
 * independent. */
UNIT_TEST(simulations_are_independent)
{
    nb_config cfg = nb_suite_config(1, 3, 16), other = nb_suite_config(2, 4, 20);
    nb_config expected = cfg;
    static float a[256], b[256], c[400];
    nb_error err;
    nb_sim *first = created(&cfg), *second = created(&other);
    assert_memory_equal(&cfg, &expected, sizeof cfg);
    assert_int_equal(nb_sim_render(first, a, NULL, &err), NB_OK);
    memset(&cfg, 0x5a, sizeof cfg);
    assert_int_equal(nb_sim_render(second, c, NULL, &err), NB_OK);
    nb_sim_free(second);
    assert_int_equal(nb_sim_render(first, b, NULL, &err), NB_OK);
    assert_memory_equal(a, b, sizeof a);
    nb_sim_free(first);
}

typedef struct listener {
    int notices, calls, stop_at;
    double last;
    char text[512];
} listener;

static void take_notice(void *user, const char *line)
{
    listener *l = user;
    assert_null(strchr(line, '\n'));
    snprintf(l->text, sizeof l->text, "%s", line);
    l->notices++;
}

static int take_progress(void *user, double fraction)
{
    listener *l = user;
    assert_true(fraction >= l->last && fraction <= 1);
    l->last = fraction;
    return ++l->calls == l->stop_at;
}

UNIT_TEST(progress_and_stopping)
{
    nb_config cfg = nb_suite_config(1, 5, 64);
    listener l = {0};
    const nb_hooks hooks = {&l, take_notice, take_progress};
    static float image[64 * 64];
    nb_error err = {0};
    nb_sim *sim;
    cfg.threads = 1;
    assert_int_equal(nb_sim_create(&cfg, &hooks, &sim, &err), NB_OK);
    assert_int_equal(nb_sim_render(sim, image, NULL, &err), NB_OK);
    assert_true(l.calls > 0);
    l = (listener){.stop_at = 1};
    assert_int_equal(nb_sim_render(sim, image, NULL, &err), NB_ERR_CANCELLED);
    assert_int_equal(err.code, NB_ERR_CANCELLED);
    l = (listener){0}; /* now run the same without cancelling */
    assert_int_equal(nb_sim_render(sim, image, NULL, &err), NB_OK);
    nb_sim_free(sim);
}

/* If no crystal is set, the cubic crystal of the suite is used, with a note. */
UNIT_TEST(stand_in_crystal)
{
    nb_config cfg = nb_test_config(), spelled = nb_suite_config(1, 5, 32);
    listener l = {0};
    const nb_hooks hooks = {&l, take_notice, NULL};
    static float image[32 * 32];
    nb_picture p;
    nb_error err = {0};
    nb_sim *sim;
    nb_set_pixels(&cfg, 32, 32);
    cfg.oversample = 1;
    assert_int_equal(nb_sim_create(&cfg, &hooks, &sim, &err), NB_OK);
    assert_int_equal(l.notices, 1);
    assert_non_null(strstr(l.text, "no crystal"));
    assert_int_equal(nb_sim_render(sim, image, NULL, &err), NB_OK);
    p = rendered(&spelled);
    assert_memory_equal(image, p.pixels, sizeof image);
    nb_picture_free(&p);
    nb_sim_free(sim);
}

UNIT_TEST(refusals)
{
    nb_config cfg = nb_test_config();
    nb_set_pixels(&cfg, 8, 8);
    cfg.default_F = 10;
    check_refused(&cfg, NB_ERR_INPUT, "-cell");
    cfg.default_F = NAN;
    nb_set_N(&cfg, 5);
    check_refused(&cfg, NB_ERR_INPUT, "-cell");
    nb_set_cell(&cfg, 10, 10, 10, 90, 90, 90);
    nb_put_scratch(&cfg.dump_file, "none.bin");
    check_refused(&cfg, NB_ERR_INPUT, "none.bin");
    cfg = nb_suite_config(1, 5, 8);
    nb_put_text(&cfg.device, "abacus");
    check_refused(&cfg, NB_ERR_INPUT, "-device");
    cfg = nb_suite_config(1, 5, 8);
    cfg.lambda_A = -1;
    check_refused(&cfg, NB_ERR_INPUT, "-lambda");
    cfg = nb_suite_config(1, 5, 8);
    cfg.detpixels[0] = 2000000;
    check_refused(&cfg, NB_ERR_INPUT, "pixels");
    cfg = nb_suite_config(1, 5, 8);
    cfg.mosaic_spread_deg = 1;
    cfg.mosaic_domains = 100000000;
    check_refused(&cfg, NB_ERR_INPUT, "-mosaic_dom");
    cfg = nb_suite_config(1, 5, 8);
    nb_put_text(&cfg.mat_file, "no/such/file.mat");
    check_refused(&cfg, NB_ERR_INPUT, "-mat");
    nb_put_text(&cfg.mat_file, "/");
    check_refused(&cfg, NB_ERR_INPUT, "-mat");
}

typedef struct lines {
    int count;
    double intensity, printed;
} lines;

static void take_line(void *user, const char *line)
{
    lines *l = user;
    l->count++;
    sscanf(line, "intensity (photons): %lf", &l->intensity);
    sscanf(line, " pixel= %lf", &l->printed);
}

/* The terms of a trace add up to the pixel. */
UNIT_TEST(trace_is_the_pixel)
{
    nb_config cfg = nb_suite_config(1, 5, 24);
    lines l = {0};
    nb_error err;
    nb_picture p;
    cfg.oversample = 2;
    cfg.osc_deg = 1;
    cfg.phi_steps = 2;
    cfg.thick_um = 100;
    cfg.abs_um = 100;
    cfg.polarization = 0.5;
    cfg.oversample_polar = cfg.oversample_omega = 1;
    p = rendered(&cfg);
    for (int i = 0; i < 24 * 24; i += 17) {
        l = (lines){0};
        assert_int_equal(nb_sim_trace(p.sim, i % 24, i / 24, take_line, &l, &err), NB_OK);
        assert_true(l.count > 10);
        check_ratio(l.intensity, p.pixels[i], 1e-7);
        assert_int_equal(
            nb_sim_printout(p.sim, p.pixels, i % 24, i / 24, take_line, &l, &err), NB_OK);
        check_ratio(l.printed, p.pixels[i], 1e-14);
    }
    assert_int_equal(nb_sim_trace(p.sim, 24, 0, take_line, &l, &err), NB_ERR_INPUT);
    assert_int_equal(nb_sim_trace(p.sim, 0, -1, take_line, &l, &err), NB_ERR_INPUT);
    assert_int_equal(nb_sim_printout(p.sim, p.pixels, 0, 24, take_line, &l, &err),
                     NB_ERR_INPUT);
    nb_picture_free(&p);
}

UNIT_TEST(descriptions)
{
    nb_config cfg = nb_suite_config(1, 5, 8);
    const nb_feature *part;
    nb_times times;
    nb_error err;
    nb_sim *sim;
    int n;
    char *text;
    assert_string_equal(nb_version(), NB_VERSION);
    for (int i = 0; i <= NB_ERR_INTERNAL; i++)
        assert_true(strlen(nb_status_name((nb_status)i)) > 1);
    assert_non_null(nb_status_name((nb_status)99));
    for (n = 0; (part = nb_feature_at(n)); n++)
        assert_true(part->name[0] && part->detail[0]);
    assert_true(n >= 4);
    assert_null(nb_feature_at(-1));
    cfg.seed = (nb_seed){1, 4242};
    sim = created(&cfg);
    assert_int_equal(nb_sim_seed(sim), 4242);
    assert_true(strlen(nb_sim_backend(sim)) > 3);
    nb_sim_times(sim, &times);
    assert_true(times.load >= 0 && times.scene >= 0 && times.render == 0);
    assert_int_equal(nb_sim_report(sim, &text, &err), NB_OK);
    assert_true(strlen(text) > 200);
    nb_free(text);
    if (nb_sim_config_json(sim, &text, &err) == NB_OK) {
        assert_non_null(strstr(text, "distance_mm"));
        nb_free(text);
    } else {
        assert_int_equal(err.code, NB_ERR_UNSUPPORTED);
    }
    nb_sim_free(sim);
    cfg.seed.set = 0; /* the seed comes from the clock and has few digits */
    sim = created(&cfg);
    assert_true(nb_sim_seed(sim) >= 0 && nb_sim_seed(sim) < 1000000000);
    nb_sim_free(sim);
}

/** nb_sim_write and nb_series_run refuse to write over their inputs. */
UNIT_TEST(inputs_are_not_overwritten)
{
    nb_config cfg = with_files();
    nb_series series = nb_test_series();
    nb_error err = {0};
    nb_stats stats;
    nb_sim *sim;
    cfg.write_float = 1;
    cfg.write_int = cfg.write_noise = cfg.write_pgm = 0;
    cfg.float_file = cfg.hkl_file;
    sim = created(&cfg);
    assert_int_equal(nb_sim_render(sim, NULL, &stats, &err), NB_OK);
    assert_int_equal(nb_sim_write(sim, NULL, &stats, &err), NB_ERR_INPUT);
    assert_non_null(strstr(err.message, "-floatfile"));
    assert_non_null(strstr(err.message, "-hkl"));
    nb_sim_free(sim);
    series.stills = 2;
    series.hdf5_file = cfg.mask_file;
    assert_int_equal(nb_series_run(&cfg, &series, NULL, NULL, &err), NB_ERR_INPUT);
    assert_non_null(strstr(err.message, "-hdf5"));
    assert_int_not_equal(access(cfg.dump_file, F_OK), 0); /* nothing was written */
    remove_files(&cfg);
}

/** Compiled programs rely on these sizes: another size needs another soname
 * (docs/library.md, "Later versions"). */
UNIT_TEST(public_structs_keep_their_sizes)
{
    static const struct {
        const char *name;
        size_t size, stored;
    } structs[] = {
        {"nb_arrays", sizeof(nb_arrays), 144},
        {"nb_clipped", sizeof(nb_clipped), 40},
        {"nb_compare_options", sizeof(nb_compare_options), 72},
        {"nb_crystals", sizeof(nb_crystals), 24},
        {"nb_detector_spec", sizeof(nb_detector_spec), 304},
        {"nb_difference", sizeof(nb_difference), 792},
        {"nb_error", sizeof(nb_error), 784},
        {"nb_fact", sizeof(nb_fact), 48},
        {"nb_factor_list", sizeof(nb_factor_list), 104},
        {"nb_feature", sizeof(nb_feature), 24},
        {"nb_file_use", sizeof(nb_file_use), 24},
        {"nb_hkl_gradient", sizeof(nb_hkl_gradient), 24},
        {"nb_hooks", sizeof(nb_hooks), 24},
        {"nb_image", sizeof(nb_image), 72},
        {"nb_known_detector", sizeof(nb_known_detector), 96},
        {"nb_left_out", sizeof(nb_left_out), 4},
        {"nb_likelihood", sizeof(nb_likelihood), 4},
        {"nb_observation", sizeof(nb_observation), 56},
        {"nb_opt3", sizeof(nb_opt3), 32},
        {"nb_page_job", sizeof(nb_page_job), 64},
        {"nb_panel_spec", sizeof(nb_panel_spec), 232},
        {"nb_param", sizeof(nb_param), 144},
        {"nb_png_options", sizeof(nb_png_options), 192},
        {"nb_reflection", sizeof(nb_reflection), 120},
        {"nb_reflections", sizeof(nb_reflections), 56},
        {"nb_scan_points", sizeof(nb_scan_points), 56},
        {"nb_seed", sizeof(nb_seed), 16},
        {"nb_series_calls", sizeof(nb_series_calls), 72},
        {"nb_series_progress", sizeof(nb_series_progress), 496},
        {"nb_spectrum_line", sizeof(nb_spectrum_line), 32},
        {"nb_stats", sizeof(nb_stats), 80},
        {"nb_times", sizeof(nb_times), 96},
        {"nb_variable", sizeof(nb_variable), 296},
    };
    for (size_t i = 0; i < sizeof structs / sizeof *structs; i++)
        if (sizeof(void *) == 8 && structs[i].size != structs[i].stored)
            fail_msg("%s has %zu bytes, not %zu", structs[i].name, structs[i].size,
                     structs[i].stored);
}
