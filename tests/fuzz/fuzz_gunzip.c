/* SPDX-License-Identifier: MIT */
/* Gzip streams of models and reflection files, and what their bytes are. */
#include "../../src/io/gemmi.h"
#include "fuzz.h"

int nb_fuzz_accepts(const uint8_t *data, size_t size)
{
    char *text;
    size_t bytes;
    nb_error err = {0};
    nb_status status = nb_gunzip((const char *)data, size, "fuzz.gz", &text, &bytes, &err);
    if (status) {
        NB_FUZZ_CHECK(err.code == status && err.message[0] && !text);
        return 0;
    }
    if (!text)
        return nb_content_of((const char *)data, size) != NB_CONTENT_UNKNOWN;
    NB_FUZZ_CHECK(nb_content_of(text, bytes) <= NB_CONTENT_CIF_OTHER);
    nb_free(text);
    return 1;
}

NB_FUZZ_ENTRY
