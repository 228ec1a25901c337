/* SPDX-License-Identifier: MIT */
#include "hdf5_beam.h"

#ifdef NB_HAVE_HDF5
#include "../../base/memory.h"
#include "../common/axes.h"
#include "hdf5_rows.h"

#define BEAM "/entry/instrument/beam"
#define WAVELENGTH BEAM "/incident_wavelength"
#define SPECTRUM_NAME "incident_wavelength_1Dspectrum"
#define SPECTRUM BEAM "/" SPECTRUM_NAME

static void put_wavelengths(nb_h5 *h, const nb_hdf5_master *master)
{
    nb_hdf5_put_rows(h, master, WAVELENGTH, H5T_NATIVE_DOUBLE, 1, nb_hdf5_member,
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

/** Rows of equal length: a shorter spectrum is padded with its last wavelength and weight
 * 0. */
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

/** Photons per second: through a square metre, and through the beam. With a typed fluence
 * the beam has the default size. */
static void flux(const nb_hdf5_frame *frame, size_t offset, void *row)
{
    (void)offset;
    *(double *)row = frame->fluence / frame->exposure_s;
}

static void total_flux(const nb_hdf5_frame *frame, size_t offset, void *row)
{
    double side = frame->beamsize_mm * 1e-3;
    (void)offset;
    *(double *)row = frame->fluence / frame->exposure_s * side * side;
}

/** One number, or one for each frame if they differ. */
static void put_maybe_rows(nb_h5 *h, const nb_hdf5_master *master, const char *path,
                           nb_hdf5_row *row, const char *units)
{
    const size_t parts[] = {offsetof(nb_hdf5_frame, fluence),
                            offsetof(nb_hdf5_frame, exposure_s),
                            offsetof(nb_hdf5_frame, beamsize_mm)};
    nb_hdf5_frame first;
    double value;
    int differ = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        differ |= nb_hdf5_varies(master, parts[i], sizeof(double));
    h->ok &= !master->truth(master->truth_user, 0, 1, &first, NULL);
    if (!h->ok || !(first.exposure_s > 0))
        return;
    row(&first, 0, &value);
    if (differ)
        nb_hdf5_put_rows(h, master, path, H5T_NATIVE_DOUBLE, 1, row, 0);
    else
        nb_h5_number(h, path, value, NULL);
    nb_h5_attr_text(h, path, "units", units);
}

static void put_flux(nb_h5 *h, const nb_hdf5_master *master)
{
    const hsize_t two = 2;
    nb_hdf5_frame first;
    put_maybe_rows(h, master, BEAM "/flux", flux, "1/m^2/s");
    put_maybe_rows(h, master, BEAM "/total_flux", total_flux, "Hz");
    h->ok &= !master->truth(master->truth_user, 0, 1, &first, NULL);
    if (h->ok) {
        const double size[2] = {first.beamsize_mm, first.beamsize_mm};
        nb_h5_array(h, BEAM "/incident_beam_size", H5T_NATIVE_DOUBLE, size, 1, &two);
        nb_h5_attr_text(h, BEAM "/incident_beam_size", "units", "mm");
        nb_h5_text(h, BEAM "/profile", "rectangular");
    }
}

/** The axes across the beam, which the Stokes parameters need. */
typedef struct stokes_maker {
    const nb_hdf5_master *master;
    const double *x, *y;
} stokes_maker;

/** I, Q, U, V of rows of frames: Kahn's factor is the degree of linear polarization, along the
 * polarization vector. */
static nb_status stokes(void *user, int first, int count, void *rows, nb_error *err)
{
    const stokes_maker *m = user;
    double(*out)[4] = rows;
    for (int i = 0; i < count; i++) {
        nb_hdf5_frame t;
        double ex, ey, square;
        nb_status st = m->master->truth(m->master->truth_user, first + i, 1, &t, err);
        if (st)
            return st;
        ex = nb_dot3(m->x, t.polar_axis);
        ey = nb_dot3(m->y, t.polar_axis);
        square = ex * ex + ey * ey;
        out[i][0] = 1; /* + 0.0: never -0 */
        out[i][1] = square > 0 ? t.polarization * (ex * ex - ey * ey) / square + 0.0 : 0;
        out[i][2] = square > 0 ? t.polarization * 2 * ex * ey / square + 0.0 : 0;
        out[i][3] = 0;
    }
    return NB_OK;
}

/** Without a polarization factor the parameters are left out. */
static void put_polarization(nb_h5 *h, const nb_hdf5_master *master, const double x[3],
                             const double y[3])
{
    stokes_maker maker = {master, x, y};
    nb_h5_stream s = {BEAM "/incident_polarization_stokes",
                      H5T_NATIVE_DOUBLE,
                      2,
                      {(hsize_t)master->frames, 4, 0},
                      4 * sizeof(double),
                      stokes,
                      &maker};
    nb_h5_number(h, BEAM "/incident_polarization_factor", master->meta->polarization,
                 NULL);
    if (!master->meta->nopolar)
        nb_h5_put_stream(h, &s);
}

void nb_hdf5_put_beam(nb_h5 *h, const nb_hdf5_master *master, const double x[3],
                      const double y[3])
{
    const nb_image_meta *m = master->meta;
    nb_h5_group(h, BEAM, "NXbeam");
    if (!master->rotation &&
        (master->spectra ||
         nb_hdf5_varies(master, offsetof(nb_hdf5_frame, wavelength_A), sizeof(double))))
        put_wavelengths(h, master);
    else
        nb_h5_number(h, WAVELENGTH, m->wavelength_A, "angstrom");
    put_polarization(h, master, x, y);
    put_flux(h, master);
    if (master->spectra)
        put_spectra(h, master);
}

#else
typedef int nb_hdf5_beam_is_not_in_this_build;
#endif
