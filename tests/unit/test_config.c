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

/* A count or an enumeration below and above its range. */
UNIT_TEST(counts_and_enumerations)
{
#define WHOLE(member, low, high, flag)                                                   \
    {                                                                                    \
        offsetof(nb_config, member), low, high, flag                                     \
    }
    static const struct {
        size_t offset;
        int low, high;
        const char *flag;
    } rows[] = {
        WHOLE(cell_count, -1, 7, "cell_count"),
        WHOLE(shape, -1, 4, "shape"),
        WHOLE(misset_mode, -1, 3, "misset_mode"),
        WHOLE(mosaic_domains, -1, INT_MAX, "-mosaic_dom"),
        WHOLE(interpolate, -2, 2, "-interpolate"),
        WHOLE(mosaic_model, -1, 3, "-mosaic_model"),
        WHOLE(curved_omega, -1, 3, "-curved_omega"),
        WHOLE(layer_depth, -1, 3, "-layer_depth"),
        WHOLE(png.show, -1, 2, "-pngshow"),
        WHOLE(hdiv_steps, -1, INT_MAX, "-hdivsteps"),
        WHOLE(vdiv_steps, -1, INT_MAX, "-vdivsteps"),
        WHOLE(dispersion_steps, -1, INT_MAX, "-dispsteps"),
        WHOLE(phi_steps, -1, INT_MAX, "-phisteps"),
        WHOLE(detpixels[1], -1, INT_MAX, "-detpixels"),
        WHOLE(convention, -1, 7, "convention"),
        WHOLE(pivot, -1, 3, "-pivot"),
        WHOLE(pivot_implied, -1, 3, "pivot"),
        WHOLE(thick_steps, -1, 100001, "-detector_thicksteps"),
        WHOLE(oversample, -1, 10001, "-oversample"),
        WHOLE(tiff_bits, 8, 24, "-tiffbits"),
        WHOLE(truth, -1, 2, "-truth"),
        WHOLE(threads, -1, 4097, "-threads"),
        WHOLE(isa, -1, 6, "-isa"),
        WHOLE(precision, -1, 3, "-precision"),
        WHOLE(png.colormap, -1, 4, "-colormap"),
        WHOLE(png.scale, -1, 3, "-pngscale"),
        WHOLE(png.most, -1, 1000001, "-pngmax"),
        WHOLE(png.blocks, -1, 2, "-pngblocks"),
        WHOLE(png.rings, -1, NB_RINGS_MAX + 1, "png_ring_count"),
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int j = 0; j < 2; j++) {
            nb_config cfg = plain();
            memcpy((char *)&cfg + rows[i].offset, j ? &rows[i].high : &rows[i].low,
                   sizeof(int));
            check_refused(&cfg, NB_ERR_INPUT, rows[i].flag);
        }
}

enum { UNSET = 1, TRANSPARENT = 2 }; /* NaN is fine; infinity is */

/* Infinity, negative infinity, and NaN if it does not mean unset. */
UNIT_TEST(numbers)
{
#define NUMBER(member, allowed, flag)                                                    \
    {                                                                                    \
        offsetof(nb_config, member), allowed, flag                                       \
    }
    static const struct {
        size_t offset;
        int allowed;
        const char *flag;
    } rows[] = {
        NUMBER(cell[1], 0, "-cell"),
        NUMBER(cell[4], 0, "-cell"),
        NUMBER(default_F, UNSET, "-default_F"),
        NUMBER(N[1], 0, "-N"),
        NUMBER(xtal_size_mm[2], UNSET, "-samplesize"),
        NUMBER(fudge, 0, "-fudge"),
        NUMBER(misset_deg[1], 0, "-misset"),
        NUMBER(mosaic_spread_deg, UNSET, "-mosaic"),
        NUMBER(lambda_A, UNSET, "-lambda"),
        NUMBER(energy_eV, UNSET, "-energy"),
        NUMBER(fluence, UNSET, "-fluence"),
        NUMBER(flux, 0, "-flux"),
        NUMBER(exposure_s, 0, "-exposure"),
        NUMBER(beamsize_mm, UNSET, "-beamsize"),
        NUMBER(polarization, 0, "-polar"),
        NUMBER(hdiv_range_mrad, UNSET, "-hdivrange"),
        NUMBER(vdiv_step_mrad, UNSET, "-vdivstep"),
        NUMBER(dispersion_pct, UNSET, "-dispersion"),
        NUMBER(dispersion_step_pct, UNSET, "-dispstep"),
        NUMBER(phi_deg, UNSET, "-phi"),
        NUMBER(osc_deg, UNSET, "-osc"),
        NUMBER(phistep_deg, UNSET, "-phistep"),
        NUMBER(detsize_mm[0], UNSET, "-detsize"),
        NUMBER(pixel_mm, UNSET, "-pixel"),
        NUMBER(distance_mm, UNSET, "-distance"),
        NUMBER(close_distance_mm, UNSET, "-close_distance"),
        NUMBER(Xbeam_mm, UNSET, "-Xbeam"),
        NUMBER(Yclose_mm, UNSET, "-Yclose"),
        NUMBER(orgx, UNSET, "-ORGX"),
        NUMBER(rot_deg[2], UNSET, "detector_rot"),
        NUMBER(twotheta_deg, UNSET, "-twotheta"),
        NUMBER(close_twotheta_deg, UNSET, "close_twotheta"),
        NUMBER(max_read_MB, 0, "-max_read"),
        NUMBER(tolerance, UNSET, "-tolerance"),
        NUMBER(tolerance_photons, UNSET, "-tolerance_photons"),
        NUMBER(thick_um, UNSET, "-detector_thick"),
        NUMBER(abs_um, UNSET | TRANSPARENT, "-detector_abs"),
        NUMBER(blocks, UNSET, "-blocks"),
        NUMBER(crystal_volume_um3, UNSET, "-crystal_volume"),
        NUMBER(water_um, 0, "-water"),
        NUMBER(dmin_A, 0, "-dmin"),
        NUMBER(adc_offset, 0, "-adc"),
        NUMBER(scale, 0, "-scale"),
        NUMBER(pgm_scale, 0, "-pgmscale"),
        NUMBER(truth_min, 0, "-truth_min"),
        NUMBER(png.gamma, 0, "-pnggamma"),
        NUMBER(png.ring_A[0], 0, "-pngrings"),
        NUMBER(fdet_vector.v[0], 0, "-fdet_vector"),
        NUMBER(pix0_m.v[2], 0, "-pix0_vector"),
    };
    static const double values[] = {INFINITY, -INFINITY, NAN};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int j = 0; j < 3; j++) {
            nb_config cfg = plain();
            if ((j == 2 && rows[i].allowed & UNSET) ||
                (j == 0 && rows[i].allowed & TRANSPARENT))
                continue;
            cfg.png.rings = cfg.fdet_vector.set = cfg.pix0_m.set = 1;
            cfg.png.ring_A[0] = cfg.fdet_vector.v[0] = 2;
            memcpy((char *)&cfg + rows[i].offset, &values[j], sizeof(double));
            check_refused(&cfg, NB_ERR_INPUT, rows[i].flag);
        }
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
    cfg = plain(); /* 1e6 sources of 5e7 orientations would be 5e21 steps with these */
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

UNIT_TEST(texts_without_an_end)
{
    static const struct {
        size_t offset, size;
        const char *flag;
    } rows[] = {{offsetof(nb_config, hkl_file), NB_PATH_MAX, "-hkl"},
                {offsetof(nb_config, truth_file), NB_PATH_MAX, "-truthfile"},
                {offsetof(nb_config, device), 32, "-device"},
                {offsetof(nb_config, command_line), 2048, "command_line"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        nb_config cfg = plain();
        memset((char *)&cfg + rows[i].offset, 'x', rows[i].size);
        check_refused(&cfg, NB_ERR_INPUT, rows[i].flag);
    }
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
    const nb_series good = {.stills = 2, .output = "never_%d.img"};
    nb_series s = good;
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
    s = good;
    memset(s.orientations, 'x', sizeof s.orientations);
    check_series_refused(&s, "NUL");
}

static void emit(void *user, const char *line)
{
    (void)user;
    (void)line;
}

/* Every public function with NULL for each pointer that it needs. */
UNIT_TEST(null_pointers)
{
#define REFUSED(call)                                                                    \
    do {                                                                                 \
        nb_error err = {0};                                                              \
        assert_int_equal((call), NB_ERR_INPUT);                                          \
        assert_non_null(strstr(err.message, "NULL"));                                    \
    } while (0)
    nb_config cfg = plain();
    nb_series none = {0};
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

/** Each file of the table is one of the run's files, with its flag, and read or written as the row says. */
UNIT_TEST(files_of_the_table)
{
    const char *const name[] = {"some.file"};
    nb_file_use list[NB_FILES_MOST];
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
        files++;
    }
    assert_true(files > 20);
}

/** The words of tests/support are those of the command line. */
UNIT_TEST(words)
{
    nb_config a, b;
    nb_error err;
    nb_config_defaults(&a);
    nb_config_defaults(&b);
    nb_words(&a, " -misset -10 20 -.5  -gauss_xtal -N 7 -hkl a/b-c.hkl ");
    assert_int_equal(nb_config_set(&b, "misset", "-10 20 -.5", &err), NB_OK);
    assert_int_equal(nb_config_set(&b, "gauss_xtal", "1", &err), NB_OK);
    assert_int_equal(nb_config_set(&b, "N", "7", &err), NB_OK);
    assert_int_equal(nb_config_set(&b, "hkl", "a/b-c.hkl", &err), NB_OK);
    assert_memory_equal(&a, &b, sizeof a);
    nb_words(&a, NB_HEAVY);
    assert_true(a.mosaic_domains == 100 && a.dispersion_steps == 10 && a.cell[5] == 95);
}

/* Each member of these structs that outputs name has one row, in the order of the struct. */
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
