/* SPDX-License-Identifier: MIT */
/** A scene of one panel, cut into seven. */
#ifndef NB_TESTS_CUT_H
#define NB_TESTS_CUT_H

#include "physics/scene.h"

enum { NB_CUT_PANELS = 7 };

typedef enum nb_cut_kind {
    NB_CUT_ROWS,  /* seven runs of rows: the stack is the uncut image */
    NB_CUT_WIDTHS /* four narrow panels next to three wide ones */
} nb_cut_kind;

typedef struct nb_cut {
    nb_scene scene; /* points to the next two and to the uncut scene's arrays */
    nb_panel panels[NB_CUT_PANELS];
    uint8_t *mask;                   /* owned; may be NULL */
    nb_region places[NB_CUT_PANELS]; /* of each panel, in the uncut panel */
} nb_cut;

/** Gives a panel's geometry few binary digits, so that moving its origin does not
 * round. */
void nb_cut_prepare(nb_panel *panel);

/** Cuts a scene of one panel of 16 x 16 pixels or more; free it with nb_cut_free. 0: out
 * of memory. */
int nb_cut_scene(const nb_scene *whole, nb_cut_kind kind, nb_cut *cut);
void nb_cut_free(nb_cut *cut);

/** Copies the image of the cut scene to that of the uncut scene. */
void nb_cut_assemble(const nb_cut *cut, const float *stack, float *image, int columns);

#endif
