/* SPDX-License-Identifier: MIT */
/** A small image of each pixel type with its description, for the tests of writers. */
#ifndef NB_TESTS_IMAGE_SAMPLES_H
#define NB_TESTS_IMAGE_SAMPLES_H

#include "scratch.h"

#include "../../src/io/image/writer.h"

enum { FAST = 37, SLOW = 23, PIXELS = FAST * SLOW };

typedef struct samples {
    float f32[PIXELS];
    uint16_t u16[PIXELS];
    uint8_t u8[PIXELS];
    nb_config inputs;
    nb_image_meta meta;
} samples;

static inline samples make_samples(void)
{
    samples a;
    memset(&a, 0, sizeof a);
    for (int i = 0; i < PIXELS; i++) {
        a.f32[i] = (float)i * 1.25f - 3;
        a.u16[i] = (uint16_t)(i * 77);
        a.u8[i] = (uint8_t)(i * 3);
    }
    nb_config_defaults(&a.inputs);
    a.inputs.convention = NB_CONV_XDS;
    a.inputs.distance_mm = 100.0 / 3;
    a.meta.fast = FAST;
    a.meta.slow = SLOW;
    a.meta.pixel_mm = 0.172;
    a.meta.distance_mm = 150.123456789;
    a.meta.close_distance_mm = 149.5;
    a.meta.wavelength_A = 0.979338123456;
    a.meta.Fbeam_mm = 3.25;
    a.meta.Sbeam_mm = 1.5;
    a.meta.detsize_f_mm = FAST * 0.172;
    a.meta.detsize_s_mm = SLOW * 0.172;
    a.meta.orgx = 19.5;
    a.meta.orgy = 9.25;
    a.meta.fast_axis[2] = 1; /* axes as in the frame of MOSFLM */
    a.meta.slow_axis[1] = -1;
    a.meta.normal[0] = a.meta.beam[0] = 1;
    a.meta.pix0_mm[0] = 150.123456789;
    a.meta.pix0_mm[1] = 1.5;
    a.meta.pix0_mm[2] = -3.25;
    a.meta.phi_deg = 10;
    a.meta.osc_deg = 0.5;
    a.meta.exposure_s = 0.25;
    a.meta.adc_offset = 40;
    a.meta.seed = 1234567890123;
    a.meta.command_line = "nanobragg -hkl a=b;.hkl -N 5";
    /* the caller must set this pointer again, because the struct is copied */
    a.meta.inputs = &a.inputs;
    return a;
}

static inline nb_image_view view_of(const samples *a, nb_pixel_type type)
{
    nb_image_view v = {.fast = FAST, .slow = SLOW, .type = type, .scale = 1};
    v.pixels = type == NB_PIXEL_U16  ? (const void *)a->u16
               : type == NB_PIXEL_U8 ? (const void *)a->u8
                                     : (const void *)a->f32;
    return v;
}

/** Writes the file or fails the test; returns the path. */
static inline const char *written(scratch *s, const char *name, const nb_writer *w,
                                  samples *a, nb_pixel_type type)
{
    nb_image_view v = view_of(a, type);
    nb_error err = {0};
    a->meta.inputs = &a->inputs;
    if (nb_write_image(w, scratch_path(s, name), &v, &a->meta, &err))
        fail_msg("%s", err.message);
    return s->path;
}

#endif
