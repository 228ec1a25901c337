/* SPDX-License-Identifier: MIT */
/** The configuration of each frame of a series. */
#ifndef NB_SERIES_FRAMES_H
#define NB_SERIES_FRAMES_H

#include "../io/table/orientations.h"
#include "../io/table/sources.h"
#include "../io/table/stream.h"
#include "../nanobragg.h"
#include "../sim/sim.h"

/* --- -vary: numbers that follow a law from frame to frame. docs/series.md --- */

enum { NB_VARY_MAX = 64 /* names */ };

/** Place of a number in a configuration. */
typedef enum nb_vary_target {
    NB_VARY_ROW,      /* value of a parameter row; several values get one factor */
    NB_VARY_EDGES,    /* all edges of the cell */
    NB_VARY_CELL,     /* one number of the cell */
    NB_VARY_MISSET,   /* one misset angle */
    NB_VARY_ROTATION, /* rotation about a lab axis, after the misset */
    NB_VARY_CRYSTALS  /* number of crystals */
} nb_vary_target;

/** A number that varies. */
typedef struct nb_vary_item {
    const char *name; /* static; the name after -vary */
    const nb_param *row;
    nb_vary_target to;
    int axis; /* axis of CELL, MISSET, ROTATION */
    const struct nb_vary_law *law;
    int first, count; /* place of the numbers of the law in nb_vary.numbers */
    double centre;    /* value without the law */
} nb_vary_item;

typedef struct nb_vary {
    int n;
    nb_vary_item items[NB_VARY_MAX];
    double *numbers;    /* owned; numbers of the laws; numbers typed in % are converted */
    int frames, stills; /* number of frames; 1 for stills, 0 for a rotation */
    int64_t seed;       /* seed of the series */
} nb_vary;

/** Read the laws of `text` (-vary). Their centres are values of cfg. model: crystal and
 * geometry of cfg, or NULL if unknown. The caller frees *v, which is zero on error.
 * Errors: NB_ERR_INPUT (an unknown or repeated name, a wrong law or number, a name that
 * another flag varies), NB_ERR_NOMEM. */
nb_status nb_vary_read(const char *text, const nb_config *cfg, const nb_series *series,
                       const nb_model *model, nb_vary *v, nb_error *err);
void nb_vary_free(nb_vary *v); /* zero or read */

/** Index of the ith item that all crystals of a frame share; v->n if fewer. */
int nb_vary_frame_item(const nb_vary *v, int i);

/** True if a name in this text of -vary multiplies F or replaces missing F. */
int nb_vary_changes_F(const char *text);
/** True if a number of this member varies. */
#define NB_VARIES(vary, name) nb_vary_has(vary, (nb_member)NB_MEMBER(name))
int nb_vary_has(const nb_vary *v, nb_member member);

/** A crystal of a frame; both are counted from 0. */
typedef struct nb_crystal_at {
    int frame, crystal;
} nb_crystal_at;

/** Draw the number of item i, with twelve digits. An item of a frame has the same number
 * for all crystals. Errors: NB_ERR_INPUT (a thousand draws outside of the limits). */
nb_status nb_vary_draw(const nb_vary *v, int i, nb_crystal_at at, double *value,
                       nb_error *err);

/** Write all numbers of a crystal and its frame into cfg. Errors: as nb_vary_draw. */
nb_status nb_vary_apply(const nb_vary *v, nb_crystal_at at, nb_config *cfg, nb_error *err);

/* --- frames --- */

typedef struct nb_frames {
    const nb_series *series;
    nb_status (*override)(void *user, int frame, nb_config *cfg, nb_error *err);
    void *user; /* argument of `override`: changes of -jobs or of stored images; or NULL */
    const nb_sim *sim; /* the base simulation */
    nb_config base;    /* record (typed values) of the series; its seed is set */
    nb_config whole;   /* resolved base, without the line of a crystal */
    int count;         /* frames of this run */
    int first;         /* number in the whole series of frame k = 0 of this run */
    int rotation;
    int moving;        /* 1: `override` moves the detector of some frame */
    int places_differ; /* 1: the detector has several places */
    double phi_deg, osc_deg;
    nb_orientations lines; /* owned; lines of -orientations FILE, or empty */
    int *first_line;  /* owned, [count + 1], first line of a frame; NULL: one line each */
    nb_stream stream; /* owned; stream of -orientations, or empty */
    nb_spectra spectra; /* owned; spectra of -spectra */
    nb_vary vary;       /* owned; laws of -vary */
    double *doses;      /* owned, [count], MGy in the middle of a frame, or NULL */
} nb_frames;

/** Check the series against the base simulation, which must outlive f, and load the
 * files of the series. Free with nb_frames_free, on errors too. */
nb_status nb_frames_init(nb_frames *f, const nb_series *series, const nb_sim *base,
                         nb_error *err);
void nb_frames_free(nb_frames *f);
/** Narrow f to the part of the series that -only_frame sets. */
void nb_frames_narrow(nb_frames *f);

/** Spectrum and crystal that files give for frame k. *matrix: memory for the crystal. */
nb_frame_extra nb_frames_extra(const nb_frames *f, int k, nb_matrix *matrix);

/** Record of frame k before the override. Errors: those of nb_vary_draw. */
nb_status nb_frames_plain_config(const nb_frames *f, int k, nb_config *cfg, nb_error *err);

/** True if the number of crystals of a frame, before its override, may differ from 1. */
int nb_frames_have_crystals(const nb_frames *f);
/** Number of crystals of frame k. */
nb_status nb_frames_count(const nb_frames *f, int k, int *n, nb_error *err);

/** Record of a crystal. Its line of -crystals is applied, but not for crystal 0. */
nb_status nb_frames_crystal(const nb_frames *f, nb_crystal_at at, nb_config *cfg,
                            nb_error *err);
/** Records of all crystals of frame k, without arrays; free with nb_crystals_free. */
nb_status nb_frames_crystals(const nb_frames *f, int k, nb_crystals *out, nb_error *err);

/** Set sim, a clone of the base, to frame k with all crystals. */
nb_status nb_frames_give(const nb_frames *f, int k, nb_sim *sim, nb_error *err);

/** Draws of -jitter_* for a frame: factors of fluence, wavelength, cell and mosaic spread,
 * and the shift of the beam centre along fast and slow, mm. */
typedef struct nb_jitter {
    double amount[6]; /* value of the flag, % or mm; 0: off, no factor or shift */
    double value[6];
} nb_jitter;
nb_jitter nb_jitter_draw(const nb_series *series, int64_t seed);

/** Draw the -spectrum of frame k; the caller frees it. Errors: nb_spectrum_of_frame. */
nb_status nb_frames_spectrum(const nb_frames *f, int k, nb_spectrum *out, nb_error *err);

/** Record of frame k as a single image: the record of its first crystal. */
nb_status nb_frames_config(const nb_frames *f, int k, nb_config *cfg, nb_error *err);

/** Name frame k in messages: text of the override, or the frame number. */
void nb_frames_place(const nb_frames *f, int k, char *place, size_t size);
/** Begin the message of an NB_ERR_INPUT with the place of frame k. Returns st. */
nb_status nb_frames_at(const nb_frames *f, int k, nb_status st, nb_error *err);

/** Check that a frame of this geometry and resolved configuration fits the series. All
 * frames have the same number of pixels; a master has one pixel size, sensor, curvature,
 * noise and rotation axis; spectra have one beam. Errors: NB_ERR_INPUT. */
nb_status nb_frames_check(const nb_frames *f, const nb_geometry *g, const nb_config *cfg,
                          nb_error *err);

/** Calculate the structure factors of the base again if a frame reaches a higher
 * resolution. Errors: those of nb_inputs_make_factors. */
nb_status nb_frames_widen_factors(const nb_frames *f, nb_sim *base, nb_error *err);

/** Check all frames before the first frame and file are made, ask about improbable values
 * (nb_ask), and set `moving` and `places_differ`. Errors: those of nb_frames_check,
 * nb_sim_check_record and the override, with the place of the frame. */
nb_status nb_frames_survey(nb_frames *f, nb_error *err);

#endif
