/* SPDX-License-Identifier: MIT */
/** Writers of image files: an nb_writer for each format, and functions that write whole
 * files (after an error no new file is left). */
#ifndef NB_IO_WRITER_H
#define NB_IO_WRITER_H

#include "../../base/outfile.h"
#include "../../base/pixel_type.h"
#include "../../nanobragg.h"
#include "../common/meta.h"

/** An image [slow][fast] in native byte order: pixels of the caller, or a function that
 * makes rows on demand, so that memory never holds all rows. */
typedef struct nb_image_view {
    int fast, slow;
    nb_pixel_type type;
    const void *pixels; /* or NULL to call make_rows */
    double scale; /* stored value per photon, without offset; 1: photons; 0: unknown */
    /** Fill out[rows][fast] with the rows from `first` on. Each row is made once: in
     * any order by several threads at once, but with in_order from first to last. */
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
    const char *name;    /* name in messages */
    nb_pixel_type pixel; /* type of the pixels */
    /** For formats in which the rows of pixels follow a header: fill the empty *header.
     * NULL if the file is only the rows. */
    nb_status (*header)(const nb_image_view *image, const nb_image_meta *meta,
                        nb_image_header *header, nb_error *err);
    /** For formats with another structure: write the whole file. NULL for the other
     * formats. */
    nb_status (*write)(const nb_image_view *image, const nb_image_meta *meta,
                       nb_outfile *out, nb_error *err);
    /** Load the library of the format; NULL if it needs none. Errors: NB_ERR_UNSUPPORTED,
     * with the names of flag and library. */
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

/** Create the file, write the image, and commit. After an error no new file is left, and
 * an older file is unchanged. Errors: those of make_rows, NB_ERR_IO, NB_ERR_NOMEM,
 * NB_ERR_UNSUPPORTED (missing library), NB_ERR_INTERNAL (wrong pixel type, no image). */
nb_status nb_write_image(const nb_writer *writer, const char *path,
                         const nb_image_view *image, const nb_image_meta *meta,
                         nb_error *err);

/** One file of several that are written together. */
typedef struct nb_write_job {
    const nb_writer *writer;
    const char *path;
    nb_image_view view;
    const nb_image_meta *meta;
    int durable;                        /* 1: use nb_outfile_commit_durably */
    double make_seconds, write_seconds; /* results: sums over the threads */
} nb_write_job;

/** Source of memory for the rows. A device can write into it directly, unlike ordinary
 * memory. */
typedef struct nb_write_memory {
    void *user;
    void *(*take)(void *user, size_t bytes); /* take memory; NULL: use ordinary memory */
    void (*give)(void *user, void *memory);
    /** Called once after the last make_rows, before the files are complete. */
    void (*all_made)(void *user);
} nb_write_memory;

/** Write n images at the same time with up to `threads` threads. Each file is complete or
 * absent. A failing file does not stop the others. memory may be NULL. Errors: as
 * nb_write_image, of the first job that failed. */
nb_status nb_write_images(nb_write_job *jobs, int n, int threads,
                          const nb_write_memory *memory, nb_error *err);

/** Check that this build can write the format. Arguments and errors: nb_writer.ready. */
nb_status nb_writer_ready(const nb_writer *writer, const char *flag, nb_error *err);

/** Check size and pixel type of an image for this writer. Errors: NB_ERR_INTERNAL. */
nb_status nb_image_check(const nb_writer *writer, const nb_image_view *image,
                         nb_error *err);

/** Get `count` rows of an image. *rows points into image->pixels, or to `buffer`, which
 * make_rows fills. */
nb_status nb_image_rows(const nb_image_view *image, int first, int count, void *buffer,
                        const void **rows, nb_error *err);

/** Date for headers: SOURCE_DATE_EPOCH (seconds since 1970) if it is a number, else 0, so
 * that equal runs give equal files. */
time_t nb_image_date(void);

/* --- Files of derivatives --- */

/** Planes of derivatives of the pixels, and the image of the same calculation. */
typedef struct nb_slope_file {
    const nb_variable *about; /* [count]: variable of each plane */
    int count;
    int fast, slow; /* pixels of a plane: panels stand below each other */
    nb_real_type type;
    const void *planes; /* [count][slow][fast] */
    const float *image; /* [slow][fast] */
} nb_slope_file;

/** Write an HDF5 file if the name ends in .h5, .hdf5 or .nxs: /derivatives/NAME with the
 * attributes unit, value and flag, and /image. Else write only the planes, in native byte
 * order. Errors: NB_ERR_IO, NB_ERR_UNSUPPORTED (no libhdf5), NB_ERR_NOMEM. */
nb_status nb_slopes_write(const char *path, const nb_slope_file *file, nb_error *err);

/* --- Formats of numbered files (-output), chosen by the extension of the name ---
 * A new format needs a word in NB_FORMATS, and a file with an nb_format and a writer. All
 * other code uses this interface. */

/* Formats in the order of messages. */
#define NB_FORMATS(X) X(smv) X(cbf) X(tiff) X(png) X(float)

typedef struct nb_format {
    const char *name;       /* name of the file in messages */
    const char *extensions; /* ".tif .tiff"; messages print the first */
    /* writer; if its pixels have 8 bits, it gets the picture of -pngfile */
    const nb_writer *writer;
    const nb_writer *narrow; /* writer for 16-bit samples (-tiffbits), or NULL */
    /* bits of nb_param.flags, in addition to NB_PARAM_PIXELS, of parameters that change
     * the files */
    unsigned params;
    nb_header_kind header;
    int any_panels; /* 1: stores all panels of a detector, below each other */
} nb_format;

#define NB_DECLARE_FORMAT(name) extern const nb_format nb_format_##name;
NB_FORMATS(NB_DECLARE_FORMAT)

/** Format of a file with this name, or NULL for an unknown extension. */
const nb_format *nb_format_of(const char *path);

/** Writer of a format. bits: 16 selects format->narrow, if the format has it. */
const nb_writer *nb_format_writer(const nb_format *format, int bits);

/** Write ".img, .cbf, .tif, .png or .bin" to text, cut at size. */
void nb_format_extensions(char *text, size_t size);

#endif
