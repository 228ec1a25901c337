/* SPDX-License-Identifier: MIT */
/* Spectra: every accepted file has wavelengths, and weights that are not all zero. */
#include <math.h>

#include "../../src/io/table/sources.h"
#include "fuzz.h"

int nb_fuzz_accepts(const uint8_t *data, size_t size)
{
    nb_spectra s;
    nb_error err = {0};
    nb_status status = nb_spectra_parse((const char *)data, size, "fuzz.txt",
                                        nb_v3(-10, 0, 0), 2, &s, &err);
    if (status != NB_OK) {
        NB_FUZZ_CHECK(err.code == status && err.message[0] && !s.lines && !s.first);
        return 0;
    }
    NB_FUZZ_CHECK(s.count == 2 && s.first[0] == 0);
    for (int i = 0; i < s.count; i++) {
        double sum = 0;
        NB_FUZZ_CHECK(s.first[i + 1] > s.first[i]);
        for (size_t j = s.first[i]; j < s.first[i + 1]; j++) {
            NB_FUZZ_CHECK(s.lines[j].lambda > 0 && s.lines[j].lambda < 1e-6 &&
                          s.lines[j].intensity >= 0);
            sum += s.lines[j].intensity;
        }
        NB_FUZZ_CHECK(sum > 0 && isfinite(sum));
    }
    nb_spectra_free(&s);
    return 1;
}

NB_FUZZ_ENTRY
