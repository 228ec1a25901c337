/* SPDX-License-Identifier: MIT */
/** Properties of every detector that a reader accepts. */
#ifndef NB_TESTS_FUZZ_GEOMETRY_H
#define NB_TESTS_FUZZ_GEOMETRY_H

#include <math.h>

#include "../../src/io/common/panel_spec.h"
#include "fuzz.h"
#include "../support/parse.h"

static inline void check_panel(const nb_panel_spec *p)
{
    for (int i = 0; i < 2; i++)
        NB_FUZZ_CHECK(p->size[i] >= 1 && p->size[i] <= NB_PANEL_EDGE && p->pixel[i] > 0);
    NB_FUZZ_CHECK(fabs(nb_length3(p->fast) - 1) < 1e-9);
    NB_FUZZ_CHECK(fabs(nb_length3(p->slow) - 1) < 1e-9);
    NB_FUZZ_CHECK(fabs(nb_dot3(p->fast, p->slow)) < 2e-3);
    NB_FUZZ_CHECK(isfinite(nb_length3(p->origin)) && p->gain > 0 && p->thickness >= 0);
    NB_FUZZ_CHECK(p->name[NB_PANEL_NAME - 1] == 0 &&
                  p->material[NB_MATERIAL_NAME - 1] == 0);
}

/** Returns 1 if the detector was accepted; frees it. */
static inline int check_detector(nb_status st, nb_detector_spec *d, const nb_error *err)
{
    if (st) {
        NB_FUZZ_CHECK(err->code == st && err->message[0] && !d->panels && !d->mask);
        return 0;
    }
    NB_FUZZ_CHECK(d->n_panels >= 1 && d->n_panels <= NB_PANELS_MAX);
    for (int k = 0; k < d->n_panels; k++) {
        check_panel(&d->panels[k]);
        if (d->mask)
            nb_spec_masked(d, k); /* touches every pixel of the mask */
    }
    NB_FUZZ_CHECK(isnan(d->wavelength_A) || d->wavelength_A > 0);
    NB_FUZZ_CHECK(!d->spindle.set || fabs(nb_length3(d->spindle.v) - 1) < 1e-9);
    nb_detector_spec_free(d);
    return 1;
}

#endif
