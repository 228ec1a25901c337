/* SPDX-License-Identifier: MIT */
/** A pulse of a free-electron laser: sources of many wavelengths and uneven intensities, each with a
 * table of F of its own, or all with the same. */
#ifndef NB_TESTS_BENCH_SPECTRUM_H
#define NB_TESTS_BENCH_SPECTRUM_H

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "model/scene_build.h"

enum { NB_SPECTRUM_MOST = 1000, LARGE_PAGE = 1 << 21 };

typedef struct nb_spectrum_case {
    int sources, tables; /* tables <= sources */
    int pixels;          /* of 2048 x 2048 pixels of 0.1 mm the same area */
    int domains;         /* of mosaic, 1: a perfect crystal */
    double band;         /* of wavelength, percent of 1 A */
    int box;             /* indices -box..box along each axis of the tables */
} nb_spectrum_case;

typedef struct nb_spectrum {
    nb_source_line lines[NB_SPECTRUM_MOST];
    int table_of_source[NB_SPECTRUM_MOST];
    double *F; /* owned: free */
    nb_model_inputs inputs;
    nb_config cfg;
} nb_spectrum;

/** 2048 x 2048 pixels see d > 1.1 A at the corner of a cell of 70 x 80 x 90 A. */
static inline void nb_spectrum_config(const nb_spectrum_case *c, nb_config *cfg)
{
    static const double cell[6] = {70, 80, 90, 75, 85, 95};
    nb_config_defaults(cfg);
    cfg->cell_count = 6;
    memcpy(cfg->cell, cell, sizeof cell);
    cfg->misset_mode = NB_MISSET_FIXED;
    for (int i = 0; i < 3; i++) {
        cfg->misset_deg[i] = 10 * (i + 1);
        cfg->N[i] = 20;
    }
    cfg->lambda_A = 1;
    cfg->distance_mm = 100;
    cfg->pixel_mm = 0.1 * 2048 / c->pixels;
    cfg->detpixels[0] = cfg->detpixels[1] = c->pixels;
    cfg->oversample = 1;
    cfg->convention = NB_CONV_MOSFLM; /* the sources lie along -x */
    if (c->domains > 1) {
        cfg->mosaic_spread_deg = 0.5;
        cfg->mosaic_domains = c->domains;
    }
    cfg->default_F = 100;
}

/** 0: out of memory. */
static inline int nb_spectrum_make(const nb_spectrum_case *c, nb_spectrum *s)
{
    const int n = 2 * c->box + 1;
    const size_t count = (size_t)n * n * n * c->tables;
    uint64_t z = 88172645463325252u;
    memset(s, 0, sizeof *s);
    nb_spectrum_config(c, &s->cfg);
    for (int k = 0; k < c->sources; k++) {
        nb_source_line *line = &s->lines[k];
        double at = c->sources > 1 ? (double)k / (c->sources - 1) - 0.5 : 0;
        line->x = -10;
        line->lambda = (1 + c->band / 100 * at) * 1e-10;
        line->intensity = exp(-8 * at * at) * (1 + (k * 37 % 11) / 5.0);
        s->table_of_source[k] = (int)((int64_t)k * c->tables / c->sources);
    }
    s->F = aligned_alloc(LARGE_PAGE, (count * sizeof *s->F + LARGE_PAGE - 1) /
                                         LARGE_PAGE * LARGE_PAGE);
#ifdef MADV_HUGEPAGE /* as the library's tables */
    if (s->F)
        (void)madvise(s->F, count * sizeof *s->F, MADV_HUGEPAGE);
#endif
    for (size_t i = 0; s->F && i < count; i++) {
        z ^= z << 13;
        z ^= z >> 7;
        z ^= z << 17;
        s->F[i] = 200.0 * (double)(z >> 11) * 0x1p-53;
    }
    s->inputs.sources = s->lines;
    s->inputs.n_sources = s->inputs.n_of_source = c->sources;
    s->inputs.table_of_source = c->tables > 1 ? s->table_of_source : NULL;
    s->inputs.table.hmin = s->inputs.table.kmin = s->inputs.table.lmin = -c->box;
    s->inputs.table.nh = s->inputs.table.nk = s->inputs.table.nl = n;
    s->inputs.table.F = s->F;
    s->inputs.table.n_tables = c->tables;
    s->inputs.table.default_F = 100;
    return s->F != NULL;
}

#endif
