/* SPDX-License-Identifier: MIT */
#include "hdf5_truth.h"

#ifdef NB_HAVE_HDF5
#include <math.h>
#include <string.h>

#include "../base/memory.h"
#include "hdf5_lists.h"

#define SIMULATION "/entry/simulation"

static void column(const double A[9], int c, double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = A[3 * i + c];
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/** A = U B (Busing & Levy 1967): B has a* along x and b* in the xy plane; columns of U are
 * those axes in the lab. */
static void split(const double A[9], double U[9], double B[9])
{
    double v[3][3], e[3][3] = {{0}}, length;
    for (int c = 0; c < 3; c++) {
        column(A, c, v[c]);
        memcpy(e[c], v[c], sizeof e[c]);
        for (int k = 0; k < c; k++) { /* Gram and Schmidt */
            double along = dot(e[k], e[c]);
            for (int i = 0; i < 3; i++)
                e[c][i] -= along * e[k][i];
        }
        length = sqrt(dot(e[c], e[c]));
        for (int i = 0; i < 3; i++)
            e[c][i] /= length;
    }
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            U[3 * r + c] = e[c][r];
            B[3 * r + c] = r <= c ? dot(e[r], v[c]) : 0;
        }
}

static void put_matrices(nb_h5 *h, const nb_hdf5_master *master)
{
    size_t n = (size_t)master->frames;
    hsize_t dims[3] = {(hsize_t)n, 3, 3};
    double *all = nb_alloc(n, 27 * sizeof *all, "matrices", NULL);
    double *A = all, *U = all + 9 * n, *B = all + 18 * n;
    h->ok &= all != NULL;
    for (size_t i = 0; all && i < n; i++) {
        memcpy(A + 9 * i, master->truth[i].A, 9 * sizeof *A);
        split(A + 9 * i, U + 9 * i, B + 9 * i);
    }
    if (all) {
        nb_h5_array(h, SIMULATION "/A", H5T_NATIVE_DOUBLE, A, 3, dims);
        nb_h5_attr_text(h, SIMULATION "/A", "units", "1/angstrom");
        nb_h5_attr_text(h, SIMULATION "/A", "about",
                        "columns a* b* c* at phi 0 in the program's lab frame; A = U B");
        nb_h5_array(h, SIMULATION "/U", H5T_NATIVE_DOUBLE, U, 3, dims);
        nb_h5_array(h, SIMULATION "/B", H5T_NATIVE_DOUBLE, B, 3, dims);
        nb_h5_attr_text(h, SIMULATION "/B", "units", "1/angstrom");
    }
    nb_free(all);
}

/** One double of each frame's truth. */
static void put_column(nb_h5 *h, const nb_hdf5_master *master, const char *path,
                       size_t offset, const char *units)
{
    hsize_t n = (hsize_t)master->frames;
    double *values = nb_alloc((size_t)n, sizeof *values, "truth", NULL);
    h->ok &= values != NULL;
    for (hsize_t i = 0; values && i < n; i++)
        memcpy(&values[i], (const char *)&master->truth[i] + offset, sizeof *values);
    if (values)
        nb_h5_array(h, path, H5T_NATIVE_DOUBLE, values, 1, &n);
    if (values && units)
        nb_h5_attr_text(h, path, "units", units);
    nb_free(values);
}

static void put_seeds(nb_h5 *h, const nb_hdf5_master *master)
{
    hsize_t n = (hsize_t)master->frames;
    int64_t *seeds = nb_alloc((size_t)n, sizeof *seeds, "seeds", NULL);
    h->ok &= seeds != NULL;
    for (hsize_t i = 0; seeds && i < n; i++)
        seeds[i] = master->truth[i].seed;
    if (seeds)
        nb_h5_array(h, SIMULATION "/seed", H5T_NATIVE_INT64, seeds, 1, &n);
    nb_free(seeds);
}

/** Which line of -spectra each shot has, from 0. */
static void put_spectrum_numbers(nb_h5 *h, int frames)
{
    hsize_t n = (hsize_t)frames;
    int64_t *numbers = nb_alloc((size_t)n, sizeof *numbers, "truth", NULL);
    h->ok &= numbers != NULL;
    for (hsize_t i = 0; numbers && i < n; i++)
        numbers[i] = (int64_t)i;
    if (numbers)
        nb_h5_array(h, SIMULATION "/spectrum", H5T_NATIVE_INT64, numbers, 1, &n);
    nb_free(numbers);
}

static void put_lab(nb_h5 *h, const nb_image_meta *m)
{
    const hsize_t three = 3;
    nb_h5_array(h, SIMULATION "/beam_vector", H5T_NATIVE_DOUBLE, m->beam, 1, &three);
    nb_h5_array(h, SIMULATION "/fdet_vector", H5T_NATIVE_DOUBLE, m->fast_axis, 1, &three);
    nb_h5_array(h, SIMULATION "/sdet_vector", H5T_NATIVE_DOUBLE, m->slow_axis, 1, &three);
    nb_h5_array(h, SIMULATION "/spindle_axis", H5T_NATIVE_DOUBLE, m->spindle, 1, &three);
    nb_h5_array(h, SIMULATION "/pix0_vector", H5T_NATIVE_DOUBLE, m->pix0_mm, 1, &three);
    nb_h5_attr_text(h, SIMULATION "/pix0_vector", "units", "mm");
}

void nb_hdf5_put_truth(nb_h5 *h, const nb_hdf5_master *master)
{
    const nb_image_meta *m = master->meta;
    nb_h5_group(h, SIMULATION, "NXcollection");
    nb_h5_text(h, SIMULATION "/program", "nanobragg");
    nb_h5_text(h, SIMULATION "/version", NB_VERSION);
    nb_h5_text(h, SIMULATION "/command_line", m->command_line ? m->command_line : "");
    if (master->config)
        nb_h5_text(h, SIMULATION "/config", master->config);
    put_lab(h, m);
    put_matrices(h, master);
    put_seeds(h, master);
#define COLUMN(name, member, units)                                                      \
    put_column(h, master, SIMULATION "/" name, offsetof(nb_hdf5_frame, member), units)
    COLUMN("phi", phi_deg, "deg");
    COLUMN("osc", osc_deg, "deg");
    COLUMN("wavelength", wavelength_A, "angstrom");
    COLUMN("fluence", fluence, "1/m^2");
    COLUMN("mosaic", mosaic_deg, "deg");
    COLUMN("beam_fast", beam_px[0], "pixel");
    COLUMN("beam_slow", beam_px[1], "pixel");
#undef COLUMN
    if (master->spectra)
        put_spectrum_numbers(h, master->frames);
    if (master->layout.reflections)
        nb_hdf5_link_lists(h, master);
}

#else
typedef int nb_hdf5_truth_is_not_in_this_build;
#endif
