/* SPDX-License-Identifier: MIT */
/* Values that the library refuses: fields of a configuration and of a series, and pointers. */
#include <float.h>
#include <limits.h>

#include "../support/check.h"
#include "../support/scenes.h"

static nb_config plain(void)
{
    return nb_suite_config(1, 3, 8);
}

/** Checks that `bytes` are refused as element `at` of the field of row p. */
static void check_field(const nb_param *p, size_t at, const void *bytes, size_t size)
{
    nb_config cfg = plain();
    cfg.png.rings = 1;
    cfg.png.ring_A[0] = 2;
    memcpy((char *)&cfg + p->offset + at * size, bytes, size);
    check_refused(&cfg, NB_ERR_INPUT, p->name);
}

/* Counts and choices below and above the range of their rows are refused. */
UNIT_TEST(counts_and_choices)
{
    static const int values[] = {-1, INT_MAX};
    size_t n, rows = 0;
    const nb_param *row = nb_params(&n);
    for (const nb_param *p = row; p < row + n; p++) {
        if ((p->kind != NB_KIND_INTEGER && p->kind != NB_KIND_CHOICE) ||
            p->flags & (NB_PARAM_SERIES | NB_PARAM_VIEW) || p->low < INT_MIN)
            continue;
        rows++;
        for (size_t i = 0; i < 2 * p->size / sizeof(int); i++)
            if (values[i % 2] != p->unset)
                check_field(p, i / 2, &values[i % 2], sizeof(int));
    }
    assert_true(rows > 20);
}

/* Each number refuses infinity, negative infinity, and NaN unless NaN means unset. */
UNIT_TEST(numbers)
{
    static const double values[] = {-INFINITY, INFINITY, NAN};
    size_t n, rows = 0;
    const nb_param *row = nb_params(&n);
    for (const nb_param *p = row; p < row + n; p++) {
        const int vector = p->size == sizeof(nb_opt3);
        if ((!vector && p->kind != NB_KIND_NUMBER && p->kind != NB_KIND_DEPTH) ||
            p->flags & (NB_PARAM_SERIES | NB_PARAM_VIEW))
            continue;
        rows++;
        for (int k = 0; k < (isnan(p->unset) && !vector ? 2 : 3); k++) {
            const nb_opt3 v = {1, {values[k], 1, 1}};
            if (vector)
                check_field(p, 0, &v, sizeof v);
            /* an infinite depth means transparent */
            else if (p->kind != NB_KIND_DEPTH || k != 1)
                for (size_t i = 0; i < p->size / sizeof(double); i++)
                    check_field(p, i, &values[k], sizeof(double));
        }
    }
    assert_true(rows > 50);
}

UNIT_TEST(products)
{
    nb_config cfg = plain();
    cfg.flux = cfg.exposure_s = 1e200;
    check_refused(&cfg, NB_ERR_INPUT, "-flux");
    cfg = plain();
    cfg.flux = 1e300;
    cfg.beamsize_mm = 1e-10;
    check_refused(&cfg, NB_ERR_INPUT, "-beamsize");
    cfg = plain();
    cfg.orgx = DBL_MAX;
    cfg.pixel_mm = 1e6;
    cfg.detpixels[0] = cfg.detpixels[1] = 8;
    cfg.convention = NB_CONV_XDS;
    check_refused(&cfg, NB_ERR_INPUT, "detector");
    cfg = plain();
    cfg.cell[0] = cfg.cell[1] = cfg.cell[2] = 1e-150;
    check_refused(&cfg, NB_ERR_INPUT, "-cell");
    cfg = plain(); /* too many steps: 1e8 sub-pixels x 1e6 sources x 1e5 phi steps */
    cfg.oversample = 10000;
    cfg.dispersion_pct = 1;
    cfg.dispersion_steps = 1000000;
    cfg.phi_steps = 100000;
    cfg.osc_deg = 1;
    check_refused(&cfg, NB_ERR_INPUT, "steps per pixel");
    cfg = plain();
    cfg.dispersion_pct = 100;
    cfg.dispersion_step_pct = 1e-300;
    check_refused(&cfg, NB_ERR_INPUT, "sources");
}

static void check_series_refused(const nb_series *series, const char *part)
{
    nb_config cfg = plain();
    nb_error err = {0};
    assert_int_equal(nb_series_run(&cfg, series, NULL, NULL, &err), NB_ERR_INPUT);
    if (!strstr(err.message, part))
        fail_msg("expected '%s' in: %s", part, err.message);
}

UNIT_TEST(series)
{
    nb_series good = nb_test_series(), s;
    good.stills = 2;
    nb_put_text(&good.output, "never_%%d.img");
    s = good;
    s.hdf5_type = (nb_hdf5_type)4;
    check_series_refused(&s, "-hdf5type 4");
    s = good;
    s.compress = (nb_compression)-1;
    check_series_refused(&s, "-compress -1");
    s = good;
    s.frames = INT_MAX;
    s.stills = INT_MAX;
    check_series_refused(&s, "-frames 2147483647");
    s = good;
    s.frames_per_file = -1;
    check_series_refused(&s, "-frames_per_file -1");
    s = good;
    s.jitter_fluence_pct = NAN;
    check_series_refused(&s, "-jitter_fluence");
    s = good;
    s.jitter_beam_mm = INFINITY;
    check_series_refused(&s, "-jitter_beam");
}

static void emit(void *user, const char *line)
{
    (void)user;
    (void)line;
}

/* Every public function refuses NULL for each pointer that it needs. */
UNIT_TEST(null_pointers)
{
#define REFUSED(call)                                                                    \
    do {                                                                                 \
        nb_error err = {0};                                                              \
        assert_int_equal((call), NB_ERR_INPUT);                                          \
        assert_non_null(strstr(err.message, "NULL"));                                    \
    } while (0)
    nb_config cfg = plain();
    nb_series none = nb_test_series();
    nb_sim *sim = created(&cfg), *other;
    float pixels[64];
    uint16_t counts[64];
    nb_image image = {.fast = 8, .slow = 8, .pixels = pixels},
             empty = {.fast = 8, .slow = 8};
    nb_difference d;
    nb_reflections list;
    assert_int_equal(nb_sim_render(sim, pixels, NULL, NULL), NB_OK);
    REFUSED(nb_sim_create(NULL, NULL, &other, &err));
    REFUSED(nb_sim_create(&cfg, NULL, NULL, &err));
    REFUSED(nb_sim_render(NULL, pixels, NULL, &err));
    REFUSED(nb_sim_image(NULL, &(const float *){NULL}, &err));
    REFUSED(nb_sim_image(sim, NULL, &err));
    REFUSED(nb_sim_digitize(NULL, pixels, NULL, counts, &err));
    REFUSED(nb_sim_digitize(sim, NULL, NULL, counts, &err));
    REFUSED(nb_sim_digitize(sim, pixels, NULL, NULL, &err));
    assert_int_equal(nb_sim_digitize(sim, pixels, NULL, counts, NULL), NB_OK);
    REFUSED(nb_sim_noise(sim, NULL, counts, NULL, &err));
    REFUSED(nb_sim_noise(sim, pixels, NULL, NULL, &err));
    REFUSED(nb_sim_reflections(sim, NULL, &list, &err));
    REFUSED(nb_sim_reflections(sim, pixels, NULL, &err));
    REFUSED(nb_sim_write(sim, pixels, NULL, &err));
    REFUSED(nb_sim_config_json(sim, NULL, &err));
    REFUSED(nb_sim_report(sim, NULL, &err));
    REFUSED(nb_sim_trace(sim, 0, 0, NULL, NULL, &err));
    REFUSED(nb_sim_trace(NULL, 0, 0, emit, NULL, &err));
    REFUSED(nb_sim_printout(sim, NULL, 0, 0, emit, NULL, &err));
    REFUSED(nb_series_run(NULL, &none, NULL, NULL, &err));
    REFUSED(nb_series_run(&cfg, NULL, NULL, NULL, &err));
    REFUSED(nb_check_files(&cfg, NULL, 1, &err));
    assert_int_equal(nb_config_files(NULL, NULL), 0);
    nb_sim_clipped(NULL, NULL, NULL);
    REFUSED(nb_ranks_join(NULL, &err));
    REFUSED(nb_image_read(NULL, 0, 0, NULL, &image, &err));
    REFUSED(nb_image_read("x", 0, 0, NULL, NULL, &err));
    REFUSED(nb_image_picture(&image, NULL, NULL, &err));
    REFUSED(nb_image_picture(&empty, NULL, "x.png", &err));
    REFUSED(nb_image_compare(NULL, &image, NULL, &d, &err));
    REFUSED(nb_image_compare(&image, &image, NULL, NULL, &err));
    REFUSED(nb_image_compare(&image, &empty, NULL, &d, &err));
    REFUSED(nb_difference_picture(&image, &image, NULL, NULL, NULL, &err));
    nb_sim_size(sim, NULL, NULL);
    nb_sim_size(NULL, &image.fast, NULL);
    assert_int_equal(image.fast, 0);
    assert_int_equal(nb_sim_seed(NULL), 0);
    assert_string_equal(nb_sim_backend(NULL), "");
    nb_sim_times(sim, NULL);
    nb_sim_times(NULL, &(nb_times){0});
    nb_config_defaults(NULL);
    nb_compare_defaults(NULL);
    nb_sim_free(sim);
}

/** Each file of the table of parameters is among the files of a run, with its flag, read
 * or written as the row states. */
UNIT_TEST(files_of_the_table)
{
    const char *const name[] = {"some.file"};
    nb_file_use list[NB_FILES_MAX];
    nb_config cfg;
    nb_error err;
    size_t n, files = 0;
    const nb_param *rows = nb_params(&n);
    for (size_t i = 0; i < n; i++) {
        const nb_param *row = &rows[i];
        int found = 0;
        if (row->kind != NB_KIND_FILE || row->flags & (NB_PARAM_SERIES | NB_PARAM_VIEW))
            continue;
        nb_config_defaults(&cfg);
        cfg.truth = NB_TRUTH_SPOTS;
        assert_int_equal(nb_param_set(row, &cfg, name, 1, &err), NB_OK);
        for (int k = 0, all = nb_config_files(&cfg, list); k < all; k++)
            found += !strcmp(list[k].path, name[0]) && list[k].flag[0] == '-' &&
                     !strcmp(list[k].flag + 1, row->name) &&
                     list[k].written == !(row->flags & NB_PARAM_INPUT);
        if (found != 1)
            fail_msg("-%s is not among the files of a run", row->name);
        nb_config_drop(&cfg);
        files++;
    }
    assert_true(files > 20);
}

/** nb_words of tests/support reads words as the command line does. */
UNIT_TEST(words)
{
    nb_config a, b;
    nb_error err;
    nb_config_defaults(&a);
    nb_config_defaults(&b);
    nb_words(&a, " -misset -10 20 -.5  -gauss_xtal -N 7 -hkl a/b-c.hkl ");
    assert_int_equal(nb_put(&b, "misset", "-10 20 -.5", &err), NB_OK);
    assert_int_equal(nb_put(&b, "gauss_xtal", "1", &err), NB_OK);
    assert_int_equal(nb_put(&b, "N", "7", &err), NB_OK);
    assert_int_equal(nb_put(&b, "hkl", "a/b-c.hkl", &err), NB_OK);
    assert_true(nb_same_config(&a, &b));
    nb_words(&a, NB_HEAVY);
    assert_true(a.mosaic_domains == 100 && a.dispersion_steps == 10 && a.cell[5] == 95);
}

/* Facts name members in order: all of nb_stats, and the first nine of nb_times. */
UNIT_TEST(facts_cover_their_structs)
{
    const nb_stats stats = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    const nb_times times = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    int n = 0;
    for (const nb_fact *f = nb_stats_facts(); f->name; f++)
        assert_true(nb_fact_number(f, &stats) == ++n && f->key[0]);
    assert_int_equal(n, 11);
    n = 0;
    for (const nb_fact *f = nb_times_facts(); f->name; f++)
        assert_true(nb_fact_number(f, &times) == ++n && !strcmp(f->unit, "s"));
    assert_int_equal(n, 9);
}
