/* SPDX-License-Identifier: MIT */
/** The configuration of each frame of a series. */
#ifndef NB_SERIES_FRAMES_H
#define NB_SERIES_FRAMES_H

#include "../api/sim.h"
#include "../io/spectra.h"

typedef struct nb_frames {
    nb_config base; /* completed; its seed is set */
    const nb_series *series;
    int count;
    int rotation;
    double phi_deg, osc_deg;
    double wavelength_A, fluence, Fbeam_mm, Sbeam_mm, mosaic_deg; /* of the base */
    double Xbeam_mm, Ybeam_mm;
    int beam_swapped, beam_down; /* X is along the slow axis; Y runs against it */
    double (*missets)[3];        /* owned, deg, of -orientations FILE */
    int n_missets;
    nb_spectra spectra; /* owned; of -spectra */
} nb_frames;

/** Check the series against the built base simulation and load its files.  Free with
 * nb_frames_free, on errors too. */
nb_status nb_frames_init(nb_frames *f, const nb_series *series, const nb_sim *base,
                         nb_error *err);
void nb_frames_free(nb_frames *f);

/** Give the simulation the spectrum of shot k, if there are any.  It is used when the model is
 * built. */
void nb_frames_give_spectrum(const nb_frames *f, int k, nb_sim *sim);

/** The configuration of frame k, as a single image would be asked for. */
nb_status nb_frames_config(const nb_frames *f, int k, nb_config *cfg, nb_error *err);

#endif
