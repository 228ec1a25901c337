/* SPDX-License-Identifier: MIT */
/* CrystFEL geometries: every accepted file has panels with directions, pixels and a
 * place. */
#include "../../src/io/detector/geom.h"
#include "fuzz_geometry.h"
#include "../support/parse.h"

int nb_fuzz_accepts(const uint8_t *data, size_t size)
{
    const nb_geometry_typed typed = {NAN, NAN, -1, NB_CONV_MOSFLM, 0, NULL};
    nb_detector_spec d;
    nb_error err = {0};
    nb_status st =
        nb_geom_parse((const char *)data, size, "fuzz.geom", &typed, NULL, &d, &err);
    return check_detector(st, &d, &err);
}

NB_FUZZ_ENTRY
