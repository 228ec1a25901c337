/* SPDX-License-Identifier: MIT */
/** Common parts of the readers of detector geometries. */
#ifndef NB_IO_PANEL_SPEC_H
#define NB_IO_PANEL_SPEC_H

#include <stddef.h>

#include "../../nanobragg.h"
#include "meta.h"

/** Typed values that win over those of a geometry file; NaN: not typed. */
typedef struct nb_geometry_typed {
    double distance_mm, wavelength_A;
    int experiment;           /* of a DIALS file; -1: not typed */
    nb_convention convention; /* of the run */
    double max_read_MB;       /* for nb_declared_check; 0: its default */
    int has_sources;          /* -sourcefile, which has wavelengths */
    const char *image; /* of the experiment of a DIALS file; NULL or "": not typed */
} nb_geometry_typed;

enum { NB_GEOMETRY_BYTES = 64 << 20 }; /* of a text file */

/** A place in a file: a line (0 none), and a name or "". */
typedef struct nb_place_in_file {
    const char *file;
    long line;
    const char *name; /* of the panel, a JSON pointer or an HDF5 path */
} nb_place_in_file;

/** Check one panel: sizes, directions, edges, and that its plane is not at the sample.  fast and
 * slow may have any length; they are made unit. */
nb_status nb_panel_spec_check(nb_panel_spec *panel, const nb_place_in_file *at,
                              nb_error *err);

/** Check all panels together: their pixels fit a stack. */
nb_status nb_spec_check_size(const nb_detector_spec *detector, const char *file,
                             nb_error *err);

/** Pixels of the panels before panel k; of n_panels: all. */
size_t nb_spec_first_pixel(const nb_detector_spec *detector, int k);

/** Copy the lines of rigid groups.  Errors: NB_ERR_NOMEM. */
nb_status nb_spec_copy_groups(const nb_detector_spec *from, nb_detector_spec *to,
                              nb_error *err);

/** A copy of what a scan says; its own after an error is empty.  Errors: NB_ERR_NOMEM. */
nb_status nb_scan_points_copy(const nb_scan_points *from, nb_scan_points *to,
                              nb_error *err);
void nb_scan_points_free(nb_scan_points *points); /* zeroed or filled; zeroes it */

/** Make the mask, with nothing masked, unless there is one. */
nb_status nb_spec_need_mask(nb_detector_spec *detector, nb_error *err);

/** Mask the rectangle x0..x1-1, y0..y1-1 of a panel; limits are cut to the panel. There must be a
 * mask. */
void nb_spec_mask_box(nb_detector_spec *detector, int panel, const int x[2],
                      const int y[2]);

/** A rectangle of masked pixels: x0 <= x < x1, y0 <= y < y1 of a panel. */
typedef struct nb_mask_box {
    int panel, x[2], y[2];
} nb_mask_box;

/** The masked pixels as rectangles that do not overlap; *boxes is the caller's (nb_free).  Returns their
 * number, at most `most`; -1: more, or no memory. */
int nb_spec_mask_boxes(const nb_detector_spec *detector, int most, nb_mask_box **boxes);

/** Remove the mask when it masks nothing. */
void nb_spec_drop_mask(nb_detector_spec *detector);

/** From the frame of dxtbx to that of NeXus, and back. */
void nb_turn_dxtbx(double v[3]);

/** Convert a scan with a negative width into one with a positive width about the opposite axis. */
void nb_spec_positive_osc(nb_detector_spec *detector);

double nb_length3(const double v[3]);
/** Divide by the length, which must not be 0. */
void nb_unit3(double v[3]);

/* The axes of DIALS and of NeXus in the lab, and the parts of a geometry that a simple header
 * cannot hold. */

/** Unit vectors, right-handed. */
typedef struct nb_axes {
    double x[3], y[3], z[3];
} nb_axes;

double nb_dot3(const double a[3], const double b[3]);
void nb_cross3(const double a[3], const double b[3], double out[3]);

/** DIALS: x along the fast axis as far as it is across the beam, z against the beam. */
nb_axes nb_dials_axes(const nb_image_meta *m);
/** NeXus: x against the fast axis, z along the beam; from unit vectors. */
nb_axes nb_nexus_axes(const double fast[3], const double slow[3], const double beam[3]);
/** A vector of the lab along these axes; residues of rounding become 0. */
void nb_dials_turn(const nb_axes *axes, const double v[3], double out[3]);
void nb_nexus_turn(const nb_axes *axes, const double v[3], double out[3]);

/** Geometry that DIALS cannot read from a header with only distance, beam centre and pixel
 * size. */
enum {
    NB_LOST_TILT = 1, /* a detector that is not across the beam, or runs the other way */
    NB_LOST_SPINDLE = 2 /* a rotation about another axis than the fast one */
};
int nb_simple_header_loses(const nb_image_meta *m);

/** The polarization of DIALS: the fraction along the polarization vector, and the normal of
 * the plane of this vector and the beam, in the frame of DIALS. */
void nb_dials_polarization(const nb_image_meta *m, double *fraction, double normal[3]);

/* --- A limit of the memory that a file may need --- */

/** A header can declare any size, and a few compressed bytes can grow to gigabytes. A file
 * of `stored` bytes may need `wanted` bytes if they are at most ten times as many, or at
 * most most_MB (0 or below: NB_DECLARED_MB). Errors: NB_ERR_INPUT, which names -max_read. */
nb_status nb_declared_check(const char *name, double wanted, double stored,
                            double most_MB, nb_error *err);

#define NB_DECLARED_MB 500
#define NB_DECLARED_RATIO 10

/* --- the axes a* b* c* of a crystal, columns of A, 1/A, row major --- */

/** A = U B (Busing & Levy 1967): B has a* along x and b* in the xy plane; columns of U are
 * those axes in the lab. */
void nb_axes_split(const double A[9], double U[9], double B[9]);
/** The cell of A, of twelve digits: Angstrom, deg. */
void nb_axes_cell(const double A[9], double cell[6]);
/** The rotations of -misset that turn the crystal of -cell into that of A, deg; of a left-handed or unknown A NaN. */
void nb_axes_misset(const double A[9], double misset[3]);

#endif
