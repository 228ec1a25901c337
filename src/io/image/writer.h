/* SPDX-License-Identifier: MIT */
/** Image files: one descriptor per format, one function that writes a complete file or
 * none. */
#ifndef NB_IO_WRITER_H
#define NB_IO_WRITER_H

#include "../../base/outfile.h"
#include "../../base/pixel_type.h"
#include "../../nanobragg.h"
#include "../common/meta.h"

/** An image [slow][fast], native byte order: pixels of the caller, or a function that makes rows
 * on demand, so that they are never all in memory. */
typedef struct nb_image_view {
    int fast, slow;
    nb_pixel_type type;
    const void *pixels; /* NULL: call make_rows */
    double scale; /* stored value per photon, offset aside; 1 for photons, 0 unknown */
    /** Fill out[rows][fast] with the rows from `first` on.  Called by several threads at once, in
     * any order, each row once; with in_order set from first to last. */
    nb_status (*make_rows)(void *user, int first, int rows, void *out, nb_error *err);
    void *user;
    int in_order;
} nb_image_view;

/** The bytes before the pixels. */
typedef struct nb_image_header {
    char text[16384];
    size_t used;
} nb_image_header;

typedef struct nb_writer {
    const char *name;    /* as in messages */
    nb_pixel_type pixel; /* what it takes */
    /** For a format with a header and then all pixels, row after row: fill *header, which
     * is empty; NULL: the pixels alone. */
    nb_status (*header)(const nb_image_view *image, const nb_image_meta *meta,
                        nb_image_header *header, nb_error *err);
    /** For the other formats: write everything. */
    nb_status (*write)(const nb_image_view *image, const nb_image_meta *meta,
                       nb_outfile *out, nb_error *err);
    /** Load the library that it needs; NULL: none.  Errors: NB_ERR_UNSUPPORTED names the flag and the library. */
    nb_status (*ready)(const char *flag, nb_error *err);
} nb_writer;

extern const nb_writer nb_writer_float;    /* raw float32, native byte order */
extern const nb_writer nb_writer_smv;      /* uint16 with header, docs/formats.md */
extern const nb_writer nb_writer_pgm;      /* 8-bit binary PGM */
extern const nb_writer nb_writer_png;      /* 8-bit grey */
extern const nb_writer nb_writer_png_rgb;  /* 8-bit colours */
extern const nb_writer nb_writer_tiff_f32; /* float32 TIFF */
extern const nb_writer nb_writer_tiff_u16; /* uint16 TIFF */
extern const nb_writer nb_writer_cbf;      /* int32 mini-CBF, byte-offset compression */

/** Create path, write the image, commit. After an error no new file is left, and an older
 * file is unchanged. Errors: NB_ERR_IO, NB_ERR_NOMEM, NB_ERR_UNSUPPORTED (missing library),
 * NB_ERR_INTERNAL (image of another pixel type, or no image), and what make_rows returns. */
nb_status nb_write_image(const nb_writer *writer, const char *path,
                         const nb_image_view *image, const nb_image_meta *meta,
                         nb_error *err);

/** One file of several that are written together. */
typedef struct nb_write_job {
    const nb_writer *writer;
    const char *path;
    nb_image_view view;
    const nb_image_meta *meta;
    int durable;                        /* nb_outfile_commit_durably */
    double make_seconds, write_seconds; /* out: summed over the threads */
} nb_write_job;

/** Memory for the threads' rows that a device can write directly, instead of ordinary
 * memory. */
typedef struct nb_write_memory {
    void *user;
    void *(*take)(void *user, size_t bytes); /* NULL: none; ordinary memory then */
    void (*give)(void *user, void *memory);
    /** Called once, after the last rows were requested; files are still being completed. */
    void (*all_made)(void *user);
} nb_write_memory;

/** Write n images at the same time with up to `threads` threads. Each file is complete or
 * absent. A failing file does not stop the others. memory may be NULL. Errors: as
 * nb_write_image, of the first job that failed. */
nb_status nb_write_images(nb_write_job *jobs, int n, int threads,
                          const nb_write_memory *memory, nb_error *err);

/** Can this build write the format? flag: for messages. Errors: as nb_writer.ready. */
nb_status nb_writer_ready(const nb_writer *writer, const char *flag, nb_error *err);

/** Can this writer take this image?  Errors: NB_ERR_INTERNAL. */
nb_status nb_image_check(const nb_writer *writer, const nb_image_view *image,
                         nb_error *err);

/** Rows of an image: *rows points to them in image->pixels, or in `buffer`, which then holds
 * them. */
nb_status nb_image_rows(const nb_image_view *image, int first, int count, void *buffer,
                        const void **rows, nb_error *err);

/** The date for headers: SOURCE_DATE_EPOCH (seconds since 1970) if it is set to a number,
 * else 0. So two equal runs give equal files. */
time_t nb_image_date(void);

/* --- Files of derivatives --- */

/** Planes of slopes, and the image of the same pass. */
typedef struct nb_slope_file {
    const nb_variable *about; /* [count] */
    int count;
    int fast, slow; /* of the stack */
    nb_real_type type;
    const void *planes; /* [count][slow][fast] */
    const float *image; /* [slow][fast] */
} nb_slope_file;

/** A name that ends in .h5, .hdf5 or .nxs is an HDF5 file: /derivatives/NAME with attributes unit,
 * value and flag, and /image.  Any other holds the planes alone, little-endian.  Errors: NB_ERR_IO,
 * NB_ERR_UNSUPPORTED (no HDF5), NB_ERR_NOMEM. */
nb_status nb_slopes_write(const char *path, const nb_slope_file *file, nb_error *err);

/* The formats of numbered files (-output), chosen by the extension of their names. A new format
 * needs a word in NB_FORMATS and a file with its nb_format and its writer; all other code uses
 * this interface. */

/* In the order of messages. */
#define NB_FORMATS(X) X(smv) X(cbf) X(tiff) X(png) X(float)

typedef struct nb_format {
    const char *name;        /* as in messages */
    const char *extensions;  /* ".tif .tiff": messages have the first */
    const nb_writer *writer; /* of 8-bit pixels: the picture that -pngfile makes */
    const nb_writer *
        narrow; /* writer for 16 bits a sample (-tiffbits), if there is a choice; else NULL */
    unsigned params; /* bits of nb_param.flags of the values that change its files, besides NB_PARAM_PIXELS */
    nb_header_kind header;
    int any_panels; /* stores all panels of a detector, below each other */
} nb_format;

#define NB_DECLARE_FORMAT(name) extern const nb_format nb_format_##name;
NB_FORMATS(NB_DECLARE_FORMAT)

/** The format of a file of this name; NULL: no format has its extension. */
const nb_format *nb_format_of(const char *path);

/** Its writer; bits: of a sample, where the format has a choice. */
const nb_writer *nb_format_writer(const nb_format *format, int bits);

/** ".img, .cbf, .tif, .png or .bin", cut at size. */
void nb_format_extensions(char *text, size_t size);

#endif
