/* SPDX-License-Identifier: MIT */
/* DIALS experiments: every accepted file has panels with directions, pixels and a
 * place. */
#include <string.h>

#include "../../src/io/detector/expt.h"
#include "fuzz_geometry.h"

int nb_fuzz_accepts(const uint8_t *data, size_t size)
{
    const nb_geometry_typed typed = {NAN, NAN, -1, NB_CONV_MOSFLM, 0, NULL};
    char *text = malloc(size + 1);
    nb_detector_spec d;
    nb_error err = {0};
    nb_status st;
    NB_FUZZ_CHECK(text);
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    st = nb_expt_parse(text, size, "fuzz.expt", &typed, NULL, &d, &err);
    free(text);
    return check_detector(st, &d, &err);
}

NB_FUZZ_ENTRY
