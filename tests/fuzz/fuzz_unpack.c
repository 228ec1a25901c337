/* SPDX-License-Identifier: MIT */
/* Packed files; and the kind of a model or reflection file, found from its bytes. */
#include "../../src/base/unpack.h"
#include "../../src/io/structure/gemmi.h"
#include "fuzz.h"

int nb_fuzz_accepts(const uint8_t *data, size_t size)
{
    char *text;
    size_t bytes;
    nb_error err = {0};
    nb_status status =
        nb_unpack((const char *)data, size, "fuzz.gz", 1 << 24, &text, &bytes, &err);
    if (status) {
        NB_FUZZ_CHECK(err.code == status && err.message[0] && !text);
        return 0;
    }
    if (!text)
        return nb_content_of((const char *)data, size) != NB_CONTENT_UNKNOWN;
    NB_FUZZ_CHECK(bytes <= 1 << 24 && text[bytes] == 0);
    NB_FUZZ_CHECK(nb_content_of(text, bytes) <= NB_CONTENT_CIF_OTHER);
    nb_free(text);
    return 1;
}

NB_FUZZ_ENTRY
