/* SPDX-License-Identifier: MIT */
/** What an image's header says of the geometry, as settings. */
#ifndef NB_API_IMAGE_HEADER_H
#define NB_API_IMAGE_HEADER_H

#include "../io/image/cbf_read.h"
#include "../io/hdf5/hdf5_read.h"

/** A file that is being read. */
typedef struct nb_opened_image {
    nb_image_file file;
    char name[NB_PATH_MAX];
    nb_image_format format;
    char *data;            /* owned; NULL: HDF5 */
    nb_hdf5_geometry said; /* by HDF5 */
} nb_opened_image;

/** Was a convention or a beam centre typed? */
int nb_header_loses_centre(const nb_config *cfg);

/** What a header may leave open, as a sum. */
typedef enum nb_header_field {
    NB_OPEN_DISTANCE = 1,
    NB_OPEN_PIXEL = 2,
    NB_OPEN_CENTRE = 4,
    NB_OPEN_WAVELENGTH = 8,
    NB_OPEN_TWOTHETA = 16,
    NB_OPEN_START = 32,
    NB_OPEN_WIDTH = 64,
    NB_OPEN_SENSOR = 128,
    NB_OPEN_POLARIZATION = 256,
    NB_OPEN_BEAM = 512
} nb_header_field;

/** What is known of a file besides its geometry. */
typedef struct nb_header_found {
    int own;         /* nanobragg wrote this SMV file */
    double pedestal; /* of SMV */
    unsigned fields; /* NB_OPEN_* that such a file has, without those that it gives and cfg need not show.
                        A file of nanobragg has what was typed: it leaves none open. */
} nb_header_found;

/** Fill what cfg leaves open from the file.  hooks (may be NULL) hear what the file says and is not taken.
 * Errors: those of nb_smv_apply_header. */
nb_status nb_header_apply(const nb_opened_image *in, const char *flag,
                          const nb_hooks *hooks, nb_config *cfg, nb_header_found *found,
                          nb_error *err);

/** The fields, of all, that cfg leaves open; NB_OPEN_BEAM is never among them. */
unsigned nb_header_open(const nb_config *cfg);

/** Of these fields those that cfg leaves open: one note with what is assumed, or none. */
void nb_header_say_open(const nb_config *cfg, unsigned fields, const char *flag,
                        const char *name, const nb_hooks *hooks);

#endif
