/* SPDX-License-Identifier: MIT */
/** Detector geometries of CrystFEL (manual page crystfel_geometry(5); docs/formats.md). */
#ifndef NB_IO_GEOM_H
#define NB_IO_GEOM_H

#include "../common/panel_spec.h"

/* --- The lines of a file before they become panels: only for geom*.c --- */

enum { NB_GEOM_DIMS = 8, NB_GEOM_MASKS = 8 };

/** A piece of the text without blanks around it; p is NULL if the piece is missing. */
typedef struct nb_piece {
    const char *p, *end;
    long line;
} nb_piece;

int nb_piece_is(nb_piece span, const char *text);
int nb_piece_equal(nb_piece a, nb_piece b);

/** Meaning of a dimension of the data; 0 and above: a fixed index. */
enum { NB_GEOM_UNSET = -4, NB_GEOM_FRAME = -3, NB_GEOM_SS = -2, NB_GEOM_FS = -1 };

/** A mask in an HDF5 file. */
typedef struct nb_geom_mask_file {
    nb_piece file, data;
    double good, bad; /* bits, whole numbers below 2^53 */
} nb_geom_mask_file;

/** Properties of a panel, or defaults of the next panels. NaN without a value. */
typedef struct nb_geom_panel {
    nb_piece name;
    double fs_first, fs_last, ss_first, ss_last;
    nb_piece fs, ss; /* directions fs and ss */
    double corner_x, corner_y, res, coffset;
    nb_piece clen;
    double adu_per_photon, adu_per_eV, max_adu;
    double edge; /* number of pixels of mask_edge_pixels */
    int no_index;
    nb_piece data; /* path of the panel's data */
    int dims[NB_GEOM_DIMS];
    nb_geom_mask_file masks[NB_GEOM_MASKS];
} nb_geom_panel;

/** A bad region. */
typedef struct nb_geom_bad {
    nb_piece name, panel;
    double fs_first, fs_last, ss_first, ss_last;
    double x_least, x_max, y_least, y_max;
} nb_geom_bad;

/** Contents of a geometry file. An nb_piece points into its text. */
typedef struct nb_geom_text {
    const char *name; /* name of the file */
    nb_geom_panel standard, *panels;
    int n_panels;
    nb_geom_bad *bad; /* [n_bad] */
    int n_bad;
    nb_piece clen, photon_energy, wavelength, shift[2];
    double shift_m[2]; /* shift of the detector; nb_geom_build fills it */
    nb_piece *groups;  /* lines that name rigid groups */
    int n_groups;
    size_t room_panels, room_bad, room_groups;
    const nb_hooks *hooks;
    nb_piece unknown[16]; /* unknown keys that a notice has named */
    int n_unknown;
} nb_geom_text;

/** Read all lines.  *out is zero after an error; free it with nb_geom_text_free. */
nb_status nb_geom_text_read(const char *data, size_t n, const char *name,
                            const nb_hooks *hooks, nb_geom_text *out, nb_error *err);
void nb_geom_text_free(nb_geom_text *text);

/** Read a direction: a sum such as +0.99x -0.1y +0.02z, not 0. */
nb_status nb_geom_direction(const nb_geom_text *text, nb_piece at, double v[3],
                            nb_error *err);

/** Fail with NB_ERR_INPUT and the line of a piece. */
nb_status nb_geom_fail(const nb_geom_text *text, nb_piece at, const char *what,
                       nb_error *err);

/** Read the number at the start of a piece; returns the text after the number (a unit).
 * *value is NaN without a number. */
nb_piece nb_geom_number(nb_piece span, double *value);

/* --- Panels --- */

/** Read a geometry file with its masks. *out is zero after an error. */
nb_status nb_geom_read(const char *path, const nb_geometry_typed *typed,
                       const nb_hooks *hooks, nb_detector_spec *out, nb_error *err);

/** Make the panels from the lines of a file. *out is zero after an error. */
nb_status nb_geom_build(nb_geom_text *text, const nb_geometry_typed *typed,
                        nb_detector_spec *out, nb_error *err);

/** Mask bad regions, edges and panels with no_index. */
nb_status nb_geom_mask(const nb_geom_text *text, nb_detector_spec *out, nb_error *err);

/** Apply masks in HDF5 files. Errors: also NB_ERR_UNSUPPORTED without libhdf5. */
nb_status nb_geom_mask_files(const nb_geom_text *text, nb_detector_spec *out,
                             nb_error *err);

/* --- A detector as CrystFEL text (docs/formats.md) --- */

/** A detector to print. */
typedef struct nb_geom_job {
    const nb_detector_spec *detector;
    int (*place)[2];   /* first pixel of each panel in the data: fast, slow */
    const char *mask;  /* HDF5 file with the mask; NULL: the mask becomes bad regions */
    const char *maker; /* text of the first comment */
    const nb_hooks *hooks;
} nb_geom_job;

/** Print numbers without exponent, with at least 15 significant digits. Free *text
 * (*n bytes without a NUL) with nb_free. Errors: NB_ERR_NOMEM. */
nb_status nb_geom_print(const nb_geom_job *job, char **text, size_t *n, nb_error *err);

#endif
