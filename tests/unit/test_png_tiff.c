/* SPDX-License-Identifier: MIT */
/* PNG and TIFF files, read back by libpng and libtiff. */
#include "image_samples.h"

#include <tiffio.h>
#include <png.h>

SCRATCH_TEST(png_file)
{
    scratch *s = *state;
    samples a = make_samples();
    const char *path = written(s, "a.png", &nb_writer_png, &a, NB_PIXEL_U8);
    FILE *f = fopen(path, "rb");
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_textp text;
    png_timep when;
    int found = 0, count;
    assert_non_null(f);
    png_init_io(png, f);
    png_read_png(png, info, PNG_TRANSFORM_IDENTITY, NULL);
    assert_int_equal(png_get_image_width(png, info), FAST);
    assert_int_equal(png_get_image_height(png, info), SLOW);
    assert_int_equal(png_get_bit_depth(png, info), 8);
    assert_int_equal(png_get_color_type(png, info), PNG_COLOR_TYPE_GRAY);
    assert_int_equal(png_get_x_pixels_per_meter(png, info), 5814);
    assert_int_equal(png_get_tIME(png, info, &when), 0);
    for (int y = 0; y < SLOW; y++)
        assert_memory_equal(png_get_rows(png, info)[y], a.u8 + y * FAST, FAST);
    count = png_get_text(png, info, &text, NULL);
    for (int i = 0; i < count; i++)
        found += strcmp(text[i].text, a.meta.command_line) == 0 ||
                 strcmp(text[i].text, "nanobragg " NB_VERSION) == 0;
    assert_int_equal(found, 2);
    png_destroy_read_struct(&png, &info, NULL);
    fclose(f);
}

static void check_tiff(const char *path, const samples *a, int bits)
{
    TIFF *t = TIFFOpen(path, "r");
    uint32_t width = 0, height = 0;
    uint16_t depth = 0, format = 0, unit = 0, compression = 0;
    float per_cm = 0;
    char *text = NULL;
    assert_non_null(t);
    TIFFGetField(t, TIFFTAG_IMAGEWIDTH, &width);
    TIFFGetField(t, TIFFTAG_IMAGELENGTH, &height);
    TIFFGetField(t, TIFFTAG_BITSPERSAMPLE, &depth);
    TIFFGetField(t, TIFFTAG_SAMPLEFORMAT, &format);
    TIFFGetField(t, TIFFTAG_COMPRESSION, &compression);
    TIFFGetField(t, TIFFTAG_RESOLUTIONUNIT, &unit);
    TIFFGetField(t, TIFFTAG_XRESOLUTION, &per_cm);
    assert_int_equal(width, FAST);
    assert_int_equal(height, SLOW);
    assert_int_equal(depth, bits);
    assert_int_equal(format, bits == 32 ? SAMPLEFORMAT_IEEEFP : SAMPLEFORMAT_UINT);
    assert_int_equal(compression, COMPRESSION_NONE);
    assert_int_equal(unit, RESUNIT_CENTIMETER);
    check_close(per_cm, 10 / 0.172, 1e-4);
    assert_int_equal(TIFFGetField(t, TIFFTAG_IMAGEDESCRIPTION, &text), 1);
    assert_string_equal(text, a->meta.command_line);
    assert_int_equal(TIFFGetField(t, TIFFTAG_SOFTWARE, &text), 1);
    assert_string_equal(text, "nanobragg " NB_VERSION);
    assert_int_equal(TIFFGetField(t, TIFFTAG_DATETIME, &text), 0);
    for (uint32_t y = 0; y < SLOW; y++) {
        float row[FAST]; /* wide enough for both files */
        const void *want = bits == 32 ? (const void *)(a->f32 + y * FAST)
                                      : (const void *)(a->u16 + y * FAST);
        assert_int_equal(TIFFReadScanline(t, row, y, 0), 1);
        assert_memory_equal(row, want, (size_t)FAST * (size_t)bits / 8);
    }
    TIFFClose(t);
}

SCRATCH_TEST(tiff_files)
{
    scratch *s = *state;
    samples a = make_samples();
    check_tiff(written(s, "f.tif", &nb_writer_tiff_f32, &a, NB_PIXEL_F32), &a, 32);
    check_tiff(written(s, "u.tif", &nb_writer_tiff_u16, &a, NB_PIXEL_U16), &a, 16);
    assert_int_equal(scratch_count(s, 0), 2);
}

/* A file with several strips, the last one shorter. */
SCRATCH_TEST(tiff_strips)
{
    enum { WIDE = 700, HIGH = 1001 };
    scratch *s = *state;
    samples a = make_samples();
    float *image = malloc(sizeof(float) * WIDE * HIGH);
    float row[WIDE];
    nb_image_view v = {
        .fast = WIDE, .slow = HIGH, .type = NB_PIXEL_F32, .pixels = image, .scale = 1};
    nb_error err = {0};
    TIFF *t;
    for (int i = 0; i < WIDE * HIGH; i++)
        image[i] = (float)i;
    if (nb_write_image(&nb_writer_tiff_f32, scratch_path(s, "a.tif"), &v, &a.meta, &err))
        fail_msg("%s", err.message);
    t = TIFFOpen(s->path, "r");
    assert_non_null(t);
    assert_true(TIFFNumberOfStrips(t) > 1);
    for (uint32_t y = 0; y < HIGH; y++) {
        assert_int_equal(TIFFReadScanline(t, row, y, 0), 1);
        assert_memory_equal(row, image + y * WIDE, sizeof row);
    }
    TIFFClose(t);
    free(image);
}
