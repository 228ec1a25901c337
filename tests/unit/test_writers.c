/* SPDX-License-Identifier: MIT */
/* Image files: the SMV header, equal bytes, and no file left after a failure.
 * python/test_at_core.py tests the contents of float, PGM and SMV files.
 * python/test_at_geometry.py tests files that the program reads again. */
#include "image_samples.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

SCRATCH_TEST(smv_header)
{
    static const char *const lines[] = {"DIM=2",
                                        "BYTE_ORDER=",
                                        "TYPE=unsigned_short",
                                        "SIZE1=37",
                                        "SIZE2=23",
                                        "PIXEL_SIZE=0.172",
                                        "DISTANCE=150.123456789",
                                        "WAVELENGTH=0.979338123456",
                                        "BEAM_CENTER_X=1.5",
                                        "BEAM_CENTER_Y=3.25",
                                        "ADXV_CENTER_X=3.25",
                                        "ADXV_CENTER_Y=2.456",
                                        "MOSFLM_CENTER_X=1.414",
                                        "MOSFLM_CENTER_Y=3.164",
                                        "DENZO_X_BEAM=1.5",
                                        "DENZO_Y_BEAM=3.25",
                                        "DIALS_ORIGIN=-3.25,1.5,-150.123456789",
                                        "XDS_ORGX=19.5",
                                        "XDS_ORGY=9.25",
                                        "CLOSE_DISTANCE=149.5",
                                        "PHI=10",
                                        "OSC_START=10",
                                        "OSC_RANGE=0.5",
                                        "TWOTHETA=0",
                                        "DETECTOR_SN=000",
                                        "BEAMLINE=nanobragg",
                                        "TIME=0.25",
                                        "DATE=Thu Jan 01 00:00:00 1970",
                                        "IMAGE_PEDESTAL=40",
                                        "ADC_OFFSET=40",
                                        "GAIN=1",
                                        "AXIS=phi",
                                        "CCD_IMAGE_SATURATION=65535",
                                        ("NANOBRAGG_VERSION=" NB_VERSION),
                                        "NANOBRAGG_SEED=1234567890123",
                                        "NANOBRAGG_SCALE=1",
                                        "NANOBRAGG_CONVENTION=xds",
                                        "NANOBRAGG_DISTANCE=33.3333333333333"};
    scratch *s = *state;
    samples a = make_samples();
    size_t bytes, brace;
    char *data =
        scratch_read(written(s, "a.img", &nb_writer_smv, &a, NB_PIXEL_U16), &bytes);
    const char *from = data;
    int header = 0;
    assert_memory_equal(data, "{\nHEADER_BYTES=", 15);
    assert_int_equal(sscanf(data + 15, "%d", &header), 1);
    assert_int_equal(header % 512, 0);
    assert_int_equal(bytes, (size_t)header + sizeof a.u16);
    assert_memory_equal(data + header, a.u16, sizeof a.u16);
    /* the lines must have this order */
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char start[96];
        snprintf(start, sizeof start, "\n%s", lines[i]);
        from = strstr(from, start);
        if (!from)
            fail_msg("%s is missing or out of order", lines[i]);
    }
    brace = (size_t)(strchr(data, '}') - data);
    assert_int_equal(data[brace + 1], '\f');
    for (size_t i = brace + 2; i < (size_t)header; i++)
        assert_int_equal(data[i], ' ');
    data[brace] = '\0';
    for (char *line = strtok(data + 2, "\n"); line; line = strtok(NULL, "\n")) {
        assert_int_equal(line[strlen(line) - 1], ';'); /* every line ends with one ; */
        assert_ptr_equal(strchr(line, ';'), line + strlen(line) - 1);
        assert_non_null(strchr(line, '='));
        /* every line has one = */
        assert_ptr_equal(strchr(line, '='), strrchr(line, '='));
    }
    free(data);
}

/** Value of a key in a header text; valid until the next call. */
static const char *value_of(const char *text, const char *key)
{
    static char value[128];
    char pattern[64];
    const char *at;
    snprintf(pattern, sizeof pattern, "\n%s=", key);
    at = strstr(text, pattern);
    value[0] = '\0';
    if (at)
        snprintf(value, sizeof value, "%.*s", (int)strcspn(at + strlen(pattern), ";"),
                 at + strlen(pattern));
    return value;
}

/* A detector tilted about the fast axis: the frame of DIALS depends on the beam. */
SCRATCH_TEST(smv_tilted_origin)
{
    scratch *s = *state;
    samples a = make_samples();
    const double t = 0.3, p[3] = {-4, 2, 90};
    const double fast[3] = {1, 0, 0}, slow[3] = {0, cos(t), sin(t)}, beam[3] = {0, 0, 1};
    double o[3];
    char *data;
    memcpy(a.meta.fast_axis, fast, sizeof fast);
    memcpy(a.meta.slow_axis, slow, sizeof slow);
    memcpy(a.meta.beam, beam, sizeof beam);
    memcpy(a.meta.pix0_mm, p, sizeof p);
    data = scratch_read(written(s, "a.img", &nb_writer_smv, &a, NB_PIXEL_U16), NULL);
    assert_int_equal(
        sscanf(value_of(data, "DIALS_ORIGIN"), "%lf,%lf,%lf", &o[0], &o[1], &o[2]), 3);
    check_close(o[0], -4, 1e-9);
    check_close(o[1], -2, 1e-9);
    check_close(o[2], -90, 1e-9);
    free(data);
}

SCRATCH_TEST(smv_dates)
{
    scratch *s = *state;
    samples a = make_samples();
    char *data;
    a.meta.date = 1763638800;
    data = scratch_read(written(s, "a.img", &nb_writer_smv, &a, NB_PIXEL_U16), NULL);
    assert_string_equal(value_of(data, "DATE"), "Thu Nov 20 11:40:00 2025");
    free(data);
    unsetenv("SOURCE_DATE_EPOCH");
    assert_int_equal(nb_image_date(), 0);
    setenv("SOURCE_DATE_EPOCH", "1763638800", 1);
    assert_int_equal(nb_image_date(), 1763638800);
    setenv("SOURCE_DATE_EPOCH", "yesterday", 1);
    assert_int_equal(nb_image_date(), 0);
    setenv("SOURCE_DATE_EPOCH", "99999999999999999999", 1);
    assert_int_equal(nb_image_date(), 0);
    unsetenv("SOURCE_DATE_EPOCH");
}

/* --- every writer --- */

static const struct {
    const nb_writer *writer;
    nb_pixel_type type;
} all[] = {
    {&nb_writer_float, NB_PIXEL_F32},    {&nb_writer_smv, NB_PIXEL_U16},
    {&nb_writer_pgm, NB_PIXEL_U8},       {&nb_writer_png, NB_PIXEL_U8},
    {&nb_writer_tiff_f32, NB_PIXEL_F32}, {&nb_writer_tiff_u16, NB_PIXEL_U16},
};
enum { WRITERS = sizeof all / sizeof *all };

SCRATCH_TEST(same_bytes_twice)
{
    scratch *s = *state;
    samples a = make_samples();
    for (int i = 0; i < WRITERS; i++) {
        size_t n1, n2;
        char *one, *two;
        if (nb_writer_ready(all[i].writer, "", NULL))
            continue;
        one = scratch_read(written(s, "a", all[i].writer, &a, all[i].type), &n1);
        two = scratch_read(written(s, "a", all[i].writer, &a, all[i].type), &n2);
        assert_int_equal(n1, n2);
        assert_memory_equal(one, two, n1);
        free(one);
        free(two);
    }
}

/** The old file is unchanged, no other file is left, and the message names the file and the
 * reason. */
static void check_failure(scratch *s, int i, int number)
{
    samples a = make_samples();
    nb_image_view v = view_of(&a, all[i].type);
    nb_error err = {0};
    nb_status st;
    a.meta.inputs = &a.inputs;
    scratch_write(scratch_path(s, "a"), "old");
    if (number == EFBIG) {
        struct rlimit before, tight;
        getrlimit(RLIMIT_FSIZE, &before);
        tight = before;
        tight.rlim_cur = 20;
        setrlimit(RLIMIT_FSIZE, &tight);
        st = nb_write_image(all[i].writer, s->path, &v, &a.meta, &err);
        setrlimit(RLIMIT_FSIZE, &before);
    } else {
        st = nb_write_image(all[i].writer, scratch_path(s, "none/a"), &v, &a.meta, &err);
    }
    assert_int_equal(st, NB_ERR_IO);
    if (!strstr(err.message, s->path) || !strstr(err.message, strerror(number)) ||
        strchr(err.message, '\n'))
        fail_msg("%s: \"%s\"", all[i].writer->name, err.message);
    assert_file_is(scratch_path(s, "a"), "old");
    assert_int_equal(scratch_count(s, 1), 1);
}

SCRATCH_TEST(failures_leave_nothing)
{
    scratch *s = *state;
    signal(SIGXFSZ, SIG_IGN);
    for (int i = 0; i < WRITERS; i++) {
        if (nb_writer_ready(all[i].writer, "", NULL))
            continue;
        check_failure(s, i, EFBIG);
        check_failure(s, i, ENOENT);
    }
}

UNIT_TEST(devices)
{
    samples a = make_samples();
    a.meta.inputs = &a.inputs;
    for (int i = 0; i < WRITERS; i++) {
        nb_image_view v = view_of(&a, all[i].type);
        nb_error err = {0};
        if (nb_writer_ready(all[i].writer, "", NULL))
            continue;
        if (nb_write_image(all[i].writer, "/dev/null", &v, &a.meta, &err))
            fail_msg("%s to /dev/null: %s", all[i].writer->name, err.message);
    }
}

SCRATCH_TEST(wrong_images)
{
    scratch *s = *state;
    samples a = make_samples();
    nb_image_view v = view_of(&a, NB_PIXEL_U8), empty = v, none = v;
    nb_error err;
    empty.slow = 0;
    none.pixels = NULL;
    scratch_path(s, "a");
    assert_int_equal(nb_write_image(&nb_writer_smv, s->path, &v, &a.meta, &err),
                     NB_ERR_INTERNAL);
    assert_int_equal(nb_write_image(&nb_writer_pgm, s->path, &empty, &a.meta, &err),
                     NB_ERR_INTERNAL);
    assert_int_equal(nb_write_image(&nb_writer_pgm, s->path, &none, &a.meta, &err),
                     NB_ERR_INTERNAL);
    assert_int_equal(scratch_count(s, 0), 0);
}
