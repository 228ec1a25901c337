/* SPDX-License-Identifier: MIT */
/* Image files of every format: the reader returns all pixels, or a message. */
#include "../../src/io/image/image_read.h"
#include "fuzz.h"

int nb_fuzz_accepts(const uint8_t *data, size_t size)
{
    nb_image_file file = {data, size, "fuzz.image", 0, 0};
    nb_image image;
    nb_error err = {0};
    nb_status status = nb_image_parse(&file, &image, &err);
    volatile float last = 0;
    if (status != NB_OK) {
        NB_FUZZ_CHECK(err.code == status && err.message[0] && !image.pixels);
        return 0;
    }
    NB_FUZZ_CHECK(image.fast > 0 && image.slow > 0 && image.format[0]);
    for (size_t i = 0; i < (size_t)image.fast * (size_t)image.slow; i++)
        last = image.pixels[i];
    (void)last;
    nb_free(image.pixels);
    nb_free(image.left_out);
    return 1;
}

NB_FUZZ_ENTRY
