/* SPDX-License-Identifier: MIT */
/** Cuts the panel of a scene into seven panels. */
#ifndef NB_TESTS_CUT_H
#define NB_TESTS_CUT_H

#include "physics/scene.h"

enum { NB_CUT_PANELS = 7 };

typedef enum nb_cut_kind {
    NB_CUT_ROWS,  /* seven runs of rows: the stack equals the uncut image */
    NB_CUT_WIDTHS /* four narrow panels next to three wide ones */
} nb_cut_kind;

typedef struct nb_cut {
    nb_scene scene; /* points to panels, mask and arrays of the uncut scene */
    nb_panel panels[NB_CUT_PANELS];
    uint8_t *mask;                   /* owned; may be NULL */
    nb_region places[NB_CUT_PANELS]; /* part of the uncut panel that becomes each panel */
} nb_cut;

/** Rounds a panel's geometry to few binary digits. The origins of its parts are then
 * exact. */
void nb_cut_prepare(nb_panel *panel);

/** Cuts a scene of one panel of 16 x 16 pixels or more; free *cut with nb_cut_free.
 * Returns 0 if memory is out. */
int nb_cut_scene(const nb_scene *whole, nb_cut_kind kind, nb_cut *cut);
void nb_cut_free(nb_cut *cut);

/** Copies the image of the cut scene to that of the uncut scene. */
void nb_cut_assemble(const nb_cut *cut, const float *stack, float *image, int columns);

#endif
