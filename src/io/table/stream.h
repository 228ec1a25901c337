/* SPDX-License-Identifier: MIT */
/** CrystFEL streams: the crystals of each image, read and written. */
#ifndef NB_IO_STREAM_H
#define NB_IO_STREAM_H

#include <stddef.h>

#include "../../base/outfile.h"
#include "../../nanobragg.h"

enum { NB_STREAM_NAME = 256 };

/** A crystal in the axes of CrystFEL and NeXus: z along the beam, y up. */
typedef struct nb_stream_crystal {
    double A[9];        /* columns a* b* c*, row by row, 1/A */
    double shift_mm[2]; /* shift of the detector from the geometry file, along x and y */
} nb_stream_crystal;

/** Images with a crystal, in the order of the stream. */
typedef struct nb_stream {
    nb_stream_crystal *crystal;    /* owned, [n] */
    int *first;                    /* owned, [images + 1]: first crystal of each image */
    char (*image)[NB_STREAM_NAME]; /* owned, [images]: "file[ event]", cut if long */
    double *energy_eV;             /* owned, [images]: photon energy; NaN if missing */
    int n, images;
} nb_stream;

/** True if the text begins as a stream, with or without a byte order mark. */
int nb_stream_is(const char *data, size_t bytes);

/** Read the first `needed` images with crystals. Free *out (zero on error) with
 * nb_stream_free. Errors: NB_ERR_NOMEM, NB_ERR_INPUT with the line (axes that are
 * missing, in one plane or left-handed; fewer than `needed` images). */
nb_status nb_stream_parse(const char *data, size_t bytes, const char *path, int needed,
                          nb_stream *out, nb_error *err);
void nb_stream_free(nb_stream *stream);

/* --- writing: stream_write.c --- */

/** Values of all images, for the head of the file. */
typedef struct nb_stream_head {
    const char *geometry; /* CrystFEL text that ends with a newline */
    size_t geometry_bytes;
    const nb_detector_spec *detector; /* detector of the geometry */
    int (*place)[2];              /* first pixel of each panel in the data: fast, slow */
    double cell[6];               /* cell, A and deg */
    char centering;               /* P A B C I F R, or H: R on hexagonal axes */
    double divergence, bandwidth; /* rad, fraction: standard deviations */
} nb_stream_head;

/** A lattice of an image: a crystal, or a domain of a twin. */
typedef struct nb_stream_lattice {
    double A[9], cell[6]; /* A: as in nb_stream_crystal; cell: A, deg */
    double N[3];          /* unit cells along the edges */
    int crystal, twin;    /* as in nb_reflection */
} nb_stream_lattice;

typedef struct nb_stream_image {
    const char *name;
    int event;  /* number in an HDF5 file, from 0; -1: the file is one image */
    int serial; /* number from 1 */
    double wavelength_A;
    /* shift of the detector relative to the geometry file, along x and y */
    double shift_mm[2];
    const nb_stream_lattice *lattices;
    int n;
    const nb_reflection *spots; /* spots of all lattices */
    size_t n_spots;
} nb_stream_image;

/** A stream that is being written. */
typedef struct nb_stream_out {
    nb_stream_head head;
    nb_outfile file;
} nb_stream_out;

/** Open the file and write the head, whose pointers must live until nb_stream_end. Call
 * nb_stream_end also after errors. Errors: NB_ERR_IO, NB_ERR_NOMEM. */
nb_status nb_stream_begin(nb_stream_out *out, const char *path,
                          const nb_stream_head *head, nb_error *err);
nb_status nb_stream_add(nb_stream_out *out, const nb_stream_image *image, nb_error *err);
/** Complete the file, or remove it after an error. Returns st or the last error. */
nb_status nb_stream_end(nb_stream_out *out, nb_status st, nb_error *err);

#endif
