/* SPDX-License-Identifier: MIT */
/** The configuration of each frame of a series. */
#ifndef NB_SERIES_FRAMES_H
#define NB_SERIES_FRAMES_H

#include "../sim/sim.h"
#include "../io/table/sources.h"
#include "../io/table/stream.h"
#include "orientations.h"
#include "vary.h"

/* -output of a series that only makes one frame as a single image; no file has this name */
#define NB_SERIES_UNWRITTEN "frame_%d.bin"

typedef struct nb_frames {
    const nb_series *series;
    const nb_sim *sim; /* of the base */
    nb_config base;    /* the record of the series; its seed is set */
    nb_config whole;   /* the base, resolved, without the line of a crystal */
    int count;         /* frames of this run */
    int first; /* number of its first one in the whole series; frames are counted from it in the calls below */
    int rotation;
    int moving;        /* the override moves the detector of some frame */
    int places_differ; /* not of all to the same place */
    double phi_deg, osc_deg;
    double (*missets)[3]; /* owned, deg, of -orientations FILE */
    int n_missets;
    nb_stream stream; /* owned; of -orientations, or empty */
    int *first_line; /* owned, [count + 1], of each frame in missets; NULL: a line a frame */
    nb_frame_crystal *crystals; /* owned, [count], of -orientations FILE; NULL: none */
    nb_spectra spectra;         /* owned; of -spectra */
    nb_vary vary;               /* owned; of -vary */
    double *doses; /* owned, [count]: dose in the middle of each frame, MGy; NULL: no -dose */
} nb_frames;

/** Check the series against the built base simulation, which lives longer, and load its files.  Free with
 * nb_frames_free, on errors too. */
nb_status nb_frames_init(nb_frames *f, const nb_series *series, const nb_sim *base,
                         nb_error *err);
void nb_frames_free(nb_frames *f);
/** Only the part of the series that this run makes, of which -only_frame says the frames. */
void nb_frames_narrow(nb_frames *f);

/** The spectrum and the crystal of shot k, NULL without; *matrix: room for the crystal. */
nb_frame_extra nb_frames_extra(const nb_frames *f, int k, nb_matrix *matrix);

/** The record of frame k before the override.  Errors: NB_ERR_INPUT, if -vary finds no value in its limits. */
nb_status nb_frames_plain_config(const nb_frames *f, int k, nb_config *cfg, nb_error *err);

/** Resolve the record of a crystal of a frame, with its line of -crystals.  *in is the caller's; in may be NULL. */
nb_status nb_frames_resolved(const nb_frames *f, nb_crystal_at at, nb_config *cfg,
                             nb_inputs *in, nb_error *err);

/** May a frame have another number of crystals than one? */
int nb_frames_have_crystals(const nb_frames *f);

/** The record of a crystal of a frame; the first crystal's is without its line of -crystals. */
nb_status nb_frames_crystal(const nb_frames *f, nb_crystal_at at, nb_config *cfg,
                            nb_error *err);
/** The records of all crystals of frame k, without arrays.  *out is the caller's (nb_crystals_free), zero after an error. */
nb_status nb_frames_crystals(const nb_frames *f, int k, nb_crystals *out, nb_error *err);

/** Make sim, a clone of the base, that of frame k with all of its crystals. */
nb_status nb_frames_give(const nb_frames *f, int k, nb_sim *sim, nb_error *err);

/** The spectrum of frame k by -spectrum; the caller's (nb_spectrum_free).  Errors: those of nb_spectrum_of_frame. */
nb_status nb_frames_spectrum(const nb_frames *f, int k, nb_spectrum *out, nb_error *err);

/** The record of frame k as a single image: that of its first crystal. */
nb_status nb_frames_config(const nb_frames *f, int k, nb_config *cfg, nb_error *err);

/** The place of frame k: what the override says, else its number. */
void nb_frames_place(const nb_frames *f, int k, char *place, size_t size);
/** Let the message of an NB_ERR_INPUT begin with the place of frame k.  Returns st. */
nb_status nb_frames_at(const nb_frames *f, int k, nb_status st, nb_error *err);

/** Can the series have a frame of this geometry and resolved configuration? All frames have the same
 * number of pixels, a master has one pixel size, sensor, and rotation axis, and spectra one
 * beam. Errors: NB_ERR_INPUT. */
nb_status nb_frames_check(const nb_frames *f, const nb_geometry *g, const nb_config *cfg,
                          nb_error *err);

/** Make the structure factors of the base again if a frame sees farther than it.  Errors: those of
 * making them. */
nb_status nb_frames_widen_factors(const nb_frames *f, nb_sim *base, nb_error *err);

/** Before the first frame and the first file: check all frames as they will be made, ask about what is improbable (nb_ask), and set `moving`
 * and `places_differ`.  Errors: as nb_frames_check and nb_sim_check_record, and the override's, with the place of the
 * frame. */
nb_status nb_frames_survey(nb_frames *f, nb_error *err);

#endif
