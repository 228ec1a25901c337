/* SPDX-License-Identifier: MIT */
/* Leave out pixels whose integers are marks, not counts (plans/decisions.md). */
#include "image_read.h"

#include <stdio.h>
#include <string.h>

#include "../../base/memory.h"

#define HIGHEST_16 65535.0
#define HIGHEST_32 4294967295.0

static size_t pixels_of(const nb_image *image)
{
    return (size_t)image->fast * (size_t)image->slow;
}

uint8_t *nb_left_out_of(nb_image *image, nb_error *err)
{
    if (!image->left_out)
        image->left_out =
            nb_alloc(pixels_of(image), sizeof *image->left_out, "left-out pixels", err);
    return image->left_out;
}

/** True if a used pixel is below `least`: then -1 and -2 are values, not marks. */
static int goes_below(const nb_image *image, float least)
{
    for (size_t i = 0, n = pixels_of(image); i < n; i++)
        if (image->pixels[i] < least && !(image->left_out && image->left_out[i]))
            return 1;
    return 0;
}

/** Leave out the pixels with the value a or b. */
static nb_status mark(nb_image *image, float a, float b, nb_left_out why, nb_error *err)
{
    for (size_t i = 0, n = pixels_of(image); i < n; i++) {
        if (image->pixels[i] != a && image->pixels[i] != b)
            continue;
        if (!nb_left_out_of(image, err))
            return NB_ERR_NOMEM;
        if (!image->left_out[i])
            image->left_out[i] = (uint8_t)why;
    }
    return NB_OK;
}

static nb_status mark_signed(nb_image *image, const nb_counts_of *c, nb_error *err)
{
    if (c->least <= -2 || (!(c->least > -2) && goes_below(image, -2)))
        return NB_OK;
    return mark(image, c->least <= -1 ? -2.0f : -1.0f, -2.0f, NB_LEFT_NEGATIVE, err);
}

nb_status nb_leave_out_marks(nb_image *image, const nb_counts_of *c, nb_error *err)
{
    const double highest = c->bits == 32 ? HIGHEST_32 : HIGHEST_16;
    if (c->bits && c->is_signed)
        return mark_signed(image, c, err);
    if ((c->bits != 32 && (c->bits != 16 || c->highest_counts)) || c->max >= highest)
        return NB_OK;
    return mark(image, (float)highest, (float)highest, NB_LEFT_HIGHEST, err);
}

void nb_left_out_words(const int64_t counts[NB_LEFT_KINDS], const char *whose, char *text,
                       size_t size)
{
    static const char *const why[NB_LEFT_KINDS] = {
        [NB_LEFT_MASK] = "by the pixel mask of",
        [NB_LEFT_NEGATIVE] = "hold -1 or -2 in",
        [NB_LEFT_HIGHEST] = "hold the largest number of their type in",
        [NB_LEFT_TYPED] = "by -mask"};
    for (int k = NB_LEFT_MASK; k < NB_LEFT_KINDS; k++) {
        size_t n = strlen(text);
        if (counts[k])
            snprintf(text + n, size - n, "%s%lld %s%s%s", n ? ", " : "",
                     (long long)counts[k], why[k], k == NB_LEFT_TYPED ? "" : " ",
                     k == NB_LEFT_TYPED ? "" : whose);
    }
}
