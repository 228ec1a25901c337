/* SPDX-License-Identifier: MIT */
/* The named materials. Their tables are files of golden_data, which are built into the
 * program: water and air of the nanoBragg suite, Copyright (c) 2022 Beamline 8.3.1, under
 * the MIT licence (NOTICE there); ice and nanoice calculated from the structure of
 * hexagonal ice, vitreous from the oxygen distances in hexagonal ice with disorder. */
#include <string.h>

#include "../../base/embed.h"
#include "sources.h"

#define TABLE(name)                                                                      \
    NB_EMBED(nb_table_##name, "golden_data/detectors/tables/" #name ".stol")
TABLE(water);
TABLE(air);
TABLE(ice);
TABLE(nanoice);
TABLE(vitreous);

static const nb_named_material materials[] = {
    {"water", 1.0, 18.0, nb_table_water},
    {"air", 0.0012, 28.0, nb_table_air},
    {"ice", 0.93, 18.0, nb_table_ice},
    {"nanoice", 0.93, 18.0, nb_table_nanoice},
    {"vitreous", 1.07, 18.0, nb_table_vitreous},
};

const nb_named_material *nb_named_material_find(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof materials / sizeof *materials; i++)
        if (strlen(materials[i].name) == length &&
            memcmp(materials[i].name, name, length) == 0)
            return &materials[i];
    return NULL;
}
