/* SPDX-License-Identifier: MIT */
/* SMV files: settings from headers, pixels, and the keys of this program, which are
 * written and read back. */
#include <float.h>

#include "../support/check.h"

#include "../../src/base/memory.h"
#include "../../src/io/image/image_read.h"

#define DOCUMENTED                                                                       \
    "DIM=2;\nBYTE_ORDER=little_endian;\nTYPE=unsigned_short;\nSIZE1=3;\nSIZE2=2;\n"      \
    "PIXEL_SIZE=0.172;\nDISTANCE=123.457;\nWAVELENGTH=0.97935;\nBEAM_CENTER_X=73.1;\n"   \
    "BEAM_CENTER_Y=67.7;\nADXV_CENTER_X=1;\nDIALS_ORIGIN=1,2,3\nXDS_ORGX=394.1;\n"       \
    "XDS_ORGY=425.5;\nCLOSE_DISTANCE=116.011;\nPHI=10;\nOSC_START=10;\nOSC_RANGE=0.5;\n" \
    "TWOTHETA=12.5;\nDETECTOR_SN=000;\nBEAMLINE=fake;\n"

typedef struct image_bytes {
    char bytes[8192];
    size_t n;
} image_bytes;

/* A file: header of `size` bytes with these lines, then six pixels 0x0100 .. 0x0105 (high
 * byte first when big). */
static void build(image_bytes *f, size_t size, const char *lines, int big)
{
    memset(f, 0, sizeof *f);
    f->n = (size_t)snprintf(f->bytes, sizeof f->bytes, "{\nHEADER_BYTES=%d;\n%s}\f",
                            (int)size, lines);
    while (f->n < size)
        f->bytes[f->n++] = ' ';
    for (int i = 0; i < 6; i++) {
        f->bytes[f->n++] = (char)(big ? 1 : i);
        f->bytes[f->n++] = (char)(big ? i : 1);
    }
}

static void apply(const char *lines, nb_config *cfg)
{
    image_bytes f;
    nb_smv_header h;
    nb_error err = {0};
    build(&f, 2048, lines, 0);
    if (nb_smv_parse(f.bytes, f.n, "a.img", &h, &err) != NB_OK ||
        nb_smv_apply_header(&h, cfg, &err) != NB_OK)
        fail_msg("%s", err.message);
    nb_smv_header_free(&h);
}

UNIT_TEST(keys_are_exact)
{
    image_bytes f;
    nb_smv_header h;
    double v = 0;
    build(&f, 1024, DOCUMENTED "TITLE = a = b ;\n;\nEMPTY=;\nPHI=20;\nLAST=7", 0);
    assert_int_equal(nb_smv_parse(f.bytes, f.n, "a.img", &h, NULL), NB_OK);
    assert_int_equal(h.bytes, 1024);
    assert_int_equal(h.fast, 3), assert_int_equal(h.slow, 2);
    assert_int_equal(nb_smv_number(&h, "DISTANCE", &v), 1);
    assert_true(v == 123.457);
    assert_int_equal(nb_smv_number(&h, "CLOSE_DISTANCE", &v), 1);
    assert_true(v == 116.011);
    assert_null(nb_smv_find(&h, "ORGX"));
    assert_null(nb_smv_find(&h, "distance"));
    assert_string_equal(nb_smv_find(&h, "TITLE"), "a = b");
    assert_string_equal(nb_smv_find(&h, "DIALS_ORIGIN"), "1,2,3");
    assert_string_equal(nb_smv_find(&h, "LAST"), "7");
    assert_int_equal(nb_smv_number(&h, "PHI", &v), 1); /* the last value counts */
    assert_true(v == 20);
    assert_int_equal(nb_smv_number(&h, "TITLE", &v), -1);
    assert_int_equal(nb_smv_number(&h, "EMPTY", &v), 0);
    assert_int_equal(nb_smv_number(&h, "NONE", &v), 0);
    nb_smv_header_free(&h);
    nb_smv_header_free(NULL);
}

UNIT_TEST(pixels_in_both_orders)
{
    for (int big = 0; big < 2; big++) {
        image_bytes f;
        nb_smv_header h;
        uint16_t *pixels;
        nb_error err;
        build(&f, 512,
              big ? "BYTE_ORDER=big_endian;\nSIZE1=3;\nSIZE2=2;\n"
                  : "BYTE_ORDER=little_endian;\nSIZE1=3;\nSIZE2=2;\n",
              big);
        assert_int_equal(nb_smv_parse(f.bytes, f.n, "a.img", &h, NULL), NB_OK);
        assert_int_equal(nb_smv_pixels_u16(f.bytes, f.n, &h, &pixels, NULL), NB_OK);
        for (int i = 0; i < 6; i++)
            assert_int_equal(pixels[i], 0x100 + i);
        nb_free(pixels);
        assert_int_equal(nb_smv_pixels_u16(f.bytes, f.n - 1, &h, &pixels, &err),
                         NB_ERR_INPUT);
        assert_non_null(strstr(err.message, "cut short"));
        assert_null(pixels);
        nb_smv_header_free(&h);
    }
}

/* A header with ordinary nanoBragg values is longer than 512 bytes, although
 * HEADER_BYTES is 512. */
UNIT_TEST(header_longer_than_it_says)
{
    image_bytes f;
    nb_smv_header h;
    uint16_t *pixels;
    nb_error err;
    build(&f, 512, DOCUMENTED DOCUMENTED, 0);
    assert_true(f.n > 512 + 12);
    assert_int_equal(nb_smv_parse(f.bytes, f.n, "a.img", &h, &err), NB_OK);
    assert_int_equal(h.bytes, f.n - 12);
    assert_int_equal(nb_smv_pixels_u16(f.bytes, f.n, &h, &pixels, NULL), NB_OK);
    assert_int_equal(pixels[5], 0x105);
    nb_free(pixels);
    nb_smv_header_free(&h);
    assert_int_equal(nb_smv_parse(f.bytes, f.n - 1, "a.img", &h, &err), NB_ERR_INPUT);
    assert_non_null(strstr(err.message, "not closed"));
}

UNIT_TEST(header_errors)
{
    static const struct {
        const char *lines, *says;
    } bad[] = {{"SIZE1=0;\nSIZE2=2;\n", "SIZE1=0"},
               {"SIZE1=3;\n", "SIZE2 is missing"},
               {"SIZE1=-3;\nSIZE2=2;\n", "SIZE1=-3"},
               {"SIZE1=3;\nSIZE2=1e300;\n", "SIZE2=1e300"},
               {"SIZE1=3;\nSIZE2=many;\n", "SIZE2=many"},
               {"SIZE1=99999;\nSIZE2=99999;\n", "more pixels"},
               {"DETECTOR_DIMENSIONS=2.5;\n", "DETECTOR_DIMENSIONS=2.5"}};
    static const char *const starts[] = {"",
                                         "{",
                                         "{\r\nHEADER_BYTES=512;\n}",
                                         "{\nHEADER_BYT=512;\n}",
                                         "{\nHEADER_BYTES=x;\n}",
                                         "{\nHEADER_BYTES=99;\n}",
                                         "{\nHEADER_BYTES=-512;\n}",
                                         "{\nHEADER_BYTES=20;\nA=1;\n"};
    image_bytes f;
    nb_smv_header h;
    nb_error err;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        build(&f, 512, bad[i].lines, 0);
        assert_int_equal(nb_smv_parse(f.bytes, f.n, "a.img", &h, &err), NB_ERR_INPUT);
        assert_non_null(strstr(err.message, bad[i].says));
        assert_string_equal(err.file, "a.img");
        assert_null(h.text);
    }
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        assert_int_equal(nb_smv_parse(starts[i], strlen(starts[i]), "a.img", &h, &err),
                         NB_ERR_INPUT);
}

UNIT_TEST(pixel_errors)
{
    static const struct {
        const char *lines, *says;
    } bad[] = {{"DIM=2;\n", "no SIZE1"},
               {"SIZE1=3;\nSIZE2=2;\nTYPE=float;\n", "TYPE=float"},
               {"SIZE1=3;\nSIZE2=2;\nBYTE_ORDER=native;\n", "BYTE_ORDER=native"},
               {"SIZE1=3;\nSIZE2=3;\n", "cut short"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        image_bytes f;
        nb_smv_header h;
        nb_error err;
        uint16_t *pixels;
        build(&f, 512, bad[i].lines, 0);
        assert_int_equal(nb_smv_parse(f.bytes, f.n, "a.img", &h, &err), NB_OK);
        assert_int_equal(nb_smv_pixels_u16(f.bytes, f.n, &h, &pixels, &err), NB_ERR_INPUT);
        assert_non_null(strstr(err.message, bad[i].says));
        assert_null(pixels);
        nb_smv_header_free(&h);
    }
}

UNIT_TEST(documented_keys_fill_what_is_unset)
{
    nb_config c;
    nb_config_defaults(&c);
    apply(DOCUMENTED, &c);
    assert_int_equal(c.detpixels[0], 3), assert_int_equal(c.detpixels[1], 2);
    /* this line has one value too many */
    assert_true(c.pixel_mm == 0.172 && isnan(c.distance_mm));
    assert_true(c.close_distance_mm == 116.011 && c.lambda_A == 0.97935);
    assert_true(c.Xbeam_mm == 73.1 && c.Ybeam_mm == 67.7);
    assert_true(c.orgx == 394.1 && c.orgy == 425.5);
    assert_true(c.phi_deg == 10 && c.osc_deg == 0.5 && c.twotheta_deg == 12.5);
    assert_true(isnan(c.energy_eV) && isnan(c.Xclose_mm) && isnan(c.detsize_mm[0]));
    assert_true(c.close_twotheta_deg == 12.5);
    assert_int_equal(c.convention, NB_CONV_UNSET);

    nb_config_defaults(&c);
    /* the range of a still counts as missing, also in a header of this program */
    apply("NANOBRAGG_CONVENTION=xds;\nNANOBRAGG_OSC=0;\n", &c);
    assert_true(isnan(c.osc_deg));
    nb_config_defaults(&c);
    /* the file's close_distance belongs to the file's two-theta, whatever is typed */
    c.twotheta_deg = 3;
    apply("CLOSE_DISTANCE=90;\nTWOTHETA=20;\n", &c);
    assert_true(c.twotheta_deg == 3 && c.close_twotheta_deg == 20);
    nb_config_defaults(&c);
    apply("DISTANCE=90;\nTWOTHETA=20;\n", &c);
    assert_true(c.twotheta_deg == 20 && isnan(c.close_twotheta_deg));

    nb_config_defaults(&c);
    apply(
        "SIZE1=3;\nSIZE2=2;\nORGX=1;\nXDS_ORGX=2;\nOSC_RANGE=0;\nNANOBRAGG_DISTANCE=1;\n",
        &c);
    assert_true(c.orgx == 1 && isnan(c.orgy) && isnan(c.osc_deg) && isnan(c.distance_mm));
}

UNIT_TEST(typed_values_win)
{
    nb_config c;
    nb_config_defaults(&c);
    c.close_distance_mm = 90;
    c.energy_eV = 12000;
    c.detsize_mm[0] = 40;
    c.Ybeam_mm = 1;
    c.orgx = 2;
    c.pixel_mm = 0.1;
    c.osc_deg = 3;
    apply(DOCUMENTED, &c);
    assert_true(isnan(c.distance_mm) && c.close_distance_mm == 90);
    assert_true(isnan(c.close_twotheta_deg));
    assert_true(isnan(c.lambda_A) && c.energy_eV == 12000);
    assert_int_equal(c.detpixels[0], 0), assert_int_equal(c.detpixels[1], 2);
    assert_true(c.Xbeam_mm == 73.1 && c.Ybeam_mm == 1 && c.orgx == 2 && c.orgy == 425.5);
    assert_true(c.pixel_mm == 0.1 && c.osc_deg == 3 && c.twotheta_deg == 12.5);
}

UNIT_TEST(bad_values_name_the_key)
{
    static const char *const bad[] = {
        "DISTANCE=far",
        "DISTANCE=0",
        "WAVELENGTH=-1",
        "PIXEL_SIZE=0.1 mm",
        "PHI=nan",
        "NANOBRAGG_CONVENTION=none",
        "NANOBRAGG_CONVENTION=xds;\nNANOBRAGG_FDET=1,2",
        "NANOBRAGG_CONVENTION=xds;\nNANOBRAGG_FDET=1,2,3,4",
        "NANOBRAGG_CONVENTION=xds;\nNANOBRAGG_DETPIXELS=1.5,2",
        "NANOBRAGG_CONVENTION=xds;\nNANOBRAGG_PIVOT=",
        "NANOBRAGG_CONVENTION=xds;\nNANOBRAGG_PHISTEPS=-1",
        "NANOBRAGG_CONVENTION=xds;\nNANOBRAGG_DISTANCE=1e999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        image_bytes f;
        nb_smv_header h;
        nb_error err;
        nb_config c;
        const char *last = strrchr(bad[i], '\n');
        nb_config_defaults(&c);
        build(&f, 512, bad[i], 0);
        assert_int_equal(nb_smv_parse(f.bytes, f.n, "a.img", &h, &err), NB_OK);
        assert_int_equal(nb_smv_apply_header(&h, &c, &err), NB_ERR_INPUT);
        assert_non_null(strstr(err.message, last ? last + 1 : bad[i]));
        nb_smv_header_free(&h);
    }
}

/* --- keys of this program --- */

static void add_line(void *user, const char *key, const char *value)
{
    char *lines = user;
    size_t n = strlen(lines);
    snprintf(lines + n, 4096 - n, "%s=%s;\n", key, value);
}

/* Every field of the table gets a different value with 17 digits, and returns
 * unchanged. */
UNIT_TEST(own_keys_there_and_back)
{
    nb_config typed, back;
    char lines[4096] = DOCUMENTED;
    int i = 0;
    nb_config_defaults(&typed), nb_config_defaults(&back);
    for (const nb_param *p = NULL; (p = nb_smv_next(p)); i++) {
        void *field = (char *)&typed + p->offset;
        double high = p->high < 1e30 ? p->high : 1e30, low = p->low;
        if (p->kind == NB_KIND_NUMBER)
            *(double *)field = p->low >= 0 ? low + (high - low) / sqrt((double)i + 2)
                                           : (i % 2 ? -1 : 1) * sqrt((double)i + 2) *
                                                 pow(10, (double)i - 12);
        else if (p->kind == NB_KIND_VECTOR || p->kind == NB_KIND_POINT)
            *(nb_opt3 *)field = (nb_opt3){1, {1.0 / (double)(i + 2), -1e100, 5e-324}};
        else if (p->size == 2 * sizeof(int))
            memcpy(field, (const int[2]){4096, 1}, 2 * sizeof(int));
        else if (p->kind == NB_KIND_INTEGER)
            *(int *)field = 1000000000;
        else if (p->kind == NB_KIND_SWITCH)
            *(int *)field = 1;
        else if (p->kind == NB_KIND_CHOICE)
            *(int *)field = 2;
    }
    assert_int_equal(i, 38);
    typed.convention = NB_CONV_DIALS;
    typed.pivot = NB_PIVOT_SAMPLE;
    typed.pivot_implied = NB_PIVOT_BEAM;
    nb_smv_write_inputs(&typed, add_line, lines);
    assert_non_null(strstr(lines, "NANOBRAGG_CONVENTION=dials;\nNANOBRAGG_PIVOT=sample;\n"
                                  "NANOBRAGG_PIVOT_IMPLIED=beam;\n"));
    assert_non_null(strstr(lines, "NANOBRAGG_DETPIXELS=4096,1;\n"));
    assert_non_null(strstr(lines, "NANOBRAGG_CURVED=1;\nNANOBRAGG_CURVED_OMEGA=exact;\n"
                                  "NANOBRAGG_LAYER_DEPTH=front;\n"));
    image_bytes f;
    nb_smv_header h;
    build(&f, 4096, lines, 0);
    assert_int_equal(nb_smv_parse(f.bytes, f.n, "a.img", &h, NULL), NB_OK);
    nb_error err = {0};
    if (nb_smv_apply_header(&h, &back, &err))
        fail_msg("%s", err.message);
    nb_smv_header_free(&h);
    assert_memory_equal(&typed, &back, sizeof typed);
}

UNIT_TEST(own_keys_replace_the_documented)
{
    nb_config typed, c;
    char lines[4096] = DOCUMENTED;
    nb_config_defaults(&typed);
    typed.lambda_A = 1.1;
    typed.detpixels[0] = 7;
    nb_smv_write_inputs(&typed, add_line, lines);
    assert_string_equal(lines + strlen(DOCUMENTED),
                        "NANOBRAGG_CONVENTION=mosflm;\n"
                        "NANOBRAGG_DETPIXELS=7,0;\nNANOBRAGG_LAMBDA=1.1;\n");
    nb_config_defaults(&c);
    apply(lines, &c);
    typed.convention = NB_CONV_MOSFLM;
    assert_memory_equal(&typed, &c, sizeof c);
}

UNIT_TEST(own_keys_and_typed_values)
{
    nb_config c;
    nb_config_defaults(&c);
    c.convention = NB_CONV_XDS;
    c.distance_mm = 50;
    c.lambda_A = 1;
    c.phi_steps = 4;
    c.detsize_mm[1] = 30;
    c.fdet_vector = (nb_opt3){1, {1, 0, 0}};
    apply("NANOBRAGG_CONVENTION=custom;\nNANOBRAGG_CLOSE_DISTANCE=80;\nNANOBRAGG_ENERGY="
          "9000;\n"
          "NANOBRAGG_PHISTEP=0.1;\nNANOBRAGG_OSC=2;\nNANOBRAGG_DETPIXELS=5,6;\n"
          "NANOBRAGG_FDET=0,0,1;\nNANOBRAGG_SDET=0,-1,0;\nNANOBRAGG_ROTX=3;\n",
          &c);
    assert_int_equal(c.convention, NB_CONV_XDS);
    assert_true(c.distance_mm == 50 && isnan(c.close_distance_mm));
    assert_true(c.lambda_A == 1 && isnan(c.energy_eV));
    assert_true(c.phi_steps == 4 && isnan(c.phistep_deg) && c.osc_deg == 2);
    assert_int_equal(c.detpixels[0], 5), assert_int_equal(c.detpixels[1], 0);
    assert_true(c.fdet_vector.v[0] == 1 && c.sdet_vector.set && c.sdet_vector.v[1] == -1);
    assert_true(c.rot_deg[0] == 3 && isnan(c.rot_deg[1]));
}

UNIT_TEST(without_memory)
{
    image_bytes f;
    nb_smv_header h;
    nb_error err = {0};
    uint16_t *pixels;
    build(&f, 512, "SIZE1=3;\nSIZE2=2;\n", 0);
    for (int n = 1; n <= 2; n++) {
        nb_alloc_fail_after(n);
        assert_int_equal(nb_smv_parse(f.bytes, f.n, "a.img", &h, &err), NB_ERR_NOMEM);
        assert_null(h.text), assert_null(h.entries);
    }
    assert_int_equal(nb_smv_parse(f.bytes, f.n, "a.img", &h, &err), NB_OK);
    nb_alloc_fail_after(1);
    assert_int_equal(nb_smv_pixels_u16(f.bytes, f.n, &h, &pixels, &err), NB_ERR_NOMEM);
    assert_null(pixels);
    nb_smv_header_free(&h);
    nb_alloc_fail_after(0);
}
