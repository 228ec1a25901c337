/* SPDX-License-Identifier: MIT */
/** The detector position: conventions, pivots, rotations, origin. */
#ifndef NB_MODEL_DETECTOR_H
#define NB_MODEL_DETECTOR_H

#include "../nanobragg.h"
#include "../params/params.h"
#include "../physics/scene.h"
#include "../physics/vec3.h"

/* Small rotations of the crystal, and shifts and rotations of the detector and its
 * panels, in addition to the configuration. A fit uses such displacements. */

/** Change of the whole detector or of one panel. */
typedef struct nb_place_change {
    double shift[3]; /* along lab x, y, z; m */
    double along[3]; /* along the fast, slow and normal axis before the change; m */
    double turn[3];  /* rotation vector along the same axes; rad */
} nb_place_change;

/** A displacement of crystal and detector; zero changes nothing. */
typedef struct nb_displacement {
    double rot[3]; /* rotation vector of the crystal in the lab, rad */
    /* change of the whole detector, relative to origin and axes of the panel that the
     * beam hits */
    nb_place_change whole;
    /* [n_panels], changes relative to origin and axes of each panel, or NULL */
    nb_place_change *panels;
    int n_panels;
} nb_displacement;

/** Origin and axes of shifts and rotations: those of a panel before it is displaced. */
typedef struct nb_body {
    nb_vec3 origin, axis[3]; /* fast, slow, normal */
} nb_body;

/** True if anything is displaced. */
int nb_is_displaced(const nb_displacement *moved);

/** Rotate v by the rotation vector w [rad]. */
nb_vec3 nb_turn(nb_vec3 w, nb_vec3 v);
/** Rate of the rotation of nb_turn if w changes along e: left Jacobian of w, times e. */
nb_vec3 nb_turn_rate(nb_vec3 w, nb_vec3 e);
/** Vector x[0] axis[0] + x[1] axis[1] + x[2] axis[2]. */
nb_vec3 nb_along_axes(const nb_body *body, const double x[3]);

/** Displace *place of panel k. body: origin and axes of the whole detector; own: of panel
 * k. */
void nb_displace(const nb_displacement *moved, int k, const nb_body *body,
                 const nb_body *own, nb_body *place);

/* --- Sensor materials and their absorption (docs/physics.md, section 16) --- */

typedef struct nb_material {
    char name[NB_SENSOR_MAX]; /* name as typed, without the density; may be "" */
    double density;           /* g/cm3 */
    double mu;                /* attenuation, 1/m */
} nb_material;

/** Find the material "name" or "name:density" of -sensor at a wavelength: a name of the
 * table or a formula. Total attenuation with coherent scattering, from xraylib (T.
 * Schoonjans et al., Spectrochim. Acta B 66, 776 (2011)). NB_ERR_INPUT: unknown material,
 * density or attenuation. NB_ERR_UNSUPPORTED: no xraylib. */
nb_status nb_material_find(const char *text, double wavelength_A, nb_material *out,
                           nb_error *err);

/** Position of a detector that flags place, before step 6 of docs/physics.md, section
 * 4. */
typedef struct nb_placement {
    nb_vec3 typed_normal; /* typed normal of the detector before any rotation */
    double ratio;         /* close distance over distance, if -distance is typed */
    double close_distance, distance;     /* m */
    double Fbeam, Sbeam, Fclose, Sclose; /* m */
} nb_placement;

/** The resolved geometry, SI, lab frame. */
typedef struct nb_geometry {
    nb_convention convention;
    nb_pivot pivot;
    int fpixels, spixels;
    double pixel, pixel_slow;         /* m; they differ only in a detector from a file */
    double detsize_f, detsize_s;      /* m */
    nb_vec3 beam, fast, slow, normal; /* unit; the axes after all rotations */
    nb_vec3 polar, vertical, spindle, twotheta_axis; /* unit */
    nb_vec3 pix0;                                    /* outer corner of pixel (0,0), m */
    double rotx, roty, rotz, twotheta;               /* rad */
    /* beam centre as the convention measures it, typed or default, m */
    double Xbeam, Ybeam;
    double Fbeam, Sbeam; /* point where the beam hits the plane, m */
    /* point of the plane that is nearest to the sample, m */
    double Fclose, Sclose;
    double distance, close_distance; /* m */
    double orgx, orgy;               /* beam centre in the convention of XDS, pixels */
    /* number of the panel that the beam hits, which the members above describe */
    int beam_panel;
    nb_vec3 shift;                /* shift of all panels of a file, m */
    nb_placement placed;          /* position by flags */
    const nb_displacement *moved; /* displacement, or NULL */
    nb_body body;                 /* panel that the beam hits, before its displacement */
} nb_geometry;

/** Resolve the geometry of cfg (docs/physics.md, "Detector geometry"). Errors
 * (NB_ERR_INPUT): zero vectors, no pixels, the plane goes through the sample,
 * polarization axis along the beam. */
nb_status nb_geometry_build(const nb_settings *cfg, nb_geometry *out, nb_error *err);

/** Like nb_geometry_build, with a displaced detector. moved (or NULL) must outlive
 * *out. */
nb_status nb_geometry_build_moved(const nb_settings *cfg, const nb_displacement *moved,
                                  nb_geometry *out, nb_error *err);

/** Set the members Fbeam, Sbeam, Fclose and Sclose of *out from the flags of the beam
 * centre, with convention, pixel and size of *out. */
void nb_geometry_centre(const nb_settings *cfg, nb_geometry *out);

/** The detector of a configuration. */
typedef struct nb_detector {
    int n_panels, n_sensors;
    nb_panel *panels;     /* owned */
    nb_sensor *sensors;   /* owned; equal sensors appear once */
    nb_material material; /* material of -sensor; name "" without -sensor */
    nb_raster raster;     /* has no mask */
} nb_detector;

/** Fill det from geometry and detector options of cfg. Sensors and materials use
 * wavelength_A. NB_ERR_INPUT: ROI off the detector or on several panels, curved detector
 * with an axis along the beam, -sensor without thickness or unknown. NB_ERR_UNSUPPORTED:
 * unknown attenuation. NB_ERR_NOMEM. hooks receive a note about a default depth. The
 * caller frees det, after an error too. */
nb_status nb_detector_build(const nb_settings *cfg, const nb_geometry *geometry,
                            double wavelength_A, const nb_hooks *hooks, nb_detector *det,
                            nb_error *err);
void nb_detector_free(nb_detector *det);

/* Panels of a detector from a file, in the lab frame; for geometry.c and detector.c. */

/** Set g->shift, the shift of all panels along the convention's fast and slow axes, which
 * g has. NB_ERR_INPUT: a mirrored frame. */
nb_status nb_geometry_frame(const nb_settings *cfg, nb_geometry *g, nb_error *err);

/** Find the panel that the beam hits, and put its values into g. */
void nb_geometry_take_panel(const nb_detector_spec *detector,
                            const nb_displacement *moved, nb_geometry *g);

/** Set position, size and axes of panel k of a file; other members of *panel do not
 * change. */
void nb_panel_place(const nb_geometry *g, const nb_panel_spec *spec, int k,
                    nb_panel *panel);

/* The lab frame of a convention, and the frame of NeXus and CrystFEL geometry files. */

/** Convert a NeXus vector (Z along the beam, Y up) to the lab frame by changes of signs
 * and order. */
nb_vec3 nb_lab_of_nexus(nb_convention convention, const double v[3]);
/** The inverse of nb_lab_of_nexus. */
void nb_nexus_of_lab(nb_convention convention, nb_vec3 lab, double v[3]);

/* --- Positions of the panels in one two-dimensional array --- */

/** The canvas: an array that holds all panels, with gaps between them. */
typedef struct nb_panel_canvas {
    int size[2]; /* size along fast and slow, pixels */
    int as_file; /* 1: the panels have the positions of the geometry file */
} nb_panel_canvas;

/** Set place[n_panels] (or NULL) to the position (fast, slow) of each panel's first
 * pixel. The panels are below each other at fast 0, or with NB_LAYOUT_FILE at the
 * positions of the file, if these do not overlap. */
nb_panel_canvas nb_layout_panels(const nb_detector_spec *detector, nb_layout layout,
                                 int (*place)[2]);

/* --- The absorbing sensors of panels --- */

/** Sensor that flags describe; material_mu: attenuation of -sensor, 1/m, or NaN. */
nb_sensor nb_sensor_typed(const nb_settings *cfg, double material_mu,
                          const nb_hooks *hooks);

/** Inputs of a panel's sensor other than the panel. */
typedef struct nb_sensor_inputs {
    double wavelength_A;
    const nb_material *typed; /* material of -sensor, or name "" */
    int first;                /* 1: give a notice about a default value */
} nb_sensor_inputs;

/** Sensor of a panel from a file; flags replace values of the file. *found: the material
 * that was looked up last, which the next panel may use. Errors: those of
 * nb_material_find. */
nb_status nb_sensor_of_panel(const nb_settings *cfg, const nb_panel_spec *spec,
                             const nb_sensor_inputs *in, const nb_hooks *hooks,
                             nb_material *found, nb_sensor *out, nb_error *err);

/** True if a panel has a sensor that absorbs. */
static inline int nb_scene_absorbs(const nb_scene *sc)
{
    int absorbs = 0;
    for (int k = 0; k < sc->n_panels; k++)
        absorbs |= sc->sensors[sc->panels[k].sensor].absorb;
    return absorbs;
}

#endif
