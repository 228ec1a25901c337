/* SPDX-License-Identifier: MIT */
/** Write SMV: a text header of `KEY=value;` lines, padded to a multiple of 512 bytes,
 * then uint16 pixels. Keys and their order: docs/formats.md. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../base/error.h"
#include "../../params/config.h"
#include "../common/panel_spec.h"
#include "writer.h"
#include "image_read.h"

enum { HEADER_UNIT = 512 };

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define BYTE_ORDER_NAME "big_endian"
#else
#define BYTE_ORDER_NAME "little_endian"
#endif

/* The value of "HEADER_BYTES=" has a fixed width; `finish` fills it in. */
#define OPENING "{\nHEADER_BYTES=%5d;\n"

/* member `used` is sizeof text if the text was too long */
typedef nb_image_header header;

/** Write one line. Characters that would end the value (`;`, `=`, braces, line ends)
 * become blanks. */
static void put(header *h, const char *key, const char *value)
{
    size_t room = sizeof h->text - h->used, length;
    int n = snprintf(h->text + h->used, room, "%s=%s;\n", key, value);
    if (n < 0 || (size_t)n >= room) {
        h->used = sizeof h->text;
        return;
    }
    length = strlen(value);
    for (char *c = h->text + h->used + strlen(key) + 1; length-- > 0; c++)
        if (strchr(";={}\n\r\f", *c))
            *c = ' ';
    h->used += (size_t)n;
}

static void put_number(header *h, const char *key, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.12g", value == 0 ? 0.0 : value); /* write -0 as 0 */
    put(h, key, text);
}

static void put_int(header *h, const char *key, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    put(h, key, text);
}

/** Make v perpendicular to the unit vector u, and of unit length; a v along u becomes zero. */
static void across(double v[3], const double u[3])
{
    double along = nb_dot3(v, u), length;
    for (int i = 0; i < 3; i++)
        v[i] -= along * u[i];
    length = sqrt(nb_dot3(v, v));
    for (int i = 0; i < 3; i++)
        v[i] = length > 1e-9 ? v[i] / length : 0;
}

/** Write the corner of the first pixel, mm, in the frame of DIALS: z against the beam, x
 * along fast, y against slow (for a tilted detector, the parts across the beam). */
static void put_dials_origin(header *h, const nb_image_meta *m)
{
    double x[3], y[3], o[3];
    char text[120];
    memcpy(x, m->fast_axis, sizeof x);
    memcpy(y, m->slow_axis, sizeof y);
    across(x, m->beam);
    across(y, m->beam);
    across(y, x);
    o[0] = nb_dot3(x, m->pix0_mm);
    o[1] = -nb_dot3(y, m->pix0_mm);
    o[2] = -nb_dot3(m->beam, m->pix0_mm);
    for (int i = 0; i < 3; i++)
        o[i] = fabs(o[i]) < 1e-12 ? 0.0 : o[i];
    snprintf(text, sizeof text, "%.12g,%.12g,%.12g", o[0], o[1], o[2]);
    put(h, "DIALS_ORIGIN", text);
}

/** Write "Thu Jan 01 00:00:00 1970" in UTC, independent of the locale. */
static void put_date(header *h, time_t date)
{
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    struct tm t;
    char text[64];
    if (!gmtime_r(&date, &t))
        return;
    snprintf(text, sizeof text, "%.3s %.3s %02d %02d:%02d:%02d %04d",
             days + 3 * t.tm_wday, months + 3 * t.tm_mon, t.tm_mday, t.tm_hour, t.tm_min,
             t.tm_sec, t.tm_year + 1900);
    put(h, "DATE", text);
}

static void put_geometry(header *h, const nb_image_meta *m)
{
    double half = m->pixel_mm / 2;
    put_number(h, "PIXEL_SIZE", m->pixel_mm);
    put_number(h, "DISTANCE", m->distance_mm);
    put_number(h, "WAVELENGTH", m->wavelength_A);
    put_number(h, "BEAM_CENTER_X", m->Sbeam_mm); /* as in ADSC files */
    put_number(h, "BEAM_CENTER_Y", m->Fbeam_mm);
    put_number(h, "ADXV_CENTER_X", m->Fbeam_mm);
    put_number(h, "ADXV_CENTER_Y", m->detsize_s_mm - m->Sbeam_mm);
    put_number(h, "MOSFLM_CENTER_X", m->Sbeam_mm - half);
    put_number(h, "MOSFLM_CENTER_Y", m->Fbeam_mm - half);
    put_number(h, "DENZO_X_BEAM", m->Sbeam_mm);
    put_number(h, "DENZO_Y_BEAM", m->Fbeam_mm);
    put_dials_origin(h, m);
    put_number(h, "XDS_ORGX", m->orgx);
    put_number(h, "XDS_ORGY", m->orgy);
    put_number(h, "CLOSE_DISTANCE", m->close_distance_mm);
    put_number(h, "PHI", m->phi_deg);
    put_number(h, "OSC_START", m->phi_deg);
    put_number(h, "OSC_RANGE", m->osc_deg);
    put_number(h, "TWOTHETA", m->twotheta_deg);
}

/** Write keys that nanoBragg did not write: DIALS needs TIME, DATE and the pedestal. */
static void put_reader_keys(header *h, const nb_image_meta *m)
{
    put(h, "DETECTOR_SN", "000");
    put(h, "BEAMLINE", "nanobragg");
    put_number(h, "TIME", m->exposure_s);
    put_date(h, m->date);
    put_number(h, "IMAGE_PEDESTAL", m->adc_offset);
    put_number(h, "ADC_OFFSET", m->adc_offset);
    put_number(h, "GAIN", m->gain > 0 ? m->gain : 1);
    put(h, "AXIS", "phi");
    put_number(h, "CCD_IMAGE_SATURATION", m->saturation > 0 ? m->saturation : 65535);
}

static void put_input(void *user, const char *key, const char *value)
{
    put(user, key, value);
}

static void type_vector(nb_opt3 *to, double scale, const double from[3])
{
    to->set = 1;
    for (int i = 0; i < 3; i++)
        to->v[i] = scale * from[i];
}

/** Make the configuration that -img restores. A single panel of a geometry file is
 * written as typed vectors. */
static nb_config typed_of(const nb_image_meta *m)
{
    nb_config c = *m->inputs;
    if (!c.detector)
        return c;
    c.convention = NB_CONV_CUSTOM;
    c.distance_mm = NAN;
    c.detpixels[0] = m->fast;
    c.detpixels[1] = m->slow;
    c.pixel_mm = m->pixel_mm;
    type_vector(&c.fdet_vector, 1, m->fast_axis);
    type_vector(&c.sdet_vector, 1, m->slow_axis);
    type_vector(&c.odet_vector, 1, m->normal);
    type_vector(&c.pix0_m, 1e-3, m->pix0_mm);
    type_vector(&c.beam_vector, 1, m->beam);
    type_vector(&c.polar_vector, 1, m->polar_axis);
    type_vector(&c.spindle_axis, 1, m->spindle);
    return c;
}

static void put_own_keys(header *h, const nb_image_view *image, const nb_image_meta *m)
{
    put(h, NB_SMV_PREFIX "VERSION", NB_VERSION);
    put_int(h, NB_SMV_PREFIX "SEED", m->seed);
    if (image->scale > 0)
        put_number(h, NB_SMV_PREFIX "SCALE", image->scale);
    if (m->blocks > 0 && m->blocks != 1)
        put_number(h, NB_SMV_PREFIX "BLOCKS", m->blocks);
    if (m->inputs) {
        const nb_config typed = typed_of(m);
        nb_smv_write_inputs(&typed, put_input, h);
    }
}

/** Close the header, pad it with blanks and fill in HEADER_BYTES. */
static nb_status finish(header *h, nb_error *err)
{
    char opening[32];
    size_t bytes = (h->used + 2 + HEADER_UNIT - 1) / HEADER_UNIT * HEADER_UNIT;
    int n;
    if (bytes > sizeof h->text)
        return nb_fail(err, NB_ERR_INTERNAL, "SMV header longer than %zu bytes",
                       sizeof h->text);
    memset(h->text + h->used, ' ', bytes - h->used);
    memcpy(h->text + h->used, "}\f", 2);
    n = snprintf(opening, sizeof opening, OPENING, (int)bytes);
    memcpy(h->text, opening, (size_t)n);
    h->used = bytes;
    return NB_OK;
}

static nb_status smv_header(const nb_image_view *image, const nb_image_meta *meta,
                            nb_image_header *h, nb_error *err)
{
    h->used = (size_t)snprintf(h->text, sizeof h->text, OPENING, 0);
    put(h, "DIM", "2");
    put(h, "BYTE_ORDER", BYTE_ORDER_NAME);
    put(h, "TYPE", "unsigned_short");
    put_int(h, "SIZE1", image->fast);
    put_int(h, "SIZE2", image->slow);
    put_geometry(h, meta);
    put_reader_keys(h, meta);
    put_own_keys(h, image, meta);
    return finish(h, err);
}

const nb_writer nb_writer_smv = {
    .name = "SMV", .pixel = NB_PIXEL_U16, .header = smv_header};
const nb_format nb_format_smv = {.name = "SMV",
                                 .extensions = ".img",
                                 .writer = &nb_writer_smv,
                                 .params = NB_PARAM_ADU,
                                 .header = NB_HEADER_SIMPLE};
