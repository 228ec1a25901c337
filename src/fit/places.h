/* SPDX-License-Identifier: MIT */
/** Scattering vectors and reflections of pixels, and photons of an observed picture. */
#ifndef NB_FIT_PLACES_H
#define NB_FIT_PLACES_H

#include "../nanobragg.h"
#include "../sim/sim.h"

/** Scattering vector, 1/m, for a point of a panel (in pixels) at the mean wavelength. */
nb_vec3 nb_place_q(const nb_sim *sim, const nb_panel *panel, double fast, double slow);
/** Reflection that is nearest to q, in any orientation of the crystal. */
void nb_place_hkl(const nb_lattice *lattice, nb_vec3 q, int hkl[3]);
/** sin theta/lambda of the middle of a pixel, 1/A. */
double nb_place_stol(const nb_sim *sim, const nb_panel *panel, int fast, int slow);

/** Reasons why a pixel within the resolution limits is not used. */
enum { NB_PLACE_USED = 0, NB_PLACE_FILE, NB_PLACE_SATURATED };

/** A picture in photons. The caller owns the arrays, [stack] each. */
typedef struct nb_seen {
    float *photons;  /* NaN if not observed */
    float *full;     /* saturated pixels: lower bound of the photons; other pixels: NaN */
    float *stol;     /* sin theta/lambda, 1/A; 0 outside of the region */
    uint8_t *masked; /* NB_PLACE_... */
    double sigma;    /* result: read-out noise, photons */
} nb_seen;

/** Convert a picture to photons, (ADU - adc)/gain, for d from dmin to dmax (A; 0: no
 * limit). The layout of the picture is the stack or that of the detector file.
 * NB_ERR_INPUT (size), NB_ERR_NOMEM. */
nb_status nb_place_photons(const nb_sim *sim, const nb_image *picture, double dmin,
                           double dmax, nb_seen *out, nb_error *err);

/** Chosen pixels that need a background plane. */
typedef struct nb_plane_job {
    const float *photons, *chosen; /* [stack], NaN in missing pixels */
    const uint8_t *spots;          /* [stack], 1: near a spot */
    double sigma;                  /* read-out noise, photons */
    int half; /* pixel not in a spot: pixels up to half + 5 away give its plane */
} nb_plane_job;

/** Fit planes to the pixels around each group of spot pixels, and around each other
 * chosen pixel. Writes background[stack], photons. Errors: NB_ERR_NOMEM. */
nb_status nb_place_planes(const nb_sim *sim, const nb_plane_job *job, float *background,
                          nb_error *err);

#endif
