/* SPDX-License-Identifier: MIT */
/** The detector position: conventions, pivots, rotations, origin. */
#ifndef NB_MODEL_DETECTOR_H
#define NB_MODEL_DETECTOR_H

#include "../nanobragg.h"
#include "../physics/scene.h"
#include "sensor.h"

/** The resolved geometry, SI, lab frame. */
typedef struct nb_geometry {
    nb_convention convention;
    nb_pivot pivot;
    int fpixels, spixels;
    double pixel, detsize_f, detsize_s; /* m */
    nb_vec3 beam, fast, slow, normal;   /* unit; the axes after all rotations */
    nb_vec3 polar, vertical, spindle, twotheta_axis; /* unit */
    nb_vec3 pix0;                                    /* outer corner of pixel (0,0), m */
    double rotx, roty, rotz, twotheta;               /* rad */
    double Xbeam, Ybeam;             /* as typed or defaulted, convention's meaning, m */
    double Fbeam, Sbeam;             /* point where the beam hits the plane, m */
    double Fclose, Sclose;           /* nearest point to the sample, m */
    double distance, close_distance; /* m */
    double orgx, orgy;               /* XDS, pixels */
} nb_geometry;

/** Resolve the geometry of cfg (physics: docs/physics.md, "Detector geometry"). Errors
 * (NB_ERR_INPUT): zero vectors, no pixels, the plane goes through the sample, polarization
 * axis along the beam. */
nb_status nb_geometry_build(const nb_config *cfg, nb_geometry *out, nb_error *err);

/** The detector of a configuration: one panel. */
typedef struct nb_detector {
    nb_panel panel;
    nb_sensor sensor;
    nb_material material; /* of -sensor */
    nb_region roi;
} nb_detector;

/** Fill det from the geometry and the detector options of cfg; wavelength_A is that of -sensor. Errors (NB_ERR_INPUT): ROI
 * off the detector, curved detector with an axis along the beam, -sensor without thickness or unknown. A note is sent through
 * hooks if a default depth is used. */
nb_status nb_detector_build(const nb_config *cfg, const nb_geometry *geometry,
                            double wavelength_A, const nb_hooks *hooks, nb_detector *det,
                            nb_error *err);

#endif
