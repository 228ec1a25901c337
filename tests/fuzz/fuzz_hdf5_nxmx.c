/* SPDX-License-Identifier: MIT */
/* Geometries of NXmx: every accepted file has panels with directions, pixels and a
 * place. */
#include "../../src/io/hdf5/hdf5_get.h"
#include "../../src/io/hdf5/hdf5_read.h"
#include "fuzz_geometry.h"
#include "hdf5_build.h"

#include <string.h>

#define INSTRUMENT "/entry/instrument"
#define DETECTOR INSTRUMENT "/detector"
#define MODULE DETECTOR "/module"
#define FAST MODULE "/fast_pixel_direction"
#define SLOW MODULE "/slow_pixel_direction"
#define AXIS DETECTOR "/axis"
#define OMEGA "/entry/sample/omega"

enum { EDGE = 4 };

static const char *const groups[] = {"/entry", "/entry/sample",    INSTRUMENT, DETECTOR,
                                     MODULE,   INSTRUMENT "/beam", NULL};

static const object objects[] = {{MODULE "/data_size", NULL},
                                 {MODULE "/data_origin", NULL},
                                 {FAST, NULL},
                                 {SLOW, NULL},
                                 {AXIS, NULL},
                                 {DETECTOR "/pixel_mask", NULL},
                                 {DETECTOR "/sensor_thickness", NULL},
                                 {INSTRUMENT "/beam/incident_wavelength", NULL},
                                 {OMEGA, NULL},
                                 {DETECTOR, "NX_class"},
                                 {MODULE, "NX_class"},
                                 {FAST, "vector"},
                                 {FAST, "depends_on"},
                                 {FAST, "units"},
                                 {FAST, "offset"},
                                 {AXIS, "vector"},
                                 {AXIS, "transformation_type"},
                                 {AXIS, "depends_on"},
                                 {NULL, NULL}};

static void put_text(hid_t file, const char *path, const char *name, const char *text)
{
    hid_t type = H5(Tcopy)(H5T_C_S1), space = H5(Screate)(H5S_SCALAR), attr;
    H5(Tset_size)(type, strlen(text) + 1);
    attr = H5(Acreate_by_name)(file, path, name, type, space, H5P_DEFAULT, H5P_DEFAULT,
                               H5P_DEFAULT);
    NB_FUZZ_CHECK(attr >= 0 && H5(Awrite)(attr, type, text) >= 0);
    H5(Aclose)(attr);
    H5(Sclose)(space);
    H5(Tclose)(type);
}

static void put_vector(hid_t file, const char *path, const char *name, double x, double y,
                       double z)
{
    const hsize_t three = 3;
    const double v[3] = {x, y, z};
    hid_t space = H5(Screate_simple)(1, &three, NULL);
    hid_t attr = H5(Acreate_by_name)(file, path, name, H5T_NATIVE_DOUBLE, space,
                                     H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    NB_FUZZ_CHECK(attr >= 0 && H5(Awrite)(attr, H5T_NATIVE_DOUBLE, v) >= 0);
    H5(Aclose)(attr);
    H5(Sclose)(space);
}

static void put_axis(hid_t file, const char *path, double value, const char *type,
                     const char *unit, const char *next)
{
    put_array(file, path, H5T_NATIVE_DOUBLE, 0, NULL, &value);
    put_text(file, path, "units", unit);
    put_text(file, path, "transformation_type", type);
    put_text(file, path, "depends_on", next);
}

static void base(const char *path)
{
    static const int32_t size[2] = {EDGE, EDGE}, origin[2] = {0, 1};
    static const int32_t mask[EDGE * (EDGE + 1)] = {0, 1};
    static const double angles[2] = {1, 1.5};
    const hsize_t two = 2, shape[2] = {EDGE, EDGE + 1};
    double number = 0.3;
    hid_t file = begin_file(path, groups);
    put_text(file, INSTRUMENT, "NX_class", "NXinstrument");
    put_text(file, DETECTOR, "NX_class", "NXdetector");
    put_text(file, MODULE, "NX_class", "NXdetector_module");
    put_array(file, MODULE "/data_size", H5T_NATIVE_INT32, 1, &two, size);
    put_array(file, MODULE "/data_origin", H5T_NATIVE_INT32, 1, &two, origin);
    put_axis(file, FAST, 0.1, "translation", "mm", AXIS);
    put_vector(file, FAST, "vector", -1, 0, 0);
    put_vector(file, FAST, "offset", 1, 2, 0);
    put_axis(file, SLOW, 0.1, "translation", "mm", AXIS);
    put_vector(file, SLOW, "vector", 0, -1, 0);
    put_axis(file, AXIS, 100, "translation", "mm", ".");
    put_vector(file, AXIS, "vector", 0, 0, 1);
    put_array(file, DETECTOR "/pixel_mask", H5T_NATIVE_INT32, 2, shape, mask);
    put_array(file, DETECTOR "/sensor_thickness", H5T_NATIVE_DOUBLE, 0, NULL, &number);
    put_text(file, DETECTOR "/sensor_thickness", "units", "mm");
    put_array(file, INSTRUMENT "/beam/incident_wavelength", H5T_NATIVE_DOUBLE, 0, NULL,
              &number);
    put_text(file, INSTRUMENT "/beam/incident_wavelength", "units", "nm");
    put_array(file, OMEGA, H5T_NATIVE_DOUBLE, 1, &two, angles);
    end_file(file);
}

int nb_fuzz_accepts(const uint8_t *data, size_t size)
{
    const nb_geometry_typed typed = {NAN, NAN, -1, NB_CONV_MOSFLM, 0, NULL};
    fuzz_bytes b = {data, data + size};
    const char *path = build_hdf5(&b, base, objects);
    nb_detector_spec d;
    nb_error err = {0};
    nb_status st = nb_nxmx_read(path, &typed, NULL, &d, &err);
    return check_detector(st, &d, &err);
}

NB_FUZZ_ENTRY
