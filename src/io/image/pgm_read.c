/* SPDX-License-Identifier: MIT */
/** Binary PGM (netpbm.sourceforge.net/doc/pgm.html): P5, width, height, largest value
 * and a blank; then one byte per pixel (two, high first, if the largest is above 255). */

#include "../../base/error.h"
#include "image_read.h"

/** Read the next whole number after blanks and comments; -1 without a number. */
static int next_number(const unsigned char *p, size_t n, size_t *at)
{
    size_t i = *at;
    long value = -1;
    for (; i < n; i++) {
        if (p[i] == '#')
            while (i < n && p[i] != '\n')
                i++;
        else if (p[i] != ' ' && (p[i] < '\t' || p[i] > '\r'))
            break;
    }
    for (; i < n && p[i] >= '0' && p[i] <= '9' && value < 100000000; i++)
        value = (value < 0 ? 0 : value * 10) + (p[i] - '0');
    *at = i;
    return (int)value;
}

nb_status nb_pgm_parse(const nb_image_file *file, nb_image *out, nb_error *err)
{
    const unsigned char *p = file->data;
    size_t at = 2, n, width;
    int largest;
    nb_status st;
    out->fast = next_number(p, file->bytes, &at);
    out->slow = next_number(p, file->bytes, &at);
    largest = next_number(p, file->bytes, &at);
    if (out->fast < 1 || out->slow < 1 || largest < 1 || largest > 65535 ||
        at >= file->bytes)
        return nb_fail_at(err, NB_ERR_INPUT, file->name, 0,
                          "a damaged PGM header: it needs P5, width, "
                          "height and largest value (1..65535)");
    at++; /* skip exactly one blank */
    width = largest > 255 ? 2 : 1;
    n = (size_t)out->fast * (size_t)out->slow;
    if ((file->bytes - at) / width < n)
        return nb_fail_at(err, NB_ERR_INPUT, file->name, 0,
                          "the pixels are cut short: %d x %d need %zu bytes", out->fast,
                          out->slow, n * width);
    NB_FORWARD(nb_image_allocate(file->name, out, err));
    for (size_t i = 0; i < n; i++, at += width)
        out->pixels[i] = (float)(width == 2 ? p[at] << 8 | p[at + 1] : p[at]);
    return NB_OK;
}
