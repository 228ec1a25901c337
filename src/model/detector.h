/* SPDX-License-Identifier: MIT */
/** The detector position: conventions, pivots, rotations, origin. */
#ifndef NB_MODEL_DETECTOR_H
#define NB_MODEL_DETECTOR_H

#include "../nanobragg.h"
#include "../params/params.h"
#include "../physics/scene.h"
#include "../physics/vec3.h"

/* Small rotations of the crystal, and shifts and rotations of the detector and of its panels, on top
 * of what the configuration places: for a fit. */

/** Of the whole detector, or of one panel. */
typedef struct nb_place_change {
    double shift[3]; /* along lab x, y, z; m */
    double along[3]; /* along the own fast, slow and normal axis as they were; m */
    double turn[3];  /* rotation vector in these axes; rad */
} nb_place_change;

/** All zero: nothing is displaced. */
typedef struct nb_displacement {
    double rot[3];         /* rotation vector of the crystal in the lab, rad */
    nb_place_change whole; /* as one body, by the axes and the origin of the beam's panel */
    nb_place_change *panels; /* [n_panels], about their own origins; NULL: none */
    int n_panels;
} nb_displacement;

/** The axes that shifts and rotations refer to: of a panel before it is displaced. */
typedef struct nb_body {
    nb_vec3 origin, axis[3]; /* fast, slow, normal */
} nb_body;

/** Is anything displaced? */
int nb_is_displaced(const nb_displacement *moved);

/** The rotation by the vector w [rad], applied to v. */
nb_vec3 nb_turn(nb_vec3 w, nb_vec3 v);
/** The rate of rotation (per unit of a component of w along e) of nb_turn: its left Jacobian. */
nb_vec3 nb_turn_rate(nb_vec3 w, nb_vec3 e);
/** x0 axis[0] + x1 axis[1] + x2 axis[2] */
nb_vec3 nb_along_axes(const nb_body *body, const double x[3]);

/** Move the place of panel k (0 without panels); body: the whole detector's, own: the panel's. */
void nb_displace(const nb_displacement *moved, int k, const nb_body *body,
                 const nb_body *own, nb_body *place);

/* --- Sensor materials: how strongly they absorb (docs/physics.md, section 16) --- */

typedef struct nb_material {
    char name[NB_SENSOR_MAX]; /* as typed, without the density; "": none */
    double density;           /* g/cm3 */
    double mu;                /* attenuation, 1/m */
} nb_material;

/** The material "name" or "name:density" of -sensor at a wavelength: a name of the table, or a
 * chemical formula.  Total attenuation with coherent scattering, from xraylib (T. Schoonjans et al.,
 * Spectrochim. Acta B 66, 776 (2011)).  Errors: NB_ERR_INPUT (unknown material, no density, no
 * attenuation at this energy), NB_ERR_UNSUPPORTED without xraylib. */
nb_status nb_material_find(const char *text, double wavelength_A, nb_material *out,
                           nb_error *err);

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

/* The panels of a detector from a file, in the lab frame.  For geometry.c and detector.c. */

/** Before the panels are placed: the shift of all of them, along fast and slow of the convention,
 * which g holds.  Errors: NB_ERR_INPUT for a mirrored frame. */
nb_status nb_geometry_frame(const nb_settings *cfg, nb_geometry *g, nb_error *err);

/** Choose the panel of the beam; g holds what is asked of one panel. */
void nb_geometry_take_panel(const nb_detector_spec *detector,
                            const nb_displacement *moved, nb_geometry *g);

/** Position, size and axes of panel k of a file; the rest of *panel is not written. */
void nb_panel_place(const nb_geometry *g, const nb_panel_spec *spec, int k,
                    nb_panel *panel);

/* The lab frame of a convention, and that of NeXus and CrystFEL, in which geometry files are kept. */

/** From the frame of NeXus (Z along the beam, Y up) to the lab.  Only signs and places change. */
nb_vec3 nb_lab_of_nexus(nb_convention convention, const double v[3]);
/** The inverse. */
void nb_nexus_of_lab(nb_convention convention, nb_vec3 lab, double v[3]);

/* --- Places of the panels in one two-dimensional array --- */

/** The canvas: an array that holds every panel, and gaps. */
typedef struct nb_panel_canvas {
    int size[2]; /* fast, slow */
    int as_file; /* the places are those of the geometry file */
} nb_panel_canvas;

/** place[n_panels] (may be NULL): fast, slow of each panel's first pixel.  Below each other at fast 0; with
 * NB_LAYOUT_FILE as in the file, if it has places and no panels overlap there. */
nb_panel_canvas nb_layout_panels(const nb_detector_spec *detector, nb_layout layout,
                                 int (*place)[2]);

/* --- The absorbing sensors of panels --- */

/** The sensor that flags describe; material_mu (1/m): of -sensor, or NaN. */
nb_sensor nb_sensor_typed(const nb_settings *cfg, double material_mu,
                          const nb_hooks *hooks);

/** What a panel's sensor needs beside its panel. */
typedef struct nb_sensor_inputs {
    double wavelength_A;
    const nb_material *typed; /* of -sensor; name "": none */
    int first;                /* no other panel had a default, so a notice may say it */
} nb_sensor_inputs;

/** The sensor of a panel from a file; flags win.  *found: the material that was looked up last, which
 * is kept for the next panel.  Errors: those of nb_material_find. */
nb_status nb_sensor_of_panel(const nb_settings *cfg, const nb_panel_spec *spec,
                             const nb_sensor_inputs *in, const nb_hooks *hooks,
                             nb_material *found, nb_sensor *out, nb_error *err);

/** Has a panel a sensor that absorbs? */
static inline int nb_scene_absorbs(const nb_scene *sc)
{
    int absorbs = 0;
    for (int k = 0; k < sc->n_panels; k++)
        absorbs |= sc->sensors[sc->panels[k].sensor].absorb;
    return absorbs;
}

#endif
