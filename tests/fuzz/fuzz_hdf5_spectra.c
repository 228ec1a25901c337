/* SPDX-License-Identifier: MIT */
/* Spectra from HDF5: every accepted file has wavelengths, and weights that are not all
 * zero. */
#include <math.h>

#include "../../src/io/table/sources.h"
#include "hdf5_build.h"

#define BEAM "/entry/instrument/beam"
#define SPECTRUM BEAM "/incident_wavelength_1Dspectrum"

enum { SHOTS = 2, COLUMNS = 3 };

static const char *const groups[] = {"/entry", "/entry/data", "/entry/instrument", BEAM,
                                     NULL};

static const object objects[] = {{SPECTRUM, NULL},
                                 {SPECTRUM "_weights", NULL},
                                 {"/wavelength", NULL},
                                 {"/weight", NULL},
                                 {NULL, NULL}};

static void base(const char *path)
{
    static const double A[COLUMNS] = {1, 1.5, 2};
    static const double weight[SHOTS * COLUMNS] = {1, 2, 0, 0, 1, 1};
    const hsize_t dims[2] = {SHOTS, COLUMNS};
    hid_t file = begin_file(path, groups);
    put_array(file, SPECTRUM, H5T_NATIVE_DOUBLE, 1, dims + 1, A);
    put_array(file, SPECTRUM "_weights", H5T_NATIVE_DOUBLE, 2, dims, weight);
    put_array(file, "/wavelength", H5T_NATIVE_DOUBLE, 1, dims + 1, A);
    put_array(file, "/weight", H5T_NATIVE_DOUBLE, 2, dims, weight);
    end_file(file);
}

int nb_fuzz_accepts(const uint8_t *data, size_t size)
{
    fuzz_bytes b = {data, data + size};
    const char *path = build_hdf5(&b, base, objects);
    nb_spectra s;
    nb_error err = {0};
    nb_status st = nb_hdf5_read_spectra(path, nb_v3(-10, 0, 0), SHOTS, &s, &err);
    if (st != NB_OK) {
        NB_FUZZ_CHECK(err.code == st && err.message[0] && !s.lines && !s.first);
        return 0;
    }
    NB_FUZZ_CHECK(s.count == SHOTS && s.first[0] == 0);
    for (int i = 0; i < s.count; i++) {
        double sum = 0;
        NB_FUZZ_CHECK(s.first[i + 1] > s.first[i]);
        for (size_t j = s.first[i]; j < s.first[i + 1]; j++) {
            NB_FUZZ_CHECK(s.lines[j].lambda > 0 && s.lines[j].intensity >= 0);
            sum += s.lines[j].intensity;
        }
        NB_FUZZ_CHECK(sum > 0 && isfinite(sum));
    }
    nb_spectra_free(&s);
    return 1;
}

NB_FUZZ_ENTRY
