/* SPDX-License-Identifier: MIT */
/* Pictures: scales, colours, positions of rings, sheets, image files read back. */
#include "scratch.h"

#include "../../src/base/memory.h"
#include "../../src/picture/picture.h"

/* --- levels --- */

UNIT_TEST(fixed_ends)
{
    const float image[6] = {-5, 10, 15, 20, 1e9f, NAN};
    const uint8_t linear[6] = {0, 0, 128, 255, 255, 0};
    nb_png_options png = {0};
    nb_preview_options o;
    uint8_t out[6];
    nb_error err = {0};
    png.colormap = NB_MAP_INVERSE;
    png.scale = NB_PNG_RANGE;
    png.low = 10;
    png.high = 20;
    png.gamma = 1;
    o = nb_preview_of(&png);
    assert_int_equal(nb_preview(image, 6, 1, &o, out, &err), NB_OK);
    assert_memory_equal(out, linear, sizeof out);
    png.gamma = 0; /* square root */
    o = nb_preview_of(&png);
    assert_int_equal(nb_preview(image, 6, 1, &o, out, &err), NB_OK);
    assert_int_equal(out[2], 180);
    png.log = 1;
    o = nb_preview_of(&png);
    assert_int_equal(nb_preview(image, 6, 1, &o, out, &err), NB_OK);
    assert_int_equal(out[2], (int)(255 * log1p(999 * 0.5) / log1p(999) + 0.5));
    png.colormap = NB_MAP_GREY; /* the same, dark on white */
    o = nb_preview_of(&png);
    assert_int_equal(nb_preview(image, 6, 1, &o, out, &err), NB_OK);
    assert_int_equal(out[0], 255);
    assert_int_equal(out[3], 0);
}

UNIT_TEST(percentile_end)
{
    float image[1000];
    nb_png_options png = {0};
    nb_preview_options o;
    uint8_t out[1000];
    nb_error err = {0};
    for (int i = 0; i < 1000; i++)
        image[i] = (float)i;
    png.colormap = NB_MAP_VIRIDIS;
    png.scale = NB_PNG_PERCENTILE;
    png.percentile = 50;
    png.gamma = 1;
    o = nb_preview_of(&png);
    assert_int_equal(nb_preview(image, 1000, 1, &o, out, &err), NB_OK);
    assert_int_equal(out[0], 0);
    check_close(out[250], 127.5, 2); /* bins of 1 % */
    assert_int_equal(out[510], 255);
}

/* --- colours --- */

static double lightness(nb_rgb c)
{
    return 0.2126 * c.r + 0.7152 * c.g + 0.0722 * c.b;
}

UNIT_TEST(colours)
{
    for (nb_colormap map = NB_MAP_GREY; map <= NB_MAP_HEAT; map++)
        for (int i = 1; i < 256; i++) { /* brightness never decreases */
            double step =
                lightness(nb_colormap_at(map, i)) - lightness(nb_colormap_at(map, i - 1));
            check_above(map == NB_MAP_GREY ? -step : step, -0.5);
        }
    assert_int_equal(nb_colormap_at(NB_MAP_GREY, 255).r, 0);
    assert_int_equal(nb_colormap_at(NB_MAP_INVERSE, 255).r, 255);
    assert_int_equal(nb_colormap_at(NB_MAP_VIRIDIS, 255).b, 37);
    assert_int_equal(nb_signed_colour(0).r, 255);
    assert_int_equal(nb_signed_colour(0).b, 255);
    assert_int_equal(nb_signed_colour(NAN).g, 255);
    assert_true(nb_signed_colour(1).r > nb_signed_colour(1).b);
    assert_true(nb_signed_colour(-1).b > nb_signed_colour(-1).r);
    assert_int_equal(nb_signed_colour(7).r, nb_signed_colour(1).r);
}

static int marked_pixels(const nb_canvas *c)
{
    int n = 0;
    for (int i = 0; i < c->width * c->height; i++)
        n += c->pixels[i].r == 0;
    return n;
}

UNIT_TEST(text_stays_inside)
{
    static const char all[] = "0123456789ABaefgilmnrstx+-. ";
    const nb_rgb white = {255, 255, 255}, black = {0, 0, 0};
    nb_canvas c;
    nb_error err = {0};
    for (const char *p = all; *p; p++)
        for (const char *q = p + 1; *q; q++) /* all glyphs differ */
            assert_true(memcmp(nb_glyph(*p), nb_glyph(*q), NB_GLYPH_HEIGHT) != 0);
    assert_int_equal(nb_canvas_create(&c, 20, 10, white, &err), NB_OK);
    nb_canvas_text(&c, -3, -2, 2, black, "8-8");
    nb_canvas_text(&c, 15, 7, 3, black, "8-8");
    nb_canvas_text(&c, 1000, 1000, 3, black, "8");
    check_above(marked_pixels(&c), 20);
    nb_canvas_fill(&c, 0, 0, 20, 10, white);
    nb_canvas_text(&c, 0, 0, 1, black, "-");
    assert_int_equal(marked_pixels(&c), 5);
    assert_int_equal(nb_text_width("88", 2), 22);
    assert_int_equal(nb_text_width("", 2), 0);
    nb_free(c.pixels);
}

/* --- rings --- */

static nb_panel flat_panel(int pixels)
{
    nb_panel panel;
    memset(&panel, 0, sizeof panel);
    panel.columns = panel.rows = pixels;
    panel.pixel_fast = panel.pixel_slow = 1e-3;
    panel.beam = panel.normal = (nb_vec3){1, 0, 0};
    panel.fast = (nb_vec3){0, 0, 1};
    panel.slow = (nb_vec3){0, -1, 0};
    panel.distance = panel.close_distance = 0.1;
    panel.Fbeam = panel.Sbeam = pixels / 2 * 1e-3;
    panel.pix0 = (nb_vec3){0.1, panel.Sbeam, -panel.Fbeam};
    return panel;
}

UNIT_TEST(rings_have_their_radius)
{
    enum { SIDE = 200 };
    const double radius = 0.06; /* m, on the detector */
    const nb_rgb white = {255, 255, 255};
    nb_panel panel = flat_panel(SIDE);
    nb_png_options png = {0};
    nb_canvas c;
    nb_error err = {0};
    int drawn = 0, away = 0;
    png.rings = 2;
    png.ring_A[0] = 1 / (2 * sin(0.5 * atan2(radius, panel.distance))); /* 1 A */
    png.ring_A[1] = 0.3;                                                /* too small */
    assert_int_equal(nb_canvas_create(&c, SIDE, SIDE, white, &err), NB_OK);
    assert_int_equal(nb_draw_rings(&c, &panel, 1e-10, &png, &err), NB_OK);
    for (int s = 0; s < SIDE; s++)
        for (int f = 0; f < SIDE; f++) {
            double r = hypot(f + 0.5 - SIDE / 2, s + 0.5 - SIDE / 2);
            int is_cross = r < 13, is_label = s < SIDE / 2 && abs(f - SIDE / 2) < 60;
            if (c.pixels[s * SIDE + f].g == 255 || is_cross || is_label)
                continue;
            drawn++;
            away += fabs(r - 60) > 1.5;
        }
    check_above(drawn, 200);
    assert_int_equal(away, 0);
    assert_int_not_equal(c.pixels[SIDE / 2 * SIDE + SIDE / 2].g, 255); /* the cross */
    nb_free(c.pixels);
}

/* --- the sheet of two images and their difference --- */

UNIT_TEST(sheet_of_any_shape)
{
    static const int sizes[][2] = {{1, 1}, {3, 700}, {1700, 5}, {801, 801}};
    for (int i = 0; i < 4; i++) {
        int fast = sizes[i][0], slow = sizes[i][1], reds = 0;
        size_t n = (size_t)fast * (size_t)slow;
        float *a = calloc(n, sizeof *a), *b = calloc(n, sizeof *b);
        nb_sheet p = {a, b, fast, fast, slow, NULL, 0};
        nb_canvas c;
        nb_error err = {0};
        assert_non_null(a);
        assert_non_null(b);
        a[n / 2] = 3; /* a single pixel stays visible at any reduction */
        assert_int_equal(nb_draw_sheet(&p, &c, &err), NB_OK);
        check_below(c.width, 3000);
        check_below(c.height, 2000);
        for (int y = 30; y < c.height - 50; y++)
            for (int x = (c.width - 16) * 2 / 3 + 16; x < c.width - 18; x++) {
                nb_rgb red = nb_signed_colour(1), at = c.pixels[y * c.width + x];
                reds += memcmp(&red, &at, sizeof red) == 0;
            }
        check_above(reds, 1);
        nb_free(c.pixels);
        free(a);
        free(b);
    }
}

/** The scale of A - B depends on the many differences; one bad pixel does not change
 * it. */
UNIT_TEST(one_bad_pixel_hides_nothing)
{
    enum { SIZE = 100 };
    static float a[SIZE * SIZE], b[SIZE * SIZE];
    nb_sheet p = {a, b, SIZE, SIZE, SIZE, NULL, 0};
    nb_rgb faint = nb_signed_colour(0.01);
    nb_canvas c;
    nb_error err = {0};
    int coloured = 0;
    for (int i = 0; i < SIZE * SIZE; i++)
        a[i] = (float)(i % 7) - 3; /* values from -3 to 3 */
    a[5050] = 1e9f;
    assert_int_equal(nb_draw_sheet(&p, &c, &err), NB_OK);
    for (int y = 60; y < 300; y++)
        for (int x = c.width - 300; x < c.width - 60; x++)
            coloured += c.pixels[y * c.width + x].g < faint.g - 40;
    check_above(coloured, 240 * 240 / 2);
    nb_free(c.pixels);
}

/* --- files --- */

SCRATCH_TEST(geometry_of_a_header)
{
    nb_config cfg = nb_test_config();
    scratch *s = *state;
    nb_image image;
    nb_png_options png = {0};
    nb_error err = {0};
    nb_picture picture;
    char path[NB_PATH_MAX];
    nb_status st;
    cfg.default_F = 100;
    nb_set_cell(&cfg, 50, 50, 50, 90, 90, 90);
    nb_set_N(&cfg, 3);
    nb_set_pixels(&cfg, 40, 30);
    nb_set_beam(&cfg, 1, 2);
    cfg.write_int = 1;
    snprintf(path, sizeof path, "%s", scratch_path(s, "a.img"));
    nb_put_text(&cfg.int_file, "%s", path);
    picture = rendered(&cfg);
    assert_int_equal(nb_sim_write(picture.sim, picture.pixels, &picture.stats, &err),
                     NB_OK);
    nb_picture_free(&picture);
    assert_int_equal(nb_image_read(path, 0, 0, NULL, &image, &err), NB_OK);
    assert_string_equal(image.format, "SMV");
    assert_int_equal(image.fast, 40);
    assert_int_equal(image.slow, 30);
    assert_non_null(image.geometry);
    check_close(image.centre[0], 20.5,
                1e-9); /* MOSFLM: Ybeam along fast, and half a pixel */
    check_close(image.centre[1], 10.5, 1e-9);
    check_close(image.geometry->lambda_A, 1, 0);
    check_close(image.geometry->distance_mm, 100, 0);
    png.rings = 1;
    png.ring_A[0] = 50;
    for (long n = 1;; n++) { /* every allocation fails once */
        nb_alloc_fail_after(n);
        st = nb_image_picture(&image, &png, scratch_path(s, "a.png"), &err);
        nb_alloc_fail_after(0);
        if (st != NB_ERR_NOMEM)
            break;
        check_below(n, 50);
    }
    assert_true(st == NB_OK || st == NB_ERR_UNSUPPORTED);
    nb_image_free(&image);
    for (long n = 1;; n++) {
        nb_alloc_fail_after(n);
        st = nb_image_read(path, 0, 0, NULL, &image, &err);
        nb_alloc_fail_after(0);
        if (st == NB_OK)
            break;
        assert_int_equal(st, NB_ERR_NOMEM);
        assert_null(image.pixels);
        check_below(n, 50);
    }
    nb_image_free(&image);
    nb_image_free(NULL);
}
