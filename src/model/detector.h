/* SPDX-License-Identifier: MIT */
/** The detector position: conventions, pivots, rotations, origin. */
#ifndef NB_MODEL_DETECTOR_H
#define NB_MODEL_DETECTOR_H

#include "../nanobragg.h"
#include "../params/params.h"
#include "../physics/scene.h"
#include "displace.h"
#include "sensor.h"

/** How flags placed a detector, before step 6 of docs/physics.md, section 4, and before any
 * displacement. */
typedef struct nb_placement {
    nb_vec3 typed_normal; /* before any rotation */
    double ratio;         /* close distance over distance where the latter was typed */
    double close_distance, distance;     /* m */
    double Fbeam, Sbeam, Fclose, Sclose; /* m */
} nb_placement;

/** The resolved geometry, SI, lab frame. */
typedef struct nb_geometry {
    nb_convention convention;
    nb_pivot pivot;
    int fpixels, spixels;
    double pixel, pixel_slow;         /* m; unequal only in a detector from a file */
    double detsize_f, detsize_s;      /* m */
    nb_vec3 beam, fast, slow, normal; /* unit; the axes after all rotations */
    nb_vec3 polar, vertical, spindle, twotheta_axis; /* unit */
    nb_vec3 pix0;                                    /* outer corner of pixel (0,0), m */
    double rotx, roty, rotz, twotheta;               /* rad */
    double Xbeam, Ybeam;             /* as typed or defaulted, convention's meaning, m */
    double Fbeam, Sbeam;             /* point where the beam hits the plane, m */
    double Fclose, Sclose;           /* nearest point to the sample, m */
    double distance, close_distance; /* m */
    double orgx, orgy;               /* XDS, pixels */
    int beam_panel; /* of several panels that of the beam, which fields above describe */
    nb_vec3 shift;  /* of all panels of a file, m */
    nb_placement placed;          /* by flags */
    const nb_displacement *moved; /* NULL: nothing is displaced */
    nb_body body;                 /* of the beam's panel, before it was displaced */
} nb_geometry;

/** Resolve the geometry of cfg (physics: docs/physics.md, "Detector geometry"). Errors
 * (NB_ERR_INPUT): zero vectors, no pixels, the plane goes through the sample, polarization
 * axis along the beam. */
nb_status nb_geometry_build(const nb_settings *cfg, nb_geometry *out, nb_error *err);

/** The same with the detector displaced; moved must outlive *out, and NULL displaces nothing. */
nb_status nb_geometry_build_moved(const nb_settings *cfg, const nb_displacement *moved,
                                  nb_geometry *out, nb_error *err);

/** Where the flags of the beam centre put the beam and the nearest point: out->Fbeam, Sbeam, Fclose
 * and Sclose from out's convention, pixel and size. */
void nb_geometry_centre(const nb_settings *cfg, nb_geometry *out);

/** The detector of a configuration. */
typedef struct nb_detector {
    int n_panels, n_sensors;
    nb_panel *panels;     /* owned */
    nb_sensor *sensors;   /* owned; equal ones once */
    nb_material material; /* of -sensor, else of the first panel of a file that has one */
    nb_raster raster;     /* without mask */
} nb_detector;

/** Fill det from the geometry and the detector options of cfg; wavelength_A is that of -sensor and of
 * materials. Errors (NB_ERR_INPUT): ROI off the detector or of several panels, curved detector with an
 * axis along the beam, -sensor without thickness or unknown; NB_ERR_UNSUPPORTED: a sensor whose
 * attenuation is not known; NB_ERR_NOMEM. A note is sent through hooks if a default depth is used.
 * Free it, after an error too. */
nb_status nb_detector_build(const nb_settings *cfg, const nb_geometry *geometry,
                            double wavelength_A, const nb_hooks *hooks, nb_detector *det,
                            nb_error *err);
void nb_detector_free(nb_detector *det);

#endif
