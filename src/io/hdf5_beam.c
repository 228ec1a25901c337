/* SPDX-License-Identifier: MIT */
#include "hdf5_beam.h"

#ifdef NB_HAVE_HDF5
#include "../base/memory.h"
#include "hdf5_truth.h"

#define BEAM "/entry/instrument/beam"
#define WAVELENGTH BEAM "/incident_wavelength"
#define SPECTRUM_NAME "incident_wavelength_1Dspectrum"
#define SPECTRUM BEAM "/" SPECTRUM_NAME

static int wavelength_varies(const nb_hdf5_master *master)
{
    nb_hdf5_frame first, other;
    int differ = 0,
        failed = master->truth(master->truth_user, 0, 1, &first, NULL) != NB_OK;
    for (int i = 1; i < master->frames && !differ && !failed; i++) {
        failed = master->truth(master->truth_user, i, 1, &other, NULL) != NB_OK;
        differ = !failed && first.wavelength_A != other.wavelength_A;
    }
    return differ; /* what fails here fails again where it is put */
}

static void put_wavelengths(nb_h5 *h, const nb_hdf5_master *master)
{
    nb_hdf5_put_rows(h, master, WAVELENGTH, H5T_NATIVE_DOUBLE, 0, nb_hdf5_member,
                     offsetof(nb_hdf5_frame, wavelength_A));
    nb_h5_attr_text(h, WAVELENGTH, "units", "angstrom");
}

/** The longest of the first n spectra. */
static size_t longest(const nb_spectra *s, int n)
{
    size_t most = 0;
    for (int i = 0; i < n; i++)
        if (s->first[i + 1] - s->first[i] > most)
            most = s->first[i + 1] - s->first[i];
    return most;
}

/** Rows of equal length: a shorter spectrum ends in its last wavelength with weight 0. */
static void put_spectra(nb_h5 *h, const nb_hdf5_master *master)
{
    const nb_spectra *s = master->spectra;
    size_t n = (size_t)master->frames, m = longest(s, master->frames);
    const hsize_t dims[2] = {n, m};
    double *A = nb_alloc(n * m, 2 * sizeof *A, "spectra", NULL), *weight = A + n * m;
    h->ok &= A != NULL;
    if (!A)
        return;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++) {
            size_t have = s->first[i + 1] - s->first[i];
            const nb_source_line *line =
                &s->lines[s->first[i] + (j < have ? j : have - 1)];
            A[i * m + j] = line->lambda * 1e10;
            weight[i * m + j] = j < have ? line->intensity : 0;
        }
    nb_h5_attr_text(h, WAVELENGTH, "variant", SPECTRUM_NAME);
    nb_h5_array(h, SPECTRUM, H5T_NATIVE_DOUBLE, A, 2, dims);
    nb_h5_attr_text(h, SPECTRUM, "units", "angstrom");
    nb_h5_array(h, SPECTRUM "_weights", H5T_NATIVE_DOUBLE, weight, 2, dims);
    nb_free(A);
}

void nb_hdf5_put_beam(nb_h5 *h, const nb_hdf5_master *master)
{
    const nb_image_meta *m = master->meta;
    nb_h5_group(h, BEAM, "NXbeam");
    if (!master->rotation && (master->spectra || wavelength_varies(master)))
        put_wavelengths(h, master);
    else
        nb_h5_number(h, WAVELENGTH, m->wavelength_A, "angstrom");
    nb_h5_number(h, BEAM "/incident_polarization_factor", m->polarization, NULL);
    if (master->spectra)
        put_spectra(h, master);
}

#else
typedef int nb_hdf5_beam_is_not_in_this_build;
#endif
