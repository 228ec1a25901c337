/* SPDX-License-Identifier: MIT */
/** A crystal and a beam that change along a scan, as DIALS' scan-varying models do. */
#ifndef NB_MODEL_SCAN_H
#define NB_MODEL_SCAN_H

#include "../nanobragg.h"
#include "../params/params.h"
#include "../physics/scene.h"
#include "detector.h"

/** How the cell of a spindle step differs from the crystal, which is that in the middle of the frame: its a, b, c are
 * mix x (a, b, c), row by row; after the mosaic domain's rotation it is turned, and then by the spindle. */
typedef struct nb_scan_step {
    double mix[9];
    nb_mat3 turn;
} nb_scan_step;

/** The frame's middle against the reference of the scan: A = turn x reference x change. */
typedef struct nb_scan_middle {
    double change[9];
    nb_mat3 turn;
} nb_scan_middle;

/** The angles of a frame, and the axis that it turns about. */
typedef struct nb_scan_frame {
    double phi, range; /* rad */
    nb_vec3 spindle;
    nb_convention convention;
} nb_scan_frame;

/** Is the frame within a scan that must hold it?  *from and *to: its ends, deg.  A scan without a width is the frame. */
int nb_scan_holds(const nb_scan_points *scan, double phi_deg, double osc_deg,
                  double *from, double *to);

/** The same as an error, of a frame of this configuration. */
nb_status nb_scan_check(const nb_scan_points *scan, const nb_settings *cfg, nb_error *err);

/** Does the crystal change? */
int nb_scan_changes(const nb_scan_points *scan);

nb_scan_middle nb_scan_middle_of(const nb_scan_points *scan, const nb_scan_frame *frame);
/** From A (nine numbers, columns a* b* c*) of the scan's reference to that of the middle, and back. */
void nb_scan_to_middle(const nb_scan_middle *middle, const double reference[9],
                       double out[9]);
void nb_scan_to_reference(const nb_scan_middle *middle, const double A[9], double out[9]);

/** A at this angle [rad] of the frame, of the reference's. */
void nb_scan_at(const nb_scan_points *scan, const nb_scan_frame *frame, double phi,
                const double reference[9], double out[9]);

/** The step at this angle [rad]. */
nb_scan_step nb_scan_step_of(const nb_scan_points *scan, const nb_scan_frame *frame,
                             const nb_scan_middle *middle, double phi);

/** a, b, c of a step. */
nb_orientation nb_scan_mix(const nb_scan_step *step, nb_orientation crystal);

/** The beam's direction in the middle of a frame, in the frame of NeXus; set 0: it does not change. */
nb_opt3 nb_scan_beam(const nb_scan_points *scan, double phi_deg, double osc_deg);

#endif
