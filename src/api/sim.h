/* SPDX-License-Identifier: MIT */
/** The inside of nb_sim, for the files of this room and src/nanobragg.c only. */
#ifndef NB_API_SIM_H
#define NB_API_SIM_H

#include "../io/sf_table.h"
#include "../model/scene_build.h"
#include "../nanobragg.h"
#include "../render/backend.h"

struct nb_sim {
    nb_config cfg;         /* as typed, then completed from -img and -mask headers */
    nb_hooks hooks;
    int64_t seed;          /* noise */
    nb_sf_table table;     /* owned; F = NULL without one */
    int table_from_hkl;    /* read from -hkl, so the cache is written */
    double matrix[9];
    int has_matrix;
    nb_source_line *lines; /* owned */
    int n_lines;
    uint8_t *mask;         /* owned, [slow][fast] */
    nb_model model;
    const nb_backend *backend;
    nb_backend_state *state; /* owned; opened by the first render */
    nb_render_options options;
    char backend_line[256];  /* for nb_sim_backend */
    int64_t overloads;       /* of the last noise image */
    double int_scale;        /* of the last integer image */
    nb_times times;
};

/** Seconds on a clock that only goes forward. */
double nb_monotonic_seconds(void);

/** Pass one line to the caller's notice hook. */
void nb_notice(const nb_hooks *hooks, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Decide where crystal and structure factors come from (the stand-in included), and check that
 * they fit together.  cfg is completed. */
nb_status nb_settle_crystal(nb_config *cfg, const nb_hooks *hooks, nb_error *err);

/** Ranges and combinations that do not need any file. */
nb_status nb_check_config(const nb_config *cfg, nb_error *err);

/** Read -img, -mask, -mat, -hkl or the cache, and -sourcefile into sim. */
nb_status nb_load_headers(nb_sim *sim, nb_error *err);
nb_status nb_load_inputs(nb_sim *sim, nb_error *err);

/** The cache's file name. */
const char *nb_dump_name(const nb_config *cfg);

#endif
