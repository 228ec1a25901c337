/* SPDX-License-Identifier: MIT */
#include "scene_build.h"

#include "../physics/hostdevice.h"
#include "units.h"

nb_status nb_shadow_of(const nb_settings *cfg, const nb_geometry *g, nb_shadow *out,
                       nb_error *err)
{
    nb_beamstop_words words[NB_BEAMSTOP_MAX];
    nb_status st = nb_beamstop_read(cfg->value.beamstop, words, &out->n, err);
    for (int i = 0; i < out->n && !st; i++)
        out->items[i] =
            (nb_shadow_item){words[i].bar, 0.5 * words[i].size_mm * NB_MM,
                             cos(words[i].angle_deg * NB_DEG),
                             sin(words[i].angle_deg * NB_DEG), words[i].transmission};
    out->beam = g->beam;
    out->fast = nb_unit(nb_sub(g->fast, nb_scale(nb_dot(g->fast, g->beam), g->beam)));
    out->slow = nb_sub(g->slow, nb_scale(nb_dot(g->slow, g->beam), g->beam));
    out->slow =
        nb_unit(nb_sub(out->slow, nb_scale(nb_dot(out->slow, out->fast), out->fast)));
    /* the typed distance, before two-theta swings the detector */
    out->distance = cfg->value.detector ? g->distance : g->placed.distance;
    return st;
}
