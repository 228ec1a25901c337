/* SPDX-License-Identifier: MIT */
/** A detector of one or more panels, as in a geometry file. */
#ifndef NANOBRAGG_PANELS_H
#define NANOBRAGG_PANELS_H

#include <stdint.h>

#include "config.h"
#include "error.h"
#include "sim.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NB_PANELS_MAX 4096
#define NB_PANEL_EDGE 65535 /* limit of the pixels along an edge of a panel */
#define NB_PANEL_NAME 64    /* bytes, NUL included */
#define NB_MATERIAL_NAME 32

/** One panel. SI units; vectors in the frame of NeXus and CrystFEL: Z along the nominal
 * beam, Y up, X = Y x Z. The convention of a run converts vectors to its lab frame. */
typedef struct nb_panel_spec {
    char name[NB_PANEL_NAME];
    int size[2];             /* pixels: fast, slow */
    double origin[3];        /* outer corner of the first pixel, m */
    double fast[3], slow[3]; /* unit vectors; need not be at right angles */
    double pixel[2];         /* edges of a pixel, m */
    double thickness;        /* thickness of the sensor, m; 0 without a sensor */
    /* attenuation of the sensor, 1/m; NaN: value of the material */
    double attenuation;
    char material[NB_MATERIAL_NAME]; /* material of the sensor; "" if unknown */
    double gain;                     /* ADU per photon */
    double saturation;               /* largest trusted value, ADU; or NaN */
    int place[2]; /* first pixel in the array of the file (fast, slow); or -1 */
} nb_panel_spec;

/** Values of a file at begin and end of each frame of a scan. Between these points they
 * change linearly. Point i is at the spindle angle phi_deg + i osc_deg. Arrays are owned,
 * matrices row by row. */
typedef struct nb_scan_points {
    int n;                   /* frames + 1; 0: no scan */
    double phi_deg, osc_deg; /* angle of the first point; width of a frame, above 0 */
    /* 1: the scan belongs to measured images, so that frames must be within the scan */
    int measured;
    double (*change)[9];  /* [n]: A = nb_detector_spec.crystal * change; NULL: one A */
    double (*setting)[9]; /* [n]: rotation after the spindle, NeXus frame; or NULL */
    double (*beam)[3];    /* [n]: direction of the beam, unit; NULL: constant */
} nb_scan_points;

/** A detector, and other values of its file. Images are a stack: the pixels of panel 0
 * row by row, then the pixels of panel 1, and so on. */
typedef struct nb_detector_spec {
    int n_panels;
    nb_panel_spec *panels; /* [n_panels]; owned */
    uint8_t *mask;         /* [pixels of the stack], 0 = masked; owned, or NULL */
    char *groups;        /* lines `rigid_group_q0 = p0,p1` of CrystFEL; owned, or NULL */
    double wavelength_A; /* NaN if the file has no value, as for the numbers below */
    nb_opt3 beam;        /* direction of the beam, unit */
    nb_opt3 polar_axis;  /* axis of the polarization, unit */
    double polarization; /* Kahn's K */
    nb_opt3 spindle;     /* unit */
    double phi_deg, osc_deg, exposure_s;
    int has_crystal;
    double crystal[9]; /* a* b* c* in columns, row by row, 1/A, at phi 0 */
    nb_scan_points scan;
} nb_detector_spec;

/** Read the geometry file that cfg names (geom, expt or nxmx) into *detector, which cfg
 * then uses. Values of cfg have precedence over those of the file. Without such a file
 * *detector is empty and cfg unchanged. nb_sim_create does this if cfg has no detector.
 * Free *detector with nb_detector_spec_free after the last use of cfg. hooks may be NULL.
 * Errors: NB_ERR_INPUT with line, JSON pointer or HDF5 name; NB_ERR_IO, NB_ERR_NOMEM,
 * NB_ERR_UNSUPPORTED (no libhdf5). */
nb_status nb_config_load_geometry(nb_config *cfg, const nb_hooks *hooks,
                                  nb_detector_spec *detector, nb_error *err);

/** Use a detector of the caller, or if it is NULL the detector of the file again.
 * *detector must live until nb_sim_create or nb_sim_change has returned. */
void nb_config_use_detector(nb_config *cfg, const nb_detector_spec *detector);

/** Name of panel k of a simulation, or NULL without such a panel. size (may be NULL): its
 * pixels along fast and slow. */
const char *nb_sim_panel(const nb_sim *sim, int k, int size[2]);

/** Write the geometry files that the configuration names (geomout_file, exptout_file);
 * nb_sim_write and nb_series_run do it themselves. Errors: NB_ERR_INPUT for a curved or
 * mirrored detector, NB_ERR_IO, NB_ERR_NOMEM, NB_ERR_UNSUPPORTED (no cJSON). */
nb_status nb_sim_write_geometry(const nb_sim *sim, nb_error *err);

/** Make a detector of n panels with all values unset, for the caller to fill. Errors:
 * NB_ERR_INPUT for n below 1 or above NB_PANELS_MAX, NB_ERR_NOMEM. */
nb_status nb_detector_spec_new(int n, nb_detector_spec *detector, nb_error *err);

/** Copy a detector; free copy and original. */
nb_status nb_detector_spec_copy(const nb_detector_spec *from, nb_detector_spec *to,
                                nb_error *err);
/* Free all members, and set the detector to zero. */
void nb_detector_spec_free(nb_detector_spec *detector);

#ifdef __cplusplus
}
#endif
#endif
