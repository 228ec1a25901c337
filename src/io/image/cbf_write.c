/* SPDX-License-Identifier: MIT */
/* The imgCIF categories of one image. imgCIF and DIALS use the same axes: x along the
 * spindle of a simple setup, z against the beam (International Tables for Crystallography
 * G, chapter 4.6). The offset of element_fast is the outer corner of the first pixel, as
 * in DIALS. */
#include <stdio.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../common/json_node.h"
#include "../common/panel_spec.h"
#include "writer.h"

static void put_ids(nb_draft *t, const nb_image_meta *m)
{
    nb_draft_put(
        t, "_diffrn.id frame\r\n_diffrn.crystal_id crystal\r\n\r\n"
           "_diffrn_source.diffrn_id frame\r\n_diffrn_source.source simulation\r\n\r\n"
           "_diffrn_radiation.diffrn_id frame\r\n"
           "_diffrn_radiation.wavelength_id wavelength\r\n\r\n"
           "_diffrn_radiation_wavelength.id wavelength\r\n");
    nb_draft_put(t,
                 "_diffrn_radiation_wavelength.wavelength %.12g\r\n"
                 "_diffrn_radiation_wavelength.wt 1\r\n\r\n",
                 m->wavelength_A);
    nb_draft_put(t, "_diffrn_detector.diffrn_id frame\r\n_diffrn_detector.id detector\r\n"
                    "_diffrn_detector.number_of_axes 1\r\n\r\n"
                    "_diffrn_detector_axis.detector_id detector\r\n"
                    "_diffrn_detector_axis.axis_id detector_z\r\n\r\n"
                    "_diffrn_detector_element.id element\r\n"
                    "_diffrn_detector_element.detector_id detector\r\n\r\n"
                    "_diffrn_data_frame.id frame_1\r\n"
                    "_diffrn_data_frame.detector_element_id element\r\n"
                    "_diffrn_data_frame.array_id array\r\n"
                    "_diffrn_data_frame.binary_id 1\r\n\r\n"
                    "_diffrn_measurement.diffrn_id frame\r\n"
                    "_diffrn_measurement.id goniometer\r\n"
                    "_diffrn_measurement.number_of_axes 1\r\n\r\n"
                    "_diffrn_measurement_axis.measurement_id goniometer\r\n"
                    "_diffrn_measurement_axis.axis_id phi\r\n\r\n");
}

static void put_scan(nb_draft *t, const nb_image_meta *m, const char *date)
{
    nb_draft_put(
        t,
        "_diffrn_scan.id scan\r\n_diffrn_scan.frame_id_start frame_1\r\n"
        "_diffrn_scan.frame_id_end frame_1\r\n_diffrn_scan.frames 1\r\n\r\n"
        "loop_\r\n_diffrn_scan_axis.scan_id\r\n_diffrn_scan_axis.axis_id\r\n"
        "_diffrn_scan_axis.angle_start\r\n_diffrn_scan_axis.angle_range\r\n"
        "_diffrn_scan_axis.angle_increment\r\n_diffrn_scan_axis.displacement_start\r\n"
        "_diffrn_scan_axis.displacement_range\r\n"
        "_diffrn_scan_axis.displacement_increment\r\n"
        "scan phi %.12g %.12g %.12g 0 0 0\r\nscan detector_z 0 0 0 0 0 0\r\n\r\n",
        m->phi_deg, m->osc_deg, m->osc_deg);
    nb_draft_put(
        t,
        "_diffrn_scan_frame.frame_id frame_1\r\n_diffrn_scan_frame.frame_number 1\r\n"
        "_diffrn_scan_frame.integration_time %.12g\r\n"
        "_diffrn_scan_frame.scan_id scan\r\n_diffrn_scan_frame.date %s\r\n\r\n"
        "loop_\r\n_diffrn_scan_frame_axis.frame_id\r\n"
        "_diffrn_scan_frame_axis.axis_id\r\n_diffrn_scan_frame_axis.angle\r\n"
        "_diffrn_scan_frame_axis.displacement\r\n"
        "frame_1 phi %.12g 0\r\nframe_1 detector_z 0 0\r\n\r\n",
        m->exposure_s, date, m->phi_deg);
}

static void put_axes(nb_draft *t, const nb_image_meta *m)
{
    nb_axes f = nb_dials_axes(m);
    double spindle[3], fast[3], slow[3], corner[3];
    nb_dials_turn(&f, m->spindle, spindle);
    nb_dials_turn(&f, m->fast_axis, fast);
    nb_dials_turn(&f, m->slow_axis, slow);
    nb_dials_turn(&f, m->pix0_mm, corner);
    nb_draft_put(
        t,
        "loop_\r\n_axis.id\r\n_axis.type\r\n_axis.equipment\r\n_axis.depends_on\r\n"
        "_axis.vector[1]\r\n_axis.vector[2]\r\n_axis.vector[3]\r\n"
        "_axis.offset[1]\r\n_axis.offset[2]\r\n_axis.offset[3]\r\n"
        "source general source . 0 0 1 . . .\r\n"
        "phi rotation goniometer . %.12g %.12g %.12g 0 0 0\r\n"
        "detector_z translation detector . 0 0 1 0 0 0\r\n"
        "element_fast translation detector detector_z %.12g %.12g %.12g %.12g %.12g "
        "%.12g\r\n"
        "element_slow translation detector element_fast %.12g %.12g %.12g 0 0 0\r\n\r\n",
        spindle[0], spindle[1], spindle[2], fast[0], fast[1], fast[2], corner[0],
        corner[1], corner[2], slow[0], slow[1], slow[2]);
}

static void put_array(nb_draft *t, const nb_image_meta *m)
{
    nb_draft_put(
        t,
        "loop_\r\n_array_structure_list.array_id\r\n_array_structure_list.index\r\n"
        "_array_structure_list.dimension\r\n_array_structure_list.precedence\r\n"
        "_array_structure_list.direction\r\n_array_structure_list.axis_set_id\r\n"
        "array 1 %d 1 increasing element_fast\r\n"
        "array 2 %d 2 increasing element_slow\r\n\r\n"
        "loop_\r\n_array_structure_list_axis.axis_set_id\r\n"
        "_array_structure_list_axis.axis_id\r\n"
        "_array_structure_list_axis.displacement\r\n"
        "_array_structure_list_axis.displacement_increment\r\n"
        "element_fast element_fast 0 %.12g\r\nelement_slow element_slow 0 %.12g\r\n\r\n",
        m->fast, m->slow, m->pixel_mm, m->pixel_mm);
    nb_draft_put(t,
                 "loop_\r\n_array_element_size.array_id\r\n_array_element_size.index\r\n"
                 "_array_element_size.size\r\narray 1 %.12g\r\narray 2 %.12g\r\n\r\n"
                 "_array_intensities.array_id array\r\n_array_intensities.binary_id 1\r\n"
                 "_array_intensities.linearity linear\r\n_array_intensities.gain 1\r\n"
                 "_array_intensities.overload 2147483646\r\n"
                 "_array_intensities.undefined_value -1\r\n\r\n"
                 "_array_structure.id array\r\n"
                 "_array_structure.encoding_type \"signed 32-bit integer\"\r\n"
                 "_array_structure.compression_type byte_offset\r\n"
                 "_array_structure.byte_order little_endian\r\n\r\n"
                 "_array_data.array_id array\r\n_array_data.binary_id 1\r\n",
                 m->pixel_mm * 1e-3, m->pixel_mm * 1e-3);
}

/* --- mini-CBF ---
 * A text header of "# " lines (GENERIC_MINI convention) and int32 pixels with byte-offset
 * compression (CBFlib manual, "x-CBF_BYTE_OFFSET"). If the lines cannot hold the
 * geometry, the categories of a full CBF precede the lines. */

enum { LONGEST_PIXEL = 1 + 2 + 4 + 8 };

static unsigned char *put_little_endian(unsigned char *to, int64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *to++ = (unsigned char)((uint64_t)value >> (8 * i));
    return to;
}

/** Write the difference from the previous pixel in 1, 2, 4 or 8 bytes. The lowest number
 * of each size announces the next size. */
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

/** Write the date in UTC, as "1970-01-01T00:00:00.000". */
static void date_text(time_t date, char *text, size_t size)
{
    struct tm t;
    if (!gmtime_r(&date, &t) || !strftime(text, size, "%Y-%m-%dT%H:%M:%S.000", &t))
        text[0] = '\0';
}

/** Write the lines of a mini-CBF. */
static void put_lines(nb_draft *t, const nb_image_meta *m, const char *date)
{
    char sensor[160] = "";
    if (m->thick_mm > 0)
        snprintf(sensor, sizeof sensor, "# %s sensor, thickness %.9g m\r\n",
                 m->material[0] && strcmp(m->material, "Si") ? m->material : "Silicon",
                 m->thick_mm * 1e-3);
    nb_draft_put(t,
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

static void put_header(nb_draft *t, const nb_image_meta *m)
{
    char date[40];
    nb_draft_put(t, "###CBF: VERSION 1.5, nanobragg " NB_VERSION "\r\n\r\n"
                    "data_image\r\n\r\n");
    date_text(m->date, date, sizeof date);
    if (nb_simple_header_loses(m)) { /* the categories precede _array_data */
        put_ids(t, m);
        put_scan(t, m, date[0] ? date : "?");
        put_axes(t, m);
        put_array(t, m);
    }
    put_lines(t, m, date);
}

static void put_section(nb_draft *t, const nb_image_view *image, size_t bytes)
{
    nb_draft_put(t,
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
    nb_draft t = {0};
    nb_status st;
    NB_NEED(packed);
    st = compress(image, packed, &bytes, err);
    put_header(&t, meta);
    put_section(&t, image, bytes);
    if (!st && t.failed)
        st = nb_fail_memory(err, t.room, "the header of a CBF");
    NB_TRY(nb_outfile_write(out, t.data, t.n, err));
    NB_TRY(nb_outfile_write(out, packed, bytes, err));
    NB_TRY(nb_outfile_write(out, end, sizeof end - 1, err));
    nb_free(t.data);
    nb_free(packed);
    return st;
}

const nb_writer nb_writer_cbf = {
    .name = "mini-CBF", .pixel = NB_PIXEL_I32, .write = write_cbf};
const nb_format nb_format_cbf = {.name = "CBF",
                                 .extensions = ".cbf",
                                 .writer = &nb_writer_cbf,
                                 .header = NB_HEADER_FULL};
