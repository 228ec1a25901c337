/* SPDX-License-Identifier: MIT */
/** The configuration of each frame of a series. */
#ifndef NB_SERIES_FRAMES_H
#define NB_SERIES_FRAMES_H

#include "../io/table/orientations.h"
#include "../io/table/sources.h"
#include "../io/table/stream.h"
#include "../nanobragg.h"
#include "../sim/sim.h"

/* --- -vary: numbers that differ between the frames of a series by a law.  docs/series.md --- */

enum { NB_VARY_MOST = 64 /* names */ };

/** How a number is written into a configuration. */
typedef enum nb_vary_target {
    NB_VARY_ROW,      /* its row's number; of several, all by one factor */
    NB_VARY_EDGES,    /* all edges of the cell */
    NB_VARY_CELL,     /* one number of the cell */
    NB_VARY_MISSET,   /* one misset angle */
    NB_VARY_ROTATION, /* about a lab axis, behind the misset */
    NB_VARY_CRYSTALS  /* how many there are */
} nb_vary_target;

/** A number that varies. */
typedef struct nb_vary_item {
    const char *name; /* static; as typed after -vary */
    const nb_param *row;
    nb_vary_target to;
    int axis; /* of CELL, MISSET, ROTATION */
    const struct nb_vary_law *law;
    int first, count; /* its numbers in nb_vary.numbers */
    double centre;    /* the value without the law */
} nb_vary_item;

typedef struct nb_vary {
    int n;
    nb_vary_item items[NB_VARY_MOST];
    double *numbers;    /* owned; those with % are parts of the centre already */
    int frames, stills; /* of the series; a rotation has one crystal */
    int64_t seed;       /* of the series */
} nb_vary;

/** Read the laws of `text`, about the numbers of cfg, which is completed; model: its crystal and
 * geometry, or NULL where they are not known.
 * *v is the caller's (nb_vary_free), zero on error.  Errors: NB_ERR_INPUT (an unknown or doubled name, a law or its
 * numbers, a name that something else varies), NB_ERR_NOMEM. */
nb_status nb_vary_read(const char *text, const nb_config *cfg, const nb_series *series,
                       const nb_model *model, nb_vary *v, nb_error *err);
void nb_vary_free(nb_vary *v); /* zero or read */

/** The item of number i of those that are a frame's, not a crystal's; v->n: there are fewer. */
int nb_vary_frame_item(const nb_vary *v, int i);

/** Does this text of -vary have a number that multiplies F, or stands for a missing one? */
int nb_vary_changes_F(const char *text);
/** Does a number of this member vary? */
#define NB_VARIES(vary, name) nb_vary_has(vary, (nb_member)NB_MEMBER(name))
int nb_vary_has(const nb_vary *v, nb_member member);

/** A crystal of a frame, from 0. */
typedef struct nb_crystal_at {
    int frame, crystal;
} nb_crystal_at;

/** The number of item i, of twelve digits; that of a frame's item is the same for all of its crystals.  Errors: NB_ERR_INPUT
 * where a thousand draws miss its limits. */
nb_status nb_vary_draw(const nb_vary *v, int i, nb_crystal_at at, double *value,
                       nb_error *err);

/** Give a crystal and its frame their numbers.  Errors: as nb_vary_draw. */
nb_status nb_vary_apply(const nb_vary *v, nb_crystal_at at, nb_config *cfg, nb_error *err);

/* --- frames --- */

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
    nb_orientations lines; /* owned; of -orientations FILE, or empty */
    int *first_line; /* owned, [count + 1], of each frame in lines; NULL: a line a frame */
    nb_stream stream;   /* owned; of -orientations, or empty */
    nb_spectra spectra; /* owned; of -spectra */
    nb_vary vary;       /* owned; of -vary */
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

/** May a frame have another number of crystals than one, but for its override? */
int nb_frames_have_crystals(const nb_frames *f);
/** The number of crystals of frame k. */
nb_status nb_frames_count(const nb_frames *f, int k, int *n, nb_error *err);

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
