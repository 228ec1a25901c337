/* SPDX-License-Identifier: MIT */
#include "writer.h"

#include <errno.h>
#include <stdlib.h>

#include "../../base/error.h"
#include "../../base/memory.h"

time_t nb_image_date(void)
{
    const char *text = getenv("SOURCE_DATE_EPOCH");
    const long long last = 253402300799; /* 31 December 9999: a year has four digits */
    long long seconds;
    char *end;
    if (!text || !*text)
        return 0;
    errno = 0;
    seconds = strtoll(text, &end, 10);
    return errno || *end || seconds < 0 || seconds > last ? 0 : (time_t)seconds;
}

nb_status nb_writer_ready(const nb_writer *writer, const char *flag, nb_error *err)
{
    return writer->ready ? writer->ready(flag, err) : NB_OK;
}

nb_status nb_image_check(const nb_writer *writer, const nb_image_view *image,
                         nb_error *err)
{
    size_t bytes;
    if ((!image->pixels && !image->make_rows) || image->fast < 1 || image->slow < 1 ||
        writer->pixel != image->type ||
        !nb_size_mul((size_t)image->fast, (size_t)image->slow, &bytes) ||
        !nb_size_mul(bytes, nb_pixel_bytes(image->type), &bytes) || bytes == 0)
        return nb_fail(err, NB_ERR_INTERNAL,
                       "%s cannot hold this image (%d x %d, type %d)", writer->name,
                       image->fast, image->slow, (int)image->type);
    return NB_OK;
}

nb_status nb_image_rows(const nb_image_view *image, int first, int count, void *buffer,
                        const void **rows, nb_error *err)
{
    size_t row = (size_t)image->fast * nb_pixel_bytes(image->type);
    if (image->pixels) {
        *rows = (const char *)image->pixels + (size_t)first * row;
        return NB_OK;
    }
    *rows = buffer;
    return image->make_rows(image->user, first, count, buffer, err);
}
