/* SPDX-License-Identifier: MIT */
#include "hdf5_truth.h"

#ifdef NB_HAVE_HDF5
#include <math.h>
#include <string.h>

#include "../../base/memory.h"
#include "../common/axes.h"
#include "hdf5_facts.h"
#include "hdf5_lists.h"
#include "hdf5_panels.h"
#include "hdf5_rows.h"

#define SIMULATION "/entry/simulation"

static void column(const double A[9], int c, double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = A[3 * i + c];
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
            double along = nb_dot3(e[k], e[c]);
            for (int i = 0; i < 3; i++)
                e[c][i] -= along * e[k][i];
        }
        length = sqrt(nb_dot3(e[c], e[c]));
        for (int i = 0; i < 3; i++)
            e[c][i] /= length;
    }
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            U[3 * r + c] = e[c][r];
            B[3 * r + c] = r <= c ? nb_dot3(e[r], v[c]) : 0;
        }
}

/** The nth of A, U, B and A_drawn. */
static void matrix(const nb_hdf5_frame *frame, size_t n, void *row)
{
    double all[4][9];
    memcpy(all[3], frame->A_drawn, sizeof all[3]);
    memcpy(all[0], frame->A, sizeof all[0]);
    split(frame->A, all[1], all[2]);
    memcpy(row, all[n], sizeof all[n]);
}

static void put_matrices(nb_h5 *h, const nb_hdf5_master *master)
{
    nb_hdf5_put_rows(h, master, SIMULATION "/A", H5T_NATIVE_DOUBLE, 9, matrix, 0);
    nb_h5_attr_text(h, SIMULATION "/A", "units", "1/angstrom");
    nb_h5_attr_text(h, SIMULATION "/A", "about",
                    "columns a* b* c* at phi 0 in the program's lab frame; A = U B");
    nb_hdf5_put_rows(h, master, SIMULATION "/U", H5T_NATIVE_DOUBLE, 9, matrix, 1);
    nb_hdf5_put_rows(h, master, SIMULATION "/B", H5T_NATIVE_DOUBLE, 9, matrix, 2);
    nb_h5_attr_text(h, SIMULATION "/B", "units", "1/angstrom");
    nb_hdf5_put_rows(h, master, SIMULATION "/A_drawn", H5T_NATIVE_DOUBLE, 9, matrix, 3);
    nb_h5_attr_text(h, SIMULATION "/A_drawn", "units", "1/angstrom");
    nb_h5_attr_text(h, SIMULATION "/A_drawn", "about",
                    "as A, of the mean of the mosaic domains that were drawn");
}

/** One double of each frame's truth. */
static void put_column(nb_h5 *h, const nb_hdf5_master *master, const char *path,
                       size_t offset, const char *units)
{
    nb_hdf5_put_rows(h, master, path, H5T_NATIVE_DOUBLE, 1, nb_hdf5_member, offset);
    if (units[0])
        nb_h5_attr_text(h, path, "units", units);
}

/** The line of -spectra of each shot, from 0. */
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

/** The lab frame and the detector position of each frame. */
static void put_lab(nb_h5 *h, const nb_hdf5_master *master)
{
    static const struct {
        const char *path;
        size_t offset;
        int of_panel;
    } vectors[] = {
        {SIMULATION "/beam_vector", offsetof(nb_hdf5_frame, beam), 0},
        {SIMULATION "/fdet_vector", offsetof(nb_hdf5_frame, fast_axis), 1},
        {SIMULATION "/sdet_vector", offsetof(nb_hdf5_frame, slow_axis), 1},
        {SIMULATION "/spindle_axis", offsetof(nb_hdf5_frame, spindle), 0},
        {SIMULATION "/polar_vector", offsetof(nb_hdf5_frame, polar_axis), 0},
        {SIMULATION "/N", offsetof(nb_hdf5_frame, N), 0},
        {SIMULATION "/pix0_vector", offsetof(nb_hdf5_frame, pix0_mm), 1},
    };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (!vectors[i].of_panel || !master->panels)
            nb_hdf5_put_rows(h, master, vectors[i].path, H5T_NATIVE_DOUBLE, 3,
                             nb_hdf5_vector, vectors[i].offset);
    if (master->panels)
        nb_hdf5_put_panels(h, master);
    else
        nb_h5_attr_text(h, SIMULATION "/pix0_vector", "units", "mm");
}

/** The text of -jobs, and the line of each frame (without blank lines). If one long line
 * would make the table of lines much larger than the text, only the text is written. */
static void put_jobs(nb_h5 *h, const nb_hdf5_master *master)
{
    size_t n = (size_t)master->frames, size = strlen(master->jobs) + 1;
    size_t found = 0, longest = 0, most = 8 * size + (1 << 20);
    char *copy = nb_alloc_raw(size, 1, "jobs", NULL), *rest = copy, *line;
    const char **lines = nb_alloc(n, sizeof *lines, "jobs", NULL);
    h->ok &= copy && lines;
    if (h->ok) {
        memcpy(copy, master->jobs, size);
        while (found < n && (line = strsep(&rest, "\n")))
            if (line[strspn(line, " \t\r")]) {
                lines[found++] = line;
                longest = strlen(line) > longest ? strlen(line) : longest;
            }
        nb_h5_text(h, SIMULATION "/jobs_file", master->jobs);
    }
    if (h->ok && found == n && longest <= most / n)
        nb_h5_texts(h, SIMULATION "/job", lines, n);
    nb_free(lines);
    nb_free(copy);
}

/** The noise of source and detector, of all frames but for the flicker. */
static void put_noise(nb_h5 *h, const nb_hdf5_master *master)
{
    const nb_hdf5_noise *n = &master->noise;
    if (!n->wanted)
        return;
    nb_h5_number(h, SIMULATION "/gain", n->gain, "ADU/photon");
    nb_h5_number(h, SIMULATION "/adc", n->adc_offset, "ADU");
    nb_h5_number(h, SIMULATION "/readout_noise", n->readout, "ADU");
    nb_h5_number(h, SIMULATION "/calibration", n->calibration, "1");
    nb_h5_integer(h, SIMULATION "/calib_seed", n->calib_seed);
    nb_h5_text(h, SIMULATION "/psf", n->psf);
    nb_h5_number(h, SIMULATION "/psf_fwhm", n->psf_fwhm_um, "um");
    put_column(h, master, SIMULATION "/flicker_factor", offsetof(nb_hdf5_frame, flicker),
               "");
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
    if (master->jobs)
        put_jobs(h, master);
    put_lab(h, master);
    put_matrices(h, master);
    nb_hdf5_put_rows(h, master, SIMULATION "/seed", H5T_NATIVE_INT64, 1, nb_hdf5_member,
                     offsetof(nb_hdf5_frame, seed));
#define COLUMN(name, member, units)                                                      \
    put_column(h, master, SIMULATION "/" name, offsetof(nb_hdf5_frame, member), units)
    COLUMN("blocks", blocks, "");
    COLUMN("phi", phi_deg, "deg");
    COLUMN("osc", osc_deg, "deg");
    COLUMN("wavelength", wavelength_A, "angstrom");
    COLUMN("fluence", fluence, "1/m^2");
    COLUMN("mosaic", mosaic_deg, "deg");
    COLUMN("exposure", exposure_s, "s");
    COLUMN("distance", distance_mm, "mm");
    COLUMN("polarization", polarization, "");
    COLUMN("beam_fast", beam_px[0], "pixel");
    COLUMN("beam_slow", beam_px[1], "pixel");
#undef COLUMN
    put_noise(h, master);
    if (master->background && master->background[0])
        nb_h5_text(h, SIMULATION "/background", master->background);
    nb_hdf5_put_facts_columns(h, master);
    if (master->spectra)
        put_spectrum_numbers(h, master->frames);
    if (master->layout.reflections)
        nb_hdf5_link_lists(h, master);
}

#else
typedef int nb_hdf5_truth_is_not_in_this_build;
#endif
