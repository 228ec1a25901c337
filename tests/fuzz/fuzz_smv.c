/* SPDX-License-Identifier: MIT */
/* SMV files: reads the header, its settings and the pixels, and writes the settings. */
#include <string.h>

#include "../../src/io/image/image_read.h"
#include "../../src/nanobragg.h"
#include "../../src/params/config.h"
#include "fuzz.h"

static void count_bytes(void *user, const char *key, const char *value)
{
    *(size_t *)user += strlen(key) + strlen(value);
}

static int use_pixels(const uint8_t *data, size_t size, const nb_smv_header *header)
{
    uint16_t *pixels;
    nb_error err = {0};
    size_t sum = 0;
    if (nb_smv_pixels_u16(data, size, header, &pixels, &err) != NB_OK) {
        NB_FUZZ_CHECK(err.message[0] && !pixels);
        return 0;
    }
    for (size_t i = 0; i < (size_t)header->fast * (size_t)header->slow; i++)
        sum += pixels[i];
    nb_free(pixels);
    return sum <= 65535u * (size_t)header->fast * (size_t)header->slow;
}

int nb_fuzz_accepts(const uint8_t *data, size_t size)
{
    nb_smv_header header;
    nb_error err = {0};
    nb_config cfg;
    size_t written = 0;
    int good = nb_smv_parse(data, size, "fuzz.img", &header, &err) == NB_OK;
    if (!good) {
        NB_FUZZ_CHECK(err.code != NB_OK && err.message[0] && !header.text);
        return 0;
    }
    NB_FUZZ_CHECK(header.bytes <= size);
    nb_config_defaults(&cfg);
    good = nb_smv_apply_header(&header, &cfg, &err) == NB_OK;
    nb_smv_write_inputs(&cfg, count_bytes, &written);
    NB_FUZZ_CHECK(written > 0);
    nb_config_drop(&cfg);
    good &= use_pixels(data, size, &header);
    nb_smv_header_free(&header);
    return good;
}

NB_FUZZ_ENTRY
