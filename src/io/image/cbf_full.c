/* SPDX-License-Identifier: MIT */
/* The imgCIF categories of one frame. imgCIF and DIALS use the same frame: x along the
 * spindle of a simple setup, z against the beam (International Tables for Crystallography
 * G, chapter 4.6). The offset of element_fast is the first pixel's outer corner, as DIALS
 * reads it. */
#include "cbf_full.h"

#include <stdio.h>

#include "../common/axes.h"

/** The text so far. */
typedef struct page {
    char *text;
    size_t size;
    int used; /* as snprintf counts */
} page;

#define PUT(page, ...)                                                                   \
    ((page)->used += snprintf(                                                           \
         (page)->text + (page)->used,                                                    \
         (size_t)(page)->used < (page)->size ? (page)->size - (size_t)(page)->used : 0,  \
         __VA_ARGS__))

static void put_ids(page *p, const nb_image_meta *m)
{
    PUT(p, "_diffrn.id frame\r\n_diffrn.crystal_id crystal\r\n\r\n"
           "_diffrn_source.diffrn_id frame\r\n_diffrn_source.source simulation\r\n\r\n"
           "_diffrn_radiation.diffrn_id frame\r\n"
           "_diffrn_radiation.wavelength_id wavelength\r\n\r\n"
           "_diffrn_radiation_wavelength.id wavelength\r\n");
    PUT(p,
        "_diffrn_radiation_wavelength.wavelength %.12g\r\n"
        "_diffrn_radiation_wavelength.wt 1\r\n\r\n",
        m->wavelength_A);
    PUT(p, "_diffrn_detector.diffrn_id frame\r\n_diffrn_detector.id detector\r\n"
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

static void put_scan(page *p, const nb_image_meta *m, const char *date)
{
    PUT(p,
        "_diffrn_scan.id scan\r\n_diffrn_scan.frame_id_start frame_1\r\n"
        "_diffrn_scan.frame_id_end frame_1\r\n_diffrn_scan.frames 1\r\n\r\n"
        "loop_\r\n_diffrn_scan_axis.scan_id\r\n_diffrn_scan_axis.axis_id\r\n"
        "_diffrn_scan_axis.angle_start\r\n_diffrn_scan_axis.angle_range\r\n"
        "_diffrn_scan_axis.angle_increment\r\n_diffrn_scan_axis.displacement_start\r\n"
        "_diffrn_scan_axis.displacement_range\r\n"
        "_diffrn_scan_axis.displacement_increment\r\n"
        "scan phi %.12g %.12g %.12g 0 0 0\r\nscan detector_z 0 0 0 0 0 0\r\n\r\n",
        m->phi_deg, m->osc_deg, m->osc_deg);
    PUT(p,
        "_diffrn_scan_frame.frame_id frame_1\r\n_diffrn_scan_frame.frame_number 1\r\n"
        "_diffrn_scan_frame.integration_time %.12g\r\n"
        "_diffrn_scan_frame.scan_id scan\r\n_diffrn_scan_frame.date %s\r\n\r\n"
        "loop_\r\n_diffrn_scan_frame_axis.frame_id\r\n"
        "_diffrn_scan_frame_axis.axis_id\r\n_diffrn_scan_frame_axis.angle\r\n"
        "_diffrn_scan_frame_axis.displacement\r\n"
        "frame_1 phi %.12g 0\r\nframe_1 detector_z 0 0\r\n\r\n",
        m->exposure_s, date, m->phi_deg);
}

static void put_axes(page *p, const nb_image_meta *m)
{
    nb_axes f = nb_dials_axes(m);
    double spindle[3], fast[3], slow[3], corner[3];
    nb_dials_turn(&f, m->spindle, spindle);
    nb_dials_turn(&f, m->fast_axis, fast);
    nb_dials_turn(&f, m->slow_axis, slow);
    nb_dials_turn(&f, m->pix0_mm, corner);
    PUT(p,
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

static void put_array(page *p, const nb_image_meta *m)
{
    PUT(p,
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
    PUT(p,
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

int nb_cbf_full_header(char *text, size_t size, const nb_image_meta *m, const char *date)
{
    page p = {text, size, 0};
    put_ids(&p, m);
    put_scan(&p, m, date);
    put_axes(&p, m);
    put_array(&p, m);
    return p.used;
}
