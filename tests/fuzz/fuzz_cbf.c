/* SPDX-License-Identifier: MIT */
/* CBF files: the reader returns a header and all pixels, or an error with a message. */
#include <math.h>

#include "../../src/io/image/image_read.h"
#include "fuzz.h"

int nb_fuzz_accepts(const uint8_t *data, size_t size)
{
    nb_image_file file = {data, size, "fuzz.cbf", 0, 0};
    nb_image image = {0};
    nb_cbf_header header;
    nb_error err = {0};
    nb_status status = nb_cbf_parse(&file, &image, &err);
    nb_cbf_read_header(&file, &header);
    NB_FUZZ_CHECK(!isinf(header.said.pixel_mm) && !isinf(header.said.beam_px[1]));
    if (status != NB_OK) {
        NB_FUZZ_CHECK(err.code == status && err.message[0]);
        nb_free(image.pixels);
        nb_free(image.left_out);
        return 0;
    }
    NB_FUZZ_CHECK(image.fast > 0 && image.slow > 0);
    for (size_t i = 0; i < (size_t)image.fast * (size_t)image.slow; i++)
        NB_FUZZ_CHECK(isfinite(image.pixels[i]));
    nb_free(image.pixels);
    nb_free(image.left_out);
    return 1;
}

NB_FUZZ_ENTRY
