/* SPDX-License-Identifier: MIT */
#include "scene_build.h"

#include "units.h"

#include "../base/error.h"

void nb_footprint_axes(const nb_geometry *g, double angle_deg, nb_vec3 *a, nb_vec3 *b)
{
    const nb_vec3 horizontal = nb_cross(g->vertical, g->beam);
    const double c = cos(angle_deg * NB_DEG), s = sin(angle_deg * NB_DEG);
    *a = nb_add(nb_scale(c, horizontal), nb_scale(s, g->vertical));
    *b = nb_sub(nb_scale(c, g->vertical), nb_scale(s, horizontal));
}

double nb_footprint_unit(int box)
{
    return box ? NB_MM : NB_MM / (2 * sqrt(2 * log(2)));
}

nb_status nb_footprint_of(const nb_settings *cfg, const nb_geometry *geometry,
                          nb_footprint *out, nb_error *err)
{
    nb_footprint_words words;
    nb_vec3 a, b;
    nb_status st;
    NB_FORWARD(nb_footprint_read(cfg->value.footprint, &words, err));
    nb_footprint_axes(geometry, words.angle_deg, &a, &b);
    out->box = words.box;
    out->a = nb_scale(words.a_mm * nb_footprint_unit(words.box), a);
    out->b = nb_scale(words.b_mm * nb_footprint_unit(words.box), b);
    return NB_OK;
}
