/* SPDX-License-Identifier: MIT */
/** Types of the pixels of an image. */
#ifndef NB_BASE_PIXEL_TYPE_H
#define NB_BASE_PIXEL_TYPE_H

#include <stddef.h>

typedef enum nb_pixel_type {
    NB_PIXEL_ANY = 0, /* only for writers: accepts every type */
    NB_PIXEL_F32,
    NB_PIXEL_U16,
    NB_PIXEL_U8,
    NB_PIXEL_RGB, /* three bytes */
    NB_PIXEL_I32,
    NB_PIXEL_I16
} nb_pixel_type;

/** Bytes of one pixel. */
static inline size_t nb_pixel_bytes(nb_pixel_type type)
{
    static const size_t bytes[] = {0, 4, 2, 1, 3, 4, 2};
    return bytes[type];
}

/** True for the integers of a detector: counts or ADU. */
static inline int nb_pixel_is_count(nb_pixel_type type)
{
    return type == NB_PIXEL_U16 || type == NB_PIXEL_I32 || type == NB_PIXEL_I16;
}

#endif
