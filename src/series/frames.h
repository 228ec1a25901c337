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

enum { NB_VARY_MAX = 64 /* limit of the number of names */ };

/** Kind of a number of a configuration that varies. */
typedef enum nb_vary_target {
    /* value of a row of the parameters; several values of a row get the same factor */
    NB_VARY_ROW,
    NB_VARY_EDGES,    /* all edges of the cell */
    NB_VARY_CELL,     /* one number of the cell */
    NB_VARY_MISSET,   /* one misset angle */
    NB_VARY_ROTATION, /* rotation about a lab axis, after the misset */
    NB_VARY_CRYSTALS, /* number of crystals */
    NB_VARY_SPINDLE,  /* rotation about the spindle beside the angle of the frame */
    NB_VARY_OVERLAP   /* factor of the blocks of all crystals of a frame */
} nb_vary_target;

/** A number that varies. */
typedef struct nb_vary_item {
    const char *name; /* static; the name after -vary */
    const nb_param *row;
    nb_vary_target to;
    int axis; /* axis for CELL, MISSET and ROTATION */
    const struct nb_vary_law *law;
    /* numbers of the law: index of the first in nb_vary.numbers, and count */
    int first, count;
    double centre; /* value without the law */
} nb_vary_item;

typedef struct nb_vary {
    int n;
    nb_vary_item items[NB_VARY_MAX];
    double *numbers;    /* owned; numbers of the laws; numbers typed in % are converted */
    int frames, stills; /* number of frames; stills: 1 for stills, 0 for a rotation */
    int64_t seed;       /* seed of the series */
    nb_vec3 spindle;    /* its direction in the lab */
} nb_vary;

/** Read the laws of `text` (-vary), and those of -realism that agree with it and with cfg;
 * a note lists the latter. Their centres are values of cfg. model: crystal and geometry of
 * cfg, or NULL if unknown. The caller frees *v, which is zero after an error.
 * Errors: NB_ERR_INPUT (an unknown or repeated name, a wrong law or number, a name that
 * another flag varies), NB_ERR_NOMEM. */
nb_status nb_vary_read(const char *text, const nb_config *cfg, const nb_series *series,
                       const nb_model *model, const nb_hooks *hooks, nb_vary *v,
                       nb_error *err);
void nb_vary_free(nb_vary *v); /* The laws may be all zero. */

/** Index of the ith item that all crystals of a frame share; v->n if there are fewer. */
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

/** True for numbers of unit cells, which are at least 1. */
static inline int nb_vary_is_count(const nb_vary_item *item)
{
    return item->to == NB_VARY_ROW && item->row->low == 1;
}

/** Write all numbers of a crystal and its frame into cfg. Errors: as nb_vary_draw. */
nb_status nb_vary_apply(const nb_vary *v, nb_crystal_at at, nb_config *cfg, nb_error *err);

/* --- frames --- */

typedef struct nb_frames {
    const nb_series *series;
    nb_status (*override)(void *user, int frame, nb_config *cfg, nb_error *err);
    /* argument of `override`, which applies changes of -jobs or of stored images; or
     * NULL */
    void *user;
    const nb_sim *sim; /* the base simulation */
    nb_config base;    /* record (typed values) of the series; its seed is set */
    nb_config whole;   /* resolved base, without the line of a crystal */
    int count;         /* frames of this run */
    int first;         /* number in the whole series of frame k = 0 of this run */
    int rotation;
    int moving;        /* 1: `override` moves the detector of some frame */
    int places_differ; /* 1: the position of the detector differs between frames */
    double phi_deg, osc_deg;
    nb_orientations lines; /* owned; lines of -orientations FILE, or empty */
    /* owned, [count + 1], index of each frame's first line; NULL: each frame has one
     * line */
    int *first_line;
    nb_stream stream;   /* owned; stream of -orientations, or empty */
    nb_spectra spectra; /* owned; spectra of -spectra */
    nb_vary vary;       /* owned; laws of -vary */
    double *doses;      /* owned, [count], dose in the middle of a frame, MGy, or NULL */
} nb_frames;

/** Check the series against the base simulation, which must outlive f, and load the files
 * of the series. The caller frees *f (nb_frames_free), after an error too. */
nb_status nb_frames_init(nb_frames *f, const nb_series *series, const nb_sim *base,
                         nb_error *err);
void nb_frames_free(nb_frames *f);
/** Narrow f to the part of the series that -only_frame sets. */
void nb_frames_narrow(nb_frames *f);

/** Spectrum and crystal of frame k, if files have them. *matrix: memory for the
 * crystal. */
nb_frame_extra nb_frames_extra(const nb_frames *f, int k, nb_matrix *matrix);

/** Record of frame k before the override. Errors: those of nb_vary_draw. */
nb_status nb_frames_plain_config(const nb_frames *f, int k, nb_config *cfg, nb_error *err);

/** True if the number of crystals of a frame, before its override, may differ from 1. */
int nb_frames_have_crystals(const nb_frames *f);
/** Number of crystals of frame k. */
nb_status nb_frames_count(const nb_frames *f, int k, int *n, nb_error *err);

/** Record of a crystal. The line of -crystals is applied, except for crystal 0. */
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

/** Name frame k for messages: by the text of the override, or by the frame number. */
void nb_frames_place(const nb_frames *f, int k, char *place, size_t size);
/** If st is NB_ERR_INPUT, put the name of frame k (nb_frames_place) in front of the
 * message. Returns st. */
nb_status nb_frames_at(const nb_frames *f, int k, nb_status st, nb_error *err);

/** Check that a frame of this geometry and resolved configuration fits the series. All
 * frames have the same number of pixels; a master needs the same pixel size, sensor,
 * curvature, noise and rotation axis in all frames; spectra need the same beam. Errors:
 * NB_ERR_INPUT. */
nb_status nb_frames_check(const nb_frames *f, const nb_geometry *g, const nb_config *cfg,
                          nb_error *err);

/** Calculate the structure factors of the base again if a frame needs a higher
 * resolution. Errors: those of nb_inputs_make_factors. */
nb_status nb_frames_widen_factors(const nb_frames *f, nb_sim *base, nb_error *err);

/** Check all frames before the first frame and file are made, ask about improbable values
 * (nb_ask), and set `moving` and `places_differ`. Errors: those of nb_frames_check,
 * nb_sim_check_record and the override, with the name of the frame in front. */
nb_status nb_frames_survey(nb_frames *f, nb_error *err);

#endif
