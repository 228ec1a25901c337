/* SPDX-License-Identifier: MIT */
/** Image files: one descriptor a format, one function that writes a file whole or not at all. */
#ifndef NB_IO_WRITER_H
#define NB_IO_WRITER_H

#include "../base/outfile.h"
#include "../nanobragg.h"
#include "meta.h"

typedef enum nb_pixel_type {
    NB_PIXEL_ANY = 0, /* writers only: takes every type */
    NB_PIXEL_F32,
    NB_PIXEL_U16,
    NB_PIXEL_U8
} nb_pixel_type;

/** Pixels [slow][fast] of somebody else, native byte order. */
typedef struct nb_image_view {
    int fast, slow;
    nb_pixel_type type;
    const void *pixels;
    double scale; /* stored value per photon, offset aside; 1 for photons, 0 unknown */
} nb_image_view;

typedef struct nb_writer {
    const char *name;      /* as in messages */
    const char *extension; /* without the dot; NULL: makes no file, path may be NULL */
    nb_pixel_type pixel;   /* what it takes */
    const char *missing;   /* the library that this build lacks for it, or NULL */
    nb_status (*write)(const nb_image_view *image, const nb_image_meta *meta,
                       nb_outfile *out, nb_error *err);
} nb_writer;

extern const nb_writer nb_writer_float;    /* raw float32, native order, nothing else */
extern const nb_writer nb_writer_smv;      /* uint16 with header, docs/formats.md */
extern const nb_writer nb_writer_pgm;      /* 8-bit binary PGM */
extern const nb_writer nb_writer_png;      /* 8-bit grey */
extern const nb_writer nb_writer_tiff_f32; /* float32 TIFF */
extern const nb_writer nb_writer_tiff_u16; /* uint16 TIFF */
extern const nb_writer nb_writer_null;     /* discards, for timing */
extern const nb_writer nb_writer_hash;     /* one line: nb_image_hash, type, fast, slow */

/** Create path, write the image, commit; on any error nothing new is left and an older file
 * keeps its content.  Errors: NB_ERR_IO, NB_ERR_NOMEM, NB_ERR_UNSUPPORTED (missing library),
 * NB_ERR_INTERNAL (image of another pixel type, or no image). */
nb_status nb_write_image(const nb_writer *writer, const char *path,
                         const nb_image_view *image, const nb_image_meta *meta,
                         nb_error *err);

/** Bytes of one pixel. */
size_t nb_pixel_bytes(nb_pixel_type type);

/** 64 bits of the pixels, their type and the image's size (FNV-1a over 64-bit words); equal
 * images have equal hashes, on machines of one byte order. */
uint64_t nb_image_hash(const nb_image_view *image);

/** The date for headers: SOURCE_DATE_EPOCH (seconds since 1970) when it is set to a number, else
 * 0.  A simulation has no time of acquisition, and so two equal runs give equal files. */
time_t nb_image_date(void);

#endif
