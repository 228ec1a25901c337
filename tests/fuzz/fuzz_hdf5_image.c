/* SPDX-License-Identifier: MIT */
/* Images from HDF5: the reader returns all pixels or a message. */
#include "../../src/io/hdf5/hdf5_read.h"
#include "hdf5_build.h"

#define DETECTOR "/entry/instrument/detector"
#define WAVELENGTH "/entry/instrument/beam/incident_wavelength"

static const char *const groups[] = {
    "/entry", "/entry/data", "/entry/instrument", "/entry/instrument/beam",
    DETECTOR, NULL};

static const object objects[] = {{"/entry/data/data", NULL},
                                 {"/entry/data/data_000001", NULL},
                                 {"/entry/data/data_000002", NULL},
                                 {"/entry/files/data_000001", NULL},
                                 {DETECTOR "/x_pixel_size", "units"},
                                 {DETECTOR "/x_pixel_size", NULL},
                                 {DETECTOR "/distance", "units"},
                                 {DETECTOR "/distance", NULL},
                                 {DETECTOR "/beam_center_x", NULL},
                                 {WAVELENGTH, NULL},
                                 {NULL, NULL}};

static void base(const char *path)
{
    static const char *const numbers[] = {DETECTOR "/x_pixel_size", DETECTOR "/distance",
                                          DETECTOR "/beam_center_x", WAVELENGTH};
    static const uint16_t pixels[2 * 8 * 8] = {1, 2, 3};
    const hsize_t dims[3] = {2, 8, 8};
    const double one = 1;
    hid_t file = begin_file(path, groups);
    put_array(file, "/entry/data/data", H5T_NATIVE_UINT16, 3, dims, pixels);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        put_array(file, numbers[i], H5T_NATIVE_DOUBLE, 0, NULL, &one);
    end_file(file);
}

int nb_fuzz_accepts(const uint8_t *data, size_t size)
{
    fuzz_bytes b = {data, data + size};
    int frame = (int)take_below(&b, 4);
    const char *path = build_hdf5(&b, base, objects);
    nb_hdf5_geometry said = {0};
    nb_image out;
    nb_error err = {0};
    const nb_hdf5_wanted wanted = {path, frame, 1, &said, NULL};
    nb_status st = nb_hdf5_read_image(&wanted, &out, &err);
    volatile float last = 0;
    NB_FUZZ_CHECK(st == NB_OK || (err.code == st && err.message[0]));
    if (!st) {
        NB_FUZZ_CHECK(out.fast > 0 && out.slow > 0);
        for (size_t i = 0; i < (size_t)out.fast * (size_t)out.slow; i++)
            last = out.pixels[i];
    }
    (void)last;
    nb_free(out.pixels);
    return !st;
}

NB_FUZZ_ENTRY
