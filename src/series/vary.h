/* SPDX-License-Identifier: MIT */
/** -vary: numbers that differ between the frames of a series by a law.  docs/series.md. */
#ifndef NB_SERIES_VARY_H
#define NB_SERIES_VARY_H

#include "../nanobragg.h"
#include "../sim/sim.h"

enum { NB_VARY_MOST = 64 /* names */ };

typedef enum nb_vary_law {
    NB_VARY_NORMAL,
    NB_VARY_LOGNORMAL,
    NB_VARY_UNIFORM,
    NB_VARY_GAMMA,
    NB_VARY_CHOICE,
    NB_VARY_POISSON,
    NB_VARY_RAMP
} nb_vary_law;

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
    const char *name; /* static */
    const nb_param *row;
    nb_vary_target to;
    int axis; /* of CELL, MISSET, ROTATION */
    nb_vary_law law;
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

/** The name of item i, as typed after -vary. */
const char *nb_vary_named(const nb_vary *v, int i);

/** How many of its numbers are the frame's, not a crystal's; and the item of number i of them. */
int nb_vary_of_frames(const nb_vary *v);
int nb_vary_frame_item(const nb_vary *v, int i);

/** Does this text of -vary have a number that multiplies F, or stands for a missing one? */
int nb_vary_changes_F(const char *text);
/** Does the orientation of stills vary? */
int nb_vary_turns(const nb_vary *v);
/** Does the cell vary? */
int nb_vary_has_cell(const nb_vary *v);
/** Does the number of crystals vary? */
int nb_vary_has_crystals(const nb_vary *v);

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

#endif
