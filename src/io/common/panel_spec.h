/* SPDX-License-Identifier: MIT */
/** Common parts of the readers of detector geometries. */
#ifndef NB_IO_PANEL_SPEC_H
#define NB_IO_PANEL_SPEC_H

#include <stddef.h>

#include "../../nanobragg.h"
#include "meta.h"

/** Typed values, which replace values of a geometry file. NaN means not typed. */
typedef struct nb_geometry_typed {
    double distance_mm, wavelength_A;
    int experiment;           /* number of the DIALS experiment; -1: not typed */
    nb_convention convention; /* convention of the run */
    int has_sources;          /* 1: -sourcefile gives the wavelengths */
    const char *image;        /* image of the DIALS experiment; NULL or "": not typed */
} nb_geometry_typed;

enum { NB_GEOMETRY_BYTES = 64 << 20 }; /* limit of a text file */

/** A place in a file, for messages. */
typedef struct nb_place_in_file {
    const char *file;
    long line;        /* 0 without a line */
    const char *name; /* a panel, a JSON pointer or an HDF5 path, or "" */
} nb_place_in_file;

/** Check sizes, directions and edges of one panel, and that its plane misses the sample.
 * fast and slow may have any length and become unit vectors. Errors: NB_ERR_INPUT. */
nb_status nb_panel_spec_check(nb_panel_spec *panel, const nb_place_in_file *at,
                              nb_error *err);

/** Check that all panels together have at most INT_MAX pixels. Errors: NB_ERR_INPUT. */
nb_status nb_spec_check_size(const nb_detector_spec *detector, const char *file,
                             nb_error *err);

/** Number of pixels of the panels before panel k; k = n_panels gives all pixels. */
size_t nb_spec_first_pixel(const nb_detector_spec *detector, int k);

/** Copy the text of the rigid groups of panels. Errors: NB_ERR_NOMEM. */
nb_status nb_spec_copy_groups(const nb_detector_spec *from, nb_detector_spec *to,
                              nb_error *err);

/** Copy the points of a scan; after an error *to is empty. Errors: NB_ERR_NOMEM. */
nb_status nb_scan_points_copy(const nb_scan_points *from, nb_scan_points *to,
                              nb_error *err);
/* Free the points, which may be empty, and zero *points. */
void nb_scan_points_free(nb_scan_points *points);

/** Make a mask that masks no pixel, if the mask is NULL. Errors: NB_ERR_NOMEM. */
nb_status nb_spec_need_mask(nb_detector_spec *detector, nb_error *err);

/** Mask the pixels x[0] to x[1]-1, y[0] to y[1]-1 of a panel; limits are cut to the
 * panel. The detector must have a mask. */
void nb_spec_mask_box(nb_detector_spec *detector, int panel, const int x[2],
                      const int y[2]);

/** A rectangle of masked pixels of a panel: x[0] to x[1]-1, y[0] to y[1]-1. */
typedef struct nb_mask_box {
    int panel, x[2], y[2];
} nb_mask_box;

/** Cover the masked pixels with rectangles that do not overlap; free *boxes with nb_free.
 * Returns the number of boxes, or -1 if it is above `limit` or memory is exhausted. */
int nb_spec_mask_boxes(const nb_detector_spec *detector, int limit, nb_mask_box **boxes);

/** Remove a mask that masks no pixel. */
void nb_spec_drop_mask(nb_detector_spec *detector);

/** Convert a vector from the frame of dxtbx to the frame of NeXus, or back. */
void nb_turn_dxtbx(double v[3]);

/** Convert a scan with a negative width into one with a positive width about the opposite axis. */
void nb_spec_positive_osc(nb_detector_spec *detector);

double nb_length3(const double v[3]);
/** Divide a vector by its length, which must not be 0. */
void nb_unit3(double v[3]);

/* --- The axes of DIALS and of NeXus in the lab; limits of simple headers --- */

/** A right-handed frame: unit vectors in the lab. */
typedef struct nb_axes {
    double x[3], y[3], z[3];
} nb_axes;

double nb_dot3(const double a[3], const double b[3]);
void nb_cross3(const double a[3], const double b[3], double out[3]);

/** Axes of DIALS: z against the beam, x along the fast axis without its part along z. */
nb_axes nb_dials_axes(const nb_image_meta *m);
/** Axes of NeXus, from unit vectors: z along the beam, x against the fast axis. */
nb_axes nb_nexus_axes(const double fast[3], const double slow[3], const double beam[3]);
/** Components of a lab vector along these axes; components that are only rounding errors
 * become 0. */
void nb_dials_turn(const nb_axes *axes, const double v[3], double out[3]);
void nb_nexus_turn(const nb_axes *axes, const double v[3], double out[3]);

/** Parts of a geometry that DIALS cannot read from a header that has only distance, beam
 * centre and pixel size. */
enum {
    NB_LOST_TILT = 1,   /* the detector is tilted, or its axes are reversed */
    NB_LOST_SPINDLE = 2 /* the crystal rotates about another axis than the fast axis */
};
int nb_simple_header_loses(const nb_image_meta *m);

/** Polarization as DIALS stores it: the fraction along the polarization vector, and the
 * normal of the plane of this vector and the beam, in the frame of DIALS. */
void nb_dials_polarization(const nb_image_meta *m, double *fraction, double normal[3]);

/* --- the axes a* b* c* of a crystal: columns of a matrix A, 1/A, row major --- */

/** Split A = U B (Busing & Levy 1967). B has a* along x and b* in the xy plane; the
 * columns of U are the axes x, y, z of B in the lab. */
void nb_axes_split(const double A[9], double U[9], double B[9]);
/** Cell of A: three edges in Angstrom, three angles in deg, each with twelve digits. */
void nb_axes_cell(const double A[9], double cell[6]);
/** Rotations of -misset, deg, that turn a crystal that has only -cell to the orientation
 * of A; NaN for a left-handed or unknown A. */
void nb_axes_misset(const double A[9], double misset[3]);

#endif
