/* SPDX-License-Identifier: MIT */
/* AT-IO-001 to 004, AT-PRE-001, -img and -mask: files that a run writes and reads back. */
#include "../support/check.h"

#include "sim/sim.h"
#include "io/image/smv_read.h"

/** A run's files in the scratch folder. */
static void name_outputs(nb_config *cfg)
{
    nb_scratch_path(cfg->float_file, "float.bin");
    nb_scratch_path(cfg->int_file, "int.img");
    nb_scratch_path(cfg->noise_file, "noise.img");
    nb_scratch_path(cfg->pgm_file, "image.pgm");
    nb_scratch_path(cfg->dump_file, "F.bin");
    cfg->write_float = cfg->write_int = cfg->write_pgm = 1;
    cfg->write_noise = 1;
}

static void remove_outputs(const nb_config *cfg)
{
    remove(cfg->float_file);
    remove(cfg->int_file);
    remove(cfg->noise_file);
    remove(cfg->pgm_file);
    remove(cfg->dump_file);
}

static nb_picture written(const nb_config *cfg)
{
    nb_picture p = rendered(cfg);
    nb_error err = {0};
    if (nb_sim_write(p.sim, p.pixels, &p.stats, &err))
        fail_msg("write: %s", err.message);
    return p;
}

static nb_config small_config(void)
{
    nb_config cfg = nb_suite_config(1, 5, 0);
    nb_set_pixels(&cfg, 60, 40);
    nb_set_misset(&cfg, 10, 20, 30);
    cfg.dump_file[0] = 0;
    cfg.seed = (nb_seed){1, 5};
    return cfg;
}

/** Value of the only line KEY=value; of a header. */
static double header_value(const nb_smv_header *h, const char *key)
{
    double value = NAN;
    if (nb_smv_number(h, key, &value) != 1)
        fail_msg("header key %s is missing or no number", key);
    return value;
}

static void at_io_001_smv(void **state)
{
    nb_config cfg = small_config();
    const double tolerance = 1e-8;
    nb_smv_header h;
    uint16_t *pixels, *direct = malloc(2400 * sizeof *direct);
    char *data;
    size_t bytes;
    nb_error err;
    nb_picture p;
    (void)state;
    name_outputs(&cfg);
    cfg.dump_file[0] = 0;
    cfg.lambda_A = 1.23456789;
    cfg.distance_mm = 123.456789;
    cfg.roi_set = 1;
    cfg.roi[0] = 2, cfg.roi[1] = 59, cfg.roi[2] = 3, cfg.roi[3] = 39;
    nb_set_beam(&cfg, 2.3456789, 3.4567891);
    p = written(&cfg);
    data = nb_file_bytes(cfg.int_file, &bytes);
    assert_non_null(data);
    assert_memory_equal(data, "{\nHEADER_BYTES=", 15);
    assert_int_equal(nb_smv_parse(data, bytes, "int.img", &h, &err), NB_OK);
    assert_int_equal((int)header_value(&h, "HEADER_BYTES") % 512, 0);
    assert_int_equal(bytes, (size_t)header_value(&h, "HEADER_BYTES") + 2 * 2400);
    assert_int_equal(header_value(&h, "SIZE1"), 60);
    assert_int_equal(header_value(&h, "SIZE2"), 40);
    assert_int_equal(header_value(&h, "DIM"), 2);
    check_close(header_value(&h, "WAVELENGTH"), 1.23456789, tolerance);
    check_close(header_value(&h, "DISTANCE"), 123.456789, tolerance * 100);
    check_close(header_value(&h, "CLOSE_DISTANCE"), 123.456789, tolerance * 100);
    check_close(header_value(&h, "PIXEL_SIZE"), 0.1, tolerance);
    check_close(header_value(&h, "MOSFLM_CENTER_X"), 2.3456789, tolerance);
    check_close(header_value(&h, "MOSFLM_CENTER_Y"), 3.4567891, tolerance);
    check_close(header_value(&h, "DENZO_X_BEAM"), 2.3956789, tolerance);
    check_close(header_value(&h, "ADXV_CENTER_X"), 3.5067891, tolerance);
    check_close(header_value(&h, "ADXV_CENTER_Y"), 4 - 2.3956789, tolerance);
    check_close(header_value(&h, "XDS_ORGX"), 35.067891 + 0.5, tolerance * 100);
    check_close(header_value(&h, "PHI"), 0, 0);
    assert_string_equal(nb_smv_find(&h, "TYPE"), "unsigned_short");
    for (char *line = data + 2, *end; *line != '}'; line = end + 1) { /* all end with ; */
        end = strchr(line, '\n');
        assert_true(end && end[-1] == ';');
    }
    /* pixels: floor(v scale + adc + 1/2), 0 outside the region, 55000 + adc on top */
    assert_int_equal(nb_smv_pixels_u16(data, bytes, &h, &pixels, &err), NB_OK);
    assert_int_equal(nb_sim_digitize(p.sim, p.pixels, &p.stats, direct, &err), NB_OK);
    assert_memory_equal(pixels, direct, 2400 * sizeof *direct);
    assert_int_equal(pixels[p.stats.max_slow * 60 + p.stats.max_fast], 55040);
    for (int i = 0; i < 2400; i++) {
        double v = p.pixels[i] * 55000.0 / p.stats.max + 40;
        int inside = i % 60 >= 2 && i / 60 >= 3;
        check_close(pixels[i], inside ? floor(v + 0.5) : 0, inside ? 1 : 0);
    }
    nb_free(pixels);
    nb_smv_header_free(&h);
    free(data);
    free(direct);
    remove_outputs(&cfg);
    nb_picture_free(&p);
}

static void at_io_001_scale(void **state)
{
    nb_config cfg = small_config();
    static uint16_t out[2400];
    nb_error err;
    nb_picture p;
    (void)state;
    cfg.scale = 1000;
    cfg.adc_offset = 7.5;
    p = rendered(&cfg);
    assert_int_equal(nb_sim_digitize(p.sim, p.pixels, &p.stats, out, &err), NB_OK);
    for (int i = 0; i < 2400; i++) {
        double v = floor(p.pixels[i] * 1000.0 + 7.5 + 0.5);
        check_close(out[i], v > 65535 ? 65535 : v, v > 65535 ? 0 : 1);
    }
    nb_picture_free(&p);
}

static void at_io_002_pgm(void **state)
{
    nb_config cfg = small_config();
    char *data, expected[128];
    size_t bytes, header;
    nb_picture p;
    double scale;
    (void)state;
    for (int asked = 0; asked < 2; asked++) {
        name_outputs(&cfg);
        cfg.dump_file[0] = 0;
        cfg.pgm_scale = asked ? 3.25 : 0;
        p = written(&cfg);
        scale = asked ? 3.25 : 250 / (5 * p.stats.rmsd);
        header = (size_t)snprintf(expected, sizeof expected,
                                  "P5\n60 40\n# pixels scaled by %g\n255\n", scale);
        data = nb_file_bytes(cfg.pgm_file, &bytes);
        assert_non_null(data);
        assert_int_equal(bytes, header + 2400);
        assert_memory_equal(data, expected, header);
        for (int i = 0; i < 2400; i++) {
            double v = p.pixels[i] * scale;
            check_close((unsigned char)data[header + i], v > 255 ? 255 : floor(v), 0);
        }
        free(data);
        data = nb_file_bytes(cfg.float_file, &bytes);
        assert_int_equal(bytes, 2400 * sizeof(float));
        assert_memory_equal(data, p.pixels, bytes);
        free(data);
        remove_outputs(&cfg);
        nb_picture_free(&p);
    }
}

/** Write text as the -hkl file. */
static void use_hkl(nb_config *cfg, const char *text)
{
    nb_scratch_path(cfg->hkl_file, "test.hkl");
    assert_true(nb_scratch_write(cfg->hkl_file, text, strlen(text)));
    cfg->interpolate = NB_OFF;
}

/* The cache: written after -hkl with the documented bytes, read back to the same image,
 * also if the first value starts with a byte that the old reader skipped as white space. */
static void at_io_003_dump(void **state)
{
    static const double awkward = 1.0001; /* made to start with a line feed below */
    nb_config cfg = small_config(), cached;
    char text[128], *data;
    unsigned char first[8];
    double F0 = awkward, read_back;
    size_t bytes;
    nb_picture p, q;
    (void)state;
    memcpy(first, &F0, 8);
    first[0] = '\n';
    first[1] = '\f';
    memcpy(&F0, first, 8);
    snprintf(text, sizeof text, "-1 -2 0 %.17g\n3 2 1 25\n0 1 0 100\n", F0);
    name_outputs(&cfg);
    use_hkl(&cfg, text);
    cfg.default_F = 3;
    p = written(&cfg);
    data = nb_file_bytes(cfg.dump_file, &bytes);
    assert_non_null(data);
    assert_memory_equal(data, "-1 3 -2 2 0 1\n\f", 15);
    assert_int_equal(bytes, 15 + 6 * 6 * 3 * sizeof(double));
    memcpy(&read_back, data + 15, 8);
    assert_true(read_back == F0);
    memcpy(&read_back, data + 15 + 8 * 2, 8); /* l = lmax + 1: the plane of zeros */
    assert_true(read_back == 0);
    free(data);
    cached = cfg;
    cached.hkl_file[0] = 0;
    q = rendered(&cached);
    check_same_bits(&p, &q);
    nb_picture_free(&q);
    remove(cfg.dump_file);
    cached.default_F = NAN;
    check_refused(&cached, NB_ERR_INPUT, "-dump");
    remove(cfg.hkl_file);
    remove_outputs(&cfg);
    nb_picture_free(&p);
}

static void at_io_004_hkl_variants(void **state)
{
    static const char *const same[] = {
        "0 1 0 50\n0 0 1 20\n0 -1 0 70\n",
        "# comment\n 0 1 0 50 # trailing\n\n\t0\t0 1 20\r\n0 -1 0 70\r\n",
        "0 1 0 50 0.5\n0 0 1 20 0.1\n0 -1 0 70 1",
        "0 1 0 50 0.5 180\n0 0 1 20 0.1 0\n0 -1 0 7e1 1 12.5\n",
        "0 1 0 1\n0 0 1 20\n0 -1 0 70\n0 1 0 50\n", /* of duplicates the last */
        "0.0 1.0 0 50\n0 0 1e0 20\n! comment\n0 -1 0 70\n"};
    static const struct {
        const char *text, *part;
    } wrong[] = {{"", "test.hkl"},           {"# nothing\n", "test.hkl"},
                 {"0 1 0\n", ":1:"},         {"0 1 0 50\n0 0.5 1 20\n", ":2:"},
                 {"0 1 0 fifty\n", ":1:"},   {"0 1 0 nan\n", ":1:"},
                 {"1 2 3 4 5 6 7\n", ":1:"}, {"0 1 99999999 5\n", ":1:"}};
    nb_config cfg = small_config();
    nb_picture p, q;
    (void)state;
    cfg.default_F = 1;
    use_hkl(&cfg, same[0]);
    p = rendered(&cfg);
    for (int i = 1; i < 6; i++) {
        use_hkl(&cfg, same[i]);
        q = rendered(&cfg);
        check_same_bits(&p, &q);
        nb_picture_free(&q);
    }
    for (int i = 0; i < 8; i++) {
        use_hkl(&cfg, wrong[i].text);
        check_refused(&cfg, NB_ERR_INPUT, wrong[i].part);
    }
    remove(cfg.hkl_file);
    check_refused(&cfg, NB_ERR_INPUT, "-hkl");
    nb_picture_free(&p);
}

/* -img with a header of nanobragg: exactly the same picture for any flags. */
static void img_round_trip(void **state)
{
    nb_config setups[5];
    (void)state;
    for (int i = 0; i < 5; i++)
        setups[i] = small_config();
    nb_set_rotations(&setups[1], 3.3, -4.4, 5.5);
    setups[1].twotheta_deg = 7.7;
    setups[1].distance_mm = 123.456;
    setups[1].lambda_A = 1 / 3.0;
    nb_set_beam(&setups[1], 1.7, 3.1);
    setups[2].convention = NB_CONV_XDS;
    setups[2].orgx = 17.3;
    setups[2].orgy = 22.9;
    setups[2].distance_mm = NAN;
    setups[2].close_distance_mm = 77.7;
    setups[3].convention = NB_CONV_CUSTOM;
    nb_set_vector(&setups[3].fdet_vector, 0.1, 0.3, 0.9);
    nb_set_vector(&setups[3].sdet_vector, 0, -0.9, 0.3);
    nb_set_vector(&setups[3].spindle_axis, 0.1, 0.2, 1);
    nb_set_vector(&setups[3].pix0_m, 0.1, 0.002, -0.003);
    setups[3].phi_deg = 12.34567890123;
    setups[4].convention = NB_CONV_DIALS;
    setups[4].lambda_A = NAN;
    setups[4].energy_eV = 12658.1;
    setups[4].pivot = NB_PIVOT_BEAM;
    setups[4].osc_deg = 0.7;
    setups[4].phi_steps = 3;
    setups[4].pixel_mm = 0.172;
    for (int i = 0; i < 5; i++) {
        nb_config cfg = setups[i], again = nb_test_config();
        nb_picture p, q;
        name_outputs(&cfg);
        cfg.dump_file[0] = 0;
        p = written(&cfg);
        again.default_F = cfg.default_F; /* the crystal is not in the header */
        nb_set_cell(&again, 100, 100, 100, 90, 90, 90);
        nb_set_N(&again, 5);
        nb_set_misset(&again, 10, 20, 30);
        again.oversample = 1;
        snprintf(again.img_file, sizeof again.img_file, "%s", cfg.int_file);
        q = rendered(&again);
        check_same_bits(&p, &q);
        nb_picture_free(&q);
        remove_outputs(&cfg);
        nb_picture_free(&p);
    }
}

/** An SMV file of fast x slow pixels with these header lines. */
static void write_image(char path[NB_PATH_MAX], const char *name, const char *lines,
                        const uint16_t *pixels, int count)
{
    static char bytes[65536];
    int n;
    nb_scratch_path(path, name);
    memset(bytes, ' ', 512);
    n = snprintf(bytes, 512, "{\nHEADER_BYTES=512;\nDIM=2;\n%s}\f", lines);
    bytes[n] = ' ';
    memcpy(bytes + 512, pixels, 2 * (size_t)count);
    assert_true(nb_scratch_write(path, bytes, 512 + 2 * (size_t)count));
}

/* Headers give defaults: -img wins over -mask, and a typed flag wins over both. */
static void at_pre_001(void **state)
{
    static uint16_t ones[64];
    nb_config cfg = nb_test_config();
    nb_sim *sim;
    (void)state;
    for (int i = 0; i < 64; i++)
        ones[i] = 1;
    write_image(
        cfg.img_file, "a.img",
        "BYTE_ORDER=little_endian;\nSIZE1=8;\nSIZE2=8;\nPIXEL_SIZE=0.2;\n"
        "DISTANCE=150;\nWAVELENGTH=1.1;\nBEAM_CENTER_X=0.5;\nBEAM_CENTER_Y=0.7;\n",
        ones, 64);
    write_image(cfg.mask_file, "m.img",
                "BYTE_ORDER=little_endian;\nSIZE1=8;\nSIZE2=8;\nPIXEL_SIZE=0.3;\n"
                "DISTANCE=250;\nCLOSE_DISTANCE=11;\nWAVELENGTH=1.2;\nPHI=17;\n",
                ones, 64);
    sim = created(&cfg);
    check_close(sim->model.geometry.pixel, 2e-4, 1e-15);
    check_close(sim->model.geometry.distance, 0.15, 1e-12);
    check_close(sim->model.wavelength_A, 1.1, 1e-12);
    check_close(sim->model.geometry.Xbeam, 0.5e-3, 1e-12);
    check_close(sim->model.phi0 / NB_DEG, 17, 1e-9); /* only the mask has it */
    nb_sim_free(sim);
    cfg.distance_mm = 99;
    cfg.energy_eV = 12000;
    sim = created(&cfg);
    check_close(sim->model.geometry.distance, 0.099, 1e-12);
    check_ratio(sim->model.wavelength_A, 12398.419843320026 / 12000, 1e-12);
    check_close(sim->model.geometry.pixel, 2e-4, 1e-15);
    nb_sim_free(sim);
    remove(cfg.img_file);
    check_refused(&cfg, NB_ERR_INPUT, "-img");
    remove(cfg.mask_file);
}

/* The close distance of another program's header is measured after the swing. The detector
 * is not swung again, and the header of the new image has the same distance. */
static void close_distance_of_a_header(void **state)
{
    static uint16_t zeros[64];
    (void)state;
    for (int pivot = NB_PIVOT_BEAM; pivot <= NB_PIVOT_SAMPLE; pivot++) {
        nb_config cfg = small_config(), other = small_config();
        nb_picture p, q;
        char keys[256];
        nb_set_pixels(&cfg, 8, 8);
        cfg.pivot = other.pivot = (nb_pivot)pivot;
        cfg.twotheta_deg = 25;
        cfg.distance_mm = 120;
        p = rendered(&cfg);
        snprintf(keys, sizeof keys,
                 "BYTE_ORDER=little_endian;\nSIZE1=8;\nSIZE2=8;\nPIXEL_SIZE=%.15g;\n"
                 "DISTANCE=1;\nCLOSE_DISTANCE=%.15g;\nTWOTHETA=25;\n",
                 p.sim->model.geometry.pixel * 1e3,
                 p.sim->model.geometry.close_distance * 1e3);
        write_image(other.img_file, "swung.img", keys, zeros, 64);
        other.distance_mm = other.pixel_mm = NAN;
        other.detpixels[0] = other.detpixels[1] = 0;
        name_outputs(&other);
        other.dump_file[0] = 0;
        q = written(&other);
        check_same(q, p, 1e-6);
        check_ratio(q.sim->model.geometry.distance, p.sim->model.geometry.distance, 1e-9);
        check_ratio(q.sim->model.geometry.close_distance,
                    p.sim->model.geometry.close_distance, 1e-9);
        nb_picture_free(&p);
        remove(other.img_file);
        snprintf(cfg.img_file, sizeof cfg.img_file, "%s", other.int_file);
        cfg.twotheta_deg = cfg.distance_mm = NAN; /* now from our own header */
        cfg.pivot = NB_PIVOT_UNSET;
        p = rendered(&cfg);
        check_same_bits(&p, &q);
        nb_picture_free(&p);
        nb_picture_free(&q);
    }
}

static void mask_is_a_cut(void **state)
{
    static uint16_t mask[64 * 48], swapped[64 * 48];
    nb_config cfg = nb_suite_config(1, 5, 0);
    nb_picture all, p;
    int64_t rendered_pixels = 0;
    (void)state;
    nb_set_pixels(&cfg, 64, 48);
    nb_set_misset(&cfg, 3, 2, 1);
    all = rendered(&cfg);
    for (int i = 0; i < 64 * 48; i++) {
        mask[i] = (uint16_t)(i * 7919 % 5 == 0 ? 0 : i % 3 ? 1 : 256);
        swapped[i] = (uint16_t)(mask[i] >> 8 | mask[i] << 8);
        rendered_pixels += mask[i] != 0;
    }
    for (int big = 0; big < 2; big++) {
        write_image(cfg.mask_file, "mask.img",
                    big ? "BYTE_ORDER=big_endian;\nSIZE1=64;\nSIZE2=48;\n"
                        : "BYTE_ORDER=little_endian;\nSIZE1=64;\nSIZE2=48;\n",
                    big ? swapped : mask, 64 * 48);
        p = rendered(&cfg);
        for (int i = 0; i < 64 * 48; i++)
            assert_true(p.pixels[i] == (mask[i] ? all.pixels[i] : 0));
        assert_int_equal(p.stats.rendered, rendered_pixels);
        assert_int_equal(p.stats.roi_pixels, 64 * 48);
        assert_true(p.stats.solid_angle < all.stats.solid_angle);
        nb_picture_free(&p);
    }
    nb_set_pixels(&cfg, 48, 64);
    check_refused(&cfg, NB_ERR_INPUT, "-mask");
    remove(cfg.mask_file);
    nb_picture_free(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(at_io_001_smv),
        TEST(at_io_001_scale),
        TEST(at_io_002_pgm),
        TEST(at_io_003_dump),
        TEST(at_io_004_hkl_variants),
        TEST(img_round_trip),
        TEST(at_pre_001),
        TEST(close_distance_of_a_header),
        TEST(mask_is_a_cut),
    };
    return RUN_TESTS("files", tests);
}
