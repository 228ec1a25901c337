/* SPDX-License-Identifier: MIT */
/* mini-CBF: a text header of "# " lines and int32 pixels, byte-offset compressed (CBFlib
 * manual, "x-CBF_BYTE_OFFSET"; the lines are those of the GENERIC_MINI convention). If
 * these lines cannot hold the geometry, the categories of a full CBF are written before
 * them. */
#include <stdio.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "cbf_full.h"
#include "../common/axes.h"
#include "format.h"

enum { TEXT_MAX = 16384, LONGEST_PIXEL = 1 + 2 + 4 + 8 };

static unsigned char *put_little_endian(unsigned char *to, int64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *to++ = (unsigned char)((uint64_t)value >> (8 * i));
    return to;
}

/** The difference to the pixel before in 1, 2, 4 or 8 bytes; the lowest number of each size says
 * that the next size follows. */
static unsigned char *put_difference(unsigned char *to, int64_t d)
{
    if (d > -128 && d < 128)
        return put_little_endian(to, d, 1);
    to = put_little_endian(to, -128, 1);
    if (d > -32768 && d < 32768)
        return put_little_endian(to, d, 2);
    to = put_little_endian(to, -32768, 2);
    if (d > -2147483648LL && d < 2147483648LL)
        return put_little_endian(to, d, 4);
    return put_little_endian(put_little_endian(to, -2147483648LL, 4), d, 8);
}

static nb_status compress(const nb_image_view *image, unsigned char *out, size_t *bytes,
                          nb_error *err)
{
    int32_t *buffer = nb_alloc_raw((size_t)image->fast, sizeof *buffer, "row", err);
    unsigned char *to = out;
    int64_t before = 0;
    nb_status st = buffer ? NB_OK : NB_ERR_NOMEM;
    for (int s = 0; !st && s < image->slow; s++) {
        const void *row = NULL;
        const int32_t *pixels;
        st = nb_image_rows(image, s, 1, buffer, &row, err);
        pixels = row;
        for (int f = 0; !st && f < image->fast; f++) {
            to = put_difference(to, pixels[f] - before);
            before = pixels[f];
        }
    }
    nb_free(buffer);
    *bytes = (size_t)(to - out);
    return st;
}

/** "1970-01-01T00:00:00.000", UTC. */
static void date_text(time_t date, char *text, size_t size)
{
    struct tm t;
    if (!gmtime_r(&date, &t) || !strftime(text, size, "%Y-%m-%dT%H:%M:%S.000", &t))
        text[0] = '\0';
}

/** The lines of a mini-CBF. */
static int put_lines(char *text, size_t size, const nb_image_meta *m, const char *date)
{
    char sensor[160] = "";
    if (m->thick_mm > 0)
        snprintf(sensor, sizeof sensor, "# %s sensor, thickness %.9g m\r\n",
                 m->material[0] && strcmp(m->material, "Si") ? m->material : "Silicon",
                 m->thick_mm * 1e-3);
    return snprintf(text, size,
                    "_array_data.header_convention \"GENERIC_MINI\"\r\n"
                    "_array_data.header_contents\r\n;\r\n"
                    "# Detector: nanobragg, S/N 000\r\n"
                    "# %s\r\n"
                    "# Pixel_size %.12g m x %.12g m\r\n"
                    "%s"
                    "# Exposure_time %.12g s\r\n"
                    "# Exposure_period %.12g s\r\n"
                    "# Count_cutoff %.12g counts\r\n"
                    "# Wavelength %.12g A\r\n"
                    "# Detector_distance %.12g m\r\n"
                    "# Beam_xy (%.12g, %.12g) pixels\r\n"
                    "# Start_angle %.12g deg.\r\n"
                    "# Angle_increment %.12g deg.\r\n"
                    "# Detector_2theta %.12g deg.\r\n"
                    "# Polarization %.12g\r\n"
                    "# Seed %lld\r\n;\r\n\r\n",
                    date, m->pixel_mm * 1e-3, m->pixel_mm * 1e-3, sensor, m->exposure_s,
                    m->exposure_s, m->saturation > 0 ? m->saturation : 2147483646.0,
                    m->wavelength_A, m->distance_mm * 1e-3, m->Fbeam_mm / m->pixel_mm,
                    m->Sbeam_mm / m->pixel_mm, m->phi_deg, m->osc_deg, m->twotheta_deg,
                    m->polarization, (long long)m->seed);
}

static int put_header(char *text, const nb_image_meta *m)
{
    char date[40];
    int n = snprintf(text, TEXT_MAX,
                     "###CBF: VERSION 1.5, nanobragg " NB_VERSION "\r\n\r\n"
                     "data_image\r\n\r\n");
    date_text(m->date, date, sizeof date);
    if (nb_simple_header_loses(m))
        n += nb_cbf_full_header(text + n, (size_t)(TEXT_MAX - n), m, date[0] ? date : "?");
    return n + put_lines(text + n, (size_t)(TEXT_MAX - n), m, date);
}

static int put_section(char *text, const nb_image_view *image, size_t bytes)
{
    return snprintf(text, TEXT_MAX,
                    "_array_data.data\r\n;\r\n--CIF-BINARY-FORMAT-SECTION--\r\n"
                    "Content-Type: application/octet-stream;\r\n"
                    "     conversions=\"x-CBF_BYTE_OFFSET\"\r\n"
                    "Content-Transfer-Encoding: BINARY\r\n"
                    "X-Binary-Size: %zu\r\n"
                    "X-Binary-ID: 1\r\n"
                    "X-Binary-Element-Type: \"signed 32-bit integer\"\r\n"
                    "X-Binary-Element-Byte-Order: LITTLE_ENDIAN\r\n"
                    "X-Binary-Number-of-Elements: %zu\r\n"
                    "X-Binary-Size-Fastest-Dimension: %d\r\n"
                    "X-Binary-Size-Second-Dimension: %d\r\n\r\n\f\x1a\x04\xd5",
                    bytes, (size_t)image->fast * (size_t)image->slow, image->fast,
                    image->slow);
}

static nb_status write_cbf(const nb_image_view *image, const nb_image_meta *meta,
                           nb_outfile *out, nb_error *err)
{
    static const char end[] = "\r\n--CIF-BINARY-FORMAT-SECTION----\r\n;\r\n\r\n";
    size_t count = (size_t)image->fast * (size_t)image->slow, bytes;
    unsigned char *packed = nb_alloc_raw(count, LONGEST_PIXEL, "compressed image", err);
    char text[TEXT_MAX];
    nb_status st;
    if (!packed)
        return NB_ERR_NOMEM;
    st = compress(image, packed, &bytes, err);
    if (!st)
        st = nb_outfile_write(out, text, (size_t)put_header(text, meta), err);
    if (!st)
        st = nb_outfile_write(out, text, (size_t)put_section(text, image, bytes), err);
    if (!st)
        st = nb_outfile_write(out, packed, bytes, err);
    if (!st)
        st = nb_outfile_write(out, end, sizeof end - 1, err);
    nb_free(packed);
    return st;
}

const nb_writer nb_writer_cbf = {"mini-CBF", "cbf",     NB_PIXEL_I32, NULL,
                                 NULL,       write_cbf, NULL};
const nb_format nb_format_cbf = {.name = "CBF",
                                 .extensions = ".cbf",
                                 .writer = &nb_writer_cbf,
                                 .header = NB_HEADER_FULL};
