/* SPDX-License-Identifier: MIT */
/** The members of nb_config and nb_series, which stand in the rows of flag_rows.h. */
#ifndef NB_PARAMS_CONFIG_H
#define NB_PARAMS_CONFIG_H

#include "../nanobragg.h"
#include "../physics/shapes.h"

#define SHAPE_ROW(...)
#define ROW(...)
#define MEMBER(member, ...) member;
#define SERIES_MEMBER(...)
/** Values in users' units.  nb_config_defaults fills it; nb_config_copy copies it, and nb_config_drop frees what it holds. */
struct nb_config {
#include "flag_rows.h"
    nb_png_options png; /* of png_file */
    const struct nb_detector_spec *
        detector; /* instead of reading the file of a detector: nb_config_load_geometry, or
                      the caller's; NULL: read it.  nb_sim_create copies it */
    const struct nb_arrays *arrays; /* instead of files whose name is NB_MEMORY_...:
                                       nb_config_use_arrays; NULL: files */
};
#undef MEMBER
#undef SERIES_MEMBER
#define MEMBER(...)
#define SERIES_MEMBER(member, ...) member;
/** Many images from one configuration.  nb_series_defaults fills it; all zero but for texts: no output. */
struct nb_series {
#include "flag_rows.h"
    nb_series_calls calls;
};
#undef SHAPE_ROW
#undef ROW
#undef MEMBER
#undef SERIES_MEMBER

/** Every field unset or at its default.  cfg is written whole: what it held is not freed. */
void nb_config_defaults(nb_config *cfg);
/** Free the texts, which are "" afterwards.  NULL is fine. */
void nb_config_drop(nb_config *cfg);
/** The same of a series. */
void nb_series_defaults(nb_series *series);
void nb_series_drop(nb_series *series);

#endif
