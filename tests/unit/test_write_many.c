/* SPDX-License-Identifier: MIT */
/* Several image files written at once have the same bytes as files written one by one,
 * after any failure and for any number of threads. */
#include "scratch.h"

#include "../../src/io/image/writer.h"

enum {
    WIDE = 517,
    HIGH = 601,
    FILES = 5
}; /* the image has some bands of 126 rows, the last band shorter */

/** Jobs of the test images, and the values that make their rows. */
typedef struct maker {
    int next_row; /* next row of the job in order */
    int fail_at;  /* the row that fails; -1: all succeed */
    nb_image_meta meta;
    nb_write_job jobs[FILES];
    char paths[FILES][600];
    float *pixels;
} maker;

static unsigned value(int slow, int fast)
{
    return (unsigned)slow * 7919u + (unsigned)fast * 31u;
}

static nb_status rows_u16(void *user, int first, int rows, void *out, nb_error *err)
{
    const maker *m = user;
    uint16_t *to = out;
    for (int s = first; s < first + rows; s++) {
        if (s == m->fail_at) {
            memset(err, 0, sizeof *err);
            err->code = NB_ERR_NOMEM;
            snprintf(err->message, sizeof err->message, "row %d", s);
            return err->code;
        }
        for (int f = 0; f < WIDE; f++)
            *to++ = (uint16_t)value(s, f);
    }
    return NB_OK;
}

static nb_status rows_u8(void *user, int first, int rows, void *out, nb_error *err)
{
    uint8_t *to = out;
    (void)user;
    (void)err;
    for (int s = first; s < first + rows; s++)
        for (int f = 0; f < WIDE; f++)
            *to++ = (uint8_t)value(s, f);
    return NB_OK;
}

static nb_status rows_in_order(void *user, int first, int rows, void *out, nb_error *err)
{
    maker *m = user;
    assert_int_equal(first, m->next_row);
    m->next_row += rows;
    return rows_u16(user, first, rows, out, err);
}

static void add(maker *m, int i, const nb_writer *writer, const char *path)
{
    nb_image_view view = {.fast = WIDE, .slow = HIGH, .type = writer->pixel, .scale = 1};
    view.make_rows = writer->pixel == NB_PIXEL_U8 ? rows_u8 : rows_u16;
    view.pixels = writer->pixel == NB_PIXEL_F32 ? m->pixels : NULL;
    view.user = m;
    snprintf(m->paths[i], sizeof m->paths[i], "%s", path);
    m->jobs[i] = (nb_write_job){writer, m->paths[i], view, &m->meta, 0, 0, 0};
}

static maker *make(scratch *s)
{
    maker *m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->pixels = malloc(sizeof *m->pixels * WIDE * HIGH);
    assert_non_null(m->pixels);
    for (int i = 0; i < WIDE * HIGH; i++)
        m->pixels[i] = (float)i * 0.25f;
    m->fail_at = -1;
    m->meta.command_line = "";
    add(m, 0, &nb_writer_float, scratch_path(s, "a.bin"));
    add(m, 1, &nb_writer_smv, scratch_path(s, "b.img"));
    add(m, 2, &nb_writer_smv, scratch_path(s, "c.img"));
    add(m, 3, &nb_writer_pgm, scratch_path(s, "d.pgm"));
    add(m, 4, &nb_writer_float, "/dev/null");
    m->jobs[2].view.make_rows = rows_in_order;
    m->jobs[2].view.in_order = 1;
    return m;
}

static void free_maker(maker *m)
{
    free(m->pixels);
    free(m);
}

/** Checks the pixels at the end of a file. */
static void check_pixels(const char *path, const nb_write_job *job, maker *m)
{
    size_t bytes, want = (size_t)WIDE * HIGH * nb_pixel_bytes(job->view.type);
    char *data = scratch_read(path, &bytes);
    void *made = malloc(want);
    const void *pixels;
    assert_true(bytes >= want);
    m->next_row = 0;
    assert_int_equal(nb_image_rows(&job->view, 0, HIGH, made, &pixels, NULL), NB_OK);
    assert_memory_equal(data + bytes - want, pixels, want);
    free(made);
    free(data);
}

SCRATCH_TEST(any_number_of_threads)
{
    scratch *s = *state;
    maker *m = make(s);
    for (int threads = 1; threads < 6; threads++) {
        nb_error err = {0};
        m->next_row = 0;
        if (nb_write_images(m->jobs, FILES, threads, NULL, &err))
            fail_msg("%s", err.message);
        assert_int_equal(m->next_row, HIGH);
        for (int i = 0; i < FILES - 1; i++)
            check_pixels(m->paths[i], &m->jobs[i], m);
        assert_int_equal(scratch_count(s, 1), FILES - 1);
    }
    assert_true(m->jobs[1].make_seconds > 0 && m->jobs[1].write_seconds > 0);
    free_maker(m);
}

/* Job 1 cannot make a row, job 3 has no folder: the other files are complete, and the
 * first error is reported. */
SCRATCH_TEST(one_fails)
{
    scratch *s = *state;
    maker *m = make(s);
    nb_error err = {0};
    scratch_write(m->paths[1], "old");
    add(m, 3, &nb_writer_pgm, scratch_path(s, "none/d.pgm"));
    m->jobs[2].view.make_rows = rows_u8; /* this function never fails */
    m->jobs[2].view.type = NB_PIXEL_U8;
    m->jobs[2].writer = &nb_writer_pgm;
    m->fail_at = 300;
    assert_int_equal(nb_write_images(m->jobs, FILES, 2, NULL, &err), NB_ERR_NOMEM);
    assert_string_equal(err.message, "row 300");
    assert_file_is(m->paths[1], "old");
    m->fail_at = -1;
    check_pixels(m->paths[0], &m->jobs[0], m);
    check_pixels(m->paths[2], &m->jobs[2], m);
    assert_int_equal(scratch_count(s, 0), 3);
    assert_int_equal(nb_write_images(m->jobs, FILES, 2, NULL, &err), NB_ERR_IO);
    assert_non_null(strstr(err.message, "none/d.pgm"));
    check_pixels(m->paths[1], &m->jobs[1], m);
    free_maker(m);
}

UNIT_TEST(no_files)
{
    assert_int_equal(nb_write_images(NULL, 0, 2, NULL, NULL), NB_OK);
}
