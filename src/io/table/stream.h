/* SPDX-License-Identifier: MIT */
/** CrystFEL streams: the crystals of each image, read and written. */
#ifndef NB_IO_STREAM_H
#define NB_IO_STREAM_H

#include <stddef.h>

#include "../../base/outfile.h"
#include "../../nanobragg.h"

enum { NB_STREAM_NAME = 256 };

/** A crystal: its reciprocal axes in columns a* b* c*, row by row, 1/A; x, y, z as in CrystFEL and NeXus: z along the beam, y
 * up. */
typedef struct nb_stream_crystal {
    double A[9];
    double shift_mm[2]; /* shift of the detector from the geometry file, along x and y */
} nb_stream_crystal;

/** Images that have a crystal, in the order of the stream. */
typedef struct nb_stream {
    nb_stream_crystal *crystal; /* owned, [n] */
    int *first;                 /* owned, [images + 1]: of each image in `crystal` */
    char (*image)[NB_STREAM_NAME]; /* owned, [images]: file, and event behind a blank; cut if it is too long */
    double *energy_eV; /* owned, [images]: of the photons; NaN: not said */
    int n, images;
} nb_stream;

/** Does the text begin as a stream?  A byte order mark may stand before it. */
int nb_stream_is(const char *data, size_t bytes);

/** Read the first `needed` images with crystals.  Free *out with nb_stream_free; it is zero after an error.  Errors:
 * NB_ERR_INPUT with the line (axes that are missing, in one plane or left-handed; fewer images), NB_ERR_NOMEM. */
nb_status nb_stream_parse(const char *data, size_t bytes, const char *path, int needed,
                          nb_stream *out, nb_error *err);
void nb_stream_free(nb_stream *stream);

/* --- writing: stream_write.c --- */

/** What stands before the images, and is that of all. */
typedef struct nb_stream_head {
    const char *geometry; /* CrystFEL text, that ends with a line's end */
    size_t geometry_bytes;
    const nb_detector_spec *detector; /* of that text */
    int (*place)[2];                  /* of each panel in the data: fast, slow */
    double cell[6];                   /* A, deg */
    char centering;                   /* P A B C I F R, or H: R on hexagonal axes */
    double divergence, bandwidth;     /* rad, fraction: standard deviations */
} nb_stream_head;

/** A lattice of an image: a crystal, or a part of its twin. */
typedef struct nb_stream_lattice {
    double A[9], cell[6]; /* as nb_stream_crystal; A, deg */
    double N[3];          /* cells along the edges */
    int crystal, twin;    /* as nb_reflection */
} nb_stream_lattice;

typedef struct nb_stream_image {
    const char *name;
    int event;  /* in an HDF5 file, from 0; -1: the file is one image */
    int serial; /* from 1 */
    double wavelength_A;
    double shift_mm[2]; /* shift of the detector from the geometry file, along x and y */
    const nb_stream_lattice *lattices;
    int n;
    const nb_reflection *spots; /* of all lattices */
    size_t n_spots;
} nb_stream_image;

/** A stream that is being written. */
typedef struct nb_stream_out {
    nb_stream_head head;
    nb_outfile file;
} nb_stream_out;

/** Open the file and write the head, whose pointers stay the caller's.  Errors: NB_ERR_IO, NB_ERR_NOMEM.  nb_stream_end
 * ends it, after errors too. */
nb_status nb_stream_begin(nb_stream_out *out, const char *path,
                          const nb_stream_head *head, nb_error *err);
nb_status nb_stream_add(nb_stream_out *out, const nb_stream_image *image, nb_error *err);
/** Complete the file, or with an error leave none; returns st or the error of the last step. */
nb_status nb_stream_end(nb_stream_out *out, nb_status st, nb_error *err);

#endif
