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
/** Values in users' units; nb_config_defaults, _copy and _drop fill, copy and free it. */
struct nb_config {
#include "flag_rows.h"
    nb_png_options png; /* options of png_file */
    /* detector from nb_config_load_geometry or the caller, which nb_sim_create copies.
     * NULL: nb_sim_create reads the file of the detector */
    const struct nb_detector_spec *detector;
    const struct nb_arrays *arrays; /* content of the files that are named NB_MEMORY_...
                                       (nb_config_use_arrays); or NULL */
};
#undef MEMBER
#undef SERIES_MEMBER
#define MEMBER(...)
#define SERIES_MEMBER(member, ...) member;
/** Many images from one configuration. After nb_series_defaults a series has no
 * output. */
struct nb_series {
#include "flag_rows.h"
    nb_series_calls calls;
};
#undef SHAPE_ROW
#undef ROW
#undef MEMBER
#undef SERIES_MEMBER

/** Make every field unset or its default. Texts that cfg held are not freed. */
void nb_config_defaults(nb_config *cfg);
/** Free the texts, which are "" afterwards.  NULL is allowed. */
void nb_config_drop(nb_config *cfg);
/** Like nb_config_defaults and nb_config_drop, for a series. */
void nb_series_defaults(nb_series *series);
void nb_series_drop(nb_series *series);

#endif
