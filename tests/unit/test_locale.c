/* SPDX-License-Identifier: MIT */
/* A host program with a decimal comma: the library reads and writes the same bytes. */
#include <locale.h>

#include "../support/check.h"
#include "../support/comma.h"

/** Every text and file of the library, one after the other. */
typedef struct collector {
    char text[1 << 20];
    size_t used;
} collector;

static void add_line(void *user, const char *line)
{
    collector *c = user;
    c->used += (size_t)snprintf(c->text + c->used, sizeof c->text - c->used, "%s\n", line);
    assert_true(c->used < sizeof c->text);
}

static const char *const outputs[] = {"f.bin", "i.img", "p.pgm", "n.img",
                                      "c.png", "t.tif", "s.tsv", "d.bin"};
enum { OUTPUTS = sizeof outputs / sizeof *outputs };

static void name_outputs(nb_config *cfg)
{
    nb_text *const to[OUTPUTS] = {&cfg->float_file, &cfg->int_file, &cfg->pgm_file,
                                  &cfg->noise_file, &cfg->png_file, &cfg->tiff_file,
                                  &cfg->truth_file, &cfg->dump_file};
    for (int i = 0; i < OUTPUTS; i++)
        nb_put_scratch(to[i], outputs[i]);
    cfg->write_float = cfg->write_int = cfg->write_pgm = cfg->write_noise = 1;
    cfg->truth = NB_TRUTH_SPOTS;
    cfg->png.rings = 1;
    cfg->png.ring_A[0] = 2.5;
}

static nb_config with_inputs(void)
{
    nb_config cfg = nb_suite_config(1.25, 5, 24);
    const char *hkl = "0 0 0 10.5\n0 1 0 20.25\n0 0 -1 1.234567890123456789e1\n0 1 1 7\n";
    const char *sources = "-10 0.5 0 1.5 1.25e-10\n-10 0.125 0 2.5 1.26e-10\n";
    nb_put_scratch(&cfg.hkl_file, "in.hkl");
    nb_put_scratch(&cfg.source_file, "in.src");
    assert_true(nb_scratch_write(cfg.hkl_file, hkl, strlen(hkl)));
    assert_true(nb_scratch_write(cfg.source_file, sources, strlen(sources)));
    cfg.pixel_mm = 1.5;
    cfg.threads = 3;
    cfg.seed = (nb_seed){1, 3};
    name_outputs(&cfg);
    return cfg;
}

static void run_one(const nb_config *cfg, collector *c)
{
    nb_hooks hooks = {c, add_line, NULL};
    nb_stats stats;
    nb_error err = {0};
    nb_sim *sim;
    char *text;
    if (nb_sim_create(cfg, &hooks, &sim, &err) ||
        nb_sim_render(sim, NULL, &stats, &err) || nb_sim_write(sim, NULL, &stats, &err))
        fail_msg("%s", err.message);
    assert_int_equal(nb_sim_report(sim, &text, &err), NB_OK);
    add_line(c, text);
    nb_free(text);
    if (nb_sim_config_json(sim, &text, &err) == NB_OK) {
        add_line(c, text);
        nb_free(text);
    }
    assert_int_equal(nb_sim_trace(sim, 3, 4, add_line, c, &err), NB_OK);
    nb_sim_free(sim);
}

static void run_series(const nb_config *cfg, const char *extension)
{
    nb_series series = nb_test_series();
    nb_error err = {0};
    char name[32];
    series.stills = 2;
    series.jitter_fluence_pct = 3.5;
    series.jitter_cell_pct = 0.5;
    snprintf(name, sizeof name, "s_%%d.%s", extension);
    nb_put_scratch(&series.output, name);
    if (nb_series_run(cfg, &series, NULL, NULL, &err))
        fail_msg("%s", err.message);
}

static int has_hdf5;

/** Writes a master, its data file and reflections; nothing in a build without HDF5. */
static void run_hdf5(const nb_config *cfg)
{
    nb_series series = nb_test_series();
    nb_config spots = *cfg;
    nb_error err = {0};
    nb_status st;
    series.stills = 2;
    series.jitter_fluence_pct = 3.5;
    series.compress = NB_COMPRESS_NONE;
    spots.truth = NB_TRUTH_SPOTS;
    nb_put_scratch(&series.hdf5_file, "s_master.h5");
    st = nb_series_run(&spots, &series, NULL, NULL, &err);
    if (st && st != NB_ERR_UNSUPPORTED)
        fail_msg("%s", err.message);
    has_hdf5 = !st;
}

/** Collects the bytes of every file, to show a difference, and removes the file. */
static void take_files(collector *c)
{
    static const char *const frames[] = {"s_1.cbf", "s_2.cbf",     "s_1.img",
                                         "s_2.img", "s_master.h5", "s_data_000001.h5"};
    for (int i = 0; i < OUTPUTS + 6; i++) {
        char path[NB_PATH_MAX];
        size_t bytes;
        char *data;
        nb_scratch_path(path, i < OUTPUTS ? outputs[i] : frames[i - OUTPUTS]);
        data = nb_file_bytes(path, &bytes);
        if (!data)
            continue;
        assert_true(c->used + bytes < sizeof c->text);
        memcpy(c->text + c->used, data, bytes);
        c->used += bytes;
        free(data);
        remove(path);
    }
}

static void run_all(const nb_config *cfg, collector *c)
{
    nb_config plain = *cfg;
    nb_image image;
    nb_error err = {0};
    run_one(cfg, c);
    if (nb_image_read(cfg->int_file, 0, 0, NULL, &image, &err))
        fail_msg("%s", err.message);
    check_close(image.geometry->lambda_A, 1.25, 1e-6); /* read with all digits */
    nb_image_free(&image);
    plain.truth = NB_TRUTH_NONE;
    plain.dump_file = plain.hkl_file = plain.source_file = nb_no_text;
    plain.default_F = 100.5;
    run_series(&plain, "cbf");
    run_series(&plain, "img");
    run_hdf5(&plain);
    take_files(c);
}

UNIT_TEST(decimal_comma)
{
    static collector point, comma;
    nb_config cfg = with_inputs();
    run_all(&cfg, &point);
    if (!nb_set_comma_locale())
        skip_because("localedef could not make a locale with a decimal comma");
    assert_string_equal(localeconv()->decimal_point, ",");
    run_all(&cfg, &comma);
    assert_string_equal(localeconv()->decimal_point, ","); /* the locale is as before */
    nb_unset_comma_locale();
    remove(cfg.hkl_file);
    remove(cfg.source_file);
    assert_true(point.used >
                (has_hdf5 ? 60000u : 10000u)); /* the text includes the two HDF5 files */
    for (size_t i = 0; i < point.used; i++)
        if (point.text[i] != comma.text[i])
            fail_msg("byte %zu: '%.60s' and '%.60s'", i,
                     point.text + (i > 20 ? i - 20 : 0),
                     comma.text + (i > 20 ? i - 20 : 0));
    assert_int_equal(point.used, comma.used);
}
