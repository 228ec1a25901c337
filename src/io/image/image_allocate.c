/* SPDX-License-Identifier: MIT */
#include "image_read.h"

#include "../../base/error.h"
#include "../../base/memory.h"

nb_status nb_image_allocate(const char *name, nb_image *out, nb_error *err)
{
    size_t n;
    if (out->fast < 1 || out->slow < 1 ||
        (int64_t)out->fast * out->slow > NB_IMAGE_MAX_PIXELS)
        return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                          "an image of %d x %d pixels cannot be read", out->fast,
                          out->slow);
    n = (size_t)out->fast * (size_t)out->slow;
    out->pixels = nb_alloc_large(n, sizeof *out->pixels, "pixels of an image", err);
    return out->pixels ? NB_OK : NB_ERR_NOMEM;
}
